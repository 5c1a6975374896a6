/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A route: the way from one producer to one consumer of the peer, made on first use.
 *
 * How the parts of the data path meet, for adding a kind of path:
 *
 *                       CPU producer                        GPU producer
 *   CPU consumer   route_conn.c -> the consumer's endpoint      its own GPU queue -> an inbound source (inbound.h)
 *   GPU consumer   a GPU queue route -> its GPU queue           GPU queue to GPU queue, on the device
 *
 * Where the peer cannot map the GPU's memory, the GPU's process has a proxy (gpu_proxy.h), and both rows are CPU's.
 *
 *  - A consumer's advertisement (control.h) says by comch_path how it is reached: CONN, or GPU_QUEUE with a descriptor of up to
 *    SF_DESCRIPTOR_MAX bytes, that is an exported region. Either way it has a listener, by which both sides see the other
 *    live and die. On the peer it becomes a comch_remote_consumer.
 *  - A consumer whose ctx->gpu is set starts by another struct comch_consumer_path (consumer.h): its start opens the listener
 *    with comch_consumer_listen, makes the GPU queue and fills the advertisement. choose_path in consumer.c picks it.
 *  - A producer on the CPU that sends to a GPU_QUEUE consumer opens a GPU queue route: comch_route_open (route.c) chooses the
 * kind by ad.path. The route imports the descriptor, maps it, connects a connection to ad.name, and sends by writing.
 *  - A producer whose ctx->gpu is set starts by another struct comch_producer_path (producer.h). It connects to the consumers
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
	 * no room yet; it clears without a poll of ours. Other codes: the task cannot be sent on this route, now or ever. */
	doca_error_t (*send)(struct comch_route *route, struct doca_comch_producer_task_send *task);
	/* Does what is due, up to budget completions; returns how many. NULL: the producer's endpoint does it all. */
	uint32_t (*poll)(struct comch_route *route, uint32_t budget);
	/* Event-driven mode: true when something is due already. NULL with a NULL poll. */
	bool (*arm)(struct comch_route *route);
	/* Does send say AGAIN because the way to the consumer is still coming up? The peer's program takes no part in that. In
	 * event-driven mode the producer's endpoint rings when it is up, or arm sees to a wake-up. NULL: never. */
	bool (*is_connecting)(const struct comch_route *route);
	/* Begins the end: tasks in flight finish from polls. May be repeated. */
	void (*cancel)(struct comch_route *route);
	/* Frees it. Nothing is in flight. Not from a callback. */
	void (*close)(struct comch_route *route);
};

struct comch_route {
	const struct comch_route_ops *ops;
	struct doca_comch_producer *producer;
	struct comch_remote_consumer *consumer;		/* a reference */
	struct comch_route *next;			/* the producer's list */
	uint32_t num_inflight;				/* tasks accepted by send, not yet done */
	doca_error_t failure;				/* not SUCCESS: nothing can be sent any more, and this is why */
	struct doca_task *waiting_first, *waiting_last; /* accepted while the route was connecting, to be sent in this order */
	bool retired;					/* replaced or no longer wanted: closed when nothing is in flight */
};

/* The route of a producer to a consumer id, opening one if need be. NOT_FOUND: no such consumer, or it expired. Others: the
 * route cannot be made; logged. */
doca_error_t comch_route_find(struct doca_comch_producer *producer, uint32_t consumer_id, struct comch_route **route);

/* Sends a task that ops->send refused with AGAIN, or that others wait before. While the route is connecting the task waits here,
 * and SUCCESS is returned: a program that knows the consumer, and its receives, is not refused. AGAIN: the peer is full. */
doca_error_t comch_route_send_late(struct comch_route *route, struct doca_comch_producer_task_send *task);

/* Sends what waits, as far as the peers take it; true when a task left or failed. From progress. */
bool comch_routes_send_waiting(struct doca_comch_producer *producer);

/* Is it worth a progress call? A route that is connecting rings when it is up; room at the peer is not reported. */
bool comch_routes_waiting_due(const struct doca_comch_producer *producer);

/* Nothing can be sent on the route any more: what waits ends with status, from the next progress call. */
void comch_route_fail_waiting(struct comch_route *route, doca_error_t status);

/* Closes the routes that are over; true when one was. From progress, not from a callback. */
bool comch_routes_sweep(struct doca_comch_producer *producer);

/* The kinds. The base is filled by the caller, but for ops. */
doca_error_t comch_route_conn_open(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
				   struct comch_route **route);

/* The endpoint handler of a producer that has connection routes. */
extern const struct sf_ep_handler comch_route_conn_handler;

#endif
