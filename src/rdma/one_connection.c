/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/one_connection.h"

#include "base/log.h"
#include "rdma/check.h"
#include "rdma/gpu_lock.h"
#include "rdma/rdma.h"

void sf_rdma_one_connection(struct doca_rdma *rdma)
{
	rdma->one.wanted = true;
}

doca_error_t sf_rdma_one_export(struct doca_rdma *rdma, const void **details, size_t *size)
{
	if (rdma == NULL || details == NULL || size == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "an output argument of doca_rdma_export");
	struct rdma_one *one = &rdma->one;
	if (one->connection == NULL || rdma->ctx.state == DOCA_CTX_STATE_IDLE || rdma->ctx.state == DOCA_CTX_STATE_STOPPING) {
		struct doca_rdma_connection *connection;
		doca_error_t result = doca_rdma_export(rdma, &one->details, &one->size, &connection);

		if (result != DOCA_SUCCESS)
			return result;
		one->connection = connection;
	}
	*details = one->details;
	*size = one->size;
	return DOCA_SUCCESS;
}

doca_error_t sf_rdma_one_connect(struct doca_rdma *rdma, const void *details, size_t size)
{
	const void *own;
	size_t own_size;
	doca_error_t result = sf_rdma_one_export(rdma, &own, &own_size);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect(rdma, details, size, rdma->one.connection);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->one.due = rdma->ctx.state == DOCA_CTX_STATE_STARTING;
	rdma_instance_kick(rdma);
	return DOCA_SUCCESS;
}

doca_error_t sf_rdma_one_get(const struct doca_rdma *rdma, const char *function, struct doca_rdma_connection **connection)
{
	if (rdma == NULL)
		return rdma_check_given(NULL, "rdma");
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING || rdma->one.connection == NULL) {
		SF_LOG_ERR("%s: the instance is not connected: doca_rdma_export, doca_rdma_connect, then progress until it runs",
			   function);
		return DOCA_ERROR_BAD_STATE;
	}
	*connection = rdma->one.connection;
	return DOCA_SUCCESS;
}

void rdma_one_run(struct doca_rdma *rdma)
{
	rdma->one.due = false;
	sf_ctx_started(&rdma->ctx);
}
