/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/completion.h"

#include "core/submit.h"
#include "rdma/rdma.h"
#include "rdma/request.h"

#define likely(condition) __builtin_expect(!!(condition), 1)

void rdma_task_end_later(struct doca_rdma *rdma, struct doca_task *task, doca_error_t status)
{
	task->status = status;
	task->next = NULL;
	if (rdma->ended_last != NULL)
		rdma->ended_last->next = task;
	else
		rdma->ended = task;
	rdma->ended_last = task;
}

void rdma_request_settle(struct rdma_request *request)
{
	const struct rdma_verb *verb = rdma_request_verb(request);
	enum sf_op_kind kind = verb->kind;

	request->result_len = (uint32_t)request->len;
	if (verb->settle != NULL) {
		verb->settle(request);
	} else if (kind == SF_OP_CAS || kind == SF_OP_FAA) {
		if (request->result->data_len < sizeof(uint64_t))
			request->result->data_len = sizeof(uint64_t);
	} else if (kind == SF_OP_READ || kind == SF_OP_WRITE) {
		if (__builtin_expect(request->dst != NULL && request->len <= sf_buf_tailroom(request->dst), 1))
			request->dst->data_len += request->len;
		else
			sf_reg_grow(request->dst, request->len);
	}
}

static inline void request_settle(struct rdma_request *request)
{
	enum sf_op_kind kind = ((const struct rdma_verb *)request->base.cls)->kind;
	struct doca_buf *dst = request->dst;

	if (likely((kind == SF_OP_READ || kind == SF_OP_WRITE) && dst != NULL && request->len <= sf_buf_tailroom(dst))) {
		request->result_len = (uint32_t)request->len;
		dst->data_len += request->len;
	} else {
		rdma_request_settle(request);
	}
}

uint32_t rdma_completions_run(struct doca_rdma *rdma)
{
	struct doca_task *task = rdma->completed_inline;
	uint32_t ran = 0;

	rdma->completed_inline = NULL; /* completions added by callbacks are for the next call */
	for (struct doca_task *next; task != NULL; task = next, ran++) {
		next = task->next;
		request_settle((struct rdma_request *)task);
		sf_task_end(task, DOCA_SUCCESS);
	}
	return ran;
}
