/* SPDX-License-Identifier: BSD-3-Clause */
/* The simplest use of a progress engine: submit tasks, and poll until all have completed. */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

static int num_left = NUM_SLOTS;
static bool all_ended;

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	desk_task_free(task);
	all_ended = --num_left == 0;
}

static doca_error_t run(struct desk *desk, struct doca_dma *dma)
{
	doca_error_t status = doca_ctx_start(doca_dma_as_ctx(dma));

	for (int slot = 0; slot < NUM_SLOTS && status == DOCA_SUCCESS; slot++)
		status = desk_submit(desk, dma, slot, SLOT_BYTES);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &all_ended); /* while (!all_ended) doca_pe_progress(pe) */
	if (status == DOCA_SUCCESS)
		printf("%d of %d copies are right\n", desk_num_copied(desk), NUM_SLOTS);
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
