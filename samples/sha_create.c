/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the digest of a complete message. Usage: sha_create [TEXT] */
#include <stdlib.h>

#include <doca_ctx.h>

#include "arguments.h"
#include "common.h"
#include "sha_common.h"

static void ended(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct desk *desk = ctx_user_data.ptr;

	(void)task_user_data;
	desk->status = doca_task_get_status(doca_sha_task_hash_as_task(task));
	desk->ended = true;
}

static doca_error_t run(struct desk *desk)
{
	union doca_data user_data = {.u64 = 0};
	struct doca_sha_task_hash *task;
	doca_error_t status = doca_sha_task_hash_set_conf(desk->sha, ended, ended, 0); /* 2^0 tasks */

	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_sha_as_ctx(desk->sha));
	if (status == DOCA_SUCCESS)
		status = doca_sha_task_hash_alloc_init(desk->sha, DOCA_SHA_ALGORITHM_SHA256, desk->message, desk->digest,
						       user_data, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = desk_run(desk, doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_hash_as_task(task));
	if (status == DOCA_SUCCESS)
		desk_print_digest(desk, "SHA-256");
	return status;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[TEXT]");

	static struct desk desk;
	doca_error_t status = desk_open(&desk, argc > 1 ? argv[1] : "abc");

	if (status == DOCA_SUCCESS)
		status = run(&desk);
	desk_close(&desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
