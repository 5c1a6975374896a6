/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer: the common part, and its data path, on the CPU (producer_cpu.c) or a GPU. */
#ifndef COMCH_PRODUCER_H
#define COMCH_PRODUCER_H

#include <doca_comch_producer.h>

#include "comch/connection.h"
#include "comch/route.h"

#define COMCH_ROUTE_CACHE 64
#define COMCH_AGAIN_LOOK 64 /* AGAIN results after which submit checks that the peer is alive */

#define COMCH_NO_MMAP UINT64_MAX /* an id that no mmap has, stopped ones included */

struct comch_producer_path;

struct doca_comch_producer {
	struct comch_child child;
	const struct comch_producer_path *path; /* while started */
	struct sf_task_pool send_pool;
	uint32_t dev_max_num_send;

	/* of the CPU path, while started */
	struct sf_ep *ep;
	uint32_t list_max;			      /* maximum buffers in the list of one send */
	uint64_t sound_mmap;			      /* id of the last mmap that was checked, or COMCH_NO_MMAP */
	struct comch_route *cache[COMCH_ROUTE_CACHE]; /* by consumer id */
	struct comch_route *routes;		      /* all of them */
	uint32_t num_waiting;			      /* tasks that wait in routes */
	uint32_t num_polled;			      /* routes with a poll function */
	bool sweep;				      /* a route has ended and must be closed */
	bool quiet;				      /* polling from submit: no user callback may run */
	uint32_t num_again;			      /* AGAIN results so far */
	struct doca_task *ended_first, *ended_last;   /* accepted tasks that the next progress call completes with task->status */
	void *gpu;				      /* private to the GPU path */
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
