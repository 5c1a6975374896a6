/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer's data path on a GPU, between gpu_producer.c and gpu_producer_memory.c. */
#ifndef COMCH_GPU_PRODUCER_H
#define COMCH_GPU_PRODUCER_H

#include <softfield/gpu_comch.h>

#include "comch/gpu_handle.h"
#include "comch/gpu_path.h"
#include "comch/gpu_queue.h"
#include "core/gpu_trace.h"

struct gpu_slot {
	struct doca_comch_producer *producer;
	struct comch_remote_consumer *consumer; /* a reference; NULL: never used, or ended */
	struct sf_conn *conn;
	struct gpu_queue box;
	struct gpu_forward *forward; /* NULL: the peer maps the GPU queue */
	bool lost;
	bool connected;	    /* guarded by ring_lock */
	uint32_t ring_lock; /* spin: a kernel's thread rings the connection, which the host connects and closes */
};

struct gpu_producer {
	struct gpu_memory memory; /* control GPU queue, arena, GPU queues */
	size_t boxes_offset;
	uint32_t depth, arena_size;
	size_t arena_offset;
	uint32_t flags;
	struct gpu_block block; /* the handle, the kernel's send states and ring */
	struct sf_gpu_trace trace;
	struct softfield_gpu_peer *peers; /* memory that the host writes and the kernel reads */
	void *peers_gpu;
	struct gpu_slot slots[SOFTFIELD_GPU_PEERS_MAX];
	uint32_t num_slots;    /* ever used */
	uint32_t seen_version; /* of the connection's table */
	bool full_reported, cancelled;
	struct gpu_producer_proxy *proxy; /* NULL: peers map the memory */
};

/* The control GPU queue, the arena and room for the GPU queues. */
doca_error_t comch_gpu_producer_make_memory(struct doca_comch_producer *producer, struct gpu_producer *gpu, uint32_t send_max);
/* What the kernel has of it. comch_gpu_producer_release frees both. */
doca_error_t comch_gpu_producer_make_handle(struct doca_comch_producer *producer, struct gpu_producer *gpu, uint32_t send_max);

#endif
