/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event-driven program: main only progresses, callbacks do the rest. When the context is running, they submit tasks; after
 * the last completion they stop it; when it is idle, they destroy it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

struct program {
	struct desk desk;
	struct doca_dma *dma;
	int num_left;
	bool is_over;
	doca_error_t status;
};

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct program *program = ctx_user_data.ptr;

	(void)task_user_data;
	desk_task_free(task);
	if (--program->num_left > 0)
		return;
	printf("all tasks ended: stop\n");
	doca_ctx_stop(doca_dma_as_ctx(program->dma)); /* IN_PROGRESS: this callback has not returned yet */
}

static void on_running(struct program *program)
{
	struct doca_dma_task_memcpy *task;

	printf("running: submit %d tasks\n", NUM_SLOTS);
	for (int slot = 0; slot < NUM_SLOTS && program->status == DOCA_SUCCESS; slot++) {
		program->status = desk_task(&program->desk, program->dma, slot, SLOT_BYTES, &task);
		if (program->status == DOCA_SUCCESS)
			program->status = doca_task_submit(doca_dma_task_memcpy_as_task(task));
		program->num_left += program->status == DOCA_SUCCESS;
	}
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	struct program *program = user_data.ptr;

	(void)ctx;
	(void)prev;
	if (next == DOCA_CTX_STATE_RUNNING)
		on_running(program);
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	printf("idle: destroy\n");
	doca_dma_destroy(program->dma);
	program->is_over = true;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct program program = {.status = DOCA_SUCCESS};
	doca_error_t status = desk_open(&program.desk);

	if (status == DOCA_SUCCESS)
		status = desk_dma_create(&program.desk, ended, ended, &program, &program.dma);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_state_changed_cb(doca_dma_as_ctx(program.dma), state_changed);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_dma_as_ctx(program.dma));
	if (status == DOCA_SUCCESS)
		status = program.status;
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(program.desk.pe, &program.is_over);
	if (status == DOCA_SUCCESS)
		printf("%d of %d copies are right\n", desk_num_copied(&program.desk), NUM_SLOTS);
	else
		sample_failed("run", status);
	desk_close(&program.desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
