/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer's receive task. */
#ifndef COMCH_TASK_POST_RECV_H
#define COMCH_TASK_POST_RECV_H

#include <doca_comch_consumer.h>

#include "comch/control.h"
#include "core/submit.h"
#include "fabric/fabric.h"
#include "mem/buf.h"

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

/* Adds len bytes behind the data of a list's buffers, as many as each has room for. */
void comch_bufs_extend(struct doca_buf *buf, size_t len);

/* Completes a receive with a message whose bytes are in the buffers' tail. Runs the user's callback. */
void comch_task_post_recv_arrived(struct doca_comch_consumer_task_post_recv *task, const struct comch_arrival *arrival);
static inline __attribute__((always_inline)) void task_post_recv_end(struct doca_comch_consumer_task_post_recv *task,
								     const struct comch_arrival *arrival)
{
	struct doca_buf *buf = task->buf;

	if (__builtin_expect(buf != NULL && arrival->len <= sf_buf_tailroom(buf), 1))
		buf->data_len += arrival->len;
	else
		comch_bufs_extend(buf, arrival->len);
	task->producer_id = arrival->producer_id;
	task->imm_data = arrival->imm_data;
	task->imm_data_len = arrival->imm_data_len;
	sf_task_end(&task->base, DOCA_SUCCESS);
}

/* Completes a receive without a message. */
void comch_task_post_recv_flushed(struct doca_comch_consumer_task_post_recv *task, doca_error_t status);

#endif
