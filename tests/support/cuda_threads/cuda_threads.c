/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/cuda_threads/cuda_threads.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK (64 * 1024)
#define WARP 32

/* Where the threads of a group meet. Values are kept in turn, because one thread may be in the next meeting before another has
 * read those of the last one. */
struct meeting {
	uint64_t number; /* meetings that have ended */
	uint32_t size, arrived;
};

static struct {
	ucontext_t scheduler, context[CUDA_THREADS_MAX];
	void *stack[CUDA_THREADS_MAX];
	bool ended[CUDA_THREADS_MAX];
	struct meeting block, warps[CUDA_THREADS_MAX / WARP];
	uint32_t block_values[2][CUDA_THREADS_MAX];
	uint64_t warp_values[CUDA_THREADS_MAX / WARP][2][WARP];
	void (*body)(void *arg);
	void *arg;
	bool moved; /* a thread arrived or ended since the scheduler last asked */
} run;

struct cuda_index threadIdx, blockIdx, blockDim;

static void thread_begin(void)
{
	run.body(run.arg);
	run.ended[threadIdx.x] = run.moved = true;
}

static void meet(struct meeting *meeting)
{
	const uint64_t number = meeting->number;
	const uint32_t rank = threadIdx.x;

	run.moved = true;
	if (++meeting->arrived == meeting->size) {
		meeting->arrived = 0;
		meeting->number++;
		return;
	}
	while (meeting->number == number)
		swapcontext(&run.context[rank], &run.scheduler);
}

const uint32_t *cuda_block_share(uint32_t value)
{
	uint32_t *values = run.block_values[run.block.number % 2];

	values[threadIdx.x] = value;
	meet(&run.block);
	return values;
}

const uint64_t *cuda_warp_share(uint64_t value)
{
	struct meeting *meeting = &run.warps[threadIdx.x / WARP];
	uint64_t *values = run.warp_values[threadIdx.x / WARP][meeting->number % 2];

	values[threadIdx.x % WARP] = value;
	meet(meeting);
	return values;
}

void cuda_threads_run(uint32_t threads, void (*body)(void *arg), void *arg)
{
	uint32_t left = threads, pass, n, i;

	blockDim = (struct cuda_index){threads, 1, 1};
	run.body = body;
	run.arg = arg;
	run.block = (struct meeting){.size = threads};
	for (i = 0; i < threads / WARP; i++)
		run.warps[i] = (struct meeting){.size = WARP};
	for (i = 0; i < threads; i++) {
		if (run.stack[i] == NULL)
			run.stack[i] = malloc(STACK);
		run.ended[i] = false;
		getcontext(&run.context[i]);
		run.context[i].uc_stack.ss_sp = run.stack[i];
		run.context[i].uc_stack.ss_size = STACK;
		run.context[i].uc_link = &run.scheduler;
		makecontext(&run.context[i], thread_begin, 0);
	}
	for (pass = 0; left != 0; pass++) {
		run.moved = false;
		for (n = 0, left = 0; n < threads; n++) {
			i = pass % 2 == 0 ? n : threads - 1 - n; /* both orders, to find what relies on one */
			if (run.ended[i])
				continue;
			left++;
			threadIdx.x = i;
			swapcontext(&run.scheduler, &run.context[i]);
		}
		if (left != 0 && !run.moved) {
			fprintf(stderr, "%u threads wait for each other for ever\n", left);
			abort();
		}
	}
}
