/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpu_gpu_remote_offload_server: forwards TCP requests to a GPU kernel on the host. See docs/remote_offload.md. */
#include <stdlib.h>

#include <doca_log.h>
#include <doca_version.h>

#include "server.h"

DOCA_LOG_REGISTER(SERVER::MAIN);

int main(int argc, char **argv)
{
	static struct server_config config;

	if (options_start_log() != DOCA_SUCCESS)
		return EXIT_FAILURE;
	if (server_config_parse(argc, argv, &config) != DOCA_SUCCESS)
		return OPTIONS_EXIT_WRONG;
	DOCA_LOG_INFO("%s, DOCA %s", argv[0], doca_version_runtime());
	server_config_log(&config);
	return server_run(&config);
}
