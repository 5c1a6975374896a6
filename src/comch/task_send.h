/* SPDX-License-Identifier: BSD-3-Clause */
/* The control message send task of servers and clients. The message is copied into the task when it is allocated. */
#ifndef COMCH_TASK_SEND_H
#define COMCH_TASK_SEND_H

#include "comch/control.h"
#include "core/ctx.h"
#include "fabric/fabric.h"

struct comch_endpoint;
struct doca_comch_connection;

struct doca_comch_task_send {
	struct doca_task base;
	struct sf_op op;
	struct doca_comch_connection *connection;
	struct sf_iov iov;
	uint8_t header[COMCH_CONTROL_HEADER_SIZE];
	uint8_t message[]; /* max_msg_size bytes */
};

/* Called when the connection is freed: makes submit reject tasks that the program still holds for it. None is in flight. */
void comch_task_send_forget(struct comch_endpoint *endpoint, const struct doca_comch_connection *connection);

void comch_task_send_class_init(struct sf_task_class *cls, uint32_t max_msg_size);

#endif
