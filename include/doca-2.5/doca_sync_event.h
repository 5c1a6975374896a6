/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sync_event.h
 * Sync events: today's, with the old names, and a task that waits until the value is greater than a number.
 */
#ifndef DOCA_2_5_SYNC_EVENT_H_
#define DOCA_2_5_SYNC_EVENT_H_

#include "../doca_sync_event.h"
#include <doca_ctx.h>
#include <doca_pe.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dpa;
struct doca_gpu;

/** A task that waits until the event's masked value is greater than a number. Opaque. */
struct doca_sync_event_task_wait_gt;

/** Runs when the wait is over, or has failed. */
typedef void (*doca_sync_event_task_wait_gt_completion_cb_t)(struct doca_sync_event_task_wait_gt *task,
							     union doca_data task_user_data, union doca_data ctx_user_data);

/** Today doca_sync_event_add_publisher_location_remote_pci(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_dpu(struct doca_sync_event *event)
	DOCA_2_5_SYMBOL(doca_sync_event_add_publisher_location_remote_pci);

/** Today doca_sync_event_add_subscriber_location_remote_pci(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_dpu(struct doca_sync_event *event)
	DOCA_2_5_SYMBOL(doca_sync_event_add_subscriber_location_remote_pci);

/** Whether the device supports the task. Every device does. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_gt_is_supported(const struct doca_devinfo *devinfo)
	DOCA_2_5_SYMBOL(doca_sync_event_cap_task_wait_eq_is_supported);

/**
 * Configures the tasks, before the event is started as a context.
 * @param completion_cb runs when the value is greater
 * @param error_cb runs when the wait has failed or was stopped
 * @param num_tasks how many tasks, up to 65536
 * @retval DOCA_ERROR_INVALID_VALUE a wrong number
 * @retval DOCA_ERROR_NOT_PERMITTED started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_gt_set_conf(struct doca_sync_event *event,
						   doca_sync_event_task_wait_gt_completion_cb_t completion_cb,
						   doca_sync_event_task_wait_gt_completion_cb_t error_cb, uint32_t num_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_sync_event_task_wait_gt_set_conf);

/**
 * Allocates a task. Its submit is DOCA_ERROR_INVALID_VALUE when the mask is not 0, or 1, 2, 4 or 8 whole bytes of 0xff.
 * @param event the event, started as a context
 * @param wait_val the number that the value must exceed
 * @param mask the bits of the value to compare
 * @param user_data passed to the callbacks
 * @retval DOCA_ERROR_BAD_STATE not started
 * @retval DOCA_ERROR_NO_MEMORY all are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_gt_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						     union doca_data user_data, struct doca_sync_event_task_wait_gt **task)
	DOCA_2_5_SYMBOL(doca_2_5_sync_event_task_wait_gt_alloc_init);

/** The task for doca_task_submit() and doca_task_free(); NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_gt_as_doca_task(struct doca_sync_event_task_wait_gt *task)
	DOCA_2_5_SYMBOL(doca_2_5_sync_event_task_wait_gt_as_doca_task);

/** Sets the number, while the task is not submitted. */
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_gt_set_wait_val(struct doca_sync_event_task_wait_gt *task, uint64_t wait_val)
	DOCA_2_5_SYMBOL(doca_2_5_sync_event_task_wait_gt_set_wait_val);

/** The number; 0 for NULL. */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_gt_get_wait_val(const struct doca_sync_event_task_wait_gt *task)
	DOCA_2_5_SYMBOL(doca_2_5_sync_event_task_wait_gt_get_wait_val);

/** Sets the mask, while the task is not submitted. */
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_gt_set_mask(struct doca_sync_event_task_wait_gt *task, uint64_t mask)
	DOCA_2_5_SYMBOL(doca_2_5_sync_event_task_wait_gt_set_mask);

/** The mask; 0 for NULL. */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_gt_get_mask(const struct doca_sync_event_task_wait_gt *task)
	DOCA_2_5_SYMBOL(doca_2_5_sync_event_task_wait_gt_get_mask);

/** Today doca_sync_event_export_to_remote_pci(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data, size_t *sz)
	DOCA_2_5_SYMBOL(doca_sync_event_export_to_remote_pci);

/** Today doca_sync_event_cap_is_export_to_remote_pci_supported(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_dpu_supported(const struct doca_devinfo *devinfo)
	DOCA_2_5_SYMBOL(doca_sync_event_cap_is_export_to_remote_pci_supported);

/** Today doca_sync_event_get_dpa_handle(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event, struct doca_dpa *dpa,
					   doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
	DOCA_2_5_SYMBOL(doca_sync_event_get_dpa_handle);

/** Today doca_sync_event_get_gpu_handle(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event, struct doca_gpu *gpu,
					   doca_gpu_dev_sync_event_t **gpu_dev_se)
	DOCA_2_5_SYMBOL(doca_sync_event_get_gpu_handle);

/** Today doca_sync_event_remote_net_get_dpa_handle(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_export_to_dpa(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
						      doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event)
	DOCA_2_5_SYMBOL(doca_sync_event_remote_net_get_dpa_handle);

/** Today doca_sync_event_remote_net_get_gpu_handle(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_export_to_gpu(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
						      doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event)
	DOCA_2_5_SYMBOL(doca_sync_event_remote_net_get_gpu_handle);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_SYNC_EVENT_H_ */
