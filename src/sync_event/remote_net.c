/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_event/remote_net.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/dev.h"
#include "sync_event/cell.h"
#include "sync_event/import.h"

struct doca_sync_event_remote_net {
	struct doca_dev *dev;
	struct sf_event_import import;
};

void sf_sync_event_remote_net_word(const struct doca_sync_event_remote_net *event, struct sf_region **region, uint64_t *addr)
{
	*region = event->import.word != NULL ? event->import.word : event->import.page;
	*addr = event->import.word_addr;
}

void sf_sync_event_remote_net_ring(const struct doca_sync_event_remote_net *event)
{
	atomic_thread_fence(memory_order_seq_cst); /* orders the change of the word before the doorbell's check */
	if (event->import.mapped != NULL)
		sf_cell_ring(event->import.mapped);
}

doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
							   struct doca_sync_event_remote_net **event)
{
	struct doca_sync_event_remote_net *created;
	doca_error_t result;

	if (dev == NULL || data == NULL || event == NULL) {
		SF_LOG_ERR("%s: %s is NULL", __func__, dev == NULL ? "dev" : data == NULL ? "data" : "event");
		return DOCA_ERROR_INVALID_VALUE;
	}
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a remote sync event");
		return DOCA_ERROR_NO_MEMORY;
	}
	result = sf_event_regions_import(dev, data, sz, SF_EVENT_EXPORT_NET, &created->import);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	sf_dev_hold(dev);
	created->dev = dev;
	*event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	if (event == NULL) {
		SF_LOG_ERR("%s: event is NULL", __func__);
		return DOCA_ERROR_INVALID_VALUE;
	}
	sf_event_regions_close(&event->import);
	sf_dev_release(event->dev);
	free(event);
	return DOCA_SUCCESS;
}

/* ---- handles for DPA and GPU: not supported ---- */

doca_error_t doca_sync_event_remote_net_get_dpa_handle(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
						       doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event)
{
	if (event == NULL || dpa == NULL || dpa_remote_event == NULL) {
		SF_LOG_ERR("%s: %s is NULL", __func__, event == NULL ? "event" : dpa == NULL ? "dpa" : "dpa_remote_event");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("there is no DPA here, so a sync event has no handle for it");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sync_event_remote_net_get_gpu_handle(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
						       doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event)
{
	if (event == NULL || gpu == NULL || gpu_remote_event == NULL) {
		SF_LOG_ERR("%s: %s is NULL", __func__, event == NULL ? "event" : gpu == NULL ? "gpu" : "gpu_remote_event");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("a kernel cannot signal a remote sync event; use the tasks of doca_rdma.h on the CPU");
	return DOCA_ERROR_NOT_SUPPORTED;
}
