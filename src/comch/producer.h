/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer: what is the same for all of them, and its data path, which is the CPU's (producer_cpu.c) or a GPU's. */
#ifndef COMCH_PRODUCER_H
#define COMCH_PRODUCER_H

#include <doca_comch_producer.h>

#include "comch/connection.h"
#include "comch/route.h"

#define COMCH_ROUTE_CACHE 64
#define COMCH_AGAIN_LOOK 64 /* refusals after which submit looks whether the peer is still there */

#define COMCH_NO_MMAP UINT64_MAX /* the id of none, stopped ones included */

struct comch_producer_path;

struct doca_comch_producer {
	struct comch_child child;
	const struct comch_producer_path *path; /* while started */
	struct sf_task_pool send_pool;
	uint32_t dev_max_num_send;

	/* the CPU path's, while started */
	struct sf_ep *ep;
	uint32_t list_max;			      /* buffers in a list that one send takes */
	uint64_t sound_mmap;			      /* id of the last mmap that was checked, or COMCH_NO_MMAP */
	struct comch_route *cache[COMCH_ROUTE_CACHE]; /* by consumer id */
	struct comch_route *routes;		      /* all of them */
	uint32_t num_waiting;			      /* tasks that wait in routes */
	uint32_t num_polled;			      /* routes with a poll of their own */
	bool sweep;				      /* a route is over: look for it */
	bool quiet;				      /* polling from submit: no user callback may run */
	uint32_t num_again;			      /* refusals so far */
	struct doca_task *ended_first, *ended_last;   /* accepted, to be reported with task->status by the next progress */
	void *gpu;				      /* a GPU path's own */
};

/* All run on the thread of the producer's progress engine, with the rules of struct sf_ctx_ops. */
struct comch_producer_path {
	doca_error_t (*start)(struct doca_comch_producer *producer);
	void (*cancel)(struct doca_comch_producer *producer);
	bool (*drained)(struct doca_comch_producer *producer);
	void (*stop)(struct doca_comch_producer *producer);
	bool (*progress)(struct doca_comch_producer *producer);
	bool (*arm)(struct doca_comch_producer *producer);
};

extern const struct comch_producer_path comch_producer_cpu_path;

#endif
