/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments from the host's process to the kernel. */
#ifndef PERF_GPU_KERNEL_H
#define PERF_GPU_KERNEL_H

#include <stdint.h>

struct doca_comch_gpu_consumer;
struct doca_comch_gpu_producer;

struct perf_echo_args {
	struct doca_comch_gpu_consumer *consumer;
	struct doca_comch_gpu_producer *producer;
	volatile uint32_t *stop; /* in shared memory: not 0 ends the kernel */
	uint64_t memory;	 /* num_bufs buffers of buf_size; a GPU address */
	uint32_t num_bufs, buf_size;
	uint32_t consumer_id; /* of the receiver of answers */
};

#endif
