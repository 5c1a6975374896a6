/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/convert.h"

#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_error.h>

#include "base/status_page.h"
#include "trace/order.h"
#include "trace/pftrace.h"
#include "trace/shown.h"
#include "printable.h"

#define NO_LANE UINT32_MAX
#define TRACKS_AT 0x10000u /* of a process, after its threads' tracks */

struct conversion {
	FILE *out;
	const struct trace_order *order;
	struct shown *all;
};

static uint64_t thread_track(const struct shown *shown, uint32_t thread)
{
	return shown->track + 1 + thread;
}

/* ---- slices and lanes ---- */

static bool shown_init(struct shown *shown, const struct trace_process *process, size_t number)
{
	shown->process = process;
	shown->track = (uint64_t)(number + 1) << 40;
	shown->stacks = calloc(process->num_threads > 0 ? process->num_threads : 1, sizeof(*shown->stacks));
	for (uint32_t i = 0; i < SF_TRACE_NAMES_MAX; i++) {
		shown->free[i] = NO_LANE;
		memcpy(shown->names[i], process->names[i], SF_TRACE_NAME_MAX);
		make_printable(shown->names[i]);
	}
	return shown->stacks != NULL;
}

static void shown_fini(struct shown *shown)
{
	free(shown->stacks);
	free(shown->lanes);
	inflight_fini(&shown->tasks);
	inflight_fini(&shown->contexts);
}

static void tracks_write(FILE *out, const struct shown *shown)
{
	const struct sf_trace_head *head = &shown->process->head;
	char name[2 * SF_TRACE_TEXT_MAX + 4];

	if (head->node[0] != '\0')
		snprintf(name, sizeof(name), "%s (%s)", head->program, head->node);
	else
		snprintf(name, sizeof(name), "%s", head->program);
	make_printable(name);
	pftrace_process(out, shown->track, head->pid, name);
	for (uint32_t i = 0; i < shown->process->num_threads; i++) {
		const struct trace_thread *thread = &shown->process->threads[i];

		snprintf(name, sizeof(name), "%s%s", thread->is_kernel ? "kernel: " : "", thread->name);
		make_printable(name);
		if (thread->is_kernel)
			pftrace_track(out, thread_track(shown, i), shown->track, name);
		else
			pftrace_thread(out, thread_track(shown, i), shown->track, head->pid, thread->id, name);
	}
}

/* Returns a free lane for a task of the type; NO_LANE: no memory. */
static uint32_t lane_take(FILE *out, struct shown *shown, uint16_t name)
{
	uint32_t lane = shown->free[name];

	if (lane != NO_LANE) {
		shown->free[name] = shown->lanes[lane].next_free;
		return lane;
	}
	if (shown->num_lanes == shown->room) {
		uint32_t room = shown->room > 0 ? 2 * shown->room : 64;
		struct lane *more = realloc(shown->lanes, room * sizeof(*more));

		if (more == NULL)
			return NO_LANE;
		shown->lanes = more;
		shown->room = room;
	}
	lane = shown->num_lanes++;
	pftrace_track(out, shown->track + TRACKS_AT + 2 * lane, shown->track, shown->names[name]);
	return lane;
}

/* ---- slices of threads ---- */

static void arg_add(struct pftrace_event *event, const char *name, uint64_t number, const char *text)
{
	event->args[event->num_args++] = (struct pftrace_arg){.name = name, .number = number, .text = text};
}

static void slice_begin(struct conversion *to, struct shown *shown, const struct trace_item *item, struct pftrace_event *event)
{
	struct stack *stack = &shown->stacks[item->thread];

	event->type = PFTRACE_BEGIN;
	if (stack->depth < DEPTH_KEPT) {
		stack->slices[stack->depth].ns = item->ns;
		snprintf(stack->slices[stack->depth].name, sizeof(stack->slices[0].name), "%s", event->name);
	}
	stack->depth++;
	pftrace_event(to->out, event);
}

/* A slice that began before the ring's first event is not shown. */
static void slice_end(struct conversion *to, struct shown *shown, const struct trace_item *item)
{
	const struct pftrace_event event = {.type = PFTRACE_END, .ns = item->ns, .track = thread_track(shown, item->thread)};

	if (shown->stacks[item->thread].depth == 0)
		return;
	shown->stacks[item->thread].depth--;
	pftrace_event(to->out, &event);
}

/* ---- tasks ---- */

static void task_end(struct conversion *to, struct shown *shown, struct inflight_task *task, uint16_t name, uint64_t ns)
{
	const struct pftrace_event event = {.type = PFTRACE_END, .ns = ns, .track = task->track};

	pftrace_event(to->out, &event);
	shown->lanes[task->lane].next_free = shown->free[name];
	shown->free[name] = task->lane;
	inflight_remove(&shown->tasks, task);
}

static bool task_begin(struct conversion *to, struct shown *shown, const struct trace_item *item,
		       const struct sf_trace_event *event)
{
	struct inflight_task *task = inflight_at(&shown->tasks, event->object);
	struct pftrace_event slice = {.type = PFTRACE_BEGIN, .ns = item->ns, .category = "task", .flow = item->flow};
	uint32_t lane;

	if (task != NULL) /* its end was overwritten */
		task_end(to, shown, task, (uint16_t)task->submit, item->ns);
	lane = lane_take(to->out, shown, event->name);
	task = lane != NO_LANE ? inflight_add(&shown->tasks, event->object, event->value & ~SF_TRACE_MAY_WAIT) : NULL;
	if (task == NULL)
		return false;
	task->lane = lane;
	task->submit = event->name;
	task->begin_ns = item->ns;
	task->may_wait = (event->value & SF_TRACE_MAY_WAIT) != 0;
	task->is_older = event->kind == SF_TRACE_INFLIGHT;
	task->track = slice.track = shown->track + TRACKS_AT + 2 * lane;
	slice.name = shown->names[event->name];
	arg_add(&slice, "task", event->object, NULL);
	arg_add(&slice, "context", event->other, NULL);
	if (task->is_older)
		arg_add(&slice, "submitted", 0, "before the timeline began");
	pftrace_event(to->out, &slice);
	return true;
}

static void task_complete(struct conversion *to, struct shown *shown, const struct trace_item *item,
			  const struct sf_trace_event *event)
{
	struct inflight_task *task = inflight_at(&shown->tasks, event->object);
	struct pftrace_event slice = {
		.ns = item->ns, .track = thread_track(shown, item->thread), .category = "callback", .flow = item->flow};
	char name[SF_TRACE_NAME_MAX + 32];

	if (task != NULL)
		task_end(to, shown, task, (uint16_t)task->submit, item->ns);
	snprintf(name, sizeof(name), "%s: %s", event->kind == SF_TRACE_COMPLETE ? "callback" : "completed",
		 shown->names[event->name]);
	slice.name = name;
	arg_add(&slice, "task", event->object, NULL);
	arg_add(&slice, "status", 0, doca_error_get_name((doca_error_t)event->value));
	slice_begin(to, shown, item, &slice);
}

/* ---- contexts ---- */

/* Shows the context on its own track. */
static bool context_show(struct conversion *to, struct shown *shown, const struct trace_item *item,
			 const struct sf_trace_event *event)
{
	struct inflight_task *context = inflight_at(&shown->contexts, event->object);
	const bool is_older = event->kind == SF_TRACE_CONTEXT;
	struct pftrace_event slice;

	if (context != NULL && is_older) /* the state is known already */
		return true;
	if (context != NULL) {
		slice = (struct pftrace_event){.type = PFTRACE_END, .ns = item->ns, .track = context->track};
		pftrace_event(to->out, &slice);
	}
	if (context != NULL && event->value == 0) /* IDLE */
		inflight_remove(&shown->contexts, context);
	if (event->value == 0)
		return true;
	if (context == NULL) {
		context = inflight_add(&shown->contexts, event->object, 1);
		if (context == NULL)
			return false;
		context->track = shown->track + TRACKS_AT + 1 + 2 * shown->num_contexts++;
		pftrace_track(to->out, context->track, shown->track, shown->names[event->name]);
	}
	context->submit = event->name;
	context->state = event->value % SF_STATUS_STATES;
	context->begin_ns = is_older && event->other < item->ns ? item->ns - event->other : item->ns;
	slice = (struct pftrace_event){.type = PFTRACE_BEGIN,
				       .ns = item->ns,
				       .track = context->track,
				       .category = "state",
				       .name = sf_status_state_name(context->state)};
	arg_add(&slice, "context", event->object, NULL);
	if (is_older)
		arg_add(&slice, "ns before the timeline", event->other, NULL);
	pftrace_event(to->out, &slice);
	return true;
}

/* Shows the state change on the thread's track. */
static void state_show(struct conversion *to, struct shown *shown, const struct trace_item *item,
		       const struct sf_trace_event *event)
{
	struct pftrace_event slice = {.ns = item->ns, .track = thread_track(shown, item->thread), .category = "state"};
	char name[SF_TRACE_NAME_MAX + 16];

	snprintf(name, sizeof(name), "%s: %s", shown->names[event->name], sf_status_state_name(event->value % SF_STATUS_STATES));
	slice.name = name;
	slice_begin(to, shown, item, &slice);
}

/* ---- other events ---- */

static void instant_write(struct conversion *to, const struct shown *shown, const struct trace_item *item, const char *category,
			  const char *name, const char *arg, uint64_t value)
{
	struct pftrace_event event = {.type = PFTRACE_INSTANT,
				      .ns = item->ns,
				      .track = thread_track(shown, item->thread),
				      .category = category,
				      .name = name,
				      .flow = item->flow};

	arg_add(&event, arg, value, NULL);
	pftrace_event(to->out, &event);
}

static void call_show(struct conversion *to, struct shown *shown, const struct trace_item *item,
		      const struct sf_trace_event *event)
{
	struct inflight_task *context = inflight_at(&shown->contexts, event->object);
	char name[SF_TRACE_NAME_MAX + 64];

	snprintf(name, sizeof(name), "doca_pe_progress is in %s and has not returned", shown->names[event->name]);
	instant_write(to, shown, item, "callback", name, "ns", event->other);
	if (context == NULL)
		return;
	context->call_ns = event->other < item->ns ? item->ns - event->other : 0;
	context->call_seen_ns = item->ns;
}

static void deliver_begin(struct conversion *to, struct shown *shown, const struct trace_item *item,
			  const struct sf_trace_event *event)
{
	struct pftrace_event slice = {
		.ns = item->ns, .track = thread_track(shown, item->thread), .category = "message", .flow = item->flow};
	char name[SF_TRACE_NAME_MAX + 16];

	snprintf(name, sizeof(name), "deliver: %s", shown->names[event->name]);
	slice.name = name;
	arg_add(&slice, "bytes", event->value, NULL);
	slice_begin(to, shown, item, &slice);
}

static void work_begin(struct conversion *to, struct shown *shown, const struct trace_item *item,
		       const struct sf_trace_event *event)
{
	struct pftrace_event slice = {.ns = item->ns, .track = thread_track(shown, item->thread), .category = "work"};

	slice.name = shown->names[event->name];
	arg_add(&slice, "kind", event->value, NULL);
	slice_begin(to, shown, item, &slice);
}

/* A kernel has no stack of callbacks, so its events are instants. */
static void kernel_item_show(struct conversion *to, struct shown *shown, const struct trace_item *item,
			     const struct sf_trace_event *event)
{
	instant_write(to, shown, item, "message", event->kind == SF_TRACE_SEND ? "from a kernel" : "deliver: to a kernel",
		      "bytes", event->value);
}

static bool item_show(struct conversion *to, const struct trace_item *item)
{
	const struct sf_trace_event *event = trace_event_of(to->order, item);
	struct shown *shown = &to->all[item->process];
	char again[SF_TRACE_NAME_MAX + 16];

	if (shown->process->threads[item->thread].is_kernel) {
		kernel_item_show(to, shown, item, event);
		return true;
	}
	switch ((enum sf_trace_kind)event->kind) {
	case SF_TRACE_INFLIGHT:
		if (inflight_at(&shown->tasks, event->object) != NULL)
			break; /* its submit is shown already */
		__attribute__((fallthrough));
	case SF_TRACE_SUBMIT:
		return task_begin(to, shown, item, event);
	case SF_TRACE_AGAIN:
		snprintf(again, sizeof(again), "AGAIN: %s", shown->names[event->name]);
		instant_write(to, shown, item, "task", again, "task", event->object);
		break;
	case SF_TRACE_COMPLETE:
	case SF_TRACE_COMPLETE_BY:
		task_complete(to, shown, item, event);
		break;
	case SF_TRACE_STATE:
		state_show(to, shown, item, event);
		__attribute__((fallthrough));
	case SF_TRACE_CONTEXT:
		return context_show(to, shown, item, event);
	case SF_TRACE_CALLBACK_END:
	case SF_TRACE_DELIVER_END:
	case SF_TRACE_STATE_END:
	case SF_TRACE_WORK_END:
		slice_end(to, shown, item);
		break;
	case SF_TRACE_SEND:
		instant_write(to, shown, item, "message", shown->names[event->name], "bytes", event->value);
		break;
	case SF_TRACE_DELIVER:
		deliver_begin(to, shown, item, event);
		break;
	case SF_TRACE_ARM:
		instant_write(to, shown, item, "wake", event->value != 0 ? "arm: something is due" : "arm", "engine",
			      event->object);
		break;
	case SF_TRACE_WAKE:
		instant_write(to, shown, item, "wake", "wake", "descriptor", event->value);
		break;
	case SF_TRACE_AWAKE:
		instant_write(to, shown, item, "wake", "awake", "engine", event->object);
		break;
	case SF_TRACE_WORK:
		work_begin(to, shown, item, event);
		break;
	case SF_TRACE_CALL:
		call_show(to, shown, item, event);
		break;
	case SF_TRACE_KINDS:
		break;
	}
	return true;
}

static enum trace_result items_write(struct conversion *to, const struct trace_process *processes, size_t num)
{
	bool done = true;

	for (size_t i = 0; i < num && done; i++)
		done = shown_init(&to->all[i], &processes[i], i);
	if (done) {
		pftrace_begin(to->out, to->order->num > 0 ? to->order->items[0].ns : 0);
		for (size_t i = 0; i < num; i++)
			tracks_write(to->out, &to->all[i]);
	}
	for (size_t i = 0; i < to->order->num && done; i++)
		done = item_show(to, &to->order->items[i]);
	return done ? TRACE_DONE : TRACE_NO_MEMORY;
}

enum trace_result trace_convert(FILE *out, const struct trace_process *processes, size_t num, struct trace_count *count)
{
	struct trace_order order;
	struct conversion to = {.out = out, .order = &order};
	enum trace_result result = trace_order_init(&order, processes, num);

	*count = (struct trace_count){.num_events = order.num};
	to.all = calloc(num > 0 ? num : 1, sizeof(*to.all));
	if (result == TRACE_DONE)
		result = to.all != NULL ? items_write(&to, processes, num) : TRACE_NO_MEMORY;
	for (size_t i = 0; i < num && result == TRACE_DONE; i++)
		shown_open_find(&to.all[i], (uint32_t)i, order.num > 0 ? order.items[order.num - 1].ns : 0, count);
	for (size_t i = 0; i < num && to.all != NULL; i++)
		shown_fini(&to.all[i]);
	free(to.all);
	for (size_t i = 0; i < num; i++) {
		count->num_threads += processes[i].num_threads;
		count->num_lost += processes[i].num_lost;
	}
	if (order.num > 0) {
		count->begin_ns = order.items[0].ns;
		count->end_ns = order.items[order.num - 1].ns;
	}
	trace_order_fini(&order);
	return result;
}
