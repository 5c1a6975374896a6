/* SPDX-License-Identifier: BSD-3-Clause */
/* The echo server's command line. */
#ifndef ECHO_CONFIG_H
#define ECHO_CONFIG_H

#include <stdint.h>

#include <doca_error.h>

#define ECHO_THREADS_MAX 256

struct echo_config {
	uint32_t port;	  /* 0: any free one */
	uint32_t address; /* to listen on, in network order */
	uint32_t cpus[ECHO_THREADS_MAX];
	uint32_t cpu_count; /* threads; 0 is one thread that is not pinned */
	uint32_t max_message_length;
	uint32_t function; /* of kernels.h; OFFLOAD_FUNCTION_COUNT leaves messages as they are */
};

/* Sets defaults and parses the command line. Errors are logged. */
doca_error_t echo_config_parse(struct echo_config *config, int argc, char **argv);

#endif
