/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA jobs: each slot is a memcpy task. */
#include <stdlib.h>

#include "dma/overwrite.h"
#include "legacy/dma.h"
#include "legacy/for_1_5.h"
#include "legacy/workq.h"

#define DMA_SLOTS_MAX LEGACY_DEPTH_MAX

struct legacy_dma {
	struct legacy_ctx ctx;
	bool overwrites;
};

static doca_error_t dma_open(struct legacy_lane *lane)
{
	struct doca_dma *dma;
	doca_error_t result = doca_dma_create(lane->ctx->dev, &dma);

	if (result != DOCA_SUCCESS)
		return result;
	if (((struct legacy_dma *)lane->ctx)->overwrites)
		sf_dma_overwrite(dma);
	result = doca_pe_connect_ctx(lane->pe, doca_dma_as_ctx(dma));
	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(dma, (doca_dma_task_memcpy_completion_cb_t)legacy_task_ended,
						       (doca_dma_task_memcpy_completion_cb_t)legacy_task_ended, lane->num_slots);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(doca_dma_as_ctx(dma));
	if (result != DOCA_SUCCESS)
		doca_dma_destroy(dma);
	lane->object = dma;
	return result;
}

static void dma_close(struct legacy_lane *lane)
{
	legacy_ctx_end(lane->pe, doca_dma_as_ctx(lane->object));
	doca_dma_destroy(lane->object);
}

static doca_error_t dma_slot_init(struct legacy_lane *lane, struct legacy_slot *slot)
{
	struct doca_dma_task_memcpy *task;
	doca_error_t result = doca_dma_task_memcpy_alloc_init(lane->object, NULL, NULL, (union doca_data){.ptr = slot}, &task);

	if (result == DOCA_SUCCESS)
		slot->task = slot->tasks[0] = doca_dma_task_memcpy_as_task(task);
	return result;
}

doca_error_t legacy_dma_missing_buf(const struct doca_dma_job_memcpy *job)
{
	SF_LOG_ERR("the DMA job has no %s", job->src_buff == NULL ? "source" : "destination");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t dma_load(struct legacy_slot *slot, const struct doca_job *job)
{
	return legacy_dma_load(slot, (const struct doca_dma_job_memcpy *)job);
}

static const struct legacy_ctx_ops dma_ops = {
	.name = "DMA",
	.first_type = DOCA_DMA_JOB_MEMCPY,
	.last_type = DOCA_DMA_JOB_MEMCPY,
	.slots_max = DMA_SLOTS_MAX,
	.needs_dev = true,
	.check_dev = doca_dma_cap_task_memcpy_is_supported,
	.open = dma_open,
	.close = dma_close,
	.slot_init = dma_slot_init,
	.load = dma_load,
};

LEGACY_API doca_error_t doca_2_2_dma_create(struct legacy_dma **dma)
{
	doca_error_t result = legacy_check("doca_dma_create", dma, dma);
	struct legacy_dma *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a DMA context");
		return DOCA_ERROR_NO_MEMORY;
	}
	legacy_ctx_init(&created->ctx, &dma_ops);
	*dma = created;
	return DOCA_SUCCESS;
}

doca_error_t sf_legacy_dma_create_overwriting(struct legacy_dma **dma)
{
	doca_error_t result = doca_2_2_dma_create(dma);

	if (result == DOCA_SUCCESS)
		(*dma)->overwrites = true;
	return result;
}

LEGACY_API doca_error_t doca_2_2_dma_destroy(struct legacy_dma *dma)
{
	doca_error_t result = legacy_check("doca_dma_destroy", dma, dma);

	if (result == DOCA_SUCCESS)
		result = legacy_ctx_fini(&dma->ctx);
	if (result == DOCA_SUCCESS)
		free(dma);
	return result;
}

LEGACY_API doca_error_t doca_2_2_dma_job_get_supported(const struct doca_devinfo *devinfo, enum doca_dma_job_types job_type)
{
	doca_error_t result = legacy_check("doca_dma_job_get_supported", devinfo, devinfo);

	if (result == DOCA_SUCCESS && job_type != DOCA_DMA_JOB_MEMCPY) {
		SF_LOG_ERR("doca_dma_job_get_supported: 0x%x is not a DMA job", (unsigned int)job_type);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	return result == DOCA_SUCCESS ? doca_dma_cap_task_memcpy_is_supported(devinfo) : result;
}
