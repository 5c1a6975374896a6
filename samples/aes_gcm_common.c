/* SPDX-License-Identifier: BSD-3-Clause */
#include "aes_gcm_common.h"

#include <string.h>

#include <doca_ctx.h>

#include "common.h"

const uint8_t sample_key[32] = "a key of thirty-two plain bytes";
const uint8_t sample_iv[12] = "twelve byte";

static doca_error_t supports_both(const struct doca_devinfo *devinfo)
{
	doca_error_t status = doca_aes_gcm_cap_task_encrypt_is_key_type_supported(devinfo, DOCA_AES_GCM_KEY_256);

	if (status == DOCA_SUCCESS)
		status = doca_aes_gcm_cap_task_decrypt_is_key_type_supported(devinfo, DOCA_AES_GCM_KEY_256);
	return status;
}

static doca_error_t memory_open(struct safe *safe, size_t len)
{
	doca_error_t status = doca_mmap_create(&safe->mmap);

	if (status == DOCA_SUCCESS)
		status = doca_mmap_add_dev(safe->mmap, safe->dev);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_memrange(safe->mmap, safe->memory, sizeof(safe->memory));
	if (status == DOCA_SUCCESS)
		status = doca_mmap_start(safe->mmap);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_create(2, &safe->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_start(safe->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_data(safe->inventory, safe->mmap, safe->memory, len, &safe->input);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_addr(safe->inventory, safe->mmap, safe->memory + INPUT_ROOM, OUTPUT_ROOM,
							    &safe->output);
	return status;
}

doca_error_t safe_open(struct safe *safe, const void *input, size_t len)
{
	union doca_data user_data = {.ptr = safe};
	doca_error_t status;

	memset(safe, 0, sizeof(*safe));
	memcpy(safe->memory, input, len);
	status = sample_log_to_stderr();
	if (status == DOCA_SUCCESS)
		status = sample_open_device(NULL, supports_both, &safe->dev);
	if (status == DOCA_SUCCESS)
		status = memory_open(safe, len);
	if (status == DOCA_SUCCESS)
		status = doca_pe_create(&safe->pe);
	if (status == DOCA_SUCCESS)
		status = doca_aes_gcm_create(safe->dev, &safe->aes_gcm);
	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(safe->pe, doca_aes_gcm_as_ctx(safe->aes_gcm));
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_user_data(doca_aes_gcm_as_ctx(safe->aes_gcm), user_data);
	return status == DOCA_SUCCESS ? status : sample_failed("open", status);
}

void safe_close(struct safe *safe)
{
	if (safe->aes_gcm != NULL)
		(void)doca_ctx_stop(doca_aes_gcm_as_ctx(safe->aes_gcm));
	if (safe->key != NULL)
		(void)doca_aes_gcm_key_destroy(safe->key);
	if (safe->aes_gcm != NULL)
		(void)doca_aes_gcm_destroy(safe->aes_gcm);
	if (safe->pe != NULL)
		(void)doca_pe_destroy(safe->pe);
	if (safe->input != NULL)
		(void)doca_buf_dec_refcount(safe->input, NULL);
	if (safe->output != NULL)
		(void)doca_buf_dec_refcount(safe->output, NULL);
	if (safe->inventory != NULL)
		(void)doca_buf_inventory_destroy(safe->inventory);
	if (safe->mmap != NULL)
		(void)doca_mmap_destroy(safe->mmap);
	if (safe->dev != NULL)
		(void)doca_dev_close(safe->dev);
}

doca_error_t safe_start(struct safe *safe)
{
	doca_error_t status = doca_ctx_start(doca_aes_gcm_as_ctx(safe->aes_gcm));

	if (status == DOCA_SUCCESS)
		status = doca_aes_gcm_key_create(safe->aes_gcm, sample_key, DOCA_AES_GCM_KEY_256, &safe->key);
	return status;
}

doca_error_t safe_run(struct safe *safe, struct doca_task *task)
{
	doca_error_t status;

	safe->ended = false;
	status = doca_task_submit(task);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(safe->pe, &safe->ended);
	return status == DOCA_SUCCESS ? safe->status : sample_failed("task", status);
}

const uint8_t *safe_output(const struct safe *safe, size_t *len)
{
	uint8_t *data = NULL;

	if (doca_buf_get_data(safe->output, (void **)&data) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(safe->output, len) != DOCA_SUCCESS)
		*len = 0;
	return data;
}
