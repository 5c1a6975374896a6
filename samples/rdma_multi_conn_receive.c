/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives a text from rdma_multi_conn_send through each of several connections. Receives belong to the instance: the next
 * message of any connection consumes one, and the task has the connection. */
#include <stdio.h>

#include "rdma_side.h"

static void received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data side)
{
	const struct doca_rdma_connection *connection = doca_rdma_task_receive_get_result_rdma_connection(task);
	char what[64];
	uint32_t id;

	if (doca_rdma_connection_get_id(connection, &id) == DOCA_SUCCESS) {
		snprintf(what, sizeof(what), "received by connection %u", id);
		side_print(what, task_data.ptr, doca_rdma_task_receive_get_result_len(task));
	}
	side_task_ended(side, doca_rdma_task_receive_as_task(task));
}

static void receive_failed(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_receive_as_task(task));
}

static doca_error_t configure(struct side *side)
{
	return doca_rdma_task_receive_set_conf(side->rdma, received, receive_failed, CONNECTIONS_MAX);
}

static doca_error_t post(struct side *side, size_t at)
{
	const union doca_data place = {.ptr = side->memory + at};
	struct doca_rdma_task_receive *task;
	struct doca_buf *dst;
	doca_error_t status = side_room(side, at, TEXT_MAX, &dst);

	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_receive_allocate_init(side->rdma, dst, place, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = doca_task_submit(doca_rdma_task_receive_as_task(task));
	if (status == DOCA_SUCCESS)
		return status;
	doca_task_free(doca_rdma_task_receive_as_task(task));
	return sample_failed("submit", status);
}

static doca_error_t work(struct side *side)
{
	doca_error_t status = DOCA_SUCCESS;

	for (uint32_t i = 0; i < side->options.num_connections && status == DOCA_SUCCESS; i++)
		status = post(side, i * TEXT_MAX);
	return status == DOCA_SUCCESS ? side_wait(side, side->options.num_connections) : status;
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_multi_conn_receive",
		.peer = "rdma_multi_conn_send",
		.listens = true,
		.options = OPTION_CONNECTIONS,
		.supports = doca_rdma_cap_task_receive_is_supported,
		.configure = configure,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
