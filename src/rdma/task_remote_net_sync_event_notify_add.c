/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that adds to a remote sync event. */
#include "rdma/operands.h"
#include "rdma/rdma.h"
#include "rdma/remote_event.h"
#include "rdma/request.h"

struct doca_rdma_task_remote_net_sync_event_notify_add {
	struct rdma_request request;
};

static doca_error_t notify_add_resolve(struct rdma_request *request)
{
	doca_error_t result = rdma_remote_event_resolve(request);

	if (result == DOCA_SUCCESS)
		result = rdma_request_set_result(request);
	request->op.value = request->value;
	return result;
}

static void notify_add_settle(struct rdma_request *request)
{
	if (request->result->data_len < sizeof(uint64_t))
		request->result->data_len = sizeof(uint64_t);
	rdma_remote_event_ring(request);
}

static const struct rdma_verb verb = {
	.cls = {.extent = sizeof(struct rdma_verb),
		.inspect = rdma_request_inspect,
		.name = "rdma add to a remote sync event",
		.size = sizeof(struct doca_rdma_task_remote_net_sync_event_notify_add),
		.submit = rdma_remote_event_submit},
	.kind = SF_OP_FAA,
	.immediate = false,
	.need = DOCA_ACCESS_FLAG_RDMA_ATOMIC,
	.resolve = notify_add_resolve,
	.settle = notify_add_settle,
};

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return rdma_pool_configure(rdma, RDMA_POOL_EVENT_ADD, &verb.cls, (doca_task_completion_cb_t)successful_task_completion_cb,
				   (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	struct doca_buf *result_buf, uint64_t add_data, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	struct rdma_request *request;
	doca_error_t result = rdma_request_alloc(rdma, RDMA_POOL_EVENT_ADD, rdma_connection, user_data, task, &request);

	if (result != DOCA_SUCCESS)
		return result;
	request->event = event;
	request->result = result_buf;
	request->value = add_data;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_add *)request;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_add_as_task(struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return task != NULL ? &task->request.base : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								    struct doca_sync_event_remote_net *event)
{
	if (task != NULL)
		task->request.event = event;
}

struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return task != NULL ? (struct doca_sync_event_remote_net *)task->request.event : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								    struct doca_buf *result_buf)
{
	if (task != NULL)
		task->request.result = result_buf;
}

struct doca_buf *
doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return task != NULL ? task->request.result : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								  uint64_t add_data)
{
	if (task != NULL)
		task->request.value = add_data;
}

uint64_t
doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return task != NULL ? task->request.value : 0;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_rdma_connection *rdma_connection)
{
	if (task != NULL)
		task->request.connection = rdma_connection;
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return task != NULL ? task->request.connection : NULL;
}
