/* SPDX-License-Identifier: BSD-3-Clause */
/* What the validation layer checks of waits: that something can end them. */
#ifndef SF_SYNC_EVENT_WAIT_CHECK_H
#define SF_SYNC_EVENT_WAIT_CHECK_H

#include "sync_event/event.h"

/* Reports a wait for a value that the mask excludes. Returns whether it did. */
bool sf_event_wait_check_value(const struct doca_sync_event *event, enum sf_event_until until, uint64_t value, uint64_t mask,
			       const char *call);

/* Reports, once per wait and after SOFTFIELD_STALL_MS, that no other process can change the event. Called while a wait lasts; the
 * first call begins the time. */
void sf_event_wait_check_publisher(const struct doca_sync_event *event, struct sf_event_waiting *waiting, const char *call);

#endif
