/* SPDX-License-Identifier: BSD-3-Clause */
/* UROM's workers and their commands: to a plugin that answers correctly, and to one that does not. */
#include <doca_buf.h>
#include <string.h>

#include "base/cpus.h"
#include "run.h"
#include "urom_calls.h"

#define WORKERS_MAX 3
#define MARK UINT64_C(0x5eed5eed5eed5eed)

typedef struct doca_urom_worker_cmd_task command_task;

#define BASE(task) doca_urom_worker_cmd_task_as_task(task)

/* ---- life cycle ---- */

static void made(struct doca_urom_worker *worker)
{
	object_add(UROM_WORKER, worker);
	ctx_add(doca_urom_worker_as_ctx(worker));
}

static void create(void)
{
	struct doca_urom_worker *worker;

	if (is_ending() || object_count(UROM_WORKER) >= WORKERS_MAX || !object_room(CTX))
		return;
	struct doca_urom_worker **place = or_null(&worker);

	expect_if(true);
	if (CALL(doca_urom_worker_create, place) == DOCA_SUCCESS)
		made(worker);
}

static void destroy(void)
{
	struct doca_urom_worker *worker = pick(UROM_WORKER);
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);

	refuse_if(worker != NULL && !ctx_is_idle(ctx));
	expect_if(true);
	if (CALL(doca_urom_worker_destroy, worker) != DOCA_SUCCESS)
		return;
	object_drop(CTX, ctx);
	object_drop(UROM_WORKER, worker);
}

static void as_ctx(void)
{
	(void)CALL_VALUE(doca_urom_worker_as_ctx, (struct doca_urom_worker *)pick(UROM_WORKER));
}

/* ---- properties ---- */

static struct doca_urom_worker *to_set(void)
{
	struct doca_urom_worker *worker = pick(UROM_WORKER);

	refuse_if(worker != NULL && !ctx_is_idle(doca_urom_worker_as_ctx(worker)));
	return worker;
}

static void set_service(void)
{
	struct doca_urom_worker *worker = to_set();
	struct doca_urom_service *service = pick(UROM_SERVICE);

	CALL(doca_urom_worker_set_service, worker, service); /* the service may have its maximum of workers already */
}

static void set_id(void)
{
	struct doca_urom_worker *worker = to_set();

	expect_if(true);
	CALL(doca_urom_worker_set_id, worker, chance(2) ? DOCA_UROM_WORKER_ID_ANY : random_below(3));
}

static void set_plugins(void)
{
	struct doca_urom_worker *worker = to_set();
	uint64_t plugins = chance(8) ? 0 : urom_any_plugin() | urom_any_plugin();

	refuse_if(plugins == 0 || plugins >> 62 != 0);
	expect_if(true);
	CALL(doca_urom_worker_set_plugins, worker, plugins);
}

static void set_cpuset(void)
{
	doca_cpu_set_t set;
	struct doca_urom_worker *worker = to_set();
	uint32_t kind = random_below(8);

	DOCA_CPU_ZERO(&set);
	if (kind != 0)
		DOCA_CPU_SET(kind == 1 ? 1000 : sf_usable_cpu(0), &set);
	refuse_if(kind == 0);
	expect_if(true);
	CALL(doca_urom_worker_set_cpuset, worker, set);
}

static void set_gid(void)
{
	struct doca_urom_worker *worker = to_set();

	expect_if(true);
	CALL(doca_urom_worker_set_gid, worker, random_below(3));
}

static void set_max_inflight(void)
{
	static const uint32_t numbers[] = {0, 1, 2, 3, 4, 1024, 32768, UINT32_MAX};
	struct doca_urom_worker *worker = to_set();
	uint32_t num = chance(2) ? 8 : numbers[random_below(8)];

	refuse_if(num == 0 || (num & (num - 1)) != 0 || num > 16384);
	expect_if(true);
	CALL(doca_urom_worker_set_max_inflight_tasks, worker, num);
}

static void set_env(void)
{
	static char *const good[] = {(char *)"ABUSE=1", (char *)"ABUSE_EMPTY="};
	static char *const bad[] = {(char *)"ABUSE=1", (char *)"no variable"};
	static char *const missing[] = {(char *)"ABUSE=1", NULL};
	struct doca_urom_worker *worker = to_set();
	uint32_t kind = random_below(6);
	char *const *env = or_null((void *)(kind == 0 ? bad : kind == 1 ? missing : good));
	size_t count = kind == 2 ? 0 : 2;

	refuse_if(kind < 2);
	expect_if(true);
	CALL(doca_urom_worker_set_env, worker, env, count);
}

static void get_id(void)
{
	uint64_t id;
	struct doca_urom_worker *worker = pick(UROM_WORKER);
	uint64_t *place = or_null(&id);

	expect_if(true);
	CALL(doca_urom_worker_get_id, worker, place);
}

static void get_gid(void)
{
	uint32_t gid;
	struct doca_urom_worker *worker = pick(UROM_WORKER);
	uint32_t *place = or_null(&gid);

	CALL(doca_urom_worker_get_gid, worker, place);
}

/* ---- commands ---- */

/* All bytes of a response must be readable, and the 32 bytes of user data must be unchanged. */
static void check_ended(command_task *task)
{
	const uint64_t *mark = doca_urom_worker_cmd_task_get_user_data(task);
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);
	void *data;
	size_t len;

	if (!task_is_inflight(BASE(task)))
		abuse_fail("a command ended that was not in flight");
	for (int i = 0; i < 4; i++) {
		if (mark[i] != MARK + (uint64_t)i)
			abuse_fail("the 32 bytes of user data of a command have changed");
	}
	if (response == NULL || doca_buf_get_data(response, &data) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(response, &len) != DOCA_SUCCESS)
		return;
	for (size_t i = 0; i < len; i++)
		memory[0] ^= ((uint8_t *)data)[i];
}

static void ended(command_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	check_ended(task);
	task_ended(BASE(task));
}

/* The callback or the payload that a submit needs may be missing. */
static void taken(command_task *task, bool with_callback)
{
	uint64_t *mark = CALL_VALUE(doca_urom_worker_cmd_task_get_user_data, task);
	struct doca_buf *payload = CALL_VALUE(doca_urom_worker_cmd_task_get_payload, task);
	size_t len = chance(12) ? 5000 : random_below(200);
	void *data;

	for (int i = 0; i < 4; i++)
		mark[i] = MARK + (uint64_t)i;
	if (with_callback)
		CALL_VALUE(doca_urom_worker_cmd_task_set_cb, task, ended);
	if (doca_buf_get_data(payload, &data) == DOCA_SUCCESS) {
		((uint8_t *)data)[0] = (uint8_t)(chance(200) ? HOSTILE_CRASH : random_below(HOSTILE_HARMLESS));
		(void)doca_buf_set_data(payload, data, len); /* rejects more bytes than there is room for */
	}
	task_add(BASE(task), UROM_COMMAND_TASK, task);
}

static struct doca_urom_worker *to_allocate(void)
{
	struct doca_urom_worker *worker = pick(UROM_WORKER);

	refuse_if(worker != NULL && ctx_state(doca_urom_worker_as_ctx(worker)) != DOCA_CTX_STATE_RUNNING);
	return worker;
}

static void allocate(void)
{
	command_task *task;

	if (!has_room(TASK) || !has_room(UROM_COMMAND_TASK))
		return;
	struct doca_urom_worker *worker = to_allocate();
	command_task **place = or_null(&task);

	if (CALL(doca_urom_worker_cmd_task_allocate, worker, place) == DOCA_SUCCESS)
		taken(task, !chance(4));
}

static void allocate_init(void)
{
	command_task *task;

	if (!has_room(TASK) || !has_room(UROM_COMMAND_TASK))
		return;
	struct doca_urom_worker *worker = to_allocate();
	command_task **place = or_null(&task);

	if (CALL(doca_urom_worker_cmd_task_allocate_init, worker, urom_any_plugin(), place) == DOCA_SUCCESS)
		taken(task, !chance(8));
}

static void release(void)
{
	command_task *task = pick_or_none(UROM_COMMAND_TASK);

	refuse_if(task == NULL || task_is_inflight(BASE(task)));
	expect_if(true);
	if (CALL(doca_urom_worker_cmd_task_release, task) == DOCA_SUCCESS)
		task_freed(BASE(task));
}

static bool is_settable(command_task *task)
{
	return task == NULL || !task_is_inflight(BASE(task));
}

static void set_plugin(void)
{
	command_task *task = pick(UROM_COMMAND_TASK);

	if (is_settable(task))
		CALL_VALUE(doca_urom_worker_cmd_task_set_plugin, task, urom_any_plugin());
}

static void set_cb(void)
{
	command_task *task = pick(UROM_COMMAND_TASK);

	if (is_settable(task))
		CALL_VALUE(doca_urom_worker_cmd_task_set_cb, task, chance(4) ? NULL : ended);
}

static void get_payload(void)
{
	(void)CALL_VALUE(doca_urom_worker_cmd_task_get_payload, (command_task *)pick(UROM_COMMAND_TASK));
}

static void get_response(void)
{
	(void)CALL_VALUE(doca_urom_worker_cmd_task_get_response, (command_task *)pick(UROM_COMMAND_TASK));
}

static void get_user_data(void)
{
	(void)CALL_VALUE(doca_urom_worker_cmd_task_get_user_data, (command_task *)pick(UROM_COMMAND_TASK));
}

static void as_task(void)
{
	(void)CALL_VALUE(doca_urom_worker_cmd_task_as_task, (command_task *)pick(UROM_COMMAND_TASK));
}

/* Waits for answers, which random calls alone would not do. */
static void settle(void)
{
	urom_settle(NULL, DOCA_CTX_STATE_IDLE);
}

/* ---- beginnings: one or two workers that run or start ---- */

static void prepare_one(struct doca_urom_service *service)
{
	struct doca_urom_worker *worker;
	uint64_t plugins = urom_plugin("worker_graph") | urom_plugin("worker_hostile");

	if (CALL(doca_urom_worker_create, &worker) != DOCA_SUCCESS)
		return;
	made(worker);
	CALL(doca_urom_worker_set_service, worker, service);
	CALL(doca_urom_worker_set_id, worker, chance(2) ? DOCA_UROM_WORKER_ID_ANY : 1);
	CALL(doca_urom_worker_set_max_inflight_tasks, worker, 8);
	if (plugins != 0)
		CALL(doca_urom_worker_set_plugins, worker, plugins);
	ctx_run(doca_urom_worker_as_ctx(worker));
	if (!chance(4))
		urom_settle(doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_RUNNING);
}

static void prepare(void)
{
	for (uint32_t i = random_below(2) + 1; i > 0; i--) {
		struct object *service = object_any(UROM_SERVICE);

		if (service != NULL && object_count(UROM_WORKER) < WORKERS_MAX && object_room(CTX))
			prepare_one(service->pointer);
	}
}

static const struct call calls[] = {
	{"doca_urom_worker_create", create},
	{"doca_urom_worker_destroy", destroy, 1, true},
	{"doca_urom_worker_as_ctx", as_ctx},
	{"doca_urom_worker_set_service", set_service},
	{"doca_urom_worker_set_id", set_id},
	{"doca_urom_worker_set_plugins", set_plugins, 2},
	{"doca_urom_worker_set_cpuset", set_cpuset},
	{"doca_urom_worker_set_gid", set_gid},
	{"doca_urom_worker_set_max_inflight_tasks", set_max_inflight},
	{"doca_urom_worker_set_env", set_env},
	{"doca_urom_worker_get_id", get_id},
	{"doca_urom_worker_get_gid", get_gid},
	{"doca_urom_worker_cmd_task_allocate", allocate, 2},
	{"doca_urom_worker_cmd_task_allocate_init", allocate_init, 8},
	{"doca_urom_worker_cmd_task_release", release, 1, true},
	{"doca_urom_worker_cmd_task_set_plugin", set_plugin},
	{"doca_urom_worker_cmd_task_set_cb", set_cb},
	{"doca_urom_worker_cmd_task_get_payload", get_payload},
	{"doca_urom_worker_cmd_task_get_response", get_response},
	{"doca_urom_worker_cmd_task_get_user_data", get_user_data},
	{"doca_urom_worker_cmd_task_as_task", as_task},
	{"doca_pe_progress", settle, 3, true},
};
const struct group urom_worker_group = GROUP(calls, prepare);
