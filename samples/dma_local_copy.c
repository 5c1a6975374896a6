/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA within one process: a device copies text from one memory map to another. Usage: dma_local_copy [TEXT] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "common.h"
#include "dma_common.h"

#define ROOM 4096

static char source[ROOM], destination[ROOM];

static doca_error_t run(struct copier *copier)
{
	struct doca_mmap *from = NULL, *to = NULL;
	doca_error_t status = map_memory(copier->dev, source, ROOM, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &from);

	if (status == DOCA_SUCCESS)
		status = map_memory(copier->dev, destination, ROOM, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &to);
	if (status == DOCA_SUCCESS)
		status = copier_copy_range(copier, from, source, to, destination, strlen(source) + 1);
	if (status == DOCA_SUCCESS)
		printf("copied %zu bytes: %s\n", strlen(source) + 1, destination);
	if (from != NULL)
		(void)doca_mmap_destroy(from);
	if (to != NULL)
		(void)doca_mmap_destroy(to);
	return status;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[TEXT]");

	struct copier copier;
	doca_error_t status = copier_open(&copier, NULL);

	snprintf(source, sizeof(source), "%s", argc > 1 ? argv[1] : "moved by no hand");
	if (status == DOCA_SUCCESS)
		status = run(&copier);
	copier_close(&copier);
	return status == DOCA_SUCCESS && strcmp(source, destination) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
