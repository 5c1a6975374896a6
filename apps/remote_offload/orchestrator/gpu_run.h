/* SPDX-License-Identifier: BSD-3-Clause */
/* Host side of the persistent kernel: launches it over all queues, watches and stops it. */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_GPU_RUN_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_GPU_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "config.h"
#include "kernel.h"
#include "queue.h"

struct doca_gpu;
struct softfield_launch;

struct gpu_run {
	struct doca_gpu *gpu;
	struct softfield_launch *launch;
	/* The same memory at its two addresses */
	struct kernel_queue *queues_gpu, *queues;
	uint32_t *stop_gpu;
	volatile uint32_t *stop;
	uint32_t queue_count;
	bool faulted;
};

/* Returns the bytes of a message for the kernel that may hold several frames, which are answered in one message: at most
 * offered, or 0 if a message may hold one frame only. */
uint32_t gpu_run_batch_bytes(struct doca_gpu *gpu, const struct orchestrator_config *config, uint32_t offered);

/* message_max: bytes of a message; batches: they may hold several frames. Errors are logged. */
doca_error_t gpu_run_start(struct gpu_run *run, struct doca_gpu *gpu, const struct orchestrator_config *config,
			   const struct queue *queues, uint32_t message_max, bool batches);
/* False once the kernel has ended by itself, which is an error; the reason is logged. */
bool gpu_run_is_alive(struct gpu_run *run);
/* Stops the kernel and waits for it. False if it had failed or does not end. */
bool gpu_run_stop(struct gpu_run *run);
/* Adds up the counters of the queues; valid once stopped. */
void gpu_run_count(const struct gpu_run *run, uint64_t *messages, uint64_t *bytes);
void gpu_run_fini(struct gpu_run *run);

#endif
