/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the slices, tasks and states that are open at the end. */
#include <stdio.h>

#include <doca_ctx.h>

#include "base/status_page.h"
#include "trace/shown.h"

#define CALL_SEEN_NS UINT64_C(2500000000) /* a call is noted each second while it runs */
#define OPEN_MIN_NS 100000000		  /* shorter ones are not reported */

static struct trace_open *open_add(struct trace_count *count, uint32_t process, uint64_t ns)
{
	struct trace_open *open = &count->open[count->num_open];

	if (count->num_open == TRACE_OPEN_MAX)
		return NULL;
	count->num_open++;
	*open = (struct trace_open){.process = process, .ns = ns};
	return open;
}

/* When the process was last seen: it may record no event for a long time. */
static uint64_t end_of(const struct trace_process *process, uint64_t last_ns)
{
	uint64_t ns = process->head.last[process->head.last_stamp].ns;

	return ns > last_ns ? ns : last_ns;
}

/* The innermost known slice is the one the thread is in. */
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
	bool is_older[SF_TRACE_NAMES_MAX] = {false};
	struct trace_open *open;

	for (size_t i = 0; i < shown->tasks.num; i++) {
		const struct inflight_task *task = &shown->tasks.all[i];

		if (task->may_wait)
			continue;
		if (nums[task->submit]++ == 0 || task->begin_ns < oldest[task->submit])
			oldest[task->submit] = task->begin_ns;
		is_older[task->submit] |= task->is_older;
	}
	for (uint32_t i = 0; i < SF_TRACE_NAMES_MAX; i++) {
		open = nums[i] > 0 && end_ns - oldest[i] >= OPEN_MIN_NS ? open_add(count, process, end_ns - oldest[i]) : NULL;
		if (open == NULL)
			continue;
		open->kind = TRACE_OPEN_TASKS;
		open->num = nums[i];
		open->is_older = is_older[i];
		snprintf(open->name, sizeof(open->name), "%s", shown->names[i]);
	}
}

/* RUNNING is no state that must end. */
static void contexts_open(struct trace_count *count, const struct shown *shown, uint32_t process, uint64_t end_ns)
{
	for (size_t i = 0; i < shown->contexts.num; i++) {
		const struct inflight_task *context = &shown->contexts.all[i];
		struct trace_open *open = NULL;

		if (context->state != DOCA_CTX_STATE_RUNNING && end_ns - context->begin_ns >= OPEN_MIN_NS)
			open = open_add(count, process, end_ns - context->begin_ns);
		if (open == NULL)
			continue;
		open->kind = TRACE_OPEN_CONTEXT;
		open->state = sf_status_state_name(context->state);
		snprintf(open->name, sizeof(open->name), "%s", shown->names[context->submit]);
	}
}

/* A slice says more: its callback began in the timeline. */
static bool has_slice(const struct trace_count *count, uint32_t process)
{
	for (size_t i = 0; i < count->num_open; i++) {
		if (count->open[i].process == process && count->open[i].kind == TRACE_OPEN_SLICE)
			return true;
	}
	return false;
}

static void calls_open(struct trace_count *count, const struct shown *shown, uint32_t process, uint64_t end_ns)
{
	for (size_t i = 0; i < shown->contexts.num; i++) {
		const struct inflight_task *context = &shown->contexts.all[i];
		struct trace_open *open = NULL;

		if (context->call_seen_ns != 0 && end_ns - context->call_seen_ns <= CALL_SEEN_NS)
			open = open_add(count, process, end_ns - context->call_ns);
		if (open == NULL)
			continue;
		open->kind = TRACE_OPEN_CALL;
		snprintf(open->name, sizeof(open->name), "%s", shown->names[context->submit]);
	}
}

void shown_open_find(const struct shown *shown, uint32_t process, uint64_t last_ns, struct trace_count *count)
{
	uint64_t end_ns = end_of(shown->process, last_ns);

	slices_open(count, shown, process, end_ns);
	if (!has_slice(count, process))
		calls_open(count, shown, process, end_ns);
	tasks_open(count, shown, process, end_ns);
	contexts_open(count, shown, process, end_ns);
}
