/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host tells the echo kernels. */
#ifndef TEST_GPU_ECHO_H
#define TEST_GPU_ECHO_H

#include <stdint.h>

struct doca_comch_gpu_consumer;
struct doca_comch_gpu_producer;

struct echo_queue {
	struct doca_comch_gpu_consumer *consumer;
	struct doca_comch_gpu_producer *producer;
	uint64_t memory; /* num_bufs buffers of buf_size, an address for kernels */
	uint32_t num_bufs, buf_size;
	uint32_t consumer_id; /* whom to answer */
	uint32_t reserved;
};

struct echo_args {
	const struct echo_queue *queues;
	volatile uint32_t *stop;
	uint32_t num_queues;
	uint32_t bad_address; /* for the kernel that faults */
};

#endif
