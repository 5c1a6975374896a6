/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that wait for a greater value, which DOCA 2.5 has and today's API lacks. The 2.5 header (include/doca-2.5) uses these. */
#ifndef SF_SYNC_EVENT_WAIT_GT_H
#define SF_SYNC_EVENT_WAIT_GT_H

#include <doca_sync_event.h>

#include "base/visibility.h"

struct doca_sync_event_task_wait_gt;

typedef void (*sf_sync_event_wait_gt_cb)(struct doca_sync_event_task_wait_gt *task, union doca_data task_user_data,
					 union doca_data ctx_user_data);

SF_API doca_error_t doca_2_5_sync_event_task_wait_gt_set_conf(struct doca_sync_event *event,
							      sf_sync_event_wait_gt_cb completion_cb,
							      sf_sync_event_wait_gt_cb error_cb, uint32_t num_tasks);
SF_API doca_error_t doca_2_5_sync_event_task_wait_gt_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
								union doca_data user_data,
								struct doca_sync_event_task_wait_gt **task);
SF_API struct doca_task *doca_2_5_sync_event_task_wait_gt_as_doca_task(struct doca_sync_event_task_wait_gt *task);
SF_API void doca_2_5_sync_event_task_wait_gt_set_wait_val(struct doca_sync_event_task_wait_gt *task, uint64_t wait_val);
SF_API uint64_t doca_2_5_sync_event_task_wait_gt_get_wait_val(const struct doca_sync_event_task_wait_gt *task);
SF_API void doca_2_5_sync_event_task_wait_gt_set_mask(struct doca_sync_event_task_wait_gt *task, uint64_t mask);
SF_API uint64_t doca_2_5_sync_event_task_wait_gt_get_mask(const struct doca_sync_event_task_wait_gt *task);

#endif
