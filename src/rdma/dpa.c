/* SPDX-License-Identifier: BSD-3-Clause */
/* The data path on a DPA. No device here has one: doca_ctx_set_datapath_on_dpa fails, so no instance has a handle. */
#include "base/log.h"
#include "rdma/check.h"
#include "rdma/rdma.h"

doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma)
{
	if (rdma == NULL || dpa_rdma == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "dpa_rdma");
	SF_LOG_ERR("rdma: the instance's data path is not on a DPA, and no device here has one (doca_dpa_cap_is_supported)");
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma, struct doca_dpa_completion *dpa_comp)
{
	if (rdma == NULL || dpa_comp == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "dpa_comp");
	doca_error_t result = sf_ctx_check_idle(&rdma->ctx, "doca_rdma_dpa_completion_attach");
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("rdma: no device here has a DPA (doca_dpa_cap_is_supported): tasks complete in doca_pe_progress");
	return DOCA_ERROR_NOT_SUPPORTED;
}
