/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/remote_event.h"

#include "base/log.h"
#include "rdma/operands.h"
#include "rdma/rdma.h"
#include "rdma/request.h"
#include "rdma/submit.h"
#include "sync_event/remote_net.h"

doca_error_t rdma_remote_event_resolve(struct rdma_request *request)
{
	const struct doca_rdma *rdma = (const struct doca_rdma *)request->base.ctx;

	if (request->event == NULL)
		return rdma_request_missing(request, "sync event");
	sf_sync_event_remote_net_word(request->event, &request->op.region, &request->op.remote_addr);
	if (request->op.region->domain == rdma->ep->domain)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the sync event was imported with another device: use the instance's", request->base.cls->name);
	return DOCA_ERROR_INVALID_VALUE;
}

void rdma_remote_event_land(struct rdma_request *request)
{
	request->iov[0] = (struct sf_iov){&request->value, sizeof(request->value)};
	request->op.iov_num = 1;
	request->len = sizeof(request->value);
}

void rdma_remote_event_ring(struct rdma_request *request)
{
	sf_sync_event_remote_net_ring(request->event);
}

doca_error_t rdma_remote_event_submit(struct doca_task *base, uint32_t flags)
{
	doca_error_t result = rdma_request_submit(base, flags);

	if (result == DOCA_SUCCESS)
		rdma_remote_event_ring((struct rdma_request *)base);
	return result;
}
