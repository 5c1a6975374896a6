/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(SERVER::CONFIG);

#define CPU_LIST_MAX 512
#define CONCURRENT_MESSAGES_MAX 65536
#define MESSAGE_LENGTH_MAX (1 << 30)
#define SPIN_US_MAX 1000000
#define CONNECTIONS_MAX (1 << 20)
#define TIMEOUT_S_MAX 86400
#define GPU_TIMEOUT_S 60 /* default: longer than our client waits, and than a busy machine needs */

#define TEXT_CALLBACK(function, field, name)                                                                                     \
	static doca_error_t function(void *param, void *config)                                                                  \
	{                                                                                                                        \
		return option_copy_text(name, param, ((struct server_config *)config)->field);                                   \
	}

#define NUMBER_CALLBACK(function, field, name, min, max)                                                                         \
	static doca_error_t function(void *param, void *config)                                                                  \
	{                                                                                                                        \
		return option_number(name, param, min, max, &((struct server_config *)config)->field);                           \
	}

TEXT_CALLBACK(set_device, device_id, "device-id")
TEXT_CALLBACK(set_representor, representor_id, "representor-id")
TEXT_CALLBACK(set_channel, channel_name, "comch-channel-name")
TEXT_CALLBACK(set_listen_address, listen_address, "listen-address")
TEXT_CALLBACK(set_stats_file, stats_file, "stats-file")
NUMBER_CALLBACK(set_port, listen_port, "server-listen-port", 0, 65535)
NUMBER_CALLBACK(set_concurrent, max_concurrent_messages, "max-concurrent-messages", 1, CONCURRENT_MESSAGES_MAX)
NUMBER_CALLBACK(set_length, max_message_length, "max-message-length", 1, MESSAGE_LENGTH_MAX)
NUMBER_CALLBACK(set_connections, max_connections, "max-connections", 0, CONNECTIONS_MAX)
NUMBER_CALLBACK(set_idle, idle_timeout_s, "idle-timeout", 0, TIMEOUT_S_MAX)
NUMBER_CALLBACK(set_gpu_timeout, gpu_timeout_s, "gpu-timeout", 0, TIMEOUT_S_MAX)
NUMBER_CALLBACK(set_spin, spin_us, "spin-us", 0, SPIN_US_MAX)

/* "0-3 8": the CPUs this process may run on. */
static void list_cpus(const cpu_set_t *set, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int last = cpu;

		if (!CPU_ISSET(cpu, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		if (used < size)
			used += (size_t)(last > cpu ? snprintf(text + used, size - used, "%s%d-%d", used ? " " : "", cpu, last)
						    : snprintf(text + used, size - used, "%s%d", used ? " " : "", cpu));
		cpu = last;
	}
}

static doca_error_t add_cpu(void *param, void *user)
{
	struct server_config *config = user;
	char available[CPU_LIST_MAX];
	int cpu = *(int *)param;
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &set)) {
		list_cpus(&set, available, sizeof(available));
		DOCA_LOG_ERR("--cpu %d is not a CPU this program may use; it may use: %s", cpu, available);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (uint32_t i = 0; i < config->cpu_count; i++) {
		if (config->cpus[i] == (uint32_t)cpu)
			DOCA_LOG_WARN("--cpu %d appears more than once: its threads share that CPU", cpu);
	}
	if (config->cpu_count == SERVER_CPUS_MAX) {
		DOCA_LOG_ERR("--cpu appears more than %d times", SERVER_CPUS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	config->cpus[config->cpu_count++] = (uint32_t)cpu;
	return DOCA_SUCCESS;
}

static const struct option_spec specs[] = {
	{"d", "device-id", "<DEV ID>", "Device ID (mandatory).", DOCA_ARGP_TYPE_STRING, set_device, .mandatory = true},
	{"r", "representor-id", "<REPRESENTOR ID>", "Representor ID (mandatory).", DOCA_ARGP_TYPE_STRING, set_representor,
	 .mandatory = true},
	{"c", "comch-channel-name", "<NAME>", "Comch channel name (optional).", DOCA_ARGP_TYPE_STRING, set_channel},
	{"p", "server-listen-port", "<PORT>", "TCP port for clients, 0 for any free one (mandatory).", DOCA_ARGP_TYPE_INT,
	 set_port, .mandatory = true},
	{NULL, "cpu", "<CPU>", "CPU for data path operations (mandatory). May be repeated for more CPUs.", DOCA_ARGP_TYPE_INT,
	 add_cpu, .mandatory = true, .multiple = true},
	{NULL, "max-concurrent-messages", "<NUM_MESSAGES>", "Messages in flight to the GPU per CPU (optional, 128).",
	 DOCA_ARGP_TYPE_INT, set_concurrent},
	{NULL, "max-message-length", "<LENGTH>", "Longest message in bytes, without its header (optional, 256).",
	 DOCA_ARGP_TYPE_INT, set_length},
	{NULL, "listen-address", "<IP ADDR>", "Local address to listen on (optional, 127.0.0.1; 0.0.0.0 serves other machines).",
	 DOCA_ARGP_TYPE_STRING, set_listen_address},
	{NULL, "max-connections", "<NUM>",
	 "Clients served at a time; more wait until one leaves (optional, 0: as many as the limit on open files allows).",
	 DOCA_ARGP_TYPE_INT, set_connections},
	{NULL, "idle-timeout", "<SECONDS>",
	 "Close a client that sends no complete request and reads no answer for this time (optional, 0: never).",
	 DOCA_ARGP_TYPE_INT, set_idle},
	{NULL, "gpu-timeout", "<SECONDS>",
	 "Disconnect an orchestrator that answers no request for this time: its requests fail and the next one may connect "
	 "(optional, "
	 "60; 0: never).",
	 DOCA_ARGP_TYPE_INT, set_gpu_timeout},
	{NULL, "spin-us", "<MICROSECONDS>", "How long an idle data path thread polls before it sleeps (optional, 20).",
	 DOCA_ARGP_TYPE_INT, set_spin},
	{NULL, "stats-file", "<path>", "Write the counters at exit to this file as JSON, - for standard output (optional).",
	 DOCA_ARGP_TYPE_STRING, set_stats_file},
};

doca_error_t server_config_parse(int argc, char **argv, struct server_config *config)
{
	memset(config, 0, sizeof(*config));
	strcpy(config->channel_name, "dpu_gpu_remote_offload");
	strcpy(config->listen_address, "127.0.0.1");
	config->max_concurrent_messages = 128;
	config->max_message_length = 256;
	config->spin_us = 20;
	config->gpu_timeout_s = GPU_TIMEOUT_S;
	return options_parse(argc, argv, specs, sizeof(specs) / sizeof(specs[0]), config);
}

void server_config_log(const struct server_config *config)
{
	char cpus[CPU_LIST_MAX] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < config->cpu_count && used < sizeof(cpus); i++)
		used += (size_t)snprintf(cpus + used, sizeof(cpus) - used, "%s%u", i ? " " : "", config->cpus[i]);
	DOCA_LOG_INFO("device %s, representor %s, channel %s, cpus %s, %u concurrent messages a cpu, up to %u bytes each",
		      config->device_id, config->representor_id, config->channel_name, cpus, config->max_concurrent_messages,
		      config->max_message_length);
}
