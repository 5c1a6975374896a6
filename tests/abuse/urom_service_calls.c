/* SPDX-License-Identifier: BSD-3-Clause */
/* UROM's services, and their tasks. */
#include <doca_dev.h>

#include "urom_calls.h"

#define SERVICES_MAX 2

/* ---- life cycle ---- */

static void made(struct doca_urom_service *service)
{
	object_add(UROM_SERVICE, service);
	ctx_add(doca_urom_service_as_ctx(service));
}

static void create(void)
{
	struct doca_urom_service *service;

	if (is_ending() || object_count(UROM_SERVICE) >= SERVICES_MAX || !object_room(CTX))
		return;
	struct doca_urom_service **place = or_null(&service);

	expect_if(true);
	if (CALL(doca_urom_service_create, place) == DOCA_SUCCESS)
		made(service);
}

static void destroy(void)
{
	struct doca_urom_service *service = pick_or_none(UROM_SERVICE);
	struct doca_ctx *ctx = doca_urom_service_as_ctx(service);

	refuse_if(service == NULL || !ctx_is_idle(ctx));
	if (CALL(doca_urom_service_destroy, service) != DOCA_SUCCESS)
		return;
	object_drop(CTX, ctx);
	object_drop(UROM_SERVICE, service);
}

static void as_ctx(void)
{
	(void)CALL_VALUE(doca_urom_service_as_ctx, (struct doca_urom_service *)pick(UROM_SERVICE));
}

/* ---- properties ---- */

static struct doca_urom_service *to_set(void)
{
	struct doca_urom_service *service = pick(UROM_SERVICE);

	refuse_if(service != NULL && !ctx_is_idle(doca_urom_service_as_ctx(service)));
	return service;
}

static void set_max_size(void)
{
	static const size_t sizes[] = {0, 255, 256, 1000, 4096, 4097, (64 << 20) + 1, SIZE_MAX};
	struct doca_urom_service *service = to_set();
	size_t size = chance(2) ? 4096 : sizes[random_below(8)];

	refuse_if(size < 256 || size > 64 << 20);
	expect_if(true);
	CALL(doca_urom_service_set_max_comm_msg_size, service, size);
}

static void set_max_workers(void)
{
	static const uint32_t numbers[] = {0, 1, 2, 3, 4, 64, 8192, UINT32_MAX};
	struct doca_urom_service *service = to_set();
	uint32_t num = chance(2) ? 64 : numbers[random_below(8)];

	refuse_if(num == 0 || (num & (num - 1)) != 0 || num > 4096);
	expect_if(true);
	CALL(doca_urom_service_set_max_workers, service, num);
}

static void set_dev(void)
{
	struct doca_urom_service *service = to_set();
	struct doca_dev *dev = pick(DEV);

	expect_if(true);
	CALL(doca_urom_service_set_dev, service, dev);
}

static void get_plugins(void)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;
	struct doca_urom_service *service = pick(UROM_SERVICE);
	bool runs = service != NULL && ctx_state(doca_urom_service_as_ctx(service)) == DOCA_CTX_STATE_RUNNING;
	const struct doca_urom_service_plugin_info **place = or_null(&plugins);
	size_t *count = or_null(&num);

	refuse_if(service != NULL && !runs);
	expect_if(runs);
	CALL(doca_urom_service_get_plugins_list, service, place, count);
}

static void get_cpuset(void)
{
	doca_cpu_set_t set;
	struct doca_urom_service *service = pick(UROM_SERVICE);
	bool runs = service != NULL && ctx_state(doca_urom_service_as_ctx(service)) == DOCA_CTX_STATE_RUNNING;
	doca_cpu_set_t *place = or_null(&set);

	refuse_if(service != NULL && !runs);
	expect_if(runs);
	CALL(doca_urom_service_get_cpuset, service, place);
}

/* ---- tasks ---- */

typedef struct doca_urom_service_get_workers_by_gid_task group_task;

#define BASE(task) doca_urom_service_get_workers_by_gid_task_as_task(task)

static void listed(group_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	const uint64_t *ids = doca_urom_service_get_workers_by_gid_task_get_worker_ids(task);
	size_t num = doca_urom_service_get_workers_by_gid_task_get_workers_count(task);

	for (size_t i = 0; i < num; i++)
		memory[0] ^= (uint8_t)ids[i]; /* reads the id: it must be accessible */
	task_ended(BASE(task));
}

static void taken(group_task *task)
{
	task_add(BASE(task), UROM_GROUP_TASK, task);
}

static struct doca_urom_service *to_allocate(void)
{
	struct doca_urom_service *service = pick(UROM_SERVICE);

	refuse_if(service != NULL && ctx_state(doca_urom_service_as_ctx(service)) != DOCA_CTX_STATE_RUNNING);
	return service;
}

static void allocate(void)
{
	group_task *task;

	if (!has_room(TASK) || !has_room(UROM_GROUP_TASK))
		return;
	struct doca_urom_service *service = to_allocate();
	group_task **place = or_null(&task);

	if (CALL(doca_urom_service_get_workers_by_gid_task_allocate, service, place) == DOCA_SUCCESS)
		taken(task);
}

static void allocate_init(void)
{
	group_task *task;

	if (!has_room(TASK) || !has_room(UROM_GROUP_TASK))
		return;
	struct doca_urom_service *service = to_allocate();
	doca_urom_service_get_workers_by_gid_task_completion_cb_t cb = or_null(listed);
	group_task **place = or_null(&task);

	if (CALL(doca_urom_service_get_workers_by_gid_task_allocate_init, service, random_below(3), cb, place) == DOCA_SUCCESS)
		taken(task);
}

static void release(void)
{
	group_task *task = pick_or_none(UROM_GROUP_TASK);

	refuse_if(task == NULL || task_is_inflight(BASE(task)));
	expect_if(true);
	if (CALL(doca_urom_service_get_workers_by_gid_task_release, task) == DOCA_SUCCESS)
		task_freed(BASE(task));
}

static bool is_settable(group_task *task)
{
	return task == NULL || !task_is_inflight(BASE(task));
}

static void set_gid(void)
{
	group_task *task = pick(UROM_GROUP_TASK);

	if (is_settable(task))
		CALL_VALUE(doca_urom_service_get_workers_by_gid_task_set_gid, task, random_below(3));
}

static void set_cb(void)
{
	group_task *task = pick(UROM_GROUP_TASK);

	if (is_settable(task))
		CALL_VALUE(doca_urom_service_get_workers_by_gid_task_set_cb, task, chance(4) ? NULL : listed);
}

static void as_task(void)
{
	(void)CALL_VALUE(doca_urom_service_get_workers_by_gid_task_as_task, (group_task *)pick(UROM_GROUP_TASK));
}

static void get_count(void)
{
	(void)CALL_VALUE(doca_urom_service_get_workers_by_gid_task_get_workers_count, (group_task *)pick(UROM_GROUP_TASK));
}

static void get_ids(void)
{
	(void)CALL_VALUE(doca_urom_service_get_workers_by_gid_task_get_worker_ids, (group_task *)pick(UROM_GROUP_TASK));
}

/* ---- beginnings: a service that runs, or that may fail to start ---- */

static void prepare(void)
{
	struct doca_dev *dev = dev_add("d8:00.0");
	struct doca_urom_service *service;

	if (dev == NULL || CALL(doca_urom_service_create, &service) != DOCA_SUCCESS)
		return;
	made(service);
	CALL(doca_urom_service_set_dev, service, dev);
	ctx_run(doca_urom_service_as_ctx(service));
}

#define TASK_CALL(name, run)                                                                                                     \
	{                                                                                                                        \
		"doca_urom_service_get_workers_by_gid_task_" name, run                                                           \
	}

static const struct call calls[] = {
	{"doca_urom_service_create", create},
	{"doca_urom_service_destroy", destroy, 1, true},
	{"doca_urom_service_as_ctx", as_ctx},
	{"doca_urom_service_set_max_comm_msg_size", set_max_size},
	{"doca_urom_service_set_max_workers", set_max_workers},
	{"doca_urom_service_set_dev", set_dev, 2},
	{"doca_urom_service_get_plugins_list", get_plugins},
	{"doca_urom_service_get_cpuset", get_cpuset},
	TASK_CALL("allocate", allocate),
	TASK_CALL("allocate_init", allocate_init),
	{"doca_urom_service_get_workers_by_gid_task_release", release, 1, true},
	TASK_CALL("set_gid", set_gid),
	TASK_CALL("set_cb", set_cb),
	TASK_CALL("as_task", as_task),
	TASK_CALL("get_workers_count", get_count),
	TASK_CALL("get_worker_ids", get_ids),
};
const struct group urom_service_group = GROUP(calls, prepare);
