/* SPDX-License-Identifier: BSD-3-Clause */
/* The write task's public face. What it does is in submit.c. */
#include "rdma/inline_completion.h"
#include "rdma/rdma.h"
#include "rdma/request.h"

struct doca_rdma_task_write {
	struct rdma_request request;
};

static const struct rdma_verb verb = {
	.cls = {.extent = sizeof(struct rdma_verb),
		.inspect = rdma_request_inspect,
		.name = "rdma write",
		.size = sizeof(struct doca_rdma_task_write),
		.submit = rdma_write_submit},
	.kind = SF_OP_WRITE,
	.immediate = false,
	.need = DOCA_ACCESS_FLAG_RDMA_WRITE,
};

doca_error_t doca_rdma_task_write_set_conf(struct doca_rdma *rdma,
					   doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
					   doca_rdma_task_write_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return rdma_pool_configure(rdma, RDMA_POOL_WRITE, &verb.cls, (doca_task_completion_cb_t)successful_task_completion_cb,
				   (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						union doca_data user_data, struct doca_rdma_task_write **task)
{
	struct rdma_request *request;
	doca_error_t result = rdma_request_alloc(rdma, RDMA_POOL_WRITE, rdma_connection, user_data, task, &request);

	if (result != DOCA_SUCCESS)
		return result;
	request->src = src_buf;
	request->dst = dst_buf;
	*task = (struct doca_rdma_task_write *)request;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task)
{
	return task != NULL ? &task->request.base : NULL;
}

void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task, const struct doca_buf *src_buf)
{
	if (task != NULL)
		task->request.src = src_buf;
}

const struct doca_buf *doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task)
{
	return task != NULL ? task->request.src : NULL;
}

void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task, struct doca_buf *dst_buf)
{
	if (task != NULL)
		task->request.dst = dst_buf;
}

struct doca_buf *doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task)
{
	return task != NULL ? task->request.dst : NULL;
}

void doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task, struct doca_rdma_connection *rdma_connection)
{
	if (task != NULL)
		task->request.connection = rdma_connection;
}

const struct doca_rdma_connection *doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task)
{
	return task != NULL ? task->request.connection : NULL;
}
