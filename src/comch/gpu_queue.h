/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU's side of GPU queues (softfield/gpu_queue.h says what one is): their memory, which the process that owns the GPU
 * makes and shares. gpu_sender.h and gpu_receiver.h send and receive through one.
 *
 * Whatever lies in a GPU queue was written by another process or a kernel and is checked before use; what each side counts, it
 * keeps here, in memory of its own.
 */
#ifndef COMCH_GPU_QUEUE_H
#define COMCH_GPU_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <softfield/gpu_queue.h>

#include "core/gpu.h"
#include "fabric/fabric.h"

#define GPU_ARENA_MIN (UINT32_C(1) << 16) /* bytes */
#define GPU_ARENA_MAX (UINT32_C(1) << 26)
#define GPU_ARENA_DEFAULT (UINT32_C(1) << 22) /* of a producer that knows no better */

/* ---- memory ---- */

/* Memory that kernels, this process and the peer reach. */
struct gpu_memory {
	struct doca_gpu *gpu;
	uint8_t *addr;
	uint8_t *gpu_addr; /* what kernels use for addr */
	size_t len;
	struct sf_region *region;
	uint8_t descriptor[SF_DESCRIPTOR_MAX];
	uint32_t descriptor_len;
};

/* Zeroed, len rounded up to pages, for peers of the domain to map; NULL: none does. Errors are logged. */
doca_error_t comch_gpu_memory_create(struct gpu_memory *memory, struct doca_gpu *gpu, struct sf_domain *domain, size_t len);
/* Also for memory that create rejected. No kernel may use it any more. */
void comch_gpu_memory_destroy(struct gpu_memory *memory);

/* A view in the process that owns the memory has no mapping of its own. It keeps the memory from being freed: returns true if
 * addr is the beginning of such memory, until comch_gpu_memory_release. */
bool comch_gpu_memory_hold(const void *addr);
void comch_gpu_memory_release(const void *addr);

/* The power of two that holds value, within bounds that are powers of two. */
uint32_t comch_gpu_pow2(uint64_t value, uint32_t min, uint32_t max);

/* ---- one GPU queue ---- */

/* A GPU queue as this process sees it: the geometry is a copy. */
struct gpu_queue {
	struct softfield_gpu_queue *head;
	struct softfield_line *lines;
	uint8_t *arena;
	uint32_t depth, shift, arena_size;
	uint32_t flags;
	uint64_t trace_salt; /* of its flows in a timeline */
	bool registered;     /* this process takes part in barriers (softfield_gpu_queue.barriers) */
};

/* Whether this process takes part in expedited memory barriers; registers it the first time. */
bool comch_gpu_barriers_enabled(void);
/* Stands for the fences of the GPU queue's sender (softfield_gpu_queue.barriers). */
void comch_gpu_barrier_run(const struct gpu_queue *gpu_queue);

/* Bytes of a head, its lines and their overflow slots. */
static inline size_t gpu_queue_size(uint32_t depth)
{
	return sizeof(struct softfield_gpu_queue) +
	       (size_t)depth * (sizeof(struct softfield_line) + sizeof(struct softfield_overflow));
}

/* Writes the head at base + offset and gives the view. The memory is zero. */
void comch_gpu_queue_init(uint8_t *base, size_t offset, size_t arena_offset, uint32_t arena_size, uint32_t depth, uint32_t flags,
			  uint32_t number, struct gpu_queue *gpu_queue);

/* Opens a view of a GPU queue of the peer. INVALID_VALUE: it is not one, does not fit into len, or has the other direction.
 * UNSUPPORTED_VERSION: of another version of Softfield. */
doca_error_t comch_gpu_queue_view(uint8_t *base, size_t len, size_t offset, bool to_kernel, struct gpu_queue *gpu_queue);

/* Notifies the owner's kernel that the GPU queue has ended, and wakes a kernel that sleeps on it. */
void comch_gpu_queue_close(struct softfield_gpu_queue *head, enum softfield_gpu_queue_closed why);

/* Wakes a software GPU's threads that sleep on the GPU queue, after something was written to it. barriers: they make one. */
void comch_gpu_queue_wake_now(struct softfield_gpu_queue *head);
static inline void gpu_queue_wake(const struct gpu_queue *gpu_queue, bool barriers)
{
	if (gpu_queue->flags & SOFTFIELD_GPU_QUEUE_HARDWARE)
		return;
	if (!barriers)
		softfield_fence_system(); /* orders the earlier writes before the check; the sleeper sets the word, then checks */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&gpu_queue->head->sleeping, __ATOMIC_RELAXED) != 0, 0))
		comch_gpu_queue_wake_now(gpu_queue->head);
}

#endif
