/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the echo kernels. */
#ifndef TEST_GPU_ECHO_H
#define TEST_GPU_ECHO_H

#include <stdint.h>

#include <softfield/device.h>

struct doca_comch_gpu_consumer;
struct doca_comch_gpu_producer;

#define ECHO_PIPE_MAX 4096 /* buffers of a queue that two blocks share; a power of two */

/* A message between the block that receives and the block that sends. */
struct echo_passed {
	uint64_t addr, imm;
	uint32_t len, imm_len;
	uint64_t reserved;
} __attribute__((aligned(16)));

/* In memory of the GPU, zero at first. Each count has one writer. */
struct echo_pipe {
	volatile uint32_t received __attribute__((aligned(128)));
	volatile uint32_t sent __attribute__((aligned(128)));
	struct echo_passed passed[ECHO_PIPE_MAX] __attribute__((aligned(128)));
	struct softfield_slot16 back[ECHO_PIPE_MAX]; /* addresses of the buffers of sent messages */
};

struct echo_queue {
	struct doca_comch_gpu_consumer *consumer;
	struct doca_comch_gpu_producer *producer;
	uint64_t memory; /* num_bufs buffers of buf_size, an address for kernels */
	uint32_t num_bufs, buf_size;
	uint32_t consumer_id; /* consumer that gets the answers */
	uint32_t reserved;
	struct echo_pipe *pipe;
};

struct echo_args {
	const struct echo_queue *queues;
	volatile uint32_t *stop;
	uint32_t num_queues;
	uint32_t bad_address; /* for the kernel that faults */
};

#endif
