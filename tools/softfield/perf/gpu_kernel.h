/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host's process tells the kernel. */
#ifndef PERF_GPU_KERNEL_H
#define PERF_GPU_KERNEL_H

#include <stdint.h>

struct doca_comch_gpu_consumer;
struct doca_comch_gpu_producer;

struct perf_echo_args {
	struct doca_comch_gpu_consumer *consumer;
	struct doca_comch_gpu_producer *producer;
	volatile uint32_t *stop; /* in memory of both: not 0 ends the kernel */
	uint64_t memory;	 /* num_bufs buffers of buf_size, an address for kernels */
	uint32_t num_bufs, buf_size;
	uint32_t consumer_id; /* whom it answers */
};

#endif
