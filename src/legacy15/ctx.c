/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of contexts and queues whose errors or effects differ in the 1.5 API. */
#include <doca_dma.h>

#include "legacy/for_1_5.h"
#include "legacy15/legacy15.h"

#define CAP_HW_OFFLOAD 1U /* DOCA_DMA_CAP_HW_OFFLOAD */

LEGACY15_API doca_error_t doca_1_5_ctx_stop(struct legacy_ctx *ctx)
{
	doca_error_t result = doca_2_2_ctx_stop(ctx);

	return result == DOCA_ERROR_IN_USE ? DOCA_ERROR_NOT_PERMITTED : result;
}

LEGACY15_API doca_error_t doca_1_5_ctx_workq_rm(struct legacy_ctx *ctx, struct doca_workq *workq)
{
	doca_error_t result = doca_2_2_ctx_workq_rm(ctx, workq);

	return result == DOCA_ERROR_IN_USE ? DOCA_ERROR_NOT_PERMITTED : result;
}

LEGACY15_API doca_error_t doca_1_5_workq_set_depth(struct doca_workq *workq, uint32_t depth)
{
	return sf_legacy_workq_set_depth(workq, depth);
}

LEGACY15_API doca_error_t doca_1_5_dma_create(struct legacy_dma **dma)
{
	return sf_legacy_dma_create_overwriting(dma);
}

LEGACY15_API doca_error_t doca_1_5_sha_create(struct legacy_sha **sha)
{
	return sf_legacy_sha_create_overwriting(sha);
}

LEGACY15_API doca_error_t doca_1_5_dma_devinfo_caps_get(const struct doca_devinfo *devinfo, uint32_t *caps)
{
	doca_error_t result = legacy15_check("doca_dma_devinfo_caps_get", devinfo, caps);

	if (result == DOCA_SUCCESS)
		*caps = doca_dma_cap_task_memcpy_is_supported(devinfo) == DOCA_SUCCESS ? CAP_HW_OFFLOAD : 0;
	return result;
}
