/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/check.h"

#include "base/log.h"
#include "rdma/rdma.h"

doca_error_t rdma_check_given(const void *pointer, const char *what)
{
	if (pointer != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma: %s is NULL", what);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t rdma_check_tasks(const struct doca_rdma *rdma)
{
	if (rdma->ctx.gpu == NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma: the instance's data path is on a GPU, where kernels take the place of tasks");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t rdma_check_started(const struct doca_rdma *rdma, const char *what)
{
	if (rdma->ctx.state == DOCA_CTX_STATE_RUNNING || rdma->ctx.state == DOCA_CTX_STATE_STARTING)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma %s: the context is not started: call doca_ctx_start first", what);
	return DOCA_ERROR_BAD_STATE;
}
