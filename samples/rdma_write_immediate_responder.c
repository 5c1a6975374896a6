/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets rdma_write_immediate_requester write into its memory; the write's immediate data completes a receive. */
#include <arpa/inet.h>
#include <stdio.h>

#include "rdma_side.h"

static void received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	if (doca_rdma_task_receive_get_result_opcode(task) == DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM)
		printf("immediate: %u\n", ntohl(doca_rdma_task_receive_get_result_immediate_data(task)));
	else
		((struct side *)side.ptr)->status = sample_failed("what the peer did", DOCA_ERROR_UNEXPECTED);
	side_task_ended(side, doca_rdma_task_receive_as_task(task));
}

static void receive_failed(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_receive_as_task(task));
}

static doca_error_t configure(struct side *side)
{
	return doca_rdma_task_receive_set_conf(side->rdma, received, receive_failed, 1);
}

/* The receive needs no buffer: the requester chooses the destination. */
static doca_error_t work(struct side *side)
{
	const union doca_data none = {0};
	struct doca_rdma_task_receive *task;
	doca_error_t status = doca_rdma_task_receive_allocate_init(side->rdma, NULL, none, &task);

	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = side_run(side, doca_rdma_task_receive_as_task(task));
	if (status == DOCA_SUCCESS)
		side_print("the requester has written", side->memory, TEXT_MAX);
	return status;
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_write_immediate_responder",
		.peer = "rdma_write_immediate_requester",
		.listens = true,
		.options = OPTION_RESOURCE,
		.supports = doca_rdma_cap_task_receive_is_supported,
		.permissions = DOCA_ACCESS_FLAG_RDMA_WRITE,
		.configure = configure,
		.export = side_export_memory,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
