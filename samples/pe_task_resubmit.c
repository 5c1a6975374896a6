/* SPDX-License-Identifier: BSD-3-Clause */
/* A few tasks that make many copies: each callback sets new buffers and submits its task again, without allocation. */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

#define NUM_TASKS 4

struct work {
	struct desk desk;
	int next_slot; /* the first that no task has copied yet */
	int num_ended;
	bool all_ended;
	doca_error_t status;
};

/* Submits the task again for the next slot. */
static doca_error_t go_on(struct work *work, struct doca_dma_task_memcpy *task)
{
	struct doca_buf *source, *destination;
	doca_error_t status = desk_bufs(&work->desk, work->next_slot, SLOT_BYTES, &source, &destination);

	if (status != DOCA_SUCCESS)
		return status;
	work->next_slot++;
	doca_buf_dec_refcount((struct doca_buf *)doca_dma_task_memcpy_get_src(task), NULL);
	doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
	doca_dma_task_memcpy_set_src(task, source);
	doca_dma_task_memcpy_set_dst(task, destination);
	return doca_task_submit(doca_dma_task_memcpy_as_task(task));
}

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct work *work = ctx_user_data.ptr;

	(void)task_user_data;
	work->all_ended = ++work->num_ended == NUM_SLOTS;
	if (work->next_slot < NUM_SLOTS)
		work->status = go_on(work, task);
	else
		desk_task_free(task);
	if (work->status != DOCA_SUCCESS)
		work->all_ended = true;
}

static doca_error_t run(struct work *work, struct doca_dma *dma)
{
	doca_error_t status = doca_ctx_start(doca_dma_as_ctx(dma));

	while (work->next_slot < NUM_TASKS && status == DOCA_SUCCESS)
		status = desk_submit(&work->desk, dma, work->next_slot++, SLOT_BYTES);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(work->desk.pe, &work->all_ended);
	if (status == DOCA_SUCCESS)
		status = work->status;
	if (status == DOCA_SUCCESS)
		printf("%d tasks made %d copies\n", NUM_TASKS, desk_num_copied(&work->desk));
	return status == DOCA_SUCCESS ? status : sample_failed("run", status);
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct work work = {.status = DOCA_SUCCESS};
	struct doca_dma *dma = NULL;
	doca_error_t status = desk_open(&work.desk);

	if (status == DOCA_SUCCESS)
		status = desk_dma_create(&work.desk, ended, ended, &work, &dma);
	if (status == DOCA_SUCCESS)
		status = run(&work, dma);
	if (status == DOCA_SUCCESS)
		status = desk_dma_destroy(&work.desk, dma);
	desk_close(&work.desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
