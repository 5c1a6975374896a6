/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/order.h"

#include <stdlib.h>

#include "trace/inflight.h"
#include "trace/timing.h"

static int item_compare(const void *left, const void *right)
{
	const struct trace_item *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

static enum trace_result items_add(struct trace_order *order, uint32_t number)
{
	const struct trace_process *process = &order->processes[number];
	struct trace_timing timing, own, kernel;

	if (!trace_timing_of(&process->head, &own))
		return process->num_events > 0 ? TRACE_NO_TIME : TRACE_DONE;
	for (uint32_t t = 0; t < process->num_threads; t++) {
		if (process->threads[t].is_kernel && !trace_timing_of_kernel(&process->threads[t], &kernel))
			continue;
		timing = process->threads[t].is_kernel ? kernel : own;
		for (size_t i = 0; i < process->threads[t].num; i++) {
			uint64_t ns = trace_time(&timing, process->threads[t].events[i].ticks);

			if (ns < process->from_ns)
				continue;
			order->items[order->num++] = (struct trace_item){.ns = ns, .process = number, .thread = t, .event = i};
		}
	}
	return TRACE_DONE;
}

/* ---- flows ---- */

/* A sending task gets the flow of its message at its submit, a receiving one when it is filled. Returns false without memory. */
static bool flow_follow(const struct trace_order *order, size_t at, struct inflight *list)
{
	struct trace_item *item = &order->items[at];
	const struct sf_trace_event *event = trace_event_of(order, item);
	struct inflight_task *task;

	switch ((enum sf_trace_kind)event->kind) {
	case SF_TRACE_INFLIGHT:
		if (inflight_at(list, event->object) != NULL)
			break; /* its submit is known already */
		__attribute__((fallthrough));
	case SF_TRACE_SUBMIT:
		task = inflight_add(list, event->object, event->value & ~SF_TRACE_MAY_WAIT);
		if (task == NULL)
			return false;
		task->submit = at;
		break;
	case SF_TRACE_SEND:
	case SF_TRACE_DELIVER:
		item->flow = event->other;
		task = inflight_find(list, event->object);
		if (task != NULL && task->flow == 0)
			task->flow = event->other;
		if (task != NULL && event->kind == SF_TRACE_SEND && order->items[task->submit].flow == 0)
			order->items[task->submit].flow = event->other;
		break;
	case SF_TRACE_COMPLETE:
	case SF_TRACE_COMPLETE_BY:
		task = inflight_at(list, event->object);
		if (task != NULL) {
			item->flow = task->flow;
			inflight_remove(list, task);
		}
		break;
	default:
		break;
	}
	return true;
}

static enum trace_result flows_find(struct trace_order *order, size_t num)
{
	struct inflight *lists = calloc(num > 0 ? num : 1, sizeof(*lists));
	bool done = lists != NULL;

	for (size_t i = 0; i < order->num && done; i++)
		done = flow_follow(order, i, &lists[order->items[i].process]);
	for (size_t i = 0; i < num && lists != NULL; i++)
		inflight_fini(&lists[i]);
	free(lists);
	return done ? TRACE_DONE : TRACE_NO_MEMORY;
}

enum trace_result trace_order_init(struct trace_order *order, const struct trace_process *processes, size_t num)
{
	enum trace_result result = TRACE_DONE;
	size_t num_events = 0;

	*order = (struct trace_order){.processes = processes};
	for (size_t i = 0; i < num; i++)
		num_events += processes[i].num_events;
	order->items = calloc(num_events > 0 ? num_events : 1, sizeof(*order->items));
	if (order->items == NULL)
		return TRACE_NO_MEMORY;
	for (size_t i = 0; i < num && result == TRACE_DONE; i++)
		result = items_add(order, (uint32_t)i);
	if (result != TRACE_DONE)
		return result;
	qsort(order->items, order->num, sizeof(*order->items), item_compare);
	return flows_find(order, num);
}

void trace_order_fini(struct trace_order *order)
{
	free(order->items);
	order->items = NULL;
}
