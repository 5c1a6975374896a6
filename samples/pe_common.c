/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "pe_common.h"

uint8_t *desk_source(const struct desk *desk, int slot)
{
	return desk->memory + 2 * slot * SLOT_BYTES;
}

uint8_t *desk_destination(const struct desk *desk, int slot)
{
	return desk_source(desk, slot) + SLOT_BYTES;
}

static doca_error_t memory_open(struct desk *desk)
{
	const size_t size = 2 * NUM_SLOTS * SLOT_BYTES;
	doca_error_t status;

	desk->memory = calloc(1, size);
	if (desk->memory == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (int slot = 0; slot < NUM_SLOTS; slot++)
		memset(desk_source(desk, slot), 'a' + slot, SLOT_BYTES);
	status = doca_mmap_create(&desk->mmap);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_memrange(desk->mmap, desk->memory, size);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_add_dev(desk->mmap, desk->dev);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_permissions(desk->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_start(desk->mmap);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_create(2 * NUM_SLOTS, &desk->inventory);
	return status == DOCA_SUCCESS ? doca_buf_inventory_start(desk->inventory) : status;
}

doca_error_t desk_open(struct desk *desk)
{
	doca_error_t status = sample_log_to_stderr();

	memset(desk, 0, sizeof(*desk));
	if (status == DOCA_SUCCESS)
		status = sample_open_device(NULL, doca_dma_cap_task_memcpy_is_supported, &desk->dev);
	if (status == DOCA_SUCCESS)
		status = memory_open(desk);
	if (status == DOCA_SUCCESS)
		status = doca_pe_create(&desk->pe);
	return status == DOCA_SUCCESS ? status : sample_failed("memory and progress engine", status);
}

void desk_close(struct desk *desk)
{
	if (desk->pe != NULL)
		doca_pe_destroy(desk->pe);
	if (desk->inventory != NULL)
		doca_buf_inventory_destroy(desk->inventory);
	if (desk->mmap != NULL)
		doca_mmap_destroy(desk->mmap);
	if (desk->dev != NULL)
		doca_dev_close(desk->dev);
	free(desk->memory);
}

doca_error_t desk_dma_create(struct desk *desk, doca_dma_task_memcpy_completion_cb_t completed,
			     doca_dma_task_memcpy_completion_cb_t failed, void *user_data, struct doca_dma **dma)
{
	doca_error_t status = doca_dma_create(desk->dev, dma);

	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(desk->pe, doca_dma_as_ctx(*dma));
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_user_data(doca_dma_as_ctx(*dma), (union doca_data){.ptr = user_data});
	if (status == DOCA_SUCCESS)
		status = doca_dma_task_memcpy_set_conf(*dma, completed, failed, NUM_SLOTS);
	return status == DOCA_SUCCESS ? status : sample_failed("DMA context", status);
}

doca_error_t desk_dma_destroy(struct desk *desk, struct doca_dma *dma)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
	doca_error_t status;

	if (dma == NULL)
		return DOCA_SUCCESS;
	status = doca_ctx_stop(doca_dma_as_ctx(dma));
	while (status == DOCA_ERROR_IN_PROGRESS && state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(desk->pe);
		doca_ctx_get_state(doca_dma_as_ctx(dma), &state);
	}
	status = doca_dma_destroy(dma);
	return status == DOCA_SUCCESS ? status : sample_failed("end of the DMA context", status);
}

doca_error_t desk_bufs(struct desk *desk, int slot, size_t len, struct doca_buf **source, struct doca_buf **destination)
{
	doca_error_t status =
		doca_buf_inventory_buf_get_by_data(desk->inventory, desk->mmap, desk_source(desk, slot), len, source);

	if (status != DOCA_SUCCESS)
		return sample_failed("source buffer", status);
	status = doca_buf_inventory_buf_get_by_addr(desk->inventory, desk->mmap, desk_destination(desk, slot), SLOT_BYTES,
						    destination);
	if (status == DOCA_SUCCESS)
		return status;
	doca_buf_dec_refcount(*source, NULL);
	return sample_failed("destination buffer", status);
}

doca_error_t desk_task(struct desk *desk, struct doca_dma *dma, int slot, size_t len, struct doca_dma_task_memcpy **task)
{
	struct doca_buf *source, *destination;
	doca_error_t status = desk_bufs(desk, slot, len, &source, &destination);

	if (status != DOCA_SUCCESS)
		return status;
	status = doca_dma_task_memcpy_alloc_init(dma, source, destination, (union doca_data){.u64 = (uint64_t)slot}, task);
	if (status == DOCA_SUCCESS)
		return status;
	doca_buf_dec_refcount(source, NULL);
	doca_buf_dec_refcount(destination, NULL);
	return sample_failed("task", status);
}

doca_error_t desk_submit(struct desk *desk, struct doca_dma *dma, int slot, size_t len)
{
	struct doca_dma_task_memcpy *task;
	doca_error_t status = desk_task(desk, dma, slot, len, &task);

	return status == DOCA_SUCCESS ? doca_task_submit(doca_dma_task_memcpy_as_task(task)) : status;
}

void desk_task_free(struct doca_dma_task_memcpy *task)
{
	doca_buf_dec_refcount((struct doca_buf *)doca_dma_task_memcpy_get_src(task), NULL);
	doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

int desk_num_copied(const struct desk *desk)
{
	int num = 0;

	for (int slot = 0; slot < NUM_SLOTS; slot++)
		num += memcmp(desk_source(desk, slot), desk_destination(desk, slot), SLOT_BYTES) == 0;
	return num;
}
