/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A consumer: the common part (consumer.c) and its data path, of which there are several.
 *
 * consumer.c owns the object, its id, the advertisement and its end. A path receives the messages: the CPU's (consumer_cpu.c), or
 * a GPU's. While the ctx starts, consumer.c asks the path to start and to describe how to connect to it, advertises that to the
 * peer, and reports RUNNING when the peer has answered.
 */
#ifndef COMCH_CONSUMER_H
#define COMCH_CONSUMER_H

#include <doca_comch_consumer.h>

#include "comch/connection.h"
#include "comch/consumer_completion.h"

struct comch_consumer_path;
struct comch_inbound_conn;
struct comch_inbound;

struct doca_comch_consumer {
	struct comch_child child;
	const struct comch_consumer_path *path; /* while started */
	struct sf_task_pool recv_pool;
	struct doca_mmap *mmap;
	uint32_t imm_data_len;
	bool advertised; /* the peer must be notified when it ends */
	uint32_t dev_max_num_recv;
	struct doca_comch_consumer_completion *completion;

	/* the CPU path's, while started */
	struct sf_region *region;
	struct sf_ep *ep;
	struct sf_listener *listener;
	uint32_t list_max;   /* most buffers in the list of one receive */
	uint32_t num_posted; /* receives that the endpoint has */
	uint32_t num_conns;
	uint32_t num_inbound;			  /* of these, inbound sources */
	struct comch_inbound_conn *conns;	  /* producers that connected */
	struct comch_inbound *inbound;		  /* sources besides the endpoint: route.h */
	struct doca_task *held_first, *held_last; /* receives kept for inbound sources */
	uint32_t num_held;
	size_t held_room; /* bytes of each held receive */
	bool held_mixed;  /* some receive had another size than held_room since the list was last empty */
	bool reclaiming;  /* the endpoint's receives are being cancelled, to be held */
	void *gpu;	  /* private to a GPU path */
};

/* All run on the thread of the consumer's progress engine, with the rules of struct sf_ctx_ops. */
struct comch_consumer_path {
	/* Builds the path, and fills in what the peer must know. */
	doca_error_t (*start)(struct doca_comch_consumer *consumer, struct comch_advertisement *ad);
	void (*cancel)(struct doca_comch_consumer *consumer);
	bool (*drained)(struct doca_comch_consumer *consumer);
	void (*stop)(struct doca_comch_consumer *consumer);
	bool (*progress)(struct doca_comch_consumer *consumer);
	bool (*arm)(struct doca_comch_consumer *consumer);
};

extern const struct comch_consumer_path comch_consumer_cpu_path;

/* For a path's start: opens consumer->ep, which rings event_fd, and an automatic listener under a fresh random name, which is
 * written to ad->name. unlisten undoes it, after all connections are closed. */
doca_error_t comch_consumer_listen(struct doca_comch_consumer *consumer, const struct sf_ep_handler *handler, uint32_t recv_max,
				   int event_fd, struct comch_advertisement *ad);
void comch_consumer_unlisten(struct doca_comch_consumer *consumer);

/* The status of a task that was in flight when its ctx or connection ended. */
doca_error_t comch_child_flush_status(const struct comch_child *child);

#endif
