/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that sends to an echo kernel and checks the messages that return. */
#ifndef GPU_PAIR_KERNEL_H
#define GPU_PAIR_KERNEL_H

#include <stdint.h>

#include "echo.h"

struct ping_result {
	uint64_t sent, got, wrong;
	int status; /* the error that ended it early, or DOCA_SUCCESS */
};

/* The first half of the queue's buffers receives, the second half sends. */
struct ping_args {
	const struct echo_queue *queue;
	volatile uint32_t *stop;
	struct ping_result *result;
	uint64_t messages;
	uint32_t size, imm_len;
};

void ping_thread(const void *args);

#endif
