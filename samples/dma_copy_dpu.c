/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DPU's half of a copy between host and DPU: it creates a memory map from the host's export (dma_copy_host.c), copies a
 * text out of it, and another one into it. Usage: dma_copy_dpu [PCI-ADDRESS] (the port of the host's function).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_mmap.h>

#include "arguments.h"
#include "common.h"
#include "dma_common.h"

#define TEXT_ROOM 256
#define DESCRIPTOR_ROOM 4096

static char text[TEXT_ROOM];

/* Addresses in the imported memory map are the host's: tasks may use them, this process must not. */
static doca_error_t fetch_and_answer(struct copier *copier, struct doca_mmap *host, struct doca_mmap *own)
{
	void *there;
	size_t len;
	doca_error_t status = doca_mmap_get_memrange(host, &there, &len);

	if (status == DOCA_SUCCESS)
		status = copier_copy_range(copier, host, there, own, text, TEXT_ROOM);
	if (status != DOCA_SUCCESS)
		return status;
	text[TEXT_ROOM - 1] = '\0';
	printf("the DPU fetched from %zu bytes of the host: %s\n", len, text);
	for (char *at = text; *at != '\0'; at++)
		*at = (char)toupper((unsigned char)*at);
	return copier_copy_range(copier, own, text, host, there, TEXT_ROOM);
}

static doca_error_t run(struct copier *copier)
{
	static uint8_t descriptor[DESCRIPTOR_ROOM];
	struct doca_mmap *host = NULL, *own = NULL;
	size_t len;
	doca_error_t status = sample_await("dma_copy.export", descriptor, sizeof(descriptor), &len);

	if (status != DOCA_SUCCESS)
		return status;
	status = doca_mmap_create_from_export(NULL, descriptor, len, copier->dev, &host);
	if (status != DOCA_SUCCESS)
		return sample_failed("import", status);
	status = map_memory(copier->dev, text, TEXT_ROOM, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &own);
	if (status == DOCA_SUCCESS)
		status = fetch_and_answer(copier, host, own);
	if (own != NULL)
		(void)doca_mmap_destroy(own);
	(void)doca_mmap_destroy(host);
	return status == DOCA_SUCCESS ? sample_leave("dma_copy.done", "done", 5) : status;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[PCI-ADDRESS]");

	struct copier copier;
	doca_error_t status = copier_open(&copier, argc > 1 ? argv[1] : "03:00.0");

	if (status == DOCA_SUCCESS)
		status = run(&copier);
	copier_close(&copier);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
