/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends a text to rdma_multi_conn_receive through each of several connections of one instance. */
#include <stdio.h>
#include <string.h>

#include "rdma_side.h"

static void send_ended(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_send_as_task(task));
}

static doca_error_t configure(struct side *side)
{
	return doca_rdma_task_send_set_conf(side->rdma, send_ended, send_ended, CONNECTIONS_MAX);
}

static doca_error_t send_by(struct side *side, uint32_t connection)
{
	const union doca_data none = {0};
	const size_t at = connection * TEXT_MAX;
	struct doca_rdma_task_send *task;
	struct doca_buf *src;
	doca_error_t status;

	snprintf(side->memory + at, TEXT_MAX, "%s", side->options.string);
	status = side_data(side, at, strlen(side->memory + at), &src);
	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_send_allocate_init(side->rdma, side->connections[connection], src, none, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	printf("sending by connection %u\n", connection);
	status = doca_task_submit(doca_rdma_task_send_as_task(task));
	if (status == DOCA_SUCCESS)
		return status;
	doca_task_free(doca_rdma_task_send_as_task(task));
	return sample_failed("submit", status);
}

static doca_error_t work(struct side *side)
{
	doca_error_t status = DOCA_SUCCESS;

	for (uint32_t i = 0; i < side->options.num_connections && status == DOCA_SUCCESS; i++)
		status = send_by(side, i);
	return status == DOCA_SUCCESS ? side_wait(side, side->options.num_connections) : status;
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_multi_conn_send",
		.peer = "rdma_multi_conn_receive",
		.options = OPTION_SEND_STRING | OPTION_CONNECTIONS,
		.supports = doca_rdma_cap_task_send_is_supported,
		.configure = configure,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
