/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/convert.h"

#include <stdlib.h>

#include <doca_error.h>

#include "base/status_page.h"
#include "trace/inflight.h"
#include "trace/order.h"
#include "trace/pftrace.h"
#include "printable.h"

#define NO_LANE UINT32_MAX
#define TRACKS_AT 0x10000u /* of a process, behind its threads' */

#define DEPTH_KEPT 8	      /* slices inside each other of which we know the names */
#define OPEN_MIN_NS 100000000 /* what has not ended for so long is told */

/* Where the tasks of one type are shown that overlap: each lane has one at a time. */
struct lane {
	uint32_t next_free;
};

/* The slices of a thread that are open. */
struct stack {
	uint32_t depth;
	struct {
		uint64_t ns;
		char name[SF_TRACE_NAME_MAX + 32];
	} slices[DEPTH_KEPT];
};

struct shown {
	const struct trace_process *process;
	uint64_t track;	      /* its threads' and others follow */
	struct stack *stacks; /* thread by thread */
	struct inflight tasks, contexts;
	struct lane *lanes;
	uint32_t num_lanes, room, num_contexts;
	uint32_t free[SF_TRACE_NAMES_MAX]; /* the first free lane of a type */
	char names[SF_TRACE_NAMES_MAX][SF_TRACE_NAME_MAX];
};

struct conversion {
	FILE *out;
	const struct trace_order *order;
	struct shown *all;
};

static uint64_t thread_track(const struct shown *shown, uint32_t thread)
{
	return shown->track + 1 + thread;
}

/* ---- beginnings ---- */

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

		snprintf(name, sizeof(name), "%s", thread->name);
		make_printable(name);
		pftrace_thread(out, thread_track(shown, i), shown->track, head->pid, thread->id, name);
	}
}

/* A lane that is free for a task of the type; NO_LANE: no memory. */
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

/* What has begun before the ring's first event is not shown. */
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
	task->track = slice.track = shown->track + TRACKS_AT + 2 * lane;
	slice.name = shown->names[event->name];
	arg_add(&slice, "task", event->object, NULL);
	arg_add(&slice, "context", event->other, NULL);
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

/* On a track of its own the context's states, and on the thread's its callback. */
static bool state_show(struct conversion *to, struct shown *shown, const struct trace_item *item,
		       const struct sf_trace_event *event)
{
	struct inflight_task *context = inflight_at(&shown->contexts, event->object);
	const char *state = sf_status_state_name(event->value % SF_STATUS_STATES);
	struct pftrace_event slice = {.ns = item->ns, .track = thread_track(shown, item->thread), .category = "state"};
	char name[SF_TRACE_NAME_MAX + 16];

	snprintf(name, sizeof(name), "%s: %s", shown->names[event->name], state);
	slice.name = name;
	slice_begin(to, shown, item, &slice);
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
	slice = (struct pftrace_event){
		.type = PFTRACE_BEGIN, .ns = item->ns, .track = context->track, .category = "state", .name = state};
	arg_add(&slice, "context", event->object, NULL);
	pftrace_event(to->out, &slice);
	return true;
}

/* ---- the rest ---- */

static void instant(struct conversion *to, const struct shown *shown, const struct trace_item *item, const char *category,
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

static bool item_show(struct conversion *to, const struct trace_item *item)
{
	const struct sf_trace_event *event = trace_event_of(to->order, item);
	struct shown *shown = &to->all[item->process];
	char again[SF_TRACE_NAME_MAX + 16];

	switch ((enum sf_trace_kind)event->kind) {
	case SF_TRACE_SUBMIT:
		return task_begin(to, shown, item, event);
	case SF_TRACE_AGAIN:
		snprintf(again, sizeof(again), "AGAIN: %s", shown->names[event->name]);
		instant(to, shown, item, "task", again, "task", event->object);
		break;
	case SF_TRACE_COMPLETE:
	case SF_TRACE_COMPLETE_BY:
		task_complete(to, shown, item, event);
		break;
	case SF_TRACE_STATE:
		return state_show(to, shown, item, event);
	case SF_TRACE_CALLBACK_END:
	case SF_TRACE_DELIVER_END:
	case SF_TRACE_STATE_END:
	case SF_TRACE_WORK_END:
		slice_end(to, shown, item);
		break;
	case SF_TRACE_SEND:
		instant(to, shown, item, "message", shown->names[event->name], "bytes", event->value);
		break;
	case SF_TRACE_DELIVER:
		deliver_begin(to, shown, item, event);
		break;
	case SF_TRACE_ARM:
		instant(to, shown, item, "wake", event->value != 0 ? "arm: something is due" : "arm", "engine", event->object);
		break;
	case SF_TRACE_WAKE:
		instant(to, shown, item, "wake", "wake", "descriptor", event->value);
		break;
	case SF_TRACE_AWAKE:
		instant(to, shown, item, "wake", "awake", "engine", event->object);
		break;
	case SF_TRACE_WORK:
		work_begin(to, shown, item, event);
		break;
	case SF_TRACE_KINDS:
		break;
	}
	return true;
}

/* ---- what is open at the end ---- */

static struct trace_open *open_add(struct trace_count *count, uint32_t process, uint64_t ns)
{
	struct trace_open *open = &count->open[count->num_open];

	if (count->num_open == TRACE_OPEN_MAX)
		return NULL;
	count->num_open++;
	*open = (struct trace_open){.process = process, .ns = ns};
	return open;
}

/* When the process was seen last: it may have no event for long. */
static uint64_t end_of(const struct trace_process *process, uint64_t last_ns)
{
	uint64_t ns = process->head.last[process->head.last_stamp].ns;

	return ns > last_ns ? ns : last_ns;
}

/* The innermost one that is known is what the thread is at. */
static void slices_open(struct trace_count *count, const struct shown *shown, uint32_t process, uint64_t end_ns)
{
	for (uint32_t i = 0; i < shown->process->num_threads; i++) {
		const struct stack *stack = &shown->stacks[i];
		uint32_t at = stack->depth < DEPTH_KEPT ? stack->depth : DEPTH_KEPT;
		struct trace_open *open = NULL;

		if (at > 0 && end_ns - stack->slices[at - 1].ns >= OPEN_MIN_NS)
			open = open_add(count, process, end_ns - stack->slices[at - 1].ns);
		if (open == NULL)
			continue;
		open->thread = i;
		snprintf(open->name, sizeof(open->name), "%s", stack->slices[at - 1].name);
	}
}

static void tasks_open(struct trace_count *count, const struct shown *shown, uint32_t process, uint64_t end_ns)
{
	size_t nums[SF_TRACE_NAMES_MAX] = {0};
	uint64_t oldest[SF_TRACE_NAMES_MAX];
	struct trace_open *open;

	for (size_t i = 0; i < shown->tasks.num; i++) {
		const struct inflight_task *task = &shown->tasks.all[i];

		if (task->may_wait)
			continue;
		if (nums[task->submit]++ == 0 || task->begin_ns < oldest[task->submit])
			oldest[task->submit] = task->begin_ns;
	}
	for (uint32_t i = 0; i < SF_TRACE_NAMES_MAX; i++) {
		open = nums[i] > 0 && end_ns - oldest[i] >= OPEN_MIN_NS ? open_add(count, process, end_ns - oldest[i]) : NULL;
		if (open == NULL)
			continue;
		open->num = nums[i];
		snprintf(open->name, sizeof(open->name), "%s", shown->names[i]);
	}
}

static void open_find(struct trace_count *count, const struct conversion *to, size_t num)
{
	uint64_t last_ns = to->order->num > 0 ? to->order->items[to->order->num - 1].ns : 0;

	for (size_t i = 0; i < num; i++) {
		uint64_t end_ns = end_of(to->all[i].process, last_ns);

		slices_open(count, &to->all[i], (uint32_t)i, end_ns);
		tasks_open(count, &to->all[i], (uint32_t)i, end_ns);
	}
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
	if (result == TRACE_DONE)
		open_find(count, &to, num);
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
