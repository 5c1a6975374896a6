/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a text into the memory of rdma_write_responder, without any action of that program. */
#include <stdio.h>
#include <string.h>

#include "rdma_side.h"

static void write_ended(struct doca_rdma_task_write *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_write_as_task(task));
}

static doca_error_t configure(struct side *side)
{
	return doca_rdma_task_write_set_conf(side->rdma, write_ended, write_ended, 1);
}

static doca_error_t work(struct side *side)
{
	const union doca_data none = {0};
	struct doca_rdma_task_write *task;
	struct doca_buf *src, *dst;
	doca_error_t status;

	snprintf(side->memory, TEXT_MAX, "%s", side->options.string);
	status = side_data(side, 0, strlen(side->memory) + 1, &src);
	if (status == DOCA_SUCCESS)
		status = side_remote_room(side, TEXT_MAX, &dst);
	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_write_allocate_init(side->rdma, side->connections[0], src, dst, none, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = side_run(side, doca_rdma_task_write_as_task(task));
	if (status == DOCA_SUCCESS)
		side_print("written to the responder", side->memory, TEXT_MAX);
	return status;
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_write_requester",
		.peer = "rdma_write_responder",
		.options = OPTION_RESOURCE | OPTION_WRITE_STRING,
		.supports = doca_rdma_cap_task_write_is_supported,
		.configure = configure,
		.import = side_import_memory,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
