/* SPDX-License-Identifier: BSD-3-Clause */
/* One callback for success and error: both callbacks of a task type have the same signature, and the task's status distinguishes
 * them. */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

static int num_good, num_bad;
static bool all_ended;

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

	(void)ctx_user_data;
	if (status == DOCA_SUCCESS)
		num_good++;
	else
		num_bad++;
	printf("slot %2d: %s\n", (int)task_user_data.u64, doca_error_get_name(status));
	desk_task_free(task);
	all_ended = num_good + num_bad == NUM_SLOTS;
}

static doca_error_t run(struct desk *desk, struct doca_dma *dma)
{
	doca_error_t status = doca_ctx_start(doca_dma_as_ctx(dma));

	for (int slot = 0; slot < NUM_SLOTS && status == DOCA_SUCCESS; slot++)
		status = desk_submit(desk, dma, slot, slot == NUM_SLOTS - 1 ? 0 : SLOT_BYTES);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &all_ended);
	if (status == DOCA_SUCCESS)
		printf("one function saw %d good ends and %d bad\n", num_good, num_bad);
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
	return status == DOCA_SUCCESS && num_good + num_bad == NUM_SLOTS ? EXIT_SUCCESS : EXIT_FAILURE;
}
