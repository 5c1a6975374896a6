/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/device.h
 * What CUDA C++ and plain C spell differently, so that a kernel has one source for both.
 *
 * Compiled by nvcc, a kernel runs on a CUDA GPU. Compiled by a C or C++ compiler, the same source runs on the software
 * GPU, where each GPU thread of the launch is a CPU thread and a warp has one thread.
 *
 *     struct work { struct doca_comch_gpu_consumer *consumer; volatile uint8_t *stop; };
 *
 *     SOFTFIELD_KERNEL(my_kernel, struct work, args)
 *     {
 *             while (!*args->stop)
 *                     ...doca_dev_gpu_comch_consumer_recv_wait(args->consumer, ...)...
 *     }
 *
 * softfield/gpu.h launches it. Everything here is for kernels; the host includes softfield/gpu.h only.
 */
#ifndef SOFTFIELD_DEVICE_H_
#define SOFTFIELD_DEVICE_H_

#include <stdint.h>

/** A 16-byte slot, which a GPU or CPU loads and stores in one piece. */
struct softfield_slot16 {
	uint32_t w[4];
} __attribute__((aligned(16)));

#if defined(__CUDACC__)
/* ---------------------------------------------------------------- CUDA ---------------------------------------------- */

/** Marks a function that kernels call. */
#define SOFTFIELD_DEVICE static __device__ __forceinline__
/**
 * The same for functions that are seldom called. They are not inlined, so that frequent code stays in the GPU's small instruction
 * cache.
 */
#define SOFTFIELD_COLD static __device__ __noinline__

/** Defines a kernel: its name, the type of its one argument, and the body's name for the pointer to that. */
#define SOFTFIELD_KERNEL(name, type, args) SOFTFIELD_KERNEL_THREADS(name, 256, type, args)

/**
 * The same for blocks of up to the given number of threads: the more, the fewer registers each has. SOFTFIELD_KERNEL allows 256.
 */
#define SOFTFIELD_KERNEL_THREADS(name, threads, type, args)                                                                      \
	static __device__ void name##_body(const type *args);                                                                    \
	extern "C" __global__ void __launch_bounds__(threads, 1) name(const __grid_constant__ type args_)                        \
	{                                                                                                                        \
		name##_body(&args_);                                                                                             \
	}                                                                                                                        \
	static __device__ void name##_body(const type *args)

/** Index of the calling thread in its block. */
SOFTFIELD_DEVICE uint32_t softfield_thread_index(void)
{
	return threadIdx.x;
}
/** Index of the calling thread's block in the grid. */
SOFTFIELD_DEVICE uint32_t softfield_block_index(void)
{
	return blockIdx.x;
}
/** Threads in a block. */
SOFTFIELD_DEVICE uint32_t softfield_block_size(void)
{
	return blockDim.x;
}
/** Blocks in the grid. */
SOFTFIELD_DEVICE uint32_t softfield_grid_size(void)
{
	return gridDim.x;
}
/** Threads in a warp: 32 on a CUDA GPU, 1 on the software GPU. */
SOFTFIELD_DEVICE uint32_t softfield_warp_size(void)
{
	return 32;
}
/** Index of the calling thread in its warp. */
SOFTFIELD_DEVICE uint32_t softfield_lane(void)
{
	return threadIdx.x & 31;
}
/** Waits for all threads of the block; their earlier writes are visible afterwards. */
SOFTFIELD_DEVICE void softfield_block_sync(void)
{
	__syncthreads();
}
/** Waits for all threads of the warp; their earlier writes are visible afterwards. */
SOFTFIELD_DEVICE void softfield_warp_sync(void)
{
	__syncwarp();
}
/**
 * Waits for all threads of the block, and returns whether the predicate held for any. Software GPU: does not wait, and returns
 * the calling thread's predicate.
 */
SOFTFIELD_DEVICE int softfield_block_any(int predicate)
{
	return __syncthreads_or(predicate);
}
/** The same for the threads of the warp. */
SOFTFIELD_DEVICE int softfield_warp_any(int predicate)
{
	return __any_sync(0xffffffffu, predicate);
}
/** Orders the calling thread's earlier and later memory accesses, for every CPU and GPU. */
SOFTFIELD_DEVICE void softfield_fence_system(void)
{
	__threadfence_system();
}
/** Orders earlier writes before later ones, for every CPU and GPU. */
SOFTFIELD_DEVICE void softfield_fence_release(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 13
	asm volatile("fence.release.sys;" ::: "memory"); /* the multiprocessor's cache keeps its lines */
#else
	__threadfence_system();
#endif
}
/** Orders earlier loads before later accesses, for every CPU and GPU. */
SOFTFIELD_DEVICE void softfield_fence_acquire(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 13
	asm volatile("fence.acquire.sys;" ::: "memory");
#else
	__threadfence_system();
#endif
}
/** Prefetches a line that will be written soon. No code on a GPU, whose writes are posted. */
SOFTFIELD_DEVICE void softfield_prefetch_write(const void *line)
{
	(void)line;
}

/**
 * Orders later loads, which use the result of an earlier load, after that. On a GPU such loads bypass its caches and are not
 * issued before the first has returned, so this only restrains the compiler; a fence would wait for the thread's writes as well.
 */
SOFTFIELD_DEVICE void softfield_after_load(void)
{
	asm volatile("" ::: "memory");
}

/**
 * Loads a 16-byte slot that another processor may be writing, never from a cache: always whole; on a software GPU of 64-bit Arm,
 * words 0 and 1 together and at least as new as words 2 and 3.
 */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_load_slot16(const struct softfield_slot16 *from)
{
	struct softfield_slot16 q;

	asm volatile("ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(q.w[0]), "=r"(q.w[1]), "=r"(q.w[2]), "=r"(q.w[3])
		     : "l"(from));
	return q;
}

/** Stores a 16-byte slot that another processor may be reading: always whole. */
SOFTFIELD_DEVICE void softfield_store_slot16(struct softfield_slot16 *to, struct softfield_slot16 q)
{
	asm volatile("st.volatile.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(q.w[0]), "r"(q.w[1]), "r"(q.w[2]), "r"(q.w[3])
		     : "memory");
}

/** Reads a word that the CPU or another kernel writes, such as a stop flag. */
SOFTFIELD_DEVICE uint32_t softfield_load_word(const volatile uint32_t *from)
{
	return *from;
}
/** Writes one. */
SOFTFIELD_DEVICE void softfield_store_word(volatile uint32_t *to, uint32_t value)
{
	*to = value;
}

/** Announces to a race detector that all writes before softfield_published(word) happened before. No code on a GPU. */
SOFTFIELD_DEVICE void softfield_observed(const void *word)
{
	(void)word;
}
/** The other half of softfield_observed. */
SOFTFIELD_DEVICE void softfield_published(const void *word)
{
	(void)word;
}

#else
/* ----------------------------------------------------------- software GPU ------------------------------------------- */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The CPU thread that implements a GPU thread: its indices, and its count of empty polls. */
struct softfield_thread {
	uint32_t thread_index; /**< in its block */
	uint32_t block_index;  /**< in the grid */
	uint32_t block_size;   /**< threads in a block */
	uint32_t grid_size;    /**< blocks in the grid */
	void *block;	       /**< internal: shared by the threads of a block */
	const void *idle_on;   /**< the object that was last found empty */
	uint32_t idle_polls;   /**< consecutive empty polls */
	uint32_t idle_several; /**< several objects were found empty since the last find */
	uint32_t spin_polls;   /**< empty polls before it sleeps */
};

/** The calling kernel thread; outside a kernel, a thread of a launch of one. @return never NULL */
struct softfield_thread *softfield_self(void);

/** Implements softfield_block_sync. */
void softfield_soft_block_sync(struct softfield_thread *self);

/**
 * Sleeps until *word is not 1, another thread wakes it, or the time is over. word may be shared with other processes; with NULL
 * it only sleeps.
 */
void softfield_soft_sleep(uint32_t *word, uint32_t timeout_us);

/** A full fence here and, where the kernel offers it, in every other process that has registered for it (see
 * softfield_gpu_queue.barriers).
 */
void softfield_soft_barrier(void);

#ifdef __cplusplus
}
#endif

#define SOFTFIELD_DEVICE static inline __attribute__((unused))
#define SOFTFIELD_COLD static inline __attribute__((unused))

#define SOFTFIELD_KERNEL(name, type, args)                                                                                       \
	static void name##_body(const type *args);                                                                               \
	void name(const void *args_);                                                                                            \
	void name(const void *args_)                                                                                             \
	{                                                                                                                        \
		name##_body((const type *)args_);                                                                                \
	}                                                                                                                        \
	static void name##_body(const type *args)

#define SOFTFIELD_KERNEL_THREADS(name, threads, type, args) SOFTFIELD_KERNEL(name, type, args)

SOFTFIELD_DEVICE uint32_t softfield_thread_index(void)
{
	return softfield_self()->thread_index;
}
SOFTFIELD_DEVICE uint32_t softfield_block_index(void)
{
	return softfield_self()->block_index;
}
SOFTFIELD_DEVICE uint32_t softfield_block_size(void)
{
	return softfield_self()->block_size;
}
SOFTFIELD_DEVICE uint32_t softfield_grid_size(void)
{
	return softfield_self()->grid_size;
}
SOFTFIELD_DEVICE uint32_t softfield_warp_size(void)
{
	return 1;
}
SOFTFIELD_DEVICE uint32_t softfield_lane(void)
{
	return 0;
}
SOFTFIELD_DEVICE void softfield_block_sync(void)
{
	softfield_soft_block_sync(softfield_self());
}
SOFTFIELD_DEVICE void softfield_warp_sync(void) {}
SOFTFIELD_DEVICE int softfield_block_any(int predicate)
{
	return predicate;
}
SOFTFIELD_DEVICE int softfield_warp_any(int predicate)
{
	return predicate;
}
SOFTFIELD_DEVICE uint32_t softfield_load_word(const volatile uint32_t *from)
{
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
SOFTFIELD_DEVICE void softfield_store_word(volatile uint32_t *to, uint32_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/* Assembly here too: a race detector knows no fences, and uses softfield_observed and softfield_published instead. */
SOFTFIELD_DEVICE void softfield_fence_system(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lock; orl $0, (%%rsp)" ::: "memory", "cc");
#elif defined(__aarch64__)
	__asm__ volatile("dmb ish" ::: "memory");
#endif
}

SOFTFIELD_DEVICE void softfield_after_load(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dmb ishld" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

SOFTFIELD_DEVICE void softfield_fence_acquire(void)
{
	softfield_after_load();
}

SOFTFIELD_DEVICE void softfield_fence_release(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dmb ish" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* The compiler's builtin asks for a shared line, which the store then waits for once more. */
SOFTFIELD_DEVICE void softfield_prefetch_write(const void *line)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const volatile char *)line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/*
 * In assembly, so that 16 bytes stay one access whatever the compiler thinks. On 64-bit Arm before version 8.4 they are two.
 * There the half with the last word, which says that a 16-byte slot is new, is stored last and loaded first: a new last word
 * brings new others.
 */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_load_slot16(const struct softfield_slot16 *from)
{
	struct softfield_slot16 q;
#if defined(__x86_64__)
	__extension__ typedef long long vec __attribute__((vector_size(16)));
	vec v;
	__asm__ volatile("movdqa %1, %0" : "=x"(v) : "m"(*from) : "memory");
	__builtin_memcpy(&q, &v, sizeof(q));
#elif defined(__aarch64__)
	uint64_t a, b;
	__asm__ volatile("ldar %1, [%3]\n\tldar %0, [%2]"
			 : "=&r"(a), "=&r"(b)
			 : "r"(from), "r"((const char *)from + 8)
			 : "memory");
	__builtin_memcpy(&q.w[0], &a, 8);
	__builtin_memcpy(&q.w[2], &b, 8);
#else
#error "the software GPU needs x86-64 or 64-bit Arm"
#endif
	return q;
}

/* By halves: what was put together in memory from smaller pieces and is loaded as one would wait for the store buffer. */
SOFTFIELD_DEVICE void softfield_store_halves(struct softfield_slot16 *to, uint64_t low, uint64_t high)
{
#if defined(__x86_64__)
	__extension__ typedef long long vec __attribute__((vector_size(16)));
	vec v = {(long long)low, (long long)high};
	__asm__ volatile("movdqa %1, %0" : "=m"(*to) : "x"(v) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("stlr %0, [%2]\n\tstlr %1, [%3]" ::"r"(low), "r"(high), "r"(to), "r"((char *)to + 8) : "memory");
#endif
}

SOFTFIELD_DEVICE void softfield_store_slot16(struct softfield_slot16 *to, struct softfield_slot16 q)
{
	softfield_store_halves(to, (uint64_t)q.w[0] | (uint64_t)q.w[1] << 32, (uint64_t)q.w[2] | (uint64_t)q.w[3] << 32);
}

/** Stores a 16-byte slot of 12 bytes, from any address, and a last word. */
SOFTFIELD_DEVICE void softfield_store_piece(struct softfield_slot16 *to, const uint8_t *from, uint32_t last)
{
	uint64_t low;
	uint32_t high;

	__builtin_memcpy(&low, from, 8);
	__builtin_memcpy(&high, from + 8, 4);
	softfield_store_halves(to, low, (uint64_t)last << 32 | high);
}

#if defined(__SANITIZE_THREAD__)
#define SOFTFIELD_RACE_DETECTOR 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SOFTFIELD_RACE_DETECTOR 1
#endif
#endif

#ifdef SOFTFIELD_RACE_DETECTOR
#ifdef __cplusplus
extern "C" {
#endif
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#ifdef __cplusplus
}
#endif
SOFTFIELD_DEVICE void softfield_observed(const void *word)
{
	__tsan_acquire((void *)(uintptr_t)word);
}
SOFTFIELD_DEVICE void softfield_published(const void *word)
{
	__tsan_release((void *)(uintptr_t)word);
}
#else
SOFTFIELD_DEVICE void softfield_observed(const void *word)
{
	(void)word;
}
SOFTFIELD_DEVICE void softfield_published(const void *word)
{
	(void)word;
}
#endif

SOFTFIELD_DEVICE void softfield_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif /* software GPU */

#endif /* SOFTFIELD_DEVICE_H_ */
