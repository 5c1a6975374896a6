/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that reads a remote sync event. */
#include <string.h>

#include "base/log.h"
#include "rdma/operands.h"
#include "rdma/rdma.h"
#include "rdma/remote_event.h"
#include "rdma/request.h"
#include "rdma/submit.h"

struct doca_rdma_task_remote_net_sync_event_get {
	struct rdma_request request;
};

/* In 2.5 the value replaces the data: programs resubmit the task with the same 8 bytes. In the current API it is
 * appended. */
static void drop_data(struct doca_buf *buf)
{
	for (; buf != NULL; buf = buf->next)
		buf->data_len = 0;
}

/* The first piece is the staging word; it is followed by those of the destination, at most 8, until the value arrives. */
static doca_error_t get_resolve(struct rdma_request *request)
{
	struct doca_rdma *rdma = (struct doca_rdma *)request->base.ctx;
	struct sf_reg_list list;
	doca_error_t result = rdma_remote_event_resolve(request);

	if (result != DOCA_SUCCESS)
		return result;
	if (request->dst == NULL)
		return rdma_request_missing(request, "destination");
	if (rdma->one.wanted)
		drop_data(request->dst);
	result = sf_reg_destination(&rdma->reg_cache, request->dst, sizeof(request->value), &list);
	if (result == DOCA_SUCCESS)
		result = rdma_request_set_list(request, &list);
	if (result != DOCA_SUCCESS)
		return result;
	memmove(request->iov + 1, request->iov, list.num * sizeof(request->iov[0]));
	rdma_remote_event_land(request);
	return DOCA_SUCCESS;
}

static void get_land(struct rdma_request *request)
{
	const uint8_t *from = (const uint8_t *)&request->value, *end = from + sizeof(request->value);

	for (const struct sf_iov *to = request->iov + 1; from < end; from += to->len, to++)
		memcpy(to->addr, from, to->len);
}

static void get_settle(struct rdma_request *request)
{
	if (!request->mapped)
		get_land(request);
	sf_reg_grow(request->dst, sizeof(request->value));
}

static const struct rdma_verb verb = {
	.cls = {.extent = sizeof(struct rdma_verb),
		.inspect = rdma_request_inspect,
		.name = "rdma get of a remote sync event",
		.size = sizeof(struct doca_rdma_task_remote_net_sync_event_get),
		.submit = rdma_request_submit},
	.kind = SF_OP_READ,
	.immediate = false,
	.need = DOCA_ACCESS_FLAG_RDMA_READ,
	.resolve = get_resolve,
	.land = get_land,
	.settle = get_settle,
};

doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return rdma_pool_configure(rdma, RDMA_POOL_EVENT_GET, &verb.cls, (doca_task_completion_cb_t)successful_task_completion_cb,
				   (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(struct doca_rdma *rdma,
								    struct doca_rdma_connection *rdma_connection,
								    const struct doca_sync_event_remote_net *event,
								    struct doca_buf *dst_buf, union doca_data user_data,
								    struct doca_rdma_task_remote_net_sync_event_get **task)
{
	struct rdma_request *request;
	doca_error_t result = rdma_request_alloc(rdma, RDMA_POOL_EVENT_GET, rdma_connection, user_data, task, &request);

	if (result != DOCA_SUCCESS)
		return result;
	request->event = event;
	request->dst = dst_buf;
	*task = (struct doca_rdma_task_remote_net_sync_event_get *)request;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return task != NULL ? &task->request.base : NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *task,
							     const struct doca_sync_event_remote_net *event)
{
	if (task != NULL)
		task->request.event = event;
}

const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return task != NULL ? task->request.event : NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(struct doca_rdma_task_remote_net_sync_event_get *task,
							  struct doca_buf *dst_buf)
{
	if (task != NULL)
		task->request.dst = dst_buf;
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_get_get_dst_buf(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return task != NULL ? task->request.dst : NULL;
}

uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return task != NULL ? task->request.result_len : 0;
}

void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(struct doca_rdma_task_remote_net_sync_event_get *task,
								  struct doca_rdma_connection *rdma_connection)
{
	if (task != NULL)
		task->request.connection = rdma_connection;
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return task != NULL ? task->request.connection : NULL;
}
