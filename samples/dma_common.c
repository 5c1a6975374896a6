/* SPDX-License-Identifier: BSD-3-Clause */
#include "dma_common.h"

#include <doca_ctx.h>

#include "common.h"

/* One callback for success and error: the status distinguishes them. */
static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct copier *copier = ctx_user_data.ptr;

	(void)task_user_data;
	copier->status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	copier->ended = true;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static doca_error_t dma_open(struct copier *copier)
{
	union doca_data user_data = {.ptr = copier};
	doca_error_t status = doca_dma_create(copier->dev, &copier->dma);

	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(copier->pe, doca_dma_as_ctx(copier->dma));
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_user_data(doca_dma_as_ctx(copier->dma), user_data);
	if (status == DOCA_SUCCESS)
		status = doca_dma_task_memcpy_set_conf(copier->dma, ended, ended, 1);
	return status == DOCA_SUCCESS ? doca_ctx_start(doca_dma_as_ctx(copier->dma)) : status;
}

doca_error_t copier_open(struct copier *copier, const char *pci_address)
{
	doca_error_t status;

	*copier = (struct copier){.dev = NULL};
	status = sample_log_to_stderr();
	if (status == DOCA_SUCCESS)
		status = sample_open_device(pci_address, doca_dma_cap_task_memcpy_is_supported, &copier->dev);
	if (status == DOCA_SUCCESS)
		status = doca_pe_create(&copier->pe);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_create(COPIER_BUFS, &copier->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_start(copier->inventory);
	if (status == DOCA_SUCCESS)
		status = dma_open(copier);
	return status == DOCA_SUCCESS ? status : sample_failed("open", status);
}

void copier_close(struct copier *copier)
{
	if (copier->dma != NULL) {
		(void)doca_ctx_stop(doca_dma_as_ctx(copier->dma)); /* nothing is in flight, so it becomes IDLE immediately */
		(void)doca_dma_destroy(copier->dma);
	}
	if (copier->inventory != NULL)
		(void)doca_buf_inventory_destroy(copier->inventory);
	if (copier->pe != NULL)
		(void)doca_pe_destroy(copier->pe);
	if (copier->dev != NULL)
		(void)doca_dev_close(copier->dev);
}

doca_error_t copier_copy(struct copier *copier, const struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data user_data = {.u64 = 0};
	struct doca_dma_task_memcpy *task;
	doca_error_t status = doca_dma_task_memcpy_alloc_init(copier->dma, src, dst, user_data, &task);

	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	copier->ended = false;
	status = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	if (status != DOCA_SUCCESS) {
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		return sample_failed("submit", status);
	}
	status = sample_progress_until(copier->pe, &copier->ended);
	if (status == DOCA_SUCCESS)
		status = copier->status;
	return status == DOCA_SUCCESS ? status : sample_failed("copy", status);
}

doca_error_t copier_copy_range(struct copier *copier, struct doca_mmap *from, void *src, struct doca_mmap *to, void *dst,
			       size_t len)
{
	struct doca_buf *source = NULL, *destination = NULL;
	doca_error_t status = doca_buf_inventory_buf_get_by_data(copier->inventory, from, src, len, &source);

	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_addr(copier->inventory, to, dst, len, &destination);
	if (status == DOCA_SUCCESS)
		status = copier_copy(copier, source, destination);
	if (source != NULL)
		(void)doca_buf_dec_refcount(source, NULL);
	if (destination != NULL)
		(void)doca_buf_dec_refcount(destination, NULL);
	return status;
}

doca_error_t map_memory(struct doca_dev *dev, void *memory, size_t len, uint32_t permissions, struct doca_mmap **mmap)
{
	doca_error_t status = doca_mmap_create(mmap);

	if (status != DOCA_SUCCESS)
		return sample_failed("memory map", status);
	status = doca_mmap_add_dev(*mmap, dev);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_memrange(*mmap, memory, len);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_permissions(*mmap, permissions);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_start(*mmap);
	if (status == DOCA_SUCCESS)
		return status;
	(void)doca_mmap_destroy(*mmap);
	*mmap = NULL;
	return sample_failed("memory map", status);
}
