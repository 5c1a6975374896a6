/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stops a context while its tasks are in flight: doca_ctx_stop returns IN_PROGRESS, each remaining task completes through the
 * error callback, and IDLE follows once all of them are freed. Here a task's callback calls stop.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

#define STOP_AFTER 4

static int num_copied, num_flushed;
static bool is_idle;

static const char *name_of(enum doca_ctx_states state)
{
	static const char *const names[] = {"idle", "starting", "running", "stopping"};

	return names[state];
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	(void)user_data;
	(void)ctx;
	printf("the context was %s and is %s\n", name_of(prev), name_of(next));
	is_idle = next == DOCA_CTX_STATE_IDLE;
}

static void completed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct doca_ctx *ctx = doca_task_get_ctx(doca_dma_task_memcpy_as_task(task));

	(void)task_user_data;
	(void)ctx_user_data;
	desk_task_free(task);
	if (++num_copied == STOP_AFTER)
		printf("stop: %s\n", doca_error_get_name(doca_ctx_stop(ctx)));
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	desk_task_free(task);
	num_flushed++;
}

static doca_error_t run(struct desk *desk, struct doca_dma *dma)
{
	doca_error_t status = doca_ctx_set_state_changed_cb(doca_dma_as_ctx(dma), state_changed);

	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_dma_as_ctx(dma));
	for (int slot = 0; slot < NUM_SLOTS && status == DOCA_SUCCESS; slot++)
		status = desk_submit(desk, dma, slot, SLOT_BYTES);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &is_idle);
	if (status != DOCA_SUCCESS)
		return sample_failed("run", status);
	printf("%d tasks copied, %d were flushed\n", num_copied, num_flushed);
	printf("%d of %d tasks came back\n", num_copied + num_flushed, NUM_SLOTS);
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
