/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that `softfield doctor` can find: it exports memory, prints "ready", and runs until its input ends. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

static uint8_t memory[8192];

static doca_error_t export_memory(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	const void *bytes;
	size_t len;
	uint32_t num;
	doca_error_t result = doca_devinfo_create_list(&list, &num);

	if (result == DOCA_SUCCESS)
		result = doca_dev_open(list[0], &dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create(&mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(mmap, memory, sizeof(memory));
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(mmap, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_export_pci(mmap, dev, &bytes, &len);
	return result;
}

int main(void)
{
	char byte;
	doca_error_t result = export_memory();

	puts(result == DOCA_SUCCESS ? "ready" : doca_error_get_name(result));
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0); /* the kernel releases what the process holds */
}
