/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends a text with immediate data to rdma_receive_immediate. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "rdma_side.h"

#define IMMEDIATE 32

static void send_ended(struct doca_rdma_task_send_imm *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_send_imm_as_task(task));
}

static doca_error_t configure(struct side *side)
{
	return doca_rdma_task_send_imm_set_conf(side->rdma, send_ended, send_ended, 1);
}

/* Immediate data is not converted: both sides use network byte order. */
static doca_error_t work(struct side *side)
{
	const union doca_data none = {0};
	struct doca_rdma_task_send_imm *task;
	struct doca_buf *src;
	doca_error_t status;

	snprintf(side->memory, TEXT_MAX, "%s", side->options.string);
	status = side_data(side, 0, strlen(side->memory), &src);
	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_send_imm_allocate_init(side->rdma, side->connections[0], src, htonl(IMMEDIATE), none, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	side_print("sending", side->memory, TEXT_MAX);
	return side_run(side, doca_rdma_task_send_imm_as_task(task));
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_send_immediate",
		.peer = "rdma_receive_immediate",
		.options = OPTION_SEND_STRING,
		.supports = doca_rdma_cap_task_send_imm_is_supported,
		.configure = configure,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
