/* SPDX-License-Identifier: BSD-3-Clause */
/* One process's side of an RDMA measurement: an instance with its connections, memory, and reusable tasks. */
#ifndef BENCH_RDMA_SIDE_H
#define BENCH_RDMA_SIDE_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "rdma/channel.h"
#include "rdma/options.h"

/* A task with its buffers, or a receive. */
struct bench_slot {
	struct doca_task *task;
	struct doca_buf *local, *remote; /* head of a list; NULL: none */
	struct doca_buf *grows;		 /* the buffer that a completion extends; reset before the next submit */
	struct bench_slot *next;
};

struct bench_side {
	struct bench_plan plan;
	int channel;
	bool client;
	struct doca_dev *dev;
	struct doca_pe *pe;
	doca_notification_handle_t handle;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	enum doca_ctx_states state;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap, *remote_mmap;
	void *block;		 /* from malloc */
	uint8_t *local, *target; /* for this side's tasks; for the other side's tasks and for receives */
	uint8_t *remote;	 /* the other side's target */
	size_t size;		 /* of each, whole pages */
	struct doca_rdma_connection *connections[BENCH_CONNECTIONS_MAX];
	uint32_t num_connections, next_connection; /* without the idle ones */
	/* tasks */
	struct bench_slot slots[BENCH_DEPTH_MAX], receives[BENCH_RECEIVES_MAX];
	struct bench_slot *free;    /* slots that are not in flight */
	struct bench_slot *to_post; /* receives to post later */
	uint32_t num_slots;
	uint32_t size_now;  /* bytes of a message */
	bool puts_off;	    /* completed receives go to to_post */
	uint64_t to_submit; /* completions submit again while this is not 0 */
	uint64_t completed, received;
	uint64_t mark, marked_ns;	      /* the time of receive number `mark` */
	uint64_t memory_before, memory_after; /* of this process, before and after connecting */
};

void bench_check(doca_error_t result, const char *what);

/* Opens the device of this PCI address, or for NULL the first that has RDMA. */
struct doca_dev *bench_device_open(const char *wanted);

/* Opens everything up to established connections, on side->dev. */
void bench_side_open(struct bench_side *side);
void bench_side_close(struct bench_side *side);

/* Allocates tasks of the plan's type with messages of that size, and receives if the plan needs them; fills side->free. */
void bench_side_prepare(struct bench_side *side, uint32_t size, uint32_t num_slots);
void bench_side_release(struct bench_side *side);

/* Progresses; with events it sleeps first if nothing is due. */
void bench_side_progress(struct bench_side *side);

/* Submits a slot that was taken from side->free, or a receive. */
void bench_slot_submit(struct bench_side *side, struct bench_slot *slot);
void bench_receive_post(struct bench_side *side, struct bench_slot *slot);

static inline struct bench_slot *bench_side_take(struct bench_side *side)
{
	struct bench_slot *slot = side->free;

	side->free = slot->next;
	return slot;
}

#endif
