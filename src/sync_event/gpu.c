/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that kernels use: the page is mapped for the GPU, and the handle is the word's address. */
#include "core/gpu.h"

#include "base/log.h"
#include "sync_event/event.h"

static struct doca_gpu *gpu_of(const struct doca_sync_event *event)
{
	return event->publisher.gpu != NULL ? event->publisher.gpu : event->subscriber.gpu;
}

doca_error_t sf_event_gpu_map(struct doca_sync_event *event)
{
	struct doca_gpu *gpu = gpu_of(event);
	void *addr;
	doca_error_t result;

	if (gpu == NULL)
		return DOCA_SUCCESS;
	result = gpu->ops->host_map(gpu, event->cell.page, SF_CELL_PAGE_SIZE, &addr);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("the sync event's page cannot be mapped for GPU %s: %s", gpu->pci_addr, doca_error_get_name(result));
		return result;
	}
	event->gpu_word = addr; /* the page begins with the value */
	return DOCA_SUCCESS;
}

void sf_event_gpu_unmap(struct doca_sync_event *event)
{
	struct doca_gpu *gpu = gpu_of(event);

	if (gpu != NULL)
		gpu->ops->host_unmap(gpu, event->cell.page);
	event->gpu_word = NULL;
}

doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **gpu_dev_se)
{
	doca_error_t result = sf_event_check(event, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (gpu == NULL || gpu_dev_se == NULL || gpu != gpu_of(event)) {
		SF_LOG_ERR("%s: %s", __func__,
			   gpu == NULL		? "gpu is NULL"
			   : gpu_dev_se == NULL ? "gpu_dev_se is NULL"
						: "the sync event has no location on this GPU: add one before start");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_event_is_open(event)) {
		SF_LOG_ERR("%s: the sync event is not started", __func__);
		return DOCA_ERROR_BAD_STATE;
	}
	*gpu_dev_se = event->gpu_word;
	return DOCA_SUCCESS;
}
