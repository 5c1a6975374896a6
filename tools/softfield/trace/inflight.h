/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of a process in flight at one time of its timeline, by address: an operation or receive inside a task's memory
 * belongs to the task. */
#ifndef TOOL_TRACE_INFLIGHT_H
#define TOOL_TRACE_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflight_task {
	uint64_t address, size;
	uint64_t flow; /* of the message that it sends or received */
	size_t submit; /* index of its submit among the events */
	uint32_t lane;
	uint64_t track, begin_ns;
	uint32_t state;			/* of a context */
	uint64_t call_ns, call_seen_ns; /* of a context: when the call began that was in it when last seen */
	bool may_wait;			/* without limit */
	bool is_older;			/* began before the timeline */
};

struct inflight {
	struct inflight_task *all; /* sorted by address */
	size_t num, room;
};

/* Returns the task, zeroed but for address and size; NULL: no memory. Replaces a task at the same address. */
struct inflight_task *inflight_add(struct inflight *list, uint64_t address, uint64_t size);
/* Returns the task that contains the address; NULL: none. Valid until the list changes. */
struct inflight_task *inflight_find(const struct inflight *list, uint64_t address);
/* Returns the task at exactly this address; NULL: none. */
struct inflight_task *inflight_at(const struct inflight *list, uint64_t address);
void inflight_remove(struct inflight *list, struct inflight_task *task);
void inflight_fini(struct inflight *list);

#endif
