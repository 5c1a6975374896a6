/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doca_task_try_submit checks the arguments of a task first. A task that doca_task_submit would accept and then fail,
 * together with its context, is rejected instead, and the program can correct it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

static bool has_ended;

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	desk_task_free(task);
	has_ended = true;
}

static doca_error_t run(struct desk *desk, struct doca_dma *dma)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *source;
	doca_error_t status = doca_ctx_start(doca_dma_as_ctx(dma));

	if (status == DOCA_SUCCESS)
		status = desk_task(desk, dma, 0, 0, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("start", status);
	printf("nothing to copy: %s\n", doca_error_get_name(doca_task_try_submit(doca_dma_task_memcpy_as_task(task))));
	source = (struct doca_buf *)doca_dma_task_memcpy_get_src(task);
	doca_buf_dec_refcount(source, NULL);
	status = doca_buf_inventory_buf_get_by_data(desk->inventory, desk->mmap, desk_source(desk, 0), SLOT_BYTES, &source);
	if (status != DOCA_SUCCESS)
		return sample_failed("source buffer", status);
	doca_dma_task_memcpy_set_src(task, source);
	status = doca_task_try_submit(doca_dma_task_memcpy_as_task(task));
	printf("%d bytes to copy: %s\n", SLOT_BYTES, doca_error_get_name(status));
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &has_ended);
	if (status == DOCA_SUCCESS)
		printf("%d copy is right\n", desk_num_copied(desk));
	return status == DOCA_SUCCESS ? status : sample_failed("run", status);
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct desk desk;
	struct doca_dma *dma = NULL;
	doca_error_t status = desk_open(&desk);

	if (status == DOCA_SUCCESS)
		status = desk_dma_create(&desk, ended, ended, NULL, &dma);
	if (status == DOCA_SUCCESS)
		status = run(&desk, dma);
	if (status == DOCA_SUCCESS)
		status = desk_dma_destroy(&desk, dma);
	desk_close(&desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
