/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The effect of a failing task: doca_task_submit accepts a task with an empty source, the task fails, and its context stops
 * by itself. The context becomes IDLE when the program has freed its tasks, and could be started again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

#define BAD_SLOT 5

static int num_copied, num_failed;
static bool is_idle;

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	(void)user_data;
	(void)ctx;
	(void)prev;
	if (next == DOCA_CTX_STATE_STOPPING)
		printf("the context stops, though the program did not stop it\n");
	is_idle = next == DOCA_CTX_STATE_IDLE;
}

static void completed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	num_copied++;
	desk_task_free(task);
}

/* Called for the failing task and for those that its failure flushes. */
static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	num_failed++;
	if (task_user_data.u64 == BAD_SLOT)
		printf("slot %d failed: %s\n", BAD_SLOT,
		       doca_error_get_name(doca_task_get_status(doca_dma_task_memcpy_as_task(task))));
	desk_task_free(task);
}

static doca_error_t run(struct desk *desk, struct doca_dma *dma)
{
	doca_error_t status = doca_ctx_set_state_changed_cb(doca_dma_as_ctx(dma), state_changed);

	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_dma_as_ctx(dma));
	for (int slot = 0; slot < NUM_SLOTS && status == DOCA_SUCCESS; slot++)
		status = desk_submit(desk, dma, slot, slot == BAD_SLOT ? 0 : SLOT_BYTES);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &is_idle);
	if (status != DOCA_SUCCESS)
		return sample_failed("run", status);
	printf("%d of %d tasks came back, and the context is idle\n", num_copied + num_failed, NUM_SLOTS);
	return DOCA_SUCCESS;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct desk desk;
	struct doca_dma *dma = NULL;
	doca_error_t status = desk_open(&desk);

	if (status == DOCA_SUCCESS)
		status = desk_dma_create(&desk, completed, failed, NULL, &dma);
	if (status == DOCA_SUCCESS)
		status = run(&desk, dma);
	if (status == DOCA_SUCCESS)
		status = desk_dma_destroy(&desk, dma);
	desk_close(&desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
