/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_event/task_wait.h"

#include "base/log.h"
#include "sync_event/mask.h"
#include "sync_event/wait_check.h"

doca_error_t sf_event_wait_validate(const struct doca_task *base)
{
	const struct sf_event_wait *wait = (const struct sf_event_wait *)base;

	if (sf_event_mask_is_valid(wait->mask))
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s task: mask 0x%lx is invalid: use 0, or 1, 2, 4 or 8 whole bytes of 0xff", base->cls->name,
		   (unsigned long)wait->mask);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_event_wait_submit(struct doca_task *base, uint32_t flags)
{
	doca_error_t result = sf_event_wait_validate(base);

	(void)flags;
	if (result == DOCA_SUCCESS)
		sf_event_task_wait((struct sf_event_wait *)base);
	return result;
}

void sf_event_wait_inspect(const struct doca_task *base)
{
	const struct sf_event_wait *wait = (const struct sf_event_wait *)base;
	struct doca_sync_event *event = sf_event_of(base);

	(void)sf_event_wait_check_value(event, wait->until, wait->wait_val, wait->mask, "doca_task_submit");
	if (event->waits == NULL)
		event->waiting = (struct sf_event_waiting){.begin_ns = 0};
}
