/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments from the host to the benchmark's kernels. */
#ifndef BENCH_GPU_RDMA_KERNELS_H
#define BENCH_GPU_RDMA_KERNELS_H

#include <stdint.h>

struct doca_gpu_buf_arr;
struct doca_gpu_dev_rdma;

#define QUEUES_MAX 8
#define PING_SIZE 8
#define PING_RECEIVES 16

struct bench_queue {
	struct doca_gpu_dev_rdma *rdma;
	struct doca_gpu_buf_arr *memory; /* of the GPU */
	struct doca_gpu_buf_arr *remote;
	struct doca_gpu_buf_arr *host; /* of the host: the peer writes to its first word */
};

/* One block per queue. */
struct bench_args {
	struct bench_queue queues[QUEUES_MAX];
	volatile uint32_t *failed; /* a doca_error_t */
	uint64_t rounds;
	uint32_t size, depth;
	uint32_t sends; /* 1: messages, 0: writes */
	uint32_t reserved;
};

#ifndef __CUDACC__
void bench_flood(const void *args);
void bench_ping(const void *args);
#endif

#endif
