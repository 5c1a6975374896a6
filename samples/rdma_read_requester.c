/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a text from the memory of rdma_read_responder, without any action of that program. */
#include "rdma_side.h"

static void read_ended(struct doca_rdma_task_read *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_read_as_task(task));
}

static doca_error_t configure(struct side *side)
{
	return doca_rdma_task_read_set_conf(side->rdma, read_ended, read_ended, 1);
}

/* A read appends to the destination's data, which is empty. */
static doca_error_t work(struct side *side)
{
	const union doca_data none = {0};
	struct doca_rdma_task_read *task;
	struct doca_buf *src, *dst;
	doca_error_t status = side_remote_data(side, TEXT_MAX, &src);

	if (status == DOCA_SUCCESS)
		status = side_room(side, 0, TEXT_MAX, &dst);
	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_read_allocate_init(side->rdma, side->connections[0], src, dst, none, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = side_run(side, doca_rdma_task_read_as_task(task));
	if (status == DOCA_SUCCESS)
		side_print("read from the responder", side->memory, TEXT_MAX);
	return status;
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_read_requester",
		.peer = "rdma_read_responder",
		.options = OPTION_RESOURCE,
		.supports = doca_rdma_cap_task_read_is_supported,
		.configure = configure,
		.import = side_import_memory,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
