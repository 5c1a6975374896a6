/* SPDX-License-Identifier: BSD-3-Clause */
/* The orchestrator's command line. */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_CONFIG_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_CONFIG_H

#include <stdint.h>

#include "remote_offload/kernels.h"
#include "remote_offload/options.h"

#define GPU_THREADS_MAX 256

enum gpu_scope {
	GPU_SCOPE_DEFAULT, /* block on a hardware GPU, thread on the software GPU */
	GPU_SCOPE_THREAD,
	GPU_SCOPE_BLOCK,
};

struct orchestrator_config {
	char device_id[OPTION_TEXT_MAX];
	char gpu_pci_addr[OPTION_TEXT_MAX];
	char channel_name[OPTION_TEXT_MAX];
	char stats_file[OPTION_TEXT_MAX]; /* "" for none, "-" for standard output */
	uint32_t queues;		  /* --num-gpu-threads */
	uint32_t max_concurrent_messages; /* per queue */
	uint32_t max_message_length;	  /* payload and its length field */
	uint32_t wait_server_s;
	uint32_t block_threads; /* of each queue's block */
	enum offload_function function;
	enum gpu_scope scope;
};

/* Fills config from the command line. Errors are logged. --help and --version end the process. */
doca_error_t orchestrator_config_parse(int argc, char **argv, struct orchestrator_config *config);
void orchestrator_config_log(const struct orchestrator_config *config);

#endif
