/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress engines, and the common parts of contexts and tasks. A task's flag: it is in flight. */
#include <doca_ctx.h>
#include <doca_pe.h>

#include "abuse.h"

/* ---- progress engines ---- */

static void pe_create(void)
{
	struct doca_pe *pe;

	if (object_count(PE) >= 3 || is_ending())
		return;
	struct doca_pe **place = or_null(&pe);

	expect_if(true);
	if (CALL(doca_pe_create, place) == DOCA_SUCCESS)
		object_add(PE, pe);
}

static void pe_destroy(void)
{
	struct doca_pe *pe = pick(PE);

	if (CALL(doca_pe_destroy, pe) == DOCA_SUCCESS)
		object_drop(PE, pe);
}

static void progress(void)
{
	struct doca_pe *pe = pick(PE);

	for (int i = 0; i < 4; i++) {
		if (pe == NULL || object_find(PE, pe) != NULL)
			(void)CALL_VALUE(doca_pe_progress, pe);
	}
}

static void get_handle(void)
{
	doca_notification_handle_t handle;
	struct doca_pe *pe = pick(PE);
	doca_notification_handle_t *place = or_null(&handle);

	expect_if(true);
	CALL(doca_pe_get_notification_handle, pe, place);
}

static void clear_notification(void)
{
	struct doca_pe *object = pick(PE);

	expect_if(true);
	CALL(doca_pe_clear_notification, object, 0);
}

static void request_notification(void)
{
	struct doca_pe *object = pick(PE);

	expect_if(true);
	CALL(doca_pe_request_notification, object);
}

static void pe_inflight(void)
{
	size_t num;
	struct doca_pe *pe = pick(PE);
	size_t *place = or_null(&num);

	expect_if(true);
	CALL(doca_pe_get_num_inflight_tasks, pe, place);
}

static void connect_ctx(void)
{
	struct doca_pe *pe = pick(PE);
	struct doca_ctx *ctx = pick(CTX);

	refuse_if(ctx != NULL && !ctx_is_idle(ctx));
	CALL(doca_pe_connect_ctx, pe, ctx);
}

static void set_event_mode(void)
{
	uint32_t mode = random_below(3);

	refuse_if(mode > DOCA_PE_EVENT_MODE_PROGRESS_ALL);
	struct doca_pe *object = pick(PE);

	CALL(doca_pe_set_event_mode, object, (enum doca_pe_event_mode)mode);
}

/* ---- contexts ---- */

enum doca_ctx_states ctx_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_get_state(ctx, &state);
	return state;
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	if (suite.ctx_changed != NULL)
		suite.ctx_changed(ctx);
	act();
}

void ctx_add(struct doca_ctx *ctx)
{
	object_add(CTX, ctx);
	if (suite.ctx_changed != NULL)
		CALL(doca_ctx_set_state_changed_cb, ctx, state_changed);
}

static void start(void)
{
	struct doca_ctx *ctx = pick(CTX);

	refuse_if(ctx != NULL && !ctx_is_idle(ctx));
	CALL(doca_ctx_start, ctx);
}

static void stop(void)
{
	struct doca_ctx *object = pick(CTX);

	CALL(doca_ctx_stop, object);
}

static void num_inflight(void)
{
	size_t num;
	struct doca_ctx *ctx = pick(CTX);
	size_t *place = or_null(&num);

	expect_if(true);
	CALL(doca_ctx_get_num_inflight_tasks, ctx, place);
}

static void get_state(void)
{
	enum doca_ctx_states state;
	struct doca_ctx *ctx = pick(CTX);
	enum doca_ctx_states *place = or_null(&state);

	expect_if(true);
	CALL(doca_ctx_get_state, ctx, place);
}

static void get_user_data(void)
{
	union doca_data data;
	struct doca_ctx *ctx = pick(CTX);
	union doca_data *place = or_null(&data);

	expect_if(true);
	CALL(doca_ctx_get_user_data, ctx, place);
}

/* For a setter, which must succeed in IDLE and fail in other states. */
static struct doca_ctx *pick_to_set(void)
{
	struct doca_ctx *ctx = pick(CTX);

	refuse_if(ctx != NULL && !ctx_is_idle(ctx));
	return ctx;
}

static void set_user_data(void)
{
	struct doca_ctx *ctx = pick_to_set();

	expect_if(true);
	CALL(doca_ctx_set_user_data, ctx, (union doca_data){.u64 = 11});
}

static void set_state_cb(void)
{
	struct doca_ctx *ctx = pick_to_set();
	doca_ctx_state_changed_callback_t cb = or_null(state_changed);

	expect_if(true);
	CALL(doca_ctx_set_state_changed_cb, ctx, cb);
}

static void datapath_on_gpu(void)
{
	struct doca_ctx *ctx = chance(8) ? pick_to_set() : or_null(NULL); /* rarely, because it cannot be undone */
	struct doca_gpu *gpu = pick(GPU);

	CALL(doca_ctx_set_datapath_on_gpu, ctx, gpu);
}

static void datapath_on_dpa(void)
{
	struct doca_ctx *ctx = pick_to_set();
	struct doca_dpa *dpa = or_null(memory);

	refuse_if(true);
	CALL(doca_ctx_set_datapath_on_dpa, ctx, dpa);
}

static void completion_vector(void)
{
	struct doca_ctx *ctx = pick_to_set();

	refuse_if(true);
	CALL(doca_ctx_set_completion_vector, ctx, random_below(3));
}

static void profiler_ranges(void)
{
	struct doca_ctx *ctx = pick_to_set();

	refuse_if(true);
	CALL(doca_ctx_profiler_set_max_nranges, ctx, (uint8_t)random_below(3));
}

static void num_vectors(void)
{
	uint32_t num;
	struct doca_devinfo *info = pick(DEVINFO);
	uint32_t *place = or_null(&num);

	expect_if(true);
	CALL(doca_ctx_cap_get_num_completion_vectors, info, place);
}

static void flush(void)
{
	CALL_VALUE(doca_ctx_flush_tasks, (struct doca_ctx *)pick(CTX));
}

static void prepare(void)
{
	struct doca_pe *pe;

	if (CALL(doca_pe_create, &pe) == DOCA_SUCCESS)
		object_add(PE, pe);
}

void ctx_run(struct doca_ctx *ctx)
{
	struct object *pe = object_any(PE);

	if (pe == NULL || chance(8))
		return;
	CALL(doca_pe_connect_ctx, pe->pointer, ctx);
	CALL(doca_ctx_start, ctx);
}

/* ---- tasks ---- */

static struct {
	struct doca_task *task;
	enum kind kind; /* kind of its library's object */
	void *typed;
	void *uses[TASK_OBJECTS_MAX];
	bool ends_free; /* freed in flight: it is dropped after its callback */
} tasks[OBJECTS_MAX];

static uint32_t task_index(const struct doca_task *task)
{
	uint32_t i = 0;

	while (i < OBJECTS_MAX - 1 && tasks[i].task != task)
		i++;
	return i;
}

void task_add(struct doca_task *task, enum kind kind, void *typed)
{
	uint32_t i = task_index(NULL);

	object_add(TASK, task);
	object_add(kind, typed);
	tasks[i].task = task;
	tasks[i].kind = kind;
	tasks[i].typed = typed;
	tasks[i].ends_free = false;
	for (int slot = 0; slot < TASK_OBJECTS_MAX; slot++)
		tasks[i].uses[slot] = NULL;
}

void task_uses(struct doca_task *task, int slot, void *buf)
{
	uint32_t i = task_index(task);

	if (tasks[i].uses[slot] != NULL)
		object_find(BUF, tasks[i].uses[slot])->users--;
	tasks[i].uses[slot] = buf;
	if (buf != NULL)
		object_find(BUF, buf)->users++;
}

bool task_is_inflight(const struct doca_task *task)
{
	return object_find(TASK, task)->flag;
}

bool task_ends_free(const struct doca_task *task)
{
	return tasks[task_index(task)].ends_free;
}

bool task_is_busy(const struct doca_task *task)
{
	const struct object *object = object_find(TASK, task);

	return object->flag || object->users > 0;
}

void task_freed(struct doca_task *task)
{
	uint32_t i = task_index(task);

	for (int slot = 0; slot < TASK_OBJECTS_MAX; slot++)
		task_uses(task, slot, NULL);
	object_drop(tasks[i].kind, tasks[i].typed);
	object_drop(TASK, task);
	tasks[i].task = NULL;
}

static void submitted(struct doca_task *task, doca_error_t result)
{
	if (result == DOCA_SUCCESS)
		object_find(TASK, task)->flag = true;
}

/* Picks a task. A task in flight, or one whose context does not run, must be rejected. */
static struct doca_task *pick_to_submit(void)
{
	struct doca_task *task = pick(TASK);

	refuse_if(task != NULL && (task_is_inflight(task) || ctx_state(doca_task_get_ctx(task)) != DOCA_CTX_STATE_RUNNING));
	return task;
}

static void submit(void)
{
	struct doca_task *task = pick_to_submit();

	submitted(task, CALL(doca_task_submit, task));
}

static void try_submit(void)
{
	struct doca_task *task = pick_to_submit();

	submitted(task, CALL(doca_task_try_submit, task));
}

static void submit_ex(void)
{
	struct doca_task *task = pick_to_submit();
	uint32_t flags = random_below(20);

	refuse_if(flags > 15);
	submitted(task, CALL(doca_task_submit_ex, task, flags));
}

static void task_free(void)
{
	struct doca_task *task = pick(TASK);

	if (task != NULL && object_find(TASK, task)->users > 0)
		return; /* otherwise the instance would be submitted without it */
	if (task != NULL && task_is_inflight(task))
		tasks[task_index(task)].ends_free = true;
	else if (task != NULL)
		task_freed(task);
	CALL_VALUE(doca_task_free, task);
}

static void get_status(void)
{
	struct doca_task *task = pick(TASK);

	/* Returns the task's status, which may be any code. */
	if (task != NULL)
		(void)CALL_VALUE(doca_task_get_status, task);
	else
		CALL(doca_task_get_status, task);
}

static void task_set_user_data(void)
{
	struct doca_task *task = pick(TASK);

	if (task == NULL || !task_is_inflight(task))
		CALL_VALUE(doca_task_set_user_data, task, (union doca_data){.u64 = 13});
}

static void task_get_user_data(void)
{
	(void)CALL_VALUE(doca_task_get_user_data, (struct doca_task *)pick(TASK));
}

static void task_get_ctx(void)
{
	(void)CALL_VALUE(doca_task_get_ctx, (struct doca_task *)pick(TASK));
}

void task_ended(struct doca_task *task)
{
	object_find(TASK, task)->flag = false;
	if (task_ends_free(task)) {
		task_freed(task);
	} else if (!task_is_busy(task) && (is_ending() || chance(2))) {
		task_freed(task);
		CALL_VALUE(doca_task_free, task);
	} else if (!is_ending() && chance(2)) {
		refuse_if(ctx_state(doca_task_get_ctx(task)) != DOCA_CTX_STATE_RUNNING);
		submitted(task, CALL(doca_task_submit, task));
	}
	act();
}

static const struct call calls[] = {
	{"doca_pe_create", pe_create, 2},
	{"doca_pe_destroy", pe_destroy, 1, true},
	{"doca_pe_progress", progress, 10, true},
	{"doca_pe_get_notification_handle", get_handle},
	{"doca_pe_clear_notification", clear_notification},
	{"doca_pe_request_notification", request_notification},
	{"doca_pe_get_num_inflight_tasks", pe_inflight},
	{"doca_pe_connect_ctx", connect_ctx, 2},
	{"doca_pe_set_event_mode", set_event_mode},
	{"doca_ctx_start", start, 2},
	{"doca_ctx_stop", stop, 2, true},
	{"doca_ctx_get_num_inflight_tasks", num_inflight},
	{"doca_ctx_get_state", get_state},
	{"doca_ctx_get_user_data", get_user_data},
	{"doca_ctx_set_user_data", set_user_data},
	{"doca_ctx_set_state_changed_cb", set_state_cb, 2},
	{"doca_ctx_set_datapath_on_gpu", datapath_on_gpu},
	{"doca_ctx_set_datapath_on_dpa", datapath_on_dpa},
	{"doca_ctx_set_completion_vector", completion_vector},
	{"doca_ctx_profiler_set_max_nranges", profiler_ranges},
	{"doca_ctx_cap_get_num_completion_vectors", num_vectors},
	{"doca_ctx_flush_tasks", flush},
	{"doca_task_submit", submit, 8},
	{"doca_task_try_submit", try_submit, 4},
	{"doca_task_submit_ex", submit_ex, 4},
	{"doca_task_free", task_free, 3, true},
	{"doca_task_get_status", get_status},
	{"doca_task_set_user_data", task_set_user_data},
	{"doca_task_get_user_data", task_get_user_data},
	{"doca_task_get_ctx", task_get_ctx},
};
const struct group ctx_group = GROUP(calls, prepare);
