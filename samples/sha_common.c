/* SPDX-License-Identifier: BSD-3-Clause */
#include "sha_common.h"

#include <stdio.h>
#include <string.h>

#include <doca_ctx.h>

#include "common.h"

static doca_error_t supports_sha256(const struct doca_devinfo *devinfo)
{
	return doca_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256);
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
		status = doca_buf_inventory_create(2, &desk->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_start(desk->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_data(desk->inventory, desk->mmap, desk->memory, strlen(desk->memory),
							    &desk->message);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_addr(desk->inventory, desk->mmap, desk->memory + MESSAGE_ROOM, DIGEST_ROOM,
							    &desk->digest);
	return status;
}

doca_error_t desk_open(struct desk *desk, const char *text)
{
	union doca_data user_data = {.ptr = desk};
	doca_error_t status;

	memset(desk, 0, sizeof(*desk));
	snprintf(desk->memory, MESSAGE_ROOM, "%s", text);
	status = sample_log_to_stderr();
	if (status == DOCA_SUCCESS)
		status = sample_open_device(NULL, supports_sha256, &desk->dev);
	if (status == DOCA_SUCCESS)
		status = memory_open(desk);
	if (status == DOCA_SUCCESS)
		status = doca_pe_create(&desk->pe);
	if (status == DOCA_SUCCESS)
		status = doca_sha_create(desk->dev, &desk->sha);
	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(desk->pe, doca_sha_as_ctx(desk->sha));
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_user_data(doca_sha_as_ctx(desk->sha), user_data);
	return status == DOCA_SUCCESS ? status : sample_failed("open", status);
}

void desk_close(struct desk *desk)
{
	if (desk->sha != NULL) {
		(void)doca_ctx_stop(doca_sha_as_ctx(desk->sha));
		(void)doca_sha_destroy(desk->sha);
	}
	if (desk->pe != NULL)
		(void)doca_pe_destroy(desk->pe);
	if (desk->message != NULL)
		(void)doca_buf_dec_refcount(desk->message, NULL);
	if (desk->digest != NULL)
		(void)doca_buf_dec_refcount(desk->digest, NULL);
	if (desk->inventory != NULL)
		(void)doca_buf_inventory_destroy(desk->inventory);
	if (desk->mmap != NULL)
		(void)doca_mmap_destroy(desk->mmap);
	if (desk->dev != NULL)
		(void)doca_dev_close(desk->dev);
}

doca_error_t desk_run(struct desk *desk, struct doca_task *task)
{
	doca_error_t status;

	desk->ended = false;
	status = doca_task_submit(task);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &desk->ended);
	if (status == DOCA_SUCCESS)
		status = desk->status;
	return status == DOCA_SUCCESS ? status : sample_failed("digest", status);
}

void desk_print_digest(const struct desk *desk, const char *name)
{
	uint8_t *digest;
	size_t len;

	if (doca_buf_get_data(desk->digest, (void **)&digest) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(desk->digest, &len) != DOCA_SUCCESS)
		return;
	printf("%s: ", name);
	for (size_t i = 0; i < len; i++)
		printf("%02x", digest[i]);
	printf("\n");
}
