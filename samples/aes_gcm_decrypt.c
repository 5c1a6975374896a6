/* SPDX-License-Identifier: BSD-3-Clause */
/* Decrypts the output of aes_gcm_encrypt; fails without output if a bit was changed. Usage: aes_gcm_decrypt [HEXADECIMAL] */
#include <stdlib.h>

#include <doca_ctx.h>

#include "aes_gcm_common.h"
#include "arguments.h"
#include "common.h"

/* "a letter" after the header */
#define SEALED "73616d706c6584338885eb80e355b8397f56bc4a1c6282cf03d6026a6126"

static void ended(struct doca_aes_gcm_task_decrypt *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct safe *safe = ctx_user_data.ptr;

	(void)task_user_data;
	safe->status = doca_task_get_status(doca_aes_gcm_task_decrypt_as_task(task));
	safe->ended = true;
}

static doca_error_t unseal(struct safe *safe)
{
	union doca_data user_data = {.u64 = 0};
	struct doca_aes_gcm_task_decrypt *task;
	doca_error_t status = doca_aes_gcm_task_decrypt_set_conf(safe->aes_gcm, ended, ended, 1);

	if (status == DOCA_SUCCESS)
		status = safe_start(safe);
	if (status == DOCA_SUCCESS)
		status = doca_aes_gcm_task_decrypt_alloc_init(safe->aes_gcm, safe->input, safe->output, safe->key, sample_iv,
							      sizeof(sample_iv), TAG_SIZE, strlen(HEADER), user_data, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = safe_run(safe, doca_aes_gcm_task_decrypt_as_task(task));
	doca_task_free(doca_aes_gcm_task_decrypt_as_task(task));
	return status;
}

/* Parses hexadecimal text and returns the number of bytes; 0: invalid or too long. */
static size_t parse(const char *text, uint8_t *bytes, size_t room)
{
	size_t len = strlen(text) / 2;

	if (len > room || strlen(text) % 2 != 0)
		return 0;
	for (size_t i = 0; i < len; i++) {
		char digits[3] = {text[2 * i], text[2 * i + 1]}, *end;

		bytes[i] = (uint8_t)strtoul(digits, &end, 16);
		if (end != digits + 2)
			return 0;
	}
	return len;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[HEXADECIMAL]");

	static struct safe safe;
	uint8_t input[INPUT_ROOM];
	size_t len = parse(argc > 1 ? argv[1] : SEALED, input, sizeof(input));
	doca_error_t status = len != 0 ? safe_open(&safe, input, len) : sample_failed("hexadecimal", DOCA_ERROR_INVALID_VALUE);

	if (status == DOCA_SUCCESS)
		status = unseal(&safe);

	const uint8_t *opened = len != 0 ? safe_output(&safe, &len) : NULL;

	if (status == DOCA_SUCCESS)
		printf("header: %.*s, text: %.*s\n", (int)strlen(HEADER), opened, (int)(len - strlen(HEADER)),
		       opened + strlen(HEADER));
	else
		printf("not opened: %s, and %zu bytes came out\n", doca_error_get_name(status), len);
	safe_close(&safe);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
