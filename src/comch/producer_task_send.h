/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer's send task. */
#ifndef COMCH_PRODUCER_TASK_SEND_H
#define COMCH_PRODUCER_TASK_SEND_H

#include <doca_comch_producer.h>

#include "comch/control.h"
#include "core/ctx.h"
#include "fabric/fabric.h"

struct doca_comch_producer_task_send {
	struct doca_task base;
	/* what every submit reads, in two cache lines with the base */
	const struct doca_buf *buf;
	uint32_t consumer_id;
	bool imm_invalid; /* set_imm_data got too many bytes; submit reports it */
	struct comch_data_header header;
	struct sf_op op; /* iov, iov_num and header are filled for every route, but not for its send_one */
	struct sf_iov iov[COMCH_LIST_MAX];
};

/* Submits any task: the rest of its class's submit, behind a route's send_one. */
doca_error_t comch_task_send_any(struct doca_comch_producer_task_send *task);

/* Ends a task that a route accepted. Runs the user's callback. */
void comch_task_send_done(struct doca_comch_producer_task_send *task, doca_error_t status);

/* Ends a task from the next progress call. */
void comch_task_send_end_later(struct doca_comch_producer_task_send *task, doca_error_t status);

#endif
