/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <doca_log.h>

void legacy_must(doca_error_t status, const char *what)
{
	if (status == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_get_error_string(status));
	exit(1);
}

double legacy_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void legacy_patience(double begin, const char *what)
{
	legacy_must(legacy_now() < begin + LEGACY_PATIENCE_SECONDS ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT, what);
}

struct doca_dev *legacy_open_device(const char *pci_address)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;
	uint8_t equal = 0;

	legacy_must(doca_log_create_standard_backend(), "log"); /* logs why a call fails */
	legacy_must(doca_devinfo_list_create(&list, &num), "list the devices");
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		if (doca_devinfo_get_is_pci_addr_equal(list[i], pci_address, &equal) == DOCA_SUCCESS && equal)
			legacy_must(doca_dev_open(list[i], &dev), "open the device");
	}
	doca_devinfo_list_destroy(list);
	legacy_must(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, pci_address);
	return dev;
}

void legacy_desk_open(struct legacy_desk *desk, const char *pci_address, void *memory, size_t size, uint32_t depth)
{
	desk->dev = legacy_open_device(pci_address);
	legacy_must(doca_mmap_create(NULL, &desk->mmap), "create the memory map");
	legacy_must(doca_mmap_set_memrange(desk->mmap, memory, size), "give it its memory");
	legacy_must(doca_mmap_dev_add(desk->mmap, desk->dev), "give it its device");
	legacy_must(doca_mmap_set_permissions(desk->mmap, DOCA_ACCESS_LOCAL_READ_WRITE), "set its permissions");
	legacy_must(doca_mmap_start(desk->mmap), "start the memory map");
	legacy_must(doca_buf_inventory_create(NULL, 64, DOCA_BUF_EXTENSION_NONE, &desk->inventory), "create the inventory");
	legacy_must(doca_buf_inventory_start(desk->inventory), "start the inventory");
	legacy_must(doca_workq_create(depth, &desk->workq), "create the work queue");
}

void legacy_desk_close(struct legacy_desk *desk)
{
	legacy_must(doca_workq_destroy(desk->workq), "destroy the work queue");
	legacy_must(doca_buf_inventory_destroy(desk->inventory), "destroy the inventory");
	legacy_must(doca_mmap_destroy(desk->mmap), "destroy the memory map");
	legacy_must(doca_dev_close(desk->dev), "close the device");
}

struct doca_buf *legacy_source(struct legacy_desk *desk, void *data, size_t len)
{
	struct doca_buf *buf;

	legacy_must(doca_buf_inventory_buf_by_data(desk->inventory, desk->mmap, data, len, &buf), "take a source");
	return buf;
}

struct doca_buf *legacy_room(struct legacy_desk *desk, void *addr, size_t len)
{
	struct doca_buf *buf;

	legacy_must(doca_buf_inventory_buf_by_addr(desk->inventory, desk->mmap, addr, len, &buf), "take a destination");
	return buf;
}

void legacy_context_open(struct legacy_desk *desk, struct doca_ctx *ctx)
{
	legacy_must(doca_ctx_dev_add(ctx, desk->dev), "give the context its device");
	legacy_must(doca_ctx_start(ctx), "start the context");
	legacy_must(doca_ctx_workq_add(ctx, desk->workq), "add the work queue");
}

void legacy_context_close(struct legacy_desk *desk, struct doca_ctx *ctx)
{
	legacy_must(doca_ctx_workq_rm(ctx, desk->workq), "remove the work queue");
	legacy_must(doca_ctx_stop(ctx), "stop the context");
	legacy_must(doca_ctx_dev_rm(ctx, desk->dev), "take its device");
}

doca_error_t legacy_retrieve(struct doca_workq *workq, struct doca_event *event)
{
	double begin = legacy_now();
	doca_error_t status;

	while ((status = doca_workq_progress_retrieve(workq, event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) == DOCA_ERROR_AGAIN)
		legacy_patience(begin, "wait for an event");
	return status;
}
