/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A route: the path from one producer to one consumer of the peer, created on first use.
 *
 * How the parts of the data path fit together, for adding a kind of path:
 *
 *                       CPU producer                        GPU producer
 *   CPU consumer   route_conn.c -> the consumer's endpoint      its own GPU queue -> an inbound source (inbound.h)
 *   GPU consumer   a GPU queue route -> its GPU queue           GPU queue to GPU queue, on the device
 *
 * If the peer cannot map the GPU's memory, the GPU's process runs a proxy (gpu_proxy.h), and both sides use the CPU paths.
 *
 *  - A consumer's advertisement (control.h) names its path in comch_path: CONN, or GPU_QUEUE with a descriptor of up to
 *    SF_DESCRIPTOR_MAX bytes, that is an exported region. Either way it has a listener, by which both sides detect that the
 *    other one has ended. On the peer it becomes a comch_remote_consumer.
 *  - A consumer whose ctx->gpu is set uses another struct comch_consumer_path (consumer.h): its start opens the listener
 *    with comch_consumer_listen, makes the GPU queue and fills the advertisement. choose_path in consumer.c picks it.
 *  - A producer on the CPU that sends to a GPU_QUEUE consumer opens a GPU queue route: comch_route_open (route.c) chooses
 *    the kind by ad.path. The route imports the descriptor, maps it, connects a connection to ad.name, and sends by writing.
 *  - A producer whose ctx->gpu is set uses another struct comch_producer_path (producer.h). It connects to the consumers
 *    that it is to reach with an attach of path GPU_QUEUE and the descriptor of its own GPU queue; the consumer's side opens an
 *    inbound source for it.
 *
 * Completion: a route that accepted a task ends it with comch_task_send_done, never inside send.
 * A route belongs to the thread of its producer's progress engine.
 */
#ifndef COMCH_ROUTE_H
#define COMCH_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "comch/remote_consumer.h"

struct comch_route;
struct doca_comch_producer;
struct doca_comch_producer_task_send;

struct comch_route_ops {
	const char *name;
	/* Sends task->iov (task->op.iov_num pieces) with task->header. SUCCESS: comch_task_send_done follows, from a poll. AGAIN:
	 * no room yet; this clears without a poll on this side. Other codes: the task cannot be sent on this route, now or ever.
	 */
	doca_error_t (*send)(struct comch_route *route, struct doca_comch_producer_task_send *task);
	/* Submits a task whose message is one buffer of 1 to one_max bytes without immediate data, while no other waits;
	 * task->iov and task->op do not describe it. For what it does not send it calls comch_task_send_any. */
	doca_error_t (*send_one)(struct comch_route *route, struct doca_comch_producer_task_send *task, const uint8_t *bytes,
				 size_t len);
	uint32_t one_max; /* 0: there is no such short path */
	/* Handles up to budget completions and returns their number. NULL if the producer's endpoint does everything. */
	uint32_t (*poll)(struct comch_route *route, uint32_t budget);
	/* For event-driven mode: returns true if an event is due already. NULL with a NULL poll. */
	bool (*arm)(struct comch_route *route);
	/* Returns whether send returns AGAIN because the route is still connecting, which needs no action of the peer's program.
	 * In event-driven mode the producer's endpoint rings when the route is connected, or arm provides the wake-up. NULL:
	 * never. */
	bool (*is_connecting)(const struct comch_route *route);
	/* Begins to close: tasks in flight end in polls. May be repeated. */
	void (*cancel)(struct comch_route *route);
	/* Frees the route. Nothing is in flight. Not from a callback. */
	void (*close)(struct comch_route *route);
};

struct comch_route {
	const struct comch_route_ops *ops;
	struct doca_comch_producer *producer;
	struct comch_remote_consumer *consumer;		/* a reference */
	struct comch_route *next;			/* the producer's list */
	uint32_t num_inflight;				/* tasks accepted by send, not yet done */
	doca_error_t failure;				/* if not SUCCESS, the reason why nothing can be sent any more */
	struct doca_task *waiting_first, *waiting_last; /* accepted while the route was connecting, to be sent in this order */
	bool retired;					/* replaced or no longer needed: closed when nothing is in flight */
};

/* Finds or opens the route of a producer to a consumer id. NOT_FOUND: no such consumer, or it expired. Other codes, logged: the
 * route cannot be opened. */
doca_error_t comch_route_find(struct doca_comch_producer *producer, uint32_t consumer_id, struct comch_route **route);

/* Sends a task after ops->send returned AGAIN, or behind other waiting tasks. While the route is connecting, the task waits here
 * and this returns SUCCESS, because a program that knows the consumer and its receives must not get AGAIN. AGAIN: the peer is
 * full. */
doca_error_t comch_route_send_late(struct comch_route *route, struct doca_comch_producer_task_send *task);

/* Sends waiting tasks, as far as the peers accept them. Returns true if a task was sent or failed. Called from progress. */
bool comch_routes_send_waiting(struct doca_comch_producer *producer);

/* Returns whether waiting tasks need a progress call. A connecting route rings when it is connected; room at the peer is not
 * reported. */
bool comch_routes_waiting_due(const struct doca_comch_producer *producer);

/* Ends the tasks that wait on a failed route with status, in the next progress call. */
void comch_route_fail_waiting(struct comch_route *route, doca_error_t status);

/* Closes ended routes. Returns true if there was one. Called from progress, not from a callback. */
bool comch_routes_sweep(struct doca_comch_producer *producer);

/* The kinds of routes. The caller fills in the base, except ops. */
doca_error_t comch_route_conn_open(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
				   struct comch_route **route);

/* The endpoint handler of a producer with connection routes. */
extern const struct sf_ep_handler comch_route_conn_handler;

#endif
