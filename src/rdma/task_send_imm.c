/* SPDX-License-Identifier: BSD-3-Clause */
/* The send with immediate task's public face. What it does is in submit.c. */
#include "rdma/rdma.h"
#include "rdma/request.h"
#include "rdma/submit.h"

struct doca_rdma_task_send_imm {
	struct rdma_request request;
};

static const struct rdma_verb verb = {
	.cls = {.extent = sizeof(struct rdma_verb),
		.inspect = rdma_request_inspect,
		.name = "rdma send with immediate",
		.size = sizeof(struct doca_rdma_task_send_imm),
		.submit = rdma_request_submit},
	.kind = SF_OP_SEND,
	.immediate = true,
	.need = 0,
};

doca_error_t doca_rdma_task_send_imm_set_conf(struct doca_rdma *rdma,
					      doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
					      doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb,
					      uint32_t num_tasks)
{
	return rdma_pool_configure(rdma, RDMA_POOL_SEND_IMM, &verb.cls, (doca_task_completion_cb_t)successful_task_completion_cb,
				   (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						   const struct doca_buf *src_buf, doca_be32_t immediate_data,
						   union doca_data user_data, struct doca_rdma_task_send_imm **task)
{
	struct rdma_request *request;
	doca_error_t result = rdma_request_alloc(rdma, RDMA_POOL_SEND_IMM, rdma_connection, user_data, task, &request);

	if (result != DOCA_SUCCESS)
		return result;
	request->src = src_buf;
	request->immediate = immediate_data;
	*task = (struct doca_rdma_task_send_imm *)request;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task)
{
	return task != NULL ? &task->request.base : NULL;
}

void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task, const struct doca_buf *src_buf)
{
	if (task != NULL)
		task->request.src = src_buf;
}

const struct doca_buf *doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task)
{
	return task != NULL ? task->request.src : NULL;
}

void doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task, doca_be32_t immediate_data)
{
	if (task != NULL)
		task->request.immediate = immediate_data;
}

doca_be32_t doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task)
{
	return task != NULL ? task->request.immediate : 0;
}

void doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
						 struct doca_rdma_connection *rdma_connection)
{
	if (task != NULL)
		task->request.connection = rdma_connection;
}

const struct doca_rdma_connection *doca_rdma_task_send_imm_get_rdma_connection(const struct doca_rdma_task_send_imm *task)
{
	return task != NULL ? task->request.connection : NULL;
}
