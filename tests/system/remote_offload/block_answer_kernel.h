/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that answers messages, between block_answer_test.c and its emulated threads. */
#ifndef BLOCK_ANSWER_KERNEL_H
#define BLOCK_ANSWER_KERNEL_H

#include <stdint.h>

#include "remote_offload/orchestrator/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The messages of one iteration of the kernel, by thread: addr 0 for none. The block writes the answers. */
struct block_round {
	uintptr_t addrs[KERNEL_BLOCK_THREADS_MAX];
	uint32_t lens[KERNEL_BLOCK_THREADS_MAX];
	uint32_t answer_lens[KERNEL_BLOCK_THREADS_MAX];
	uint32_t frames[KERNEL_BLOCK_THREADS_MAX];
};

struct block_call {
	struct kernel_args args;
	struct block_round *rounds;
	uint32_t num_rounds;
};

/* Run by all threads: answers one round after the other. call: a struct block_call. */
void block_answer(void *call);

#ifdef __cplusplus
}
#endif

#endif
