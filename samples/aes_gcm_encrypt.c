/* SPDX-License-Identifier: BSD-3-Clause */
/* Encrypts a text after a header that stays readable; aes_gcm_decrypt decrypts it. Usage: aes_gcm_encrypt [TEXT] */
#include <stdlib.h>

#include <doca_ctx.h>

#include "aes_gcm_common.h"
#include "arguments.h"
#include "common.h"

static void ended(struct doca_aes_gcm_task_encrypt *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct safe *safe = ctx_user_data.ptr;

	(void)task_user_data;
	safe->status = doca_task_get_status(doca_aes_gcm_task_encrypt_as_task(task));
	safe->ended = true;
}

static doca_error_t seal(struct safe *safe)
{
	union doca_data user_data = {.u64 = 0};
	struct doca_aes_gcm_task_encrypt *task;
	doca_error_t status = doca_aes_gcm_task_encrypt_set_conf(safe->aes_gcm, ended, ended, 1);

	if (status == DOCA_SUCCESS)
		status = safe_start(safe);
	if (status == DOCA_SUCCESS)
		status = doca_aes_gcm_task_encrypt_alloc_init(safe->aes_gcm, safe->input, safe->output, safe->key, sample_iv,
							      sizeof(sample_iv), TAG_SIZE, strlen(HEADER), user_data, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = safe_run(safe, doca_aes_gcm_task_encrypt_as_task(task));
	doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
	return status == DOCA_SUCCESS ? status : sample_failed("encrypt", status);
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[TEXT]");

	static struct safe safe;
	char input[INPUT_ROOM];
	int len = snprintf(input, sizeof(input), "%s%s", HEADER, argc > 1 ? argv[1] : "a letter");
	doca_error_t status = len < INPUT_ROOM ? safe_open(&safe, input, (size_t)len) : sample_failed("text", DOCA_ERROR_TOO_BIG);

	if (status == DOCA_SUCCESS)
		status = seal(&safe);
	if (status == DOCA_SUCCESS) {
		size_t sealed_len;
		const uint8_t *sealed = safe_output(&safe, &sealed_len);

		printf("sealed: ");
		for (size_t i = 0; i < sealed_len; i++)
			printf("%02x", sealed[i]);
		printf("\n");
	}
	safe_close(&safe);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
