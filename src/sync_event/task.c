/* SPDX-License-Identifier: BSD-3-Clause */
/* The asynchronous mode: the event as a ctx. Submit executes gets and updates; progress evaluates waits. */
#include "sync_event/task.h"

#include "base/log.h"
#include "base/log_rate.h"
#include "sync_event/wait_check.h"
#include "validation/validation.h"

#define POLLS_BETWEEN_QUESTIONS 1024 /* whether the owner lives, which costs more than a look at the word */

/* ---- for the task types ---- */

doca_error_t sf_event_task_configure(struct doca_sync_event *event, enum sf_event_task type, const struct sf_task_class *cls,
				     doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks)
{
	doca_error_t result = sf_event_check(event, cls->name);

	if (result != DOCA_SUCCESS)
		return result;
	/* The call below rejects arguments that are wrong in any state. */
	if (sf_event_is_open(event) && completed != NULL && failed != NULL && num_tasks > 0) {
		SF_LOG_ERR("%s: the sync event is started: configure its tasks before start", cls->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return sf_task_pool_configure(&event->ctx, &event->pools[type], cls, completed, failed, num_tasks, SF_EVENT_TASKS_MAX);
}

doca_error_t sf_event_task_alloc(struct doca_sync_event *event, enum sf_event_task type, union doca_data user_data, void *place,
				 struct doca_task **task)
{
	doca_error_t result;

	if (event == NULL || place == NULL) {
		SF_LOG_ERR("%s is NULL: cannot allocate a sync event task", event == NULL ? "event" : "task");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_task_alloc(&event->ctx, &event->pools[type], task);
	if (result == DOCA_SUCCESS)
		(*task)->user_data = user_data;
	return result;
}

void sf_event_task_done(struct doca_task *task, doca_error_t status)
{
	struct doca_sync_event *event = sf_event_of(task);

	if (status == DOCA_ERROR_CONNECTION_ABORTED)
		SF_LOG_ERR_LIMITED("%s: the owner of the sync event has stopped it, or has exited", task->cls->name);
	task->status = status;
	task->next = NULL;
	*event->done_end = task;
	event->done_end = &task->next;
}

static void waits_append(struct doca_sync_event *event, struct doca_task *task)
{
	task->next = NULL;
	*event->waits_end = task;
	event->waits_end = &task->next;
}

void sf_event_task_wait(struct sf_event_wait *wait)
{
	waits_append(sf_event_of(&wait->base), &wait->base);
}

/* ---- the ctx ---- */

static void lists_init(struct doca_sync_event *event)
{
	event->done = event->waits = NULL;
	event->done_end = &event->done;
	event->waits_end = &event->waits;
}

static doca_error_t event_start(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;
	doca_error_t result = sf_event_check_stopped(event, "doca_ctx_start");

	if (result == DOCA_SUCCESS)
		result = sf_event_open(event);
	if (result != DOCA_SUCCESS)
		return result;
	lists_init(event);
	event->flushing = false;
	event->polls = 0;
	return DOCA_SUCCESS;
}

static void event_cancel(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;

	event->flushing = true;
}

static void event_stop(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;

	sf_watch_remove(&event->watch);
	sf_event_close(event);
}

static bool is_true(const struct sf_event_wait *wait, uint64_t value)
{
	uint64_t seen = value & wait->mask;

	if (__builtin_expect(wait->until == SF_EVENT_UNTIL_GREATER, 0))
		return seen > wait->wait_val;
	return (seen == wait->wait_val) == (wait->until == SF_EVENT_UNTIL_EQUAL);
}

static bool complete_done(struct doca_sync_event *event)
{
	struct doca_task *task = event->done, *next;
	bool moved = task != NULL;

	/* Tasks that callbacks submit wait for the next call. */
	event->done = NULL;
	event->done_end = &event->done;
	for (; task != NULL; task = next) {
		next = task->next;
		sf_task_complete(task, task->status);
	}
	return moved;
}

/* Reads the value for the waits. Also checks that the owner lives: from time to time, or always if ask is set. */
static doca_error_t event_look(struct doca_sync_event *event, bool ask, uint64_t *value)
{
	doca_error_t status = sf_cell_look(&event->cell, value);

	if (status == DOCA_SUCCESS && (ask || ++event->polls >= POLLS_BETWEEN_QUESTIONS)) {
		status = sf_cell_ask(&event->cell);
		event->polls = status == DOCA_SUCCESS ? 0 : POLLS_BETWEEN_QUESTIONS; /* the next progress call checks again */
		if (__builtin_expect(sf_validation_is_on, 0))
			sf_event_wait_check_publisher(event, &event->waiting, "doca_task_submit");
	}
	return status;
}

static bool any_true(const struct doca_sync_event *event, uint64_t value)
{
	for (const struct doca_task *task = event->waits; task != NULL; task = task->next) {
		if (is_true((const struct sf_event_wait *)task, value))
			return true;
	}
	return false;
}

/* Completes all waits with an error, or the true ones with success. */
static void complete_waits(struct doca_sync_event *event, doca_error_t status, uint64_t value)
{
	struct doca_task *task = event->waits, *next;

	event->waits = NULL;
	event->waits_end = &event->waits;
	for (; task != NULL; task = next) {
		next = task->next;
		if (status != DOCA_SUCCESS || is_true((struct sf_event_wait *)task, value))
			sf_task_complete(task, status);
		else
			waits_append(event, task);
	}
}

static bool progress_waits(struct doca_sync_event *event)
{
	uint64_t value = 0;
	doca_error_t status;

	if (event->waits == NULL)
		return false;
	if (__builtin_expect(event->flushing, 0)) {
		complete_waits(event, DOCA_ERROR_BAD_STATE, 0);
		return true;
	}
	status = event_look(event, false, &value);
	if (status == DOCA_SUCCESS && !any_true(event, value))
		return false;
	if (status == DOCA_SUCCESS && event->cell.word == NULL)
		status = sf_cell_get_far(&event->cell, &value); /* the read may have seen half a store */
	if (status == DOCA_ERROR_CONNECTION_ABORTED)
		SF_LOG_ERR_LIMITED("the owner of the sync event has stopped it, or has exited: its wait tasks end");
	complete_waits(event, status, value);
	return true;
}

static bool event_progress(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;
	bool moved = false;

	if (event->done != NULL)
		moved = complete_done(event);
	return progress_waits(event) || moved;
}

/* The watcher starts when a thread first sleeps. Without a watcher, waiters must poll. */
static bool is_watched(struct doca_sync_event *event)
{
	if (event->watch.watcher != NULL)
		return true;
	if (!event->watch_failed) {
		event->watch.event_fd = sf_ctx_event_fd(&event->ctx);
		event->watch_failed = sf_watch_add(&event->watch) != DOCA_SUCCESS;
	}
	return !event->watch_failed;
}

static bool event_arm(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;
	uint64_t value;

	if (event->done != NULL || (event->waits != NULL && event->flushing))
		return true;
	if (event->waits == NULL)
		return false;
	if (!is_watched(event) || event_look(event, true, &value) != DOCA_SUCCESS || any_true(event, value))
		return true;
	sf_watch_arm(&event->watch, value);
	sf_cell_arm(event->cell.page);
	sf_event_doorbell_arm(event);
	return event_look(event, true, &value) != DOCA_SUCCESS || any_true(event, value);
}

const struct sf_ctx_ops sf_event_ctx_ops = {
	.name = "sync event",
	.needs_pe = true,
	.start = event_start,
	.cancel = event_cancel,
	.stop = event_stop,
	.progress = event_progress,
	.arm = event_arm,
};
