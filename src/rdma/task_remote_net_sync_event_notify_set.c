/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that sets a remote sync event. */
#include <string.h>

#include "base/log.h"
#include "rdma/operands.h"
#include "rdma/rdma.h"
#include "rdma/remote_event.h"
#include "rdma/request.h"

struct doca_rdma_task_remote_net_sync_event_notify_set {
	struct rdma_request request;
};

/* Reads the value immediately: a list of pieces would mean several stores. */
static doca_error_t notify_set_resolve(struct rdma_request *request)
{
	struct doca_rdma *rdma = (struct doca_rdma *)request->base.ctx;
	uint8_t *to = (uint8_t *)&request->value;
	struct sf_reg_list list;
	doca_error_t result = rdma_remote_event_resolve(request);

	if (result != DOCA_SUCCESS)
		return result;
	if (request->src == NULL)
		return rdma_request_missing(request, "source");
	result = sf_reg_source(&rdma->reg_cache, request->src, &list);
	if (result == DOCA_SUCCESS)
		result = rdma_request_set_list(request, &list);
	if (result != DOCA_SUCCESS)
		return result;
	if (list.len != sizeof(request->value)) {
		SF_LOG_ERR("%s: the source has %llu bytes: give the 8 of a sync event's value", request->base.cls->name,
			   (unsigned long long)list.len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (uint32_t i = 0; i < list.num; to += list.pieces[i].len, i++)
		memcpy(to, list.pieces[i].addr, list.pieces[i].len);
	rdma_remote_event_land(request);
	return DOCA_SUCCESS;
}

static const struct rdma_verb verb = {
	.cls = {.extent = sizeof(struct rdma_verb),
		.inspect = rdma_request_inspect,
		.name = "rdma set of a remote sync event",
		.size = sizeof(struct doca_rdma_task_remote_net_sync_event_notify_set),
		.submit = rdma_remote_event_submit},
	.kind = SF_OP_WRITE,
	.immediate = false,
	.need = DOCA_ACCESS_FLAG_RDMA_WRITE,
	.resolve = notify_set_resolve,
	.settle = rdma_remote_event_ring,
};

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return rdma_pool_configure(rdma, RDMA_POOL_EVENT_SET, &verb.cls, (doca_task_completion_cb_t)successful_task_completion_cb,
				   (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	const struct doca_buf *src_buf, union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	struct rdma_request *request;
	doca_error_t result = rdma_request_alloc(rdma, RDMA_POOL_EVENT_SET, rdma_connection, user_data, task, &request);

	if (result != DOCA_SUCCESS)
		return result;
	request->event = event;
	request->src = src_buf;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_set *)request;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_set_as_task(struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return task != NULL ? &task->request.base : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
								    struct doca_sync_event_remote_net *event)
{
	if (task != NULL)
		task->request.event = event;
}

struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return task != NULL ? (struct doca_sync_event_remote_net *)task->request.event : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
								 const struct doca_buf *src_buf)
{
	if (task != NULL)
		task->request.src = src_buf;
}

const struct doca_buf *
doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return task != NULL ? task->request.src : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_rdma_connection *rdma_connection)
{
	if (task != NULL)
		task->request.connection = rdma_connection;
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return task != NULL ? task->request.connection : NULL;
}
