/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of all processes in order of time, each with its message. */
#ifndef TOOL_TRACE_ORDER_H
#define TOOL_TRACE_ORDER_H

#include "trace/convert.h"

struct trace_item {
	uint64_t ns;
	uint64_t flow; /* of the event itself, or of the message of its task */
	uint32_t process, thread;
	size_t event; /* index in the thread; keeps the thread's order for equal times */
};

struct trace_order {
	const struct trace_process *processes;
	struct trace_item *items;
	size_t num;
};

/* The caller must call trace_order_fini in any case. */
enum trace_result trace_order_init(struct trace_order *order, const struct trace_process *processes, size_t num);
void trace_order_fini(struct trace_order *order);

static inline const struct sf_trace_event *trace_event_of(const struct trace_order *order, const struct trace_item *item)
{
	return &order->processes[item->process].threads[item->thread].events[item->event];
}

#endif
