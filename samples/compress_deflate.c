/* SPDX-License-Identifier: BSD-3-Clause */
/* Compresses a text with deflate and decompresses it, with two task types of one context. Usage: compress_deflate [TEXT] */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "arguments.h"
#include "common.h"

#define ROOM 4096

struct desk {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_compress *compress;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *text, *packed, *again; /* in memory, contiguous */
	char memory[3 * ROOM];
	bool ended;
	doca_error_t status; /* of the completed task */
	uint32_t crc;	     /* of the text, as computed by the task */
};

static void compress_ended(struct doca_compress_task_compress_deflate *task, union doca_data task_user_data,
			   union doca_data ctx_user_data)
{
	struct desk *desk = ctx_user_data.ptr;

	(void)task_user_data;
	desk->status = doca_task_get_status(doca_compress_task_compress_deflate_as_task(task));
	desk->crc = doca_compress_task_compress_deflate_get_crc_cs(task);
	desk->ended = true;
}

static void decompress_ended(struct doca_compress_task_decompress_deflate *task, union doca_data task_user_data,
			     union doca_data ctx_user_data)
{
	struct desk *desk = ctx_user_data.ptr;

	(void)task_user_data;
	desk->status = doca_task_get_status(doca_compress_task_decompress_deflate_as_task(task));
	desk->crc = doca_compress_task_decompress_deflate_get_crc_cs(task);
	desk->ended = true;
}

static doca_error_t memory_open(struct desk *desk)
{
	doca_error_t status = doca_mmap_create(&desk->mmap);

	if (status == DOCA_SUCCESS)
		status = doca_mmap_add_dev(desk->mmap, desk->dev);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_memrange(desk->mmap, desk->memory, sizeof(desk->memory));
	if (status == DOCA_SUCCESS)
		status = doca_mmap_start(desk->mmap);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_create(3, &desk->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_start(desk->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_data(desk->inventory, desk->mmap, desk->memory, strlen(desk->memory),
							    &desk->text);
	if (status == DOCA_SUCCESS)
		status =
			doca_buf_inventory_buf_get_by_addr(desk->inventory, desk->mmap, desk->memory + ROOM, ROOM, &desk->packed);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_addr(desk->inventory, desk->mmap, desk->memory + 2 * ROOM, ROOM,
							    &desk->again);
	return status;
}

/* Starts a context with one task of each type. */
static doca_error_t context_open(struct desk *desk)
{
	union doca_data user_data = {.ptr = desk};
	doca_error_t status = doca_pe_create(&desk->pe);

	if (status == DOCA_SUCCESS)
		status = doca_compress_create(desk->dev, &desk->compress);
	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(desk->pe, doca_compress_as_ctx(desk->compress));
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_user_data(doca_compress_as_ctx(desk->compress), user_data);
	if (status == DOCA_SUCCESS)
		status = doca_compress_task_compress_deflate_set_conf(desk->compress, compress_ended, compress_ended, 1);
	if (status == DOCA_SUCCESS)
		status = doca_compress_task_decompress_deflate_set_conf(desk->compress, decompress_ended, decompress_ended, 1);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_compress_as_ctx(desk->compress));
	return status;
}

static void desk_close(struct desk *desk)
{
	struct doca_buf *bufs[] = {desk->text, desk->packed, desk->again};

	if (desk->compress != NULL) {
		(void)doca_ctx_stop(doca_compress_as_ctx(desk->compress));
		(void)doca_compress_destroy(desk->compress);
	}
	if (desk->pe != NULL)
		(void)doca_pe_destroy(desk->pe);
	for (int i = 0; i < 3; i++) {
		if (bufs[i] != NULL)
			(void)doca_buf_dec_refcount(bufs[i], NULL);
	}
	if (desk->inventory != NULL)
		(void)doca_buf_inventory_destroy(desk->inventory);
	if (desk->mmap != NULL)
		(void)doca_mmap_destroy(desk->mmap);
	if (desk->dev != NULL)
		(void)doca_dev_close(desk->dev);
}

/* Submits a task, waits for its completion, and frees it. */
static doca_error_t task_run(struct desk *desk, struct doca_task *task)
{
	doca_error_t status;

	desk->ended = false;
	status = doca_task_submit(task);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &desk->ended);
	doca_task_free(task);
	return status == DOCA_SUCCESS ? desk->status : status;
}

static doca_error_t run(struct desk *desk)
{
	union doca_data user_data = {.u64 = 0};
	struct doca_compress_task_compress_deflate *there;
	struct doca_compress_task_decompress_deflate *back;
	size_t len = 0;
	doca_error_t status =
		doca_compress_task_compress_deflate_alloc_init(desk->compress, desk->text, desk->packed, user_data, &there);

	if (status == DOCA_SUCCESS)
		status = task_run(desk, doca_compress_task_compress_deflate_as_task(there));
	if (status == DOCA_SUCCESS)
		status = doca_buf_get_data_len(desk->packed, &len);
	if (status != DOCA_SUCCESS)
		return sample_failed("compress", status);
	printf("%zu bytes compressed to %zu, CRC-32 %08" PRIx32 "\n", strlen(desk->memory), len, desk->crc);
	status = doca_compress_task_decompress_deflate_alloc_init(desk->compress, desk->packed, desk->again, user_data, &back);
	if (status == DOCA_SUCCESS)
		status = task_run(desk, doca_compress_task_decompress_deflate_as_task(back));
	if (status == DOCA_SUCCESS)
		status = doca_buf_get_data_len(desk->again, &len);
	if (status != DOCA_SUCCESS)
		return sample_failed("decompress", status);
	printf("decompressed, CRC-32 %08" PRIx32 ": %.*s\n", desk->crc, (int)len, desk->memory + 2 * ROOM);
	return DOCA_SUCCESS;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[TEXT]");

	static struct desk desk;
	doca_error_t status = sample_log_to_stderr();

	snprintf(desk.memory, ROOM, "%s", argc > 1 ? argv[1] : "la la la la la la la la la la la la");
	if (status == DOCA_SUCCESS)
		status = sample_open_device(NULL, doca_compress_cap_task_compress_deflate_is_supported, &desk.dev);
	if (status == DOCA_SUCCESS)
		status = memory_open(&desk);
	if (status == DOCA_SUCCESS)
		status = context_open(&desk);
	status = status == DOCA_SUCCESS ? run(&desk) : sample_failed("open", status);
	desk_close(&desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
