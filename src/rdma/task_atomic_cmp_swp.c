/* SPDX-License-Identifier: BSD-3-Clause */
/* The compare and swap task's public face. What it does is in submit.c. */
#include "rdma/inline_completion.h"
#include "rdma/rdma.h"
#include "rdma/request.h"

struct doca_rdma_task_atomic_cmp_swp {
	struct rdma_request request;
};

static const struct rdma_verb verb = {
	.cls = {.extent = sizeof(struct rdma_verb),
		.inspect = rdma_request_inspect,
		.name = "rdma compare and swap",
		.size = sizeof(struct doca_rdma_task_atomic_cmp_swp),
		.submit = rdma_atomic_submit},
	.kind = SF_OP_CAS,
	.immediate = false,
	.need = DOCA_ACCESS_FLAG_RDMA_ATOMIC,
};

doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(struct doca_rdma *rdma,
						    doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
						    doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb,
						    uint32_t num_tasks)
{
	return rdma_pool_configure(rdma, RDMA_POOL_CMP_SWP, &verb.cls, (doca_task_completion_cb_t)successful_task_completion_cb,
				   (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
							 struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
							 uint64_t swap_data, union doca_data user_data,
							 struct doca_rdma_task_atomic_cmp_swp **task)
{
	struct rdma_request *request;
	doca_error_t result = rdma_request_alloc(rdma, RDMA_POOL_CMP_SWP, rdma_connection, user_data, task, &request);

	if (result != DOCA_SUCCESS)
		return result;
	request->dst = dst_buf;
	request->result = result_buf;
	request->compare = cmp_data;
	request->value = swap_data;
	*task = (struct doca_rdma_task_atomic_cmp_swp *)request;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task)
{
	return task != NULL ? &task->request.base : NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *dst_buf)
{
	if (task != NULL)
		task->request.dst = dst_buf;
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return task != NULL ? task->request.dst : NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *result_buf)
{
	if (task != NULL)
		task->request.result = result_buf;
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return task != NULL ? task->request.result : NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t cmp_data)
{
	if (task != NULL)
		task->request.compare = cmp_data;
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return task != NULL ? task->request.compare : 0;
}

void doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t swap_data)
{
	if (task != NULL)
		task->request.value = swap_data;
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return task != NULL ? task->request.value : 0;
}

void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
						       struct doca_rdma_connection *rdma_connection)
{
	if (task != NULL)
		task->request.connection = rdma_connection;
}

const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return task != NULL ? task->request.connection : NULL;
}
