/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that the host passes to the persistent kernel and gets back, in memory that both can access. */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_KERNEL_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_KERNEL_H

#include <stdint.h>

struct doca_comch_gpu_consumer;
struct doca_comch_gpu_producer;
struct doca_gpu_buf_arr;

#define KERNEL_BLOCK_THREADS_MAX 512 /* of kernel_block: more threads would have too few registers each */

/* A buffer whose answer is being sent to the server. */
struct kernel_inflight {
	uint64_t addr;
	uint32_t mkey;
	uint32_t reserved;
};

/* One queue, for one GPU thread (kernel_thread) or one block (kernel_block). Padded: different processors write them. */
struct kernel_queue {
	struct doca_comch_gpu_consumer *consumer;
	struct doca_comch_gpu_producer *producer;
	struct doca_gpu_buf_arr *buf_arr;
	struct kernel_inflight *inflight;
	uint32_t inflight_mask;
	uint32_t remote_consumer_id;
	uint64_t messages; /* answered; written when the kernel ends */
	uint64_t bytes;
	uint32_t status; /* the doca_error_t that ended the queue, or 0 */
	uint32_t reserved[15];
};

struct kernel_args {
	volatile uint32_t *stop; /* not 0: end. The kernel also sets it when a queue fails */
	struct kernel_queue *queues;
	uint32_t queue_count;
	uint32_t depth;	      /* receives posted for each queue */
	uint32_t message_max; /* their length */
	uint32_t function;    /* enum offload_function */
	uint32_t batches;     /* a message may hold several frames */
};

#if !defined(__CUDACC__)
/* SOFTFIELD_KERNEL defines them; args is a struct kernel_args. */
void kernel_thread(const void *args);
void kernel_block(const void *args);
#endif

#endif
