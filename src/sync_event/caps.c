/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of sync events. */
#include "base/log.h"
#include "core/dev.h"
#include "sync_event/event.h"

static doca_error_t devinfo_check(const struct doca_devinfo *devinfo, const char *function)
{
	if (devinfo != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: devinfo is NULL", function);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Checks that the fabric of this machine's devices has all of caps. */
static doca_error_t fabric_has(const struct doca_devinfo *devinfo, uint32_t caps, const char *function)
{
	doca_error_t result = devinfo_check(devinfo, function);
	const struct sf_fabric_ops *ops;

	if (result != DOCA_SUCCESS)
		return result;
	ops = sf_fabric_of(sf_devinfo_desc(devinfo)->key);
	return ops != NULL && (ops->caps & caps) == caps ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t cap_never(const struct doca_devinfo *devinfo, const char *function)
{
	doca_error_t result = devinfo_check(devinfo, function);

	return result == DOCA_SUCCESS ? DOCA_ERROR_NOT_SUPPORTED : result;
}

/* Another node's page is mapped, or its word is accessed by atomics, which must be atomic against those of the CPU. */
#define PCI_CAPS (SF_CAP_ONE_SIDED | SF_CAP_ATOMIC | SF_CAP_ATOMIC_CPU)
#define NET_CAPS (SF_CAP_ONE_SIDED | SF_CAP_ATOMIC)

doca_error_t doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	return fabric_has(devinfo, PCI_CAPS, __func__);
}

doca_error_t doca_sync_event_cap_remote_net_is_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	return fabric_has(devinfo, NET_CAPS, __func__);
}

doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo)
{
	return fabric_has(devinfo, PCI_CAPS, __func__);
}

doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(const struct doca_devinfo *devinfo)
{
	return fabric_has(devinfo, NET_CAPS, __func__);
}

doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo)
{
	return cap_never(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo)
{
	return devinfo_check(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const struct doca_devinfo *devinfo)
{
	return cap_never(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const struct doca_devinfo *devinfo)
{
	return cap_never(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo_check(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo_check(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo_check(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo_check(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo_check(devinfo, __func__);
}

doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
{
	if (event == NULL || dpa == NULL || dpa_dev_se_handle == NULL) {
		SF_LOG_ERR("%s: %s is NULL", __func__, event == NULL ? "event" : dpa == NULL ? "dpa" : "dpa_dev_se_handle");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("there is no DPA here, so a sync event has no handle for it");
	return DOCA_ERROR_NOT_SUPPORTED;
}
