/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_log.h>

#include "remote_offload/kernels.h"
#include "remote_offload/options.h"

DOCA_LOG_REGISTER(ECHO::CONFIG);

#define DEFAULT_MAX_MESSAGE_LENGTH 256
#define MAX_MESSAGE_LENGTH_MAX (64 * 1024 * 1024 + 4)
#define CPU_MAX 1023

static doca_error_t set_port(void *param, void *config)
{
	return option_number("port", param, 0, 65535, &((struct echo_config *)config)->port);
}

static doca_error_t set_listen_address(void *param, void *config)
{
	struct in_addr address;

	if (inet_pton(AF_INET, param, &address) != 1) {
		DOCA_LOG_ERR("--listen-address %s is not an IPv4 address", (const char *)param);
		return DOCA_ERROR_INVALID_VALUE;
	}
	((struct echo_config *)config)->address = address.s_addr;
	return DOCA_SUCCESS;
}

static doca_error_t add_cpu(void *param, void *config)
{
	struct echo_config *cfg = config;

	if (cfg->cpu_count == ECHO_THREADS_MAX) {
		DOCA_LOG_ERR("--cpu appears more than %d times", ECHO_THREADS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return option_number("cpu", param, 0, CPU_MAX, &cfg->cpus[cfg->cpu_count++]);
}

static doca_error_t set_max_message_length(void *param, void *config)
{
	return option_number("max-message-length", param, 4, MAX_MESSAGE_LENGTH_MAX,
			     &((struct echo_config *)config)->max_message_length);
}

static doca_error_t set_kernel(void *param, void *config)
{
	static const char *const names[] = {
#define NAME(id, name_, function, answer_max) [OFFLOAD_##id] = name_,
		OFFLOAD_FUNCTIONS(NAME)
#undef NAME
	};
	struct echo_config *cfg = config;

	/* Answers of another length would need a second buffer, which this benchmark does not measure. */
	if (strcmp(param, "echo") == 0)
		cfg->function = OFFLOAD_FUNCTION_COUNT;
	else if (strcmp(param, names[OFFLOAD_REVERSE]) == 0)
		cfg->function = OFFLOAD_REVERSE;
	else {
		DOCA_LOG_ERR("--kernel %s is unknown: it can be reverse or echo", (const char *)param);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static const struct option_spec options[] = {
	{"p", "port", "<PORT>", "TCP port, 0 for a free one (mandatory).", DOCA_ARGP_TYPE_INT, set_port, true, false},
	{NULL, "listen-address", "<IP ADDR>", "Local address to listen on (default 127.0.0.1).", DOCA_ARGP_TYPE_STRING,
	 set_listen_address, false, false},
	{NULL, "cpu", "<CPU>", "CPU of one thread; repeat for more threads (default: one thread, any CPU).", DOCA_ARGP_TYPE_INT,
	 add_cpu, false, true},
	{NULL, "max-message-length", "<LENGTH>", "Longest message, without header (default 256).", DOCA_ARGP_TYPE_INT,
	 set_max_message_length, false, false},
	{NULL, "kernel", "<NAME>", "reverse (default) or echo.", DOCA_ARGP_TYPE_STRING, set_kernel, false, false},
};

doca_error_t echo_config_parse(struct echo_config *config, int argc, char **argv)
{
	*config = (struct echo_config){
		.address = htonl(INADDR_LOOPBACK), .max_message_length = DEFAULT_MAX_MESSAGE_LENGTH, .function = OFFLOAD_REVERSE};
	return options_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), config);
}
