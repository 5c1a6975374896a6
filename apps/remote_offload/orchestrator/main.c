/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpu_gpu_remote_offload_orchestrator: puts a GPU kernel behind the server's queues. See docs/remote_offload.md. */
#include <stdlib.h>

#include <doca_log.h>
#include <doca_version.h>

#include "orchestrator.h"

DOCA_LOG_REGISTER(ORCHESTRATOR::MAIN);

int main(int argc, char **argv)
{
	static struct orchestrator_config config;

	if (options_start_log() != DOCA_SUCCESS)
		return EXIT_FAILURE;
	if (orchestrator_config_parse(argc, argv, &config) != DOCA_SUCCESS)
		return OPTIONS_EXIT_WRONG;
	DOCA_LOG_INFO("%s, DOCA %s", argv[0], doca_version_runtime());
	orchestrator_config_log(&config);
	return orchestrator_run(&config);
}
