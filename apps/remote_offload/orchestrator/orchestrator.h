/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The orchestrator: sets up the GPU's queues with the server, launches the kernel over them, watches and stops it.
 *
 *     connecting <-> exchanging -> running -> closing -> ended
 */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_ORCHESTRATOR_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_ORCHESTRATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_pe.h>

#include "config.h"
#include "gpu_run.h"
#include "channel.h"
#include "queue.h"

enum orchestrator_state {
	ORCHESTRATOR_CONNECTING,
	ORCHESTRATOR_EXCHANGING, /* the server requests one queue after the other */
	ORCHESTRATOR_RUNNING,
	ORCHESTRATOR_CLOSING, /* asked the server to stop: it finishes what is in flight */
	ORCHESTRATOR_ENDED,
};

struct orchestrator {
	const struct orchestrator_config *config;
	struct doca_dev *dev;
	struct doca_gpu *gpu;
	struct channel channel;
	struct doca_pe *queue_pe;
	struct queue queues[GPU_THREADS_MAX];
	uint32_t queue_count; /* open ones */
	uint32_t batch_bytes; /* agreed with the server for all queues */
	struct gpu_run run;
	bool launched;
	int signal_fd, epoll_fd;
	enum orchestrator_state state;
	uint64_t deadline_ms;
	uint64_t connect_until_ms, retry_ms, retry_at_ms; /* of connecting */
	uint32_t attempts;
	bool last_attempt, waiting_logged;
	bool refused;		/* the server had another orchestrator */
	bool asked;		/* the server asked for a queue */
	uint32_t sdk_log_level; /* errors only at the last attempt */
	uint64_t signalled_ms;
	bool stop_requested;
	bool failed; /* the exit status */
};

/* Runs until a signal, the server or a failure ends it; the program's exit status. */
int orchestrator_run(const struct orchestrator_config *config);

#endif
