/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(CLIENT::CONFIG);

#define DEFAULT_DEPTH 128
#define DEFAULT_TIMEOUT_S 30

static doca_error_t set_address(void *param, void *config)
{
	return option_copy_text("server-ip-address", param, ((struct client_config *)config)->server_address);
}

static doca_error_t set_port(void *param, void *config)
{
	return option_number("server-ip-port", param, 1, 65535, &((struct client_config *)config)->server_port);
}

static doca_error_t set_threads(void *param, void *config)
{
	return option_number("thread-count", param, 1, CONFIG_THREADS_MAX, &((struct client_config *)config)->threads);
}

static doca_error_t set_iterations(void *param, void *config)
{
	return option_number("iteration-count", param, 0, INT_MAX, &((struct client_config *)config)->iterations);
}

static doca_error_t text_dup(const char *name, const char *text, char **copy)
{
	if (strnlen(text, CONFIG_MESSAGE_MAX + 1) > CONFIG_MESSAGE_MAX) {
		DOCA_LOG_ERR("--%s is longer than %u bytes", name, CONFIG_MESSAGE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*copy = strdup(text);
	if (*copy == NULL) {
		DOCA_LOG_ERR("out of memory for --%s", name);
		return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

static doca_error_t set_message(void *param, void *config)
{
	return text_dup("message-string", param, &((struct client_config *)config)->message);
}

static doca_error_t set_expected(void *param, void *config)
{
	return text_dup("expected-response", param, &((struct client_config *)config)->expected);
}

static doca_error_t set_depth(void *param, void *config)
{
	return option_number("max-concurrent-messages", param, 1, CONFIG_DEPTH_MAX, &((struct client_config *)config)->depth);
}

static doca_error_t set_connections(void *param, void *config)
{
	return option_number("connections", param, 1, CONFIG_CONNECTIONS_MAX, &((struct client_config *)config)->connections);
}

static doca_error_t set_warm_up(void *param, void *config)
{
	return option_number("warm-up", param, 0, INT_MAX, &((struct client_config *)config)->warm_up);
}

static doca_error_t set_message_size(void *param, void *config)
{
	struct client_config *cfg = config;

	cfg->generate = true;
	return option_number("message-size", param, 0, CONFIG_MESSAGE_MAX, &cfg->message_size);
}

static doca_error_t set_kernel(void *param, void *config)
{
	return option_copy_text("kernel", param, ((struct client_config *)config)->kernel);
}

static doca_error_t set_timeout(void *param, void *config)
{
	return option_number("timeout", param, 1, 86400, &((struct client_config *)config)->timeout_s);
}

static doca_error_t set_json_stats(void *param, void *config)
{
	((struct client_config *)config)->json_stats = *(bool *)param;
	return DOCA_SUCCESS;
}

/* -m and -e are mandatory only without --message-size, so argp cannot check that. */
static doca_error_t messages_check(void *parsed)
{
	const struct client_config *config = parsed;
	const char *missing = config->message != NULL	 ? "-e, --expected-response is"
			      : config->expected != NULL ? "-m, --message-string is"
							 : "-m, --message-string and -e, --expected-response are";

	if (config->generate && (config->message != NULL || config->expected != NULL)) {
		DOCA_LOG_ERR("--message-size generates the messages: leave out -m and -e");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!config->generate && (config->message == NULL || config->expected == NULL)) {
		DOCA_LOG_ERR("%s missing: give -m and -e, or --message-size to generate messages", missing);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!config->generate && config->kernel[0] != '\0') {
		DOCA_LOG_ERR("--kernel defines the expected answers of generated messages: use it with --message-size, not with "
			     "-m and -e");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static const struct option_spec options[] = {
	{"s", "server-ip-address", "<IP ADDR>", "Server IP address (mandatory).", DOCA_ARGP_TYPE_STRING, set_address, true,
	 false},
	{"p", "server-ip-port", "<IP PORT>", "Server IP port (mandatory).", DOCA_ARGP_TYPE_INT, set_port, true, false},
	{"t", "thread-count", "<THREAD_COUNT>", "Thread count (mandatory).", DOCA_ARGP_TYPE_INT, set_threads, true, false},
	{"i", "iteration-count", "<ITERATION_COUNT>", "Iteration count (mandatory).", DOCA_ARGP_TYPE_INT, set_iterations, true,
	 false},
	{"m", "message-string", "<MESSAGE>", "message string (mandatory).", DOCA_ARGP_TYPE_STRING, set_message, false, false},
	{"e", "expected-response", "<EXPECTED RESPONSE>", "Expected response (mandatory).", DOCA_ARGP_TYPE_STRING, set_expected,
	 false, false},
	{NULL, "max-concurrent-messages", "<NUM_MESSAGES>",
	 "Set the maximum number of concurrent messages that can be processed per thread (optional).", DOCA_ARGP_TYPE_INT,
	 set_depth, false, false},
	{NULL, "connections", "<NUM>", "Connections of each thread; the message limit holds for each connection (default 1).",
	 DOCA_ARGP_TYPE_INT, set_connections, false, false},
	{NULL, "warm-up", "<NUM>", "Requests of each thread before the measured ones (default 0).", DOCA_ARGP_TYPE_INT,
	 set_warm_up, false, false},
	{NULL, "message-size", "<BYTES>", "Generate random messages of this size in place of -m and -e.", DOCA_ARGP_TYPE_INT,
	 set_message_size, false, false},
	{NULL, "kernel", "<NAME>", "What the server does with generated messages: reverse (default), sha256, crc32c or echo.",
	 DOCA_ARGP_TYPE_STRING, set_kernel, false, false},
	{NULL, "timeout", "<SECONDS>", "Give up after this time without traffic (default 30).", DOCA_ARGP_TYPE_INT, set_timeout,
	 false, false},
	{NULL, "json-stats", NULL, "Print the statistics as one JSON object.", DOCA_ARGP_TYPE_BOOLEAN, set_json_stats, false,
	 false},
};

doca_error_t client_config_parse(struct client_config *config, int argc, char **argv)
{
	doca_error_t result;

	*config = (struct client_config){.depth = DEFAULT_DEPTH, .connections = 1, .timeout_s = DEFAULT_TIMEOUT_S};
	result = options_parse_validated(argc, argv, options, sizeof(options) / sizeof(options[0]), config, messages_check);
	if (result == DOCA_SUCCESS && config->kernel[0] == '\0')
		strcpy(config->kernel, "reverse");
	return result;
}

void client_config_fini(struct client_config *config)
{
	free(config->message);
	free(config->expected);
	config->message = NULL;
	config->expected = NULL;
}
