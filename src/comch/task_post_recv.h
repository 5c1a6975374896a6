/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer's receive task. */
#ifndef COMCH_TASK_POST_RECV_H
#define COMCH_TASK_POST_RECV_H

#include <doca_comch_consumer.h>

#include "comch/control.h"
#include "core/ctx.h"
#include "fabric/fabric.h"

struct doca_comch_consumer_task_post_recv {
	struct doca_task base;
	struct sf_recv recv;
	struct doca_buf *buf;
	/* results */
	const uint8_t *imm_data; /* NULL without immediate data */
	uint32_t imm_data_len;
	uint32_t producer_id;
	struct sf_iov iov[COMCH_LIST_MAX];
};

/* The metadata of a message, from any kind of route. */
struct comch_arrival {
	uint32_t len;
	uint32_t producer_id;
	const uint8_t *imm_data; /* stays valid until the task is submitted again or freed */
	uint32_t imm_data_len;
};

/* Completes a receive with a message whose bytes are in the buffers' tail. Runs the user's callback. */
void comch_task_post_recv_arrived(struct doca_comch_consumer_task_post_recv *task, const struct comch_arrival *arrival);

/* Completes a receive without a message. */
void comch_task_post_recv_flushed(struct doca_comch_consumer_task_post_recv *task, doca_error_t status);

#endif
