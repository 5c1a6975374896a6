/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over a program's own rdma_cm_id, which only a provider built on rdma-core can use: on others the device has no
 * protection domain for the id.
 */
#include "base/log.h"
#include "core/dev.h"
#include "fabric/bridge.h"
#include "rdma/check.h"
#include "rdma/rdma.h"

static doca_error_t check_bridge(struct doca_rdma *rdma, const char *what)
{
	struct sf_domain *domain;
	struct ibv_pd *pd;
	doca_error_t result = sf_dev_domain(rdma->dev, &domain);

	if (result == DOCA_SUCCESS)
		result = sf_domain_pd(domain, &pd);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("rdma bridge: %s needs a real RDMA device, %s is a software one: use doca_rdma_start_listen_to_port",
			   what, sf_dev_desc(rdma->dev)->key);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	SF_LOG_ERR("rdma bridge: %s is not there for %s", what, sf_dev_desc(rdma->dev)->key);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
						 struct doca_rdma_connection **rdma_connection)
{
	if (rdma == NULL || cm_id == NULL || rdma_connection == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : cm_id == NULL ? "cm_id" : "rdma_connection");
	doca_error_t result = rdma_check_started(rdma, "bridge");
	return result == DOCA_SUCCESS ? check_bridge(rdma, "to prepare a connection") : result;
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data, uint8_t private_data_len,
				     struct doca_rdma_connection *rdma_connection)
{
	if (rdma == NULL || rdma_connection == NULL || (private_data == NULL && private_data_len != 0))
		return rdma_check_given(NULL, rdma == NULL		? "rdma"
					      : rdma_connection == NULL ? "rdma_connection"
									: "private_data");
	doca_error_t result = rdma_check_started(rdma, "bridge");
	return result == DOCA_SUCCESS ? check_bridge(rdma, "to accept a connection") : result;
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection)
{
	if (rdma == NULL || rdma_connection == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "rdma_connection");
	return check_bridge(rdma, "to establish a connection");
}
