/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that uses a connection: its allocation and its completion. Its operands are in operands.c, its submit in
 * submit.c. */
#include "rdma/request.h"

#include <assert.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "mem/buf_checks.h"
#include "rdma/check.h"
#include "rdma/completion.h"
#include "rdma/connection.h"
#include "rdma/operands.h"
#include "rdma/rdma.h"

static struct rdma_request *request_of(struct sf_op *op)
{
	return (struct rdma_request *)(void *)((char *)op - offsetof(struct rdma_request, op));
}

/* Messages and copies of no bytes are allowed. */
void rdma_request_inspect(const struct doca_task *base)
{
	const struct rdma_request *request = (const struct rdma_request *)base;

	sf_buf_check_list(base, request->src);
	sf_buf_check_list(base, request->dst);
	sf_buf_check_list(base, request->result);
}

/* The local operand is another process's memory: checks that the owner still has it, and writes the data there. */
static __attribute__((noinline)) doca_error_t request_copy_back(struct rdma_request *request)
{
	const struct rdma_verb *verb = rdma_request_verb(request);
	struct sf_reg_cache *cache = &rdma_request_rdma(request)->reg_cache;
	doca_error_t result = sf_reg_check_mapped(cache, rdma_request_local(request));

	if (result != DOCA_SUCCESS)
		return result;
	if (verb->land != NULL)
		verb->land(request);
	if (verb->kind == SF_OP_READ)
		return sf_reg_copy_back(cache, request->dst, request->len);
	if (verb->kind == SF_OP_CAS || verb->kind == SF_OP_FAA)
		return sf_reg_copy_back_at(cache, request->result->mmap, request->result->data, sizeof(uint64_t));
	return DOCA_SUCCESS;
}

static void request_done(struct sf_op *op)
{
	struct rdma_request *request = request_of(op);
	struct doca_rdma_connection *connection = request->connection;
	doca_error_t status = op->status;

	if (__builtin_expect(connection->rdma->completed_inline != NULL, 0)) /* inline completions of this connection are older */
		(void)rdma_completions_run(connection->rdma);
	assert(connection->num_out > 0);
	connection->num_out--;
	if (__builtin_expect(request->mapped, 0) && status == DOCA_SUCCESS && request_copy_back(request) != DOCA_SUCCESS) {
		status = DOCA_ERROR_IO_FAILED;
		rdma_connection_fail(connection, status);
	} else if (status == DOCA_SUCCESS) {
		rdma_request_settle(request);
	} else if (connection->state == RDMA_CONNECTION_FAILED) {
		status = DOCA_ERROR_BAD_STATE;
	} else {
		SF_LOG_ERR_LIMITED("%s on connection %u: %s, while the task was in flight", request->base.cls->name,
				   connection->id,
				   request->event != NULL ? "the sync event's owner has stopped it, or is gone"
							  : "the peer is gone, or ended the export of its memory");
		rdma_connection_fail(connection, status);
	}
	sf_task_complete(&request->base, status);
}

doca_error_t rdma_request_alloc(struct doca_rdma *rdma, enum rdma_pool pool, struct doca_rdma_connection *connection,
				union doca_data user_data, const void *place, struct rdma_request **request)
{
	struct doca_task *base;

	if (rdma == NULL || connection == NULL || place == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : connection == NULL ? "rdma_connection" : "task");
	doca_error_t result = rdma_check_tasks(rdma);
	if (result == DOCA_SUCCESS)
		result = sf_task_alloc(&rdma->ctx, &rdma->pools[pool], &base);
	if (result != DOCA_SUCCESS)
		return result;
	struct rdma_request *taken = (struct rdma_request *)base;
	base->user_data = user_data;
	taken->connection = connection;
	taken->src = NULL;
	taken->dst = taken->result = NULL;
	taken->local_reg = taken->remote_reg = rdma->reg_cache.slot;
	taken->event = NULL;
	taken->immediate = 0;
	taken->compare = taken->value = 0;
	taken->result_len = 0;
	taken->op.done = request_done;
	taken->op.iov = taken->iov;
	taken->op.header = taken->header;
	*request = taken;
	return DOCA_SUCCESS;
}

doca_error_t rdma_pool_configure(struct doca_rdma *rdma, enum rdma_pool pool, const struct sf_task_class *cls,
				 doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks)
{
	if (rdma == NULL)
		return rdma_check_given(NULL, "rdma");
	return sf_task_pool_configure(&rdma->ctx, &rdma->pools[pool], cls, completed, failed, num_tasks, RDMA_TASKS_MAX);
}
