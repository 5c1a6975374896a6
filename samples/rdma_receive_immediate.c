/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives a text with immediate data from rdma_send_immediate. */
#include <arpa/inet.h>
#include <stdio.h>

#include "rdma_side.h"

static void received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data side)
{
	struct side *here = side.ptr;

	(void)task_data;
	if (doca_rdma_task_receive_get_result_opcode(task) != DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM)
		here->status = sample_failed("what the peer did", DOCA_ERROR_UNEXPECTED);
	side_print("received from the sender", here->memory, doca_rdma_task_receive_get_result_len(task));
	printf("immediate: %u\n", ntohl(doca_rdma_task_receive_get_result_immediate_data(task)));
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

static doca_error_t work(struct side *side)
{
	const union doca_data none = {0};
	struct doca_rdma_task_receive *task;
	struct doca_buf *dst;
	doca_error_t status = side_room(side, 0, TEXT_MAX, &dst);

	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_receive_allocate_init(side->rdma, dst, none, &task);
	return status == DOCA_SUCCESS ? side_run(side, doca_rdma_task_receive_as_task(task)) : sample_failed("task", status);
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_receive_immediate",
		.peer = "rdma_send_immediate",
		.listens = true,
		.supports = doca_rdma_cap_task_receive_is_supported,
		.configure = configure,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
