/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <doca_log.h>

#include "kernel.h"

DOCA_LOG_REGISTER(ORCHESTRATOR::CONFIG);

#define CONCURRENT_MESSAGES_MAX 65536
#define MESSAGE_LENGTH_MAX (1 << 30)
#define WAIT_SERVER_S_MAX 86400
#define LENGTH_FIELD_SIZE 4
#define NAMES_MAX 128
#define BLOCK_THREADS 128 /* unless set */

static const struct {
	const char *name;
	uint32_t answer_max; /* of a request shorter than that */
} functions[] = {
#define FUNCTION_ENTRY(id, name, function, answer_max) {name, answer_max},
	OFFLOAD_FUNCTIONS(FUNCTION_ENTRY)
#undef FUNCTION_ENTRY
};

#define TEXT_CALLBACK(function, field, name)                                                                                     \
	static doca_error_t function(void *param, void *config)                                                                  \
	{                                                                                                                        \
		return option_copy_text(name, param, ((struct orchestrator_config *)config)->field);                             \
	}

#define NUMBER_CALLBACK(function, field, name, min, max)                                                                         \
	static doca_error_t function(void *param, void *config)                                                                  \
	{                                                                                                                        \
		return option_number(name, param, min, max, &((struct orchestrator_config *)config)->field);                     \
	}

TEXT_CALLBACK(set_device, device_id, "device-id")
TEXT_CALLBACK(set_gpu, gpu_pci_addr, "gpu-pci-addr")
TEXT_CALLBACK(set_channel, channel_name, "comch-channel-name")
TEXT_CALLBACK(set_stats_file, stats_file, "stats-file")
NUMBER_CALLBACK(set_queues, queues, "num-gpu-threads", 1, GPU_THREADS_MAX)
NUMBER_CALLBACK(set_concurrent, max_concurrent_messages, "max-concurrent-messages", 1, CONCURRENT_MESSAGES_MAX)
NUMBER_CALLBACK(set_length, max_message_length, "max-message-length", LENGTH_FIELD_SIZE, MESSAGE_LENGTH_MAX)
NUMBER_CALLBACK(set_wait, wait_server_s, "wait-server", 0, WAIT_SERVER_S_MAX)
NUMBER_CALLBACK(set_block_threads, block_threads, "block-threads", 32, KERNEL_BLOCK_THREADS_MAX)

static doca_error_t set_function(void *param, void *config)
{
	char names[NAMES_MAX] = "";

	for (uint32_t i = 0; i < OFFLOAD_FUNCTION_COUNT; i++) {
		size_t used = strlen(names);

		if (strcmp(param, functions[i].name) == 0) {
			((struct orchestrator_config *)config)->function = (enum offload_function)i;
			return DOCA_SUCCESS;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", functions[i].name);
	}
	DOCA_LOG_ERR("--kernel %s is unknown: it can be %s", (const char *)param, names);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t set_scope(void *param, void *config)
{
	enum gpu_scope *scope = &((struct orchestrator_config *)config)->scope;

	if (strcmp(param, "thread") == 0) {
		*scope = GPU_SCOPE_THREAD;
	} else if (strcmp(param, "block") == 0) {
		*scope = GPU_SCOPE_BLOCK;
	} else {
		DOCA_LOG_ERR("--gpu-scope %s is unknown: it can be thread or block", (const char *)param);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static const struct option_spec specs[] = {
	{"d", "device-id", "<DEV ID>", "Device ID (mandatory).", DOCA_ARGP_TYPE_STRING, set_device, .mandatory = true},
	{"g", "gpu-pci-addr", "<PCI ADDRESS>", "GPU PCIe Address (mandatory).", DOCA_ARGP_TYPE_STRING, set_gpu,
	 .mandatory = true},
	{"c", "comch-channel-name", "<NAME>", "Comch channel name (optional).", DOCA_ARGP_TYPE_STRING, set_channel},
	{"t", "num-gpu-threads", "<NUM>", "Queues that the GPU serves, the same as the server's --cpu count (mandatory).",
	 DOCA_ARGP_TYPE_INT, set_queues, .mandatory = true},
	{NULL, "max-concurrent-messages", "<NUM_MESSAGES>", "Messages that each queue can hold (optional, 128).",
	 DOCA_ARGP_TYPE_INT, set_concurrent},
	{NULL, "max-message-length", "<LENGTH>", "Longest message in bytes, without its header (optional, 256).",
	 DOCA_ARGP_TYPE_INT, set_length},
	{NULL, "kernel", "<NAME>", "GPU kernel: reverse, sha256 or crc32c (optional, reverse).", DOCA_ARGP_TYPE_STRING,
	 set_function},
	{NULL, "gpu-scope", "<SCOPE>",
	 "thread: one GPU thread a queue; block: one block a queue (optional, block on a hardware GPU).", DOCA_ARGP_TYPE_STRING,
	 set_scope},
	{NULL, "block-threads", "<NUM>",
	 "Threads of a block at --gpu-scope block, a multiple of 32 (optional; 128, with more than 128 concurrent "
	 "messages 256).",
	 DOCA_ARGP_TYPE_INT, set_block_threads},
	{NULL, "wait-server", "<SECONDS>",
	 "Seconds to wait for a server that does not run yet or serves another orchestrator (optional, 10).", DOCA_ARGP_TYPE_INT,
	 set_wait},
	{NULL, "stats-file", "<path>", "Write the counters at exit to this file as JSON, - for standard output (optional).",
	 DOCA_ARGP_TYPE_STRING, set_stats_file},
};

static doca_error_t config_check(void *parsed)
{
	const struct orchestrator_config *config = (const struct orchestrator_config *)parsed;
	uint32_t answer_max = functions[config->function].answer_max;

	if (config->max_message_length < answer_max + LENGTH_FIELD_SIZE) {
		DOCA_LOG_ERR("--kernel %s answers %u bytes and needs --max-message-length %u: it is %u",
			     functions[config->function].name, answer_max, answer_max + LENGTH_FIELD_SIZE,
			     config->max_message_length);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (config->block_threads % 32 != 0) {
		DOCA_LOG_ERR("--block-threads %u is not a multiple of 32", config->block_threads);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t orchestrator_config_parse(int argc, char **argv, struct orchestrator_config *config)
{
	doca_error_t result;

	memset(config, 0, sizeof(*config));
	strcpy(config->channel_name, "dpu_gpu_remote_offload");
	config->max_concurrent_messages = 128;
	config->max_message_length = 256;
	config->wait_server_s = 10;
	result = options_parse_validated(argc, argv, specs, sizeof(specs) / sizeof(specs[0]), config, config_check);
	if (result == DOCA_SUCCESS && config->block_threads == 0)
		config->block_threads = config->max_concurrent_messages > BLOCK_THREADS ? 2 * BLOCK_THREADS : BLOCK_THREADS;
	return result;
}

void orchestrator_config_log(const struct orchestrator_config *config)
{
	DOCA_LOG_INFO("device %s, gpu %s, channel %s, kernel %s, %u queues of %u concurrent messages of up to %u bytes",
		      config->device_id, config->gpu_pci_addr, config->channel_name, functions[config->function].name,
		      config->queues, config->max_concurrent_messages, config->max_message_length);
}
