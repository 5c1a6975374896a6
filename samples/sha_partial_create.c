/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the digest of a message in pieces: one task, submitted once for each. All pieces but the last are whole blocks.
 * Usage: sha_partial_create [TEXT], longer than a block of 64 bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_ctx.h>

#include "arguments.h"
#include "common.h"
#include "sha_common.h"

static void ended(struct doca_sha_task_partial_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct desk *desk = ctx_user_data.ptr;

	(void)task_user_data;
	desk->status = doca_task_get_status(doca_sha_task_partial_hash_as_task(task));
	desk->ended = true;
}

static doca_error_t digest_pieces(struct desk *desk, struct doca_sha_task_partial_hash *task, size_t block)
{
	size_t len = strlen(desk->memory);
	doca_error_t status = DOCA_SUCCESS;
	int num = 0;

	for (size_t at = 0; at < len && status == DOCA_SUCCESS; at += block, num++) {
		bool is_last = len - at <= block;

		status = doca_buf_set_data(desk->message, desk->memory + at, is_last ? len - at : block);
		if (status == DOCA_SUCCESS)
			status = doca_sha_task_partial_hash_set_src(task, desk->message);
		if (status == DOCA_SUCCESS && is_last)
			status = doca_sha_task_partial_hash_set_is_final_buf(task);
		if (status == DOCA_SUCCESS)
			status = desk_run(desk, doca_sha_task_partial_hash_as_task(task));
	}
	if (status == DOCA_SUCCESS && doca_sha_task_partial_hash_get_has_result(task)) {
		printf("%d pieces\n", num);
		desk_print_digest(desk, "SHA-256");
	}
	return status;
}

static doca_error_t run(struct desk *desk)
{
	union doca_data user_data = {.u64 = 0};
	struct doca_sha_task_partial_hash *task;
	uint32_t block;
	doca_error_t status =
		doca_sha_cap_get_partial_hash_block_size(doca_dev_as_devinfo(desk->dev), DOCA_SHA_ALGORITHM_SHA256, &block);

	if (status == DOCA_SUCCESS && strlen(desk->memory) <= block)
		status = DOCA_ERROR_INVALID_VALUE; /* a single piece needs a hash task instead */
	if (status == DOCA_SUCCESS)
		status = doca_sha_task_partial_hash_set_conf(desk->sha, ended, ended, 0);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_sha_as_ctx(desk->sha));
	if (status == DOCA_SUCCESS)
		status = doca_sha_task_partial_hash_alloc_init(desk->sha, DOCA_SHA_ALGORITHM_SHA256, desk->message, desk->digest,
							       user_data, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = digest_pieces(desk, task, block);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	return status;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[TEXT]");

	static struct desk desk;
	doca_error_t status = desk_open(
		&desk,
		argc > 1 ? argv[1] : "what is long is best taken piece by piece, for no table is large enough for all at once");

	if (status == DOCA_SUCCESS)
		status = run(&desk);
	desk_close(&desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
