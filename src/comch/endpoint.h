/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a server and a client have in common: an endpoint on the control progress engine, the receives posted on it, the
 * connections made on it, and the send tasks.
 *
 * Thread: all of it belongs to the thread of the control progress engine, except what is marked atomic.
 */
#ifndef COMCH_ENDPOINT_H
#define COMCH_ENDPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>

#include "comch/control.h"
#include "comch/limits.h"
#include "comch/sized.h"
#include "core/ctx.h"
#include "core/dev.h"
#include "fabric/fabric.h"

struct comch_endpoint;
struct comch_receives;

/* The opaque event objects of the public callbacks: they carry nothing but whose event it is. */
struct doca_comch_event_msg_recv {
	struct comch_endpoint *endpoint;
};

struct doca_comch_event_connection_status_changed {
	struct comch_endpoint *endpoint;
};

struct doca_comch_event_consumer {
	struct comch_endpoint *endpoint;
};

struct comch_endpoint {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	bool is_server;
	char name[COMCH_NAME_MAX];
	char listener_name[SF_NAME_MAX];

	/* configuration */
	uint32_t max_msg_size;
	uint32_t recv_queue_size; /* 0: not set by the program */
	struct sf_task_pool send_pool;
	struct sf_task_class send_class; /* its size depends on max_msg_size: the message lies in the task */
	doca_comch_event_msg_recv_cb_t msg_recv;
	sf_comch_recv_cb msg_recv_sized; /* the program's, if it was registered so */
	doca_comch_event_connection_status_changed_cb_t connected, disconnected;
	doca_comch_event_consumer_cb_t new_consumer, expired_consumer;

	/* while started */
	struct sf_ep *ep;
	struct comch_receives *receives;
	struct doca_comch_connection *connections; /* every one with an open connection */
	uint32_t num_connections;
	uint32_t num_ending; /* of these, disconnected or lost ones, which progress closes */

	atomic_uint num_out;	  /* internal messages that wait in its connections; any thread */
	atomic_uint num_children; /* producers and consumers on any of its connections, past ones too; any thread */
};

void comch_endpoint_init(struct comch_endpoint *endpoint, const struct sf_ctx_ops *ops, struct doca_dev *dev, const char *name,
			 bool is_server);
/* IN_USE, logged, unless it is idle and no producer or consumer is left on a connection of it. */
doca_error_t comch_endpoint_fini(struct comch_endpoint *endpoint);

/* INVALID_VALUE, logged, when the name is NULL, empty or too long. */
doca_error_t comch_endpoint_check_name(const char *name);

/* Opens the endpoint and posts the receives; undone by close. */
doca_error_t comch_endpoint_open(struct comch_endpoint *endpoint, const struct sf_ep_handler *handler);
void comch_endpoint_close(struct comch_endpoint *endpoint);

/* The common part of the ctx operations. */
void comch_endpoint_cancel(struct comch_endpoint *endpoint);
bool comch_endpoint_drained(struct comch_endpoint *endpoint);
bool comch_endpoint_progress(struct comch_endpoint *endpoint);
bool comch_endpoint_arm(struct comch_endpoint *endpoint);

/* Sends the queued internal messages as far as the peers accept them, and returns how many. Called before every callback of the
 * program: the callback may wait for something that the peer does only after it received them. */
uint32_t comch_endpoint_flush(struct comch_endpoint *endpoint);

/* The same, and the remaining parts of messages that a peer has accepted in part. For sf_ctx_ops. */
void comch_endpoint_send_pending(struct comch_endpoint *endpoint);

/* The handler's `closed` for both sides: the peer has disconnected or died. */
void comch_endpoint_conn_closed(struct sf_conn *conn, doca_error_t reason);

/* Setters shared by the two sides; what is the public function's name, for the log. */
doca_error_t comch_endpoint_set_max_msg_size(struct comch_endpoint *endpoint, uint32_t size, const char *what);
doca_error_t comch_endpoint_set_recv_queue_size(struct comch_endpoint *endpoint, uint32_t size, const char *what);
/* The program's, or the number of send tasks: published programs set only those, and both sides set the same. */
uint32_t comch_endpoint_recv_queue_size(const struct comch_endpoint *endpoint);
doca_error_t comch_endpoint_set_msg_recv(struct comch_endpoint *endpoint, doca_comch_event_msg_recv_cb_t callback,
					 const char *what);
doca_error_t comch_endpoint_set_consumer_events(struct comch_endpoint *endpoint, doca_comch_event_consumer_cb_t new_consumer,
						doca_comch_event_consumer_cb_t expired, const char *what);

/* Makes the progress engine of another thread check its ctx. Any thread. */
void comch_ctx_wake(const struct doca_ctx *ctx);

#endif
