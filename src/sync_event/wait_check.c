/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_event/wait_check.h"

#include "base/clock.h"
#include "core/stall.h"
#include "validation/validation.h"

static bool value_is_possible(enum sf_event_until until, uint64_t value, uint64_t mask)
{
	switch (until) {
	case SF_EVENT_UNTIL_EQUAL:
		return (value & ~mask) == 0;
	case SF_EVENT_UNTIL_GREATER:
		return value < mask;
	case SF_EVENT_UNTIL_OTHER:
		return mask != 0 || value != 0;
	}
	return true;
}

bool sf_event_wait_check_value(const struct doca_sync_event *event, enum sf_event_until until, uint64_t value, uint64_t mask,
			       const char *call)
{
	static const char *const words[] = {
		[SF_EVENT_UNTIL_EQUAL] = "equal to",
		[SF_EVENT_UNTIL_OTHER] = "other than",
		[SF_EVENT_UNTIL_GREATER] = "greater than",
	};

	if (value_is_possible(until, value, mask))
		return false;
	SF_BROKEN(EVENT_001, event, call, "no value under mask 0x%llx is %s 0x%llx", (unsigned long long)mask, words[until],
		  (unsigned long long)value);
	return true;
}

/* Its publisher is another process, which has no way to reach it. */
static bool is_out_of_reach(const struct doca_sync_event *event)
{
	if (event->publisher.location != SF_EVENT_AT_REMOTE_PCI && event->publisher.location != SF_EVENT_AT_REMOTE_NET)
		return false;
	for (int i = 0; i < SF_EVENT_EXPORTS; i++) {
		if (event->exports[i].bytes != NULL)
			return false;
	}
	return event->imported_by == NULL;
}

void sf_event_wait_check_publisher(const struct doca_sync_event *event, struct sf_event_waiting *waiting, const char *call)
{
	uint64_t now_ns = sf_now_ns();
	bool is_wrong;

	if (waiting->begin_ns == 0)
		waiting->begin_ns = now_ns;
	if (waiting->is_reported || !is_out_of_reach(event))
		return;
	uint64_t limit_ns = UINT64_C(1000000) * sf_stall_limit_ms(&is_wrong), waited_ns = now_ns - waiting->begin_ns;
	if (limit_ns == 0 || waited_ns < limit_ns)
		return;
	waiting->is_reported = true;
	SF_BROKEN(EVENT_001, event, call,
		  "it has waited for %llu.%llu s; its publisher is remote, and the event was not exported",
		  (unsigned long long)(waited_ns / 1000000000), (unsigned long long)(waited_ns / 100000000 % 10));
}
