/* SPDX-License-Identifier: BSD-3-Clause */
/* Several contexts on one progress engine: one loop runs all their callbacks. */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

#define NUM_CONTEXTS 4

static int num_ended[NUM_CONTEXTS];
static int num_left = NUM_SLOTS;
static bool all_ended;

/* The context's user data identifies it. */
static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	++*(int *)ctx_user_data.ptr;
	desk_task_free(task);
	all_ended = --num_left == 0;
}

static doca_error_t run(struct desk *desk, struct doca_dma **dma)
{
	doca_error_t status = DOCA_SUCCESS;

	for (int slot = 0; slot < NUM_SLOTS && status == DOCA_SUCCESS; slot++)
		status = desk_submit(desk, dma[slot % NUM_CONTEXTS], slot, SLOT_BYTES);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &all_ended);
	if (status != DOCA_SUCCESS)
		return sample_failed("run", status);
	for (int i = 0; i < NUM_CONTEXTS; i++)
		printf("context %d ended %d tasks\n", i, num_ended[i]);
	printf("%d of %d copies are right\n", desk_num_copied(desk), NUM_SLOTS);
	return DOCA_SUCCESS;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct desk desk;
	struct doca_dma *dma[NUM_CONTEXTS] = {NULL};
	doca_error_t status = desk_open(&desk);

	for (int i = 0; i < NUM_CONTEXTS && status == DOCA_SUCCESS; i++) {
		status = desk_dma_create(&desk, ended, ended, &num_ended[i], &dma[i]);
		if (status == DOCA_SUCCESS)
			status = doca_ctx_start(doca_dma_as_ctx(dma[i]));
	}
	if (status == DOCA_SUCCESS)
		status = run(&desk, dma);
	for (int i = 0; i < NUM_CONTEXTS && status == DOCA_SUCCESS; i++)
		status = desk_dma_destroy(&desk, dma[i]);
	desk_close(&desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
