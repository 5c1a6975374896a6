/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_gpu_verbs_*: a GPU that drives a NIC's queue pairs itself. No NIC here supports that. */
#include <doca_gpunetio.h>

#include "base/log.h"

static doca_error_t not_supported(const char *function, int valid)
{
	if (!valid) {
		SF_LOG_ERR("%s: an argument is null", function);
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("%s: no device here supports verbs queue pairs on a gpu; use comch or host-side rdma", function);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_gpu_verbs_export_qp(struct doca_gpu *gpu_dev, struct doca_dev *dev, struct doca_verbs_qp *qp,
				      enum doca_gpu_dev_verbs_nic_handler nic_handler, void *gpu_qp_umem_dev_ptr,
				      struct doca_verbs_cq *cq_sq, struct doca_verbs_cq *cq_rq, struct doca_gpu_verbs_qp **qp_out)
{
	return not_supported(__func__, gpu_dev != NULL && dev != NULL && qp != NULL && qp_out != NULL);
}

doca_error_t doca_gpu_verbs_get_qp_dev(struct doca_gpu_verbs_qp *qp, struct doca_gpu_dev_verbs_qp **qp_gpu)
{
	return not_supported(__func__, qp != NULL && qp_gpu != NULL);
}

doca_error_t doca_gpu_verbs_unexport_qp(struct doca_gpu *gpu_dev, struct doca_gpu_verbs_qp *qp)
{
	return not_supported(__func__, gpu_dev != NULL && qp != NULL);
}

doca_error_t doca_gpu_verbs_bridge_export_qp(struct doca_gpu *gpu_dev, uint32_t sq_qpn, void *sq_wqe_addr, uint16_t sq_wqe_num,
					     uint32_t *sq_dbrec, uint64_t *sq_db, size_t uar_size, uint32_t sq_cqn,
					     void *sq_cqe_addr, uint32_t sq_cqe_num, uint32_t *sq_cq_dbrec, uint32_t rq_qpn,
					     void *rq_wqe_addr, uint16_t rq_wqe_num, uint32_t *rq_dbrec, uint32_t rcv_wqe_size,
					     uint32_t rq_cqn, void *rq_cqe_addr, uint32_t rq_cqe_num, uint32_t *rq_cq_dbrec,
					     enum doca_gpu_dev_verbs_nic_handler nic_handler, uint8_t send_dbr_mode_ext,
					     struct doca_gpu_verbs_qp **qp_out)
{
	return not_supported(__func__, gpu_dev != NULL && qp_out != NULL);
}

doca_error_t doca_gpu_verbs_cpu_proxy_enabled(struct doca_gpu_verbs_qp *qp_cpu, uint8_t *enabled)
{
	return not_supported(__func__, qp_cpu != NULL && enabled != NULL);
}

doca_error_t doca_gpu_verbs_cpu_proxy_progress(struct doca_gpu_verbs_qp *qp_cpu)
{
	return not_supported(__func__, qp_cpu != NULL);
}
