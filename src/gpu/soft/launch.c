/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the software GPU: a CPU thread for each GPU thread of the launch. */
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <softfield/device.h>
#include <softfield/gpu.h>
#include <softfield/gpu_trace.h>

#include "base/log.h"
#include "base/trace.h"
#include "gpu/soft/soft.h"

#define SPIN_POLLS_DEFAULT 2000
#define SPIN_POLLS_MAX 100000000
#define STACK_SIZE (256 * 1024) /* bytes of a kernel thread's stack, more than on a GPU */
#define BARRIER_SPINS 1000

/* State shared by the threads of a block: a barrier, whose generation is the futex they sleep on. */
struct soft_block {
	uint32_t arrived;    /* atomic */
	uint32_t generation; /* atomic */
} __attribute__((aligned(64)));

struct soft_worker {
	struct softfield_thread self;
	struct soft_launch *launch;
	pthread_t thread;
};

struct soft_launch {
	softfield_kernel_fn fn;
	void *args;
	uint32_t started; /* threads to join */
	uint32_t running; /* atomic */
	uint32_t begin;	  /* futex: 0 wait, 1 run, 2 give up */
	struct soft_block *blocks;
	struct soft_worker *workers;
};

/* Read with every message, so it is initial-exec, which needs no call. The few bytes fit even if a library is loaded late. */
static __thread struct softfield_thread *current __attribute__((tls_model("initial-exec")));

static uint32_t spin_polls(void)
{
	static uint32_t polls; /* atomic; read from the environment once */
	uint32_t value = __atomic_load_n(&polls, __ATOMIC_RELAXED);

	if (value == 0) {
		const char *text = secure_getenv("SOFTFIELD_GPU_SPIN");
		long wanted = text != NULL ? strtol(text, NULL, 10) : SPIN_POLLS_DEFAULT;

		value = wanted < 1 ? 1 : wanted > SPIN_POLLS_MAX ? SPIN_POLLS_MAX : (uint32_t)wanted;
		__atomic_store_n(&polls, value, __ATOMIC_RELAXED);
	}
	return value;
}

/* A thread that was not created by a launch. */
static __attribute__((noinline)) struct softfield_thread *thread_adopt(void)
{
	static __thread struct softfield_thread alone;

	alone.block_size = alone.grid_size = 1;
	alone.spin_polls = spin_polls();
	current = &alone;
	return current;
}

DOCA_EXPERIMENTAL struct softfield_thread *softfield_self(void)
{
	return __builtin_expect(current != NULL, 1) ? current : thread_adopt();
}

static void futex_wait(uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0);
}

static void futex_wake_all(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

DOCA_EXPERIMENTAL void softfield_soft_sleep(uint32_t *word, uint32_t timeout_us)
{
	struct timespec timeout = {timeout_us / 1000000, timeout_us % 1000000 * 1000};

	if (timeout_us == 0)
		sched_yield();
	else if (word == NULL)
		nanosleep(&timeout, NULL);
	else
		futex_wait(word, 1, &timeout);
}

DOCA_EXPERIMENTAL void softfield_soft_trace(uint32_t kind, uint64_t flow, uint32_t bytes)
{
	if (kind != SF_TRACE_SEND && kind != SF_TRACE_DELIVER)
		return;
	sf_trace_record((enum sf_trace_kind)kind, NULL, flow, bytes, kind == SF_TRACE_SEND ? "from a kernel" : "to a kernel");
	if (kind == SF_TRACE_DELIVER)
		sf_trace_record(SF_TRACE_DELIVER_END, NULL, 0, 0, NULL);
}

DOCA_EXPERIMENTAL void softfield_soft_barrier(void)
{
	softfield_fence_system();
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); /* if it fails, no thread has been promised the barrier */
}

DOCA_EXPERIMENTAL void softfield_soft_block_sync(struct softfield_thread *self)
{
	struct soft_block *block = self->block;
	uint32_t generation;

	if (self->block_size == 1)
		return;
	generation = __atomic_load_n(&block->generation, __ATOMIC_ACQUIRE);
	if (__atomic_add_fetch(&block->arrived, 1, __ATOMIC_ACQ_REL) == self->block_size) {
		__atomic_store_n(&block->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&block->generation, generation + 1, __ATOMIC_RELEASE);
		futex_wake_all(&block->generation);
		return;
	}
	for (uint32_t i = 0; i < BARRIER_SPINS; i++) {
		if (__atomic_load_n(&block->generation, __ATOMIC_ACQUIRE) != generation)
			return;
		softfield_relax();
	}
	while (__atomic_load_n(&block->generation, __ATOMIC_ACQUIRE) == generation)
		futex_wait(&block->generation, generation, NULL);
}

static void *worker_main(void *arg)
{
	struct soft_worker *worker = arg;
	struct soft_launch *launch = worker->launch;
	uint32_t begin;

	while ((begin = __atomic_load_n(&launch->begin, __ATOMIC_ACQUIRE)) == 0)
		futex_wait(&launch->begin, 0, NULL);
	if (begin == 1) {
		current = &worker->self;
		launch->fn(launch->args);
		current = NULL;
	}
	__atomic_sub_fetch(&launch->running, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

/* The program's threads handle the program's signals. */
static uint32_t start_workers(struct soft_launch *launch, uint32_t threads)
{
	sigset_t all, before;
	pthread_attr_t attr;
	uint32_t i;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < threads; i++)
		if (pthread_create(&launch->workers[i].thread, &attr, worker_main, &launch->workers[i]) != 0)
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return i;
}

static void launch_begin(struct soft_launch *launch, uint32_t how)
{
	__atomic_store_n(&launch->begin, how, __ATOMIC_RELEASE);
	futex_wake_all(&launch->begin);
}

void soft_launch_free(struct doca_gpu *gpu, void *state)
{
	struct soft_launch *launch = state;

	for (uint32_t i = 0; i < launch->started; i++)
		pthread_join(launch->workers[i].thread, NULL);
	free(launch->workers);
	free(launch->blocks);
	free(launch->args);
	free(launch);
}

static struct soft_launch *launch_new(uint32_t grid, uint32_t block, const void *args, size_t args_size)
{
	struct soft_launch *launch = calloc(1, sizeof(*launch));

	if (launch == NULL)
		return NULL;
	launch->workers = calloc((size_t)grid * block, sizeof(*launch->workers));
	launch->blocks = aligned_alloc(64, grid * sizeof(*launch->blocks));
	launch->args = malloc(args_size);
	if (launch->workers == NULL || launch->blocks == NULL || launch->args == NULL) {
		soft_launch_free(NULL, launch);
		return NULL;
	}
	memset(launch->blocks, 0, grid * sizeof(*launch->blocks));
	memcpy(launch->args, args, args_size);
	for (uint32_t i = 0; i < grid * block; i++) {
		struct softfield_thread *self = &launch->workers[i].self;

		launch->workers[i].launch = launch;
		*self = (struct softfield_thread){.thread_index = i % block,
						  .block_index = i / block,
						  .block_size = block,
						  .grid_size = grid,
						  .block = &launch->blocks[i / block],
						  .spin_polls = spin_polls()};
	}
	return launch;
}

doca_error_t soft_launch(struct doca_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
			 const void *args, size_t args_size, void **state)
{
	struct soft_launch *launch;

	if (kernel->soft == NULL) {
		SF_LOG_ERR("kernel %s has no function for the software gpu", kernel->name);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if ((uint64_t)grid * block > SOFTFIELD_SOFT_THREADS_MAX) {
		SF_LOG_ERR("kernel %s: %u blocks of %u threads are more than the %d threads that the software gpu runs",
			   kernel->name, grid, block, SOFTFIELD_SOFT_THREADS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	launch = launch_new(grid, block, args, args_size);
	if (launch == NULL)
		return DOCA_ERROR_NO_MEMORY;
	launch->fn = kernel->soft;
	launch->running = grid * block;
	launch->started = start_workers(launch, grid * block);
	if (launch->started != grid * block) {
		SF_LOG_ERR("kernel %s: the system gave %u of %u threads", kernel->name, launch->started, grid * block);
		launch_begin(launch, 2);
		soft_launch_free(gpu, launch);
		return DOCA_ERROR_NO_MEMORY;
	}
	launch_begin(launch, 1);
	*state = launch;
	return DOCA_SUCCESS;
}

doca_error_t soft_launch_query(struct doca_gpu *gpu, void *state, const char **error)
{
	struct soft_launch *launch = state;

	return __atomic_load_n(&launch->running, __ATOMIC_ACQUIRE) == 0 ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}
