/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's command line: the guide's flags and ours. */
#ifndef CLIENT_CONFIG_H
#define CLIENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "remote_offload/options.h"

/* Longest message that is generated or typed. */
#define CONFIG_MESSAGE_MAX (64U * 1024 * 1024)
#define CONFIG_THREADS_MAX 1024
#define CONFIG_CONNECTIONS_MAX 60000 /* per thread; a client address has fewer ports */
#define CONFIG_DEPTH_MAX 65536

struct client_config {
	char server_address[OPTION_TEXT_MAX];
	uint32_t server_port;
	uint32_t threads;
	uint32_t iterations; /* requests of each thread */
	char *message;	     /* NULL: generated */
	char *expected;
	uint32_t depth;	      /* requests in flight on a connection */
	uint32_t connections; /* of each thread */
	uint32_t warm_up;     /* requests of each thread before the measured ones */
	uint32_t message_size;
	bool generate;
	char kernel[OPTION_TEXT_MAX];
	uint32_t timeout_s;
	bool json_stats;
};

/* Sets defaults and parses the command line. Errors are logged. */
doca_error_t client_config_parse(struct client_config *config, int argc, char **argv);
void client_config_fini(struct client_config *config);

#endif
