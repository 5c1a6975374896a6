/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of a UROM service that another process runs. Usage: urom_talker PLUGIN... It starts a worker for each plugin and
 * prints "ready". For each line that it reads it exchanges commands with the first worker, whose plugin is worker_graph, and
 * prints "exchanged".
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/urom_rig.h"

#define WORKERS_MAX 4
#define COMMANDS 20

static struct urom_rig rig;

static void must(bool good, const char *what)
{
	if (good)
		return;
	printf("failed: %s\n", what);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct doca_urom_worker *workers[WORKERS_MAX];
	char line[8];
	int num = argc - 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(num > 0 && num <= WORKERS_MAX, "the plugins");
	rig.service = urom_rig_service(&rig);
	must(rig.service != NULL && doca_ctx_start(doca_urom_service_as_ctx(rig.service)) == DOCA_SUCCESS, "the service");
	for (int i = 0; i < num; i++) {
		workers[i] = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, argv[i + 1]);
		must(workers[i] != NULL && urom_rig_start_worker(&rig, workers[i]), argv[i + 1]);
	}
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		for (uint64_t i = 0; i < COMMANDS; i++)
			must(urom_rig_loopback(&rig, workers[0], i) == DOCA_SUCCESS, "a command");
		printf("exchanged\n");
	}
	for (int i = 0; i < num; i++)
		must(urom_rig_stop_worker(&rig, workers[i]), "the end of a worker");
	urom_rig_close(&rig);
	return EXIT_SUCCESS;
}
