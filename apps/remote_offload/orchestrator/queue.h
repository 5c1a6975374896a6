/* SPDX-License-Identifier: BSD-3-Clause */
/* One queue of the GPU: a consumer and a producer whose data path is on the GPU, and GPU memory for their messages. */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_QUEUE_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "kernel.h"

struct doca_gpu;

struct queue_setup {
	struct doca_dev *dev;
	struct doca_gpu *gpu;
	struct doca_pe *pe;   /* of all queues, for their state changes */
	uint32_t depth;	      /* messages in flight */
	uint32_t message_max; /* bytes of one */
};

struct queue {
	struct doca_gpu *gpu;
	struct doca_pe *pe;
	void *memory; /* on the GPU */
	struct doca_mmap *mmap;
	struct doca_buf_arr *buf_arr;
	struct kernel_inflight *inflight;
	uint32_t buffers; /* a power of two, at least depth */
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	uint32_t consumer_id;	     /* ours */
	uint32_t remote_consumer_id; /* the server's */
};

/* Errors are logged. */
doca_error_t queue_open(struct queue *queue, const struct queue_setup *setup, struct doca_comch_connection *connection,
			uint32_t remote_consumer_id);
/* True once a kernel can use consumer and producer. */
bool queue_is_running(const struct queue *queue);
/* Fills in what the kernel needs; the queue must be running. */
doca_error_t queue_describe(const struct queue *queue, struct kernel_queue *description);
/* Called once no kernel uses the queue. Accepts a partly opened one. */
void queue_close(struct queue *queue);

#endif
