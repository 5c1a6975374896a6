/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by both processes of the benchmark. Errors end the process. */
#ifndef BENCH_GPU_RDMA_SIDE_H
#define BENCH_GPU_RDMA_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels.h"

#define DESCRIPTION_MAX 2048
#define THREADS_MAX 256			/* of a kernel's block, see SOFTFIELD_KERNEL */
#define SIDE_MEMORY (UINT32_C(2) << 20) /* bytes of a queue, on each side */
#define OK(call) check(call, #call)

/* A queue as one side describes it to the other. */
struct description {
	uint32_t ready;
	uint32_t connection_len, memory_len;
	uint8_t connection[DESCRIPTION_MAX], memory[DESCRIPTION_MAX];
};

struct point {
	bool sends, ping;
	uint32_t queues, size, depth;
};

struct shared {
	struct description gpu[QUEUES_MAX], cpu[QUEUES_MAX];
	uint64_t rounds;
	uint32_t done; /* the kernel's end */
	double seconds, p50_us, p99_us;
	double copy_seconds, copy_p50_us, copy_p99_us; /* of the copy engine, for as many copies */
	uint64_t copies;
	char backend[16];
};

struct doca_dev;
struct doca_mmap;
struct doca_rdma;
struct doca_rdma_connection;

/* Memory is exported with DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING. */
extern bool side_relaxed;

/* Allocates a queue's memory, whole pages, which the other side may read and write. */
struct doca_mmap *side_share(struct doca_dev *dev, void *memory);
/* Exchanges queue descriptions with the other side, and connects. */
void side_connect(struct doca_rdma *rdma, struct doca_dev *dev, struct doca_mmap *mmap, struct description *mine,
		  struct description *theirs, struct doca_rdma_connection **connection, struct doca_mmap **remote);

/* Threads of a block that post the operations of a flood. */
extern uint32_t side_threads;

void cpu_side(const struct point *point, struct shared *shared);
void gpu_side(const struct point *point, struct shared *shared, const char *gpu_address);

/* The same with the GPU's copy engine, if there is one. */
void copy_engine(const struct point *point, struct shared *shared);

#endif
