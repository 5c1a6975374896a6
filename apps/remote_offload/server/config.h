/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's command line. */
#ifndef REMOTE_OFFLOAD_SERVER_CONFIG_H
#define REMOTE_OFFLOAD_SERVER_CONFIG_H

#include <stdint.h>

#include "remote_offload/options.h"

#define SERVER_CPUS_MAX 256

struct server_config {
	char device_id[OPTION_TEXT_MAX];
	char representor_id[OPTION_TEXT_MAX];
	char channel_name[OPTION_TEXT_MAX];
	char listen_address[OPTION_TEXT_MAX];
	char stats_file[OPTION_TEXT_MAX]; /* "" for none, "-" for standard output */
	uint32_t listen_port;		  /* 0 lets the system choose */
	uint32_t cpus[SERVER_CPUS_MAX];
	uint32_t cpu_count;
	uint32_t max_concurrent_messages; /* per CPU */
	uint32_t max_message_length;	  /* payload bytes, without the frame's header */
	uint32_t spin_us;		  /* how long a thread polls before it sleeps */
	uint32_t max_connections;	  /* 0: as many as the limit on open files allows */
	uint32_t idle_timeout_s;	  /* of a client that does nothing; 0: none */
	uint32_t gpu_timeout_s;		  /* of an orchestrator that answers nothing; 0: none */
};

/* Fills config from the command line. Errors are logged. --help and --version end the process. */
doca_error_t server_config_parse(int argc, char **argv, struct server_config *config);
void server_config_log(const struct server_config *config);

#endif
