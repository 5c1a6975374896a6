/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of a process that are in flight at a moment of its timeline, by their addresses: an operation or a receive that lies
 * inside a task is the task's. */
#ifndef TOOL_TRACE_INFLIGHT_H
#define TOOL_TRACE_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflight_task {
	uint64_t address, size;
	uint64_t flow; /* of the message that it sends, or that filled it */
	size_t submit; /* the place of its submit among the events */
	uint32_t lane;
	uint64_t track, begin_ns;
	bool may_wait; /* for ever */
};

struct inflight {
	struct inflight_task *all; /* by address */
	size_t num, room;
};

/* Returns the task, zeroed but for address and size; NULL: no memory. One that was there at this address is replaced: look first.
 */
struct inflight_task *inflight_add(struct inflight *list, uint64_t address, uint64_t size);
/* The task that holds the address; NULL: none does. Valid until the list changes. */
struct inflight_task *inflight_find(const struct inflight *list, uint64_t address);
/* The task at the address; NULL: none is. */
struct inflight_task *inflight_at(const struct inflight *list, uint64_t address);
void inflight_remove(struct inflight *list, struct inflight_task *task);
void inflight_fini(struct inflight *list);

#endif
