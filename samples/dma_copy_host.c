/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's half of a copy between host and DPU: it exports memory with a text, passes the descriptor in a file, and waits.
 * The DPU (dma_copy_dpu.c) reads the text and replaces it. Usage: dma_copy_host [PCI-ADDRESS [TEXT]]
 */
#include <stdio.h>
#include <stdlib.h>

#include <doca_mmap.h>

#include "arguments.h"
#include "common.h"
#include "dma_common.h"

#define ROOM 8192

/* After the export the DPU may read and write the memory without any action of this process. */
static doca_error_t share(struct doca_dev *dev, struct doca_mmap *mmap, const char *memory)
{
	const void *descriptor;
	char done[16];
	size_t len;
	doca_error_t status = doca_mmap_export_pci(mmap, dev, &descriptor, &len);

	if (status != DOCA_SUCCESS)
		return sample_failed("export", status);
	printf("the host has: %s\n", memory);
	status = sample_leave("dma_copy.export", descriptor, len);
	if (status == DOCA_SUCCESS)
		status = sample_await("dma_copy.done", done, sizeof(done), &len);
	if (status == DOCA_SUCCESS)
		printf("the host has now: %s\n", memory);
	return status;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 2, "[PCI-ADDRESS [TEXT]]");

	char *memory = calloc(1, ROOM);
	struct doca_mmap *mmap = NULL;
	struct doca_dev *dev = NULL;
	doca_error_t status = memory != NULL ? sample_log_to_stderr() : DOCA_ERROR_NO_MEMORY;

	if (status == DOCA_SUCCESS)
		status = sample_open_device(argc > 1 ? argv[1] : "d8:00.0", NULL, &dev);
	if (status == DOCA_SUCCESS) {
		snprintf(memory, ROOM, "%s", argc > 2 ? argv[2] : "a letter from the host");
		status = map_memory(dev, memory, ROOM, DOCA_ACCESS_FLAG_PCI_READ_WRITE, &mmap);
	}
	if (status == DOCA_SUCCESS)
		status = share(dev, mmap, memory);
	if (mmap != NULL)
		(void)doca_mmap_destroy(mmap); /* invalidates the DPU's import */
	if (dev != NULL)
		(void)doca_dev_close(dev);
	free(memory);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
