/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker context. */
#include "urom/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "urom/check.h"
#include "urom/domain_notify.h"
#include "urom/service.h"
#include "urom/service_request.h"
#include "urom/worker_peer.h"
#include "urom/worker_task_cmd.h"

/* ---- start ---- */

static doca_error_t check_configured(const struct doca_urom_worker *worker)
{
	if (worker->service == NULL || worker->plugins == 0) {
		SF_LOG_ERR("urom worker: %s set: call %s before doca_ctx_start",
			   worker->service == NULL ? "no service is" : "no plugins are",
			   worker->service == NULL ? "doca_urom_worker_set_service" : "doca_urom_worker_set_plugins");
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t pack_spawn(struct doca_urom_worker *worker)
{
	struct urom_spawn spawn = {
		.worker_id = worker->wanted_id,
		.plugins = worker->plugins,
		.gid = worker->wanted_gid,
		.has_gid = worker->wants_gid,
		.has_cpuset = worker->has_cpuset,
		.num_env = (uint32_t)worker->num_env,
	};

	memcpy(spawn.cpuset, &worker->cpuset, sizeof(spawn.cpuset));
	for (size_t i = 0; i < worker->num_env; i++)
		spawn.env[i] = worker->env[i];
	worker->request.body = (uint8_t *)malloc(UROM_CONTROL_MAX);
	if (worker->request.body == NULL) {
		SF_LOG_ERR("urom worker: no memory to start");
		return DOCA_ERROR_NO_MEMORY;
	}
	worker->request.body_len = urom_spawn_pack(&spawn, worker->request.body, UROM_CONTROL_MAX);
	return DOCA_SUCCESS;
}

static void release_all(struct doca_urom_worker *worker)
{
	urom_worker_end_join(worker);
	sf_status_conn_close(&worker->status_conn);
	if (worker->comm != NULL)
		sf_comm_close(worker->comm);
	worker->comm = NULL;
	worker->peer = NULL;
	free(worker->request.body);
	worker->request.body = NULL;
	free(worker->payloads);
	worker->payloads = NULL;
	free(worker->addresses);
	worker->addresses = NULL;
	worker->addresses_len = 0;
	urom_domains_lose(worker);
	if (worker->wake_fd >= 0)
		close(worker->wake_fd);
	worker->wake_fd = -1;
	worker->phase = UROM_WORKER_OFF;
}

static doca_error_t worker_watch(struct doca_urom_worker *worker)
{
	doca_error_t result = sf_ctx_watch_fd(&worker->ctx, worker->wake_fd);

	if (result != DOCA_SUCCESS)
		return result;
	result = sf_ctx_watch_fd(&worker->ctx, sf_comm_fd(worker->comm));
	if (result != DOCA_SUCCESS)
		sf_ctx_unwatch_fd(&worker->ctx, worker->wake_fd);
	return result;
}

static doca_error_t worker_start(struct doca_ctx *ctx)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)ctx;
	doca_error_t result = check_configured(worker);

	if (result != DOCA_SUCCESS)
		return result;
	worker->message_max = worker->service->message_max;
	worker->ended = NULL;
	worker->registered = worker->logged = false;
	worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->wake_fd < 0) {
		SF_LOG_ERR("urom worker: no eventfd: too many open files?");
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	result = pack_spawn(worker);
	if (result == DOCA_SUCCESS)
		result = urom_cmd_tasks_prepare(worker);
	if (result == DOCA_SUCCESS)
		result = urom_worker_open_comm(worker);
	if (result == DOCA_SUCCESS)
		result = worker_watch(worker);
	if (result != DOCA_SUCCESS) {
		release_all(worker);
		return result;
	}
	worker->phase = UROM_WORKER_SPAWNING;
	worker->request.kind = UROM_SPAWN;
	worker->request.wake_fd = worker->wake_fd;
	worker->request.subject = worker->wanted_id;
	sf_status_conn_open(&worker->status_conn, ctx, worker->service->process, false);
	urom_request_post(worker->service, &worker->request);
	return DOCA_ERROR_IN_PROGRESS;
}

/* ---- stop ---- */

static void release_process(struct doca_urom_worker *worker)
{
	urom_worker_end_join(worker);
	worker->phase = UROM_WORKER_RELEASING;
	worker->request.kind = UROM_RELEASE;
	worker->request.subject = worker->id;
	worker->request.body_len = 0;
	sf_status_conn_open(&worker->status_conn, &worker->ctx, worker->service->process, false);
	urom_request_post(worker->service, &worker->request);
}

static void worker_cancel(struct doca_ctx *ctx)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)ctx;

	urom_cmd_tasks_fail(worker, worker->phase == UROM_WORKER_LOST ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_BAD_STATE);
	if (worker->registered)
		release_process(worker);
	sf_ctx_kick(ctx);
}

static bool worker_drained(struct doca_ctx *ctx)
{
	const struct doca_urom_worker *worker = (const struct doca_urom_worker *)ctx;

	return worker->phase == UROM_WORKER_OFF || worker->phase == UROM_WORKER_LOST;
}

static void worker_stop(struct doca_ctx *ctx)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)ctx;

	sf_ctx_unwatch_fd(ctx, sf_comm_fd(worker->comm));
	sf_ctx_unwatch_fd(ctx, worker->wake_fd);
	release_all(worker);
}

/* ---- progress ---- */

static void spawn_ended(struct doca_urom_worker *worker)
{
	const struct urom_request *request = &worker->request;

	worker->id = worker->wanted_id;
	if (request->status != DOCA_SUCCESS) {
		urom_worker_lose(worker, request->status, request->reason);
		return;
	}
	worker->registered = true;
	worker->id = request->spawned.worker_id;
	worker->has_gid = request->spawned.has_gid;
	worker->gid = request->spawned.gid;
	if (worker->ctx.cancelled) {
		release_process(worker);
		return;
	}
	doca_error_t result = urom_worker_connect(worker);
	if (result != DOCA_SUCCESS)
		urom_worker_lose(worker, result, "its process cannot be reached");
}

static bool request_ended(struct doca_urom_worker *worker)
{
	if (atomic_load_explicit(&worker->request.state, memory_order_acquire) != UROM_REQUEST_DONE)
		return false;
	atomic_store_explicit(&worker->request.state, UROM_REQUEST_NONE, memory_order_relaxed);
	if (worker->phase == UROM_WORKER_SPAWNING)
		spawn_ended(worker);
	else
		worker->phase = UROM_WORKER_OFF; /* released, or the service is gone and the process with it */
	return true;
}

static bool worker_progress(struct doca_ctx *ctx)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)ctx;
	bool any = sf_comm_poll(worker->comm);

	if (__builtin_expect(worker->ended != NULL, 0))
		any |= urom_cmd_tasks_complete(worker);
	if (__builtin_expect(!STAILQ_EMPTY(&worker->leaves), 0))
		any |= urom_leaves_send(worker);
	if (__builtin_expect(worker->phase != UROM_WORKER_ON, 0)) {
		any |= request_ended(worker);
		any |= urom_worker_check_join(worker);
		if (worker->phase == UROM_WORKER_LOST && !ctx->cancelled) {
			sf_ctx_fail(ctx);
			any = true;
		}
	}
	return any;
}

static bool worker_arm(struct doca_ctx *ctx)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)ctx;
	uint64_t count;

	(void)!read(worker->wake_fd, &count, sizeof(count));
	return worker->ended != NULL || (worker->phase == UROM_WORKER_LOST && !ctx->cancelled) ||
	       atomic_load_explicit(&worker->request.state, memory_order_acquire) == UROM_REQUEST_DONE ||
	       urom_leaves_are_due(worker) || sf_comm_arm(worker->comm);
}

/* Only writes: a process keeps its notifications until they are read. */
static void worker_send_pending(struct doca_ctx *ctx)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)ctx;

	if (!STAILQ_EMPTY(&worker->leaves))
		(void)urom_leaves_send(worker);
	sf_comm_push(worker->comm);
}

static const struct sf_ctx_ops worker_ops = {
	.name = "urom worker",
	.needs_pe = true,
	.start = worker_start,
	.cancel = worker_cancel,
	.drained = worker_drained,
	.stop = worker_stop,
	.progress = worker_progress,
	.arm = worker_arm,
	.send_pending = worker_send_pending,
};

/* ---- public ---- */

static doca_error_t configure_tasks(struct doca_urom_worker *worker, uint32_t num)
{
	worker->max_inflight = num;
	return sf_task_pool_configure(&worker->ctx, &worker->pool, &urom_cmd_task_class, urom_cmd_task_done, urom_cmd_task_done,
				      num, UROM_INFLIGHT_MAX);
}

doca_error_t doca_urom_worker_create(struct doca_urom_worker **worker_ctx)
{
	if (worker_ctx == NULL)
		return urom_check_given(NULL, "worker");
	struct doca_urom_worker *worker = (struct doca_urom_worker *)calloc(1, sizeof(*worker));
	if (worker == NULL) {
		SF_LOG_ERR("no memory for a urom worker");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&worker->ctx, &worker_ops, &worker->pool, 1);
	LIST_INIT(&worker->members);
	STAILQ_INIT(&worker->leaves);
	worker->wanted_id = worker->id = DOCA_UROM_WORKER_ID_ANY;
	worker->wake_fd = worker->join_fd = -1;
	doca_error_t result = configure_tasks(worker, UROM_INFLIGHT_DEFAULT);
	if (result != DOCA_SUCCESS) {
		(void)sf_ctx_fini(&worker->ctx);
		free(worker);
		return result;
	}
	sf_ctx_created(&worker->ctx);
	*worker_ctx = worker;
	return DOCA_SUCCESS;
}

static void drop_env(struct doca_urom_worker *worker)
{
	for (size_t i = 0; i < worker->num_env; i++)
		free(worker->env[i]);
	free(worker->env);
	worker->env = NULL;
	worker->num_env = 0;
}

doca_error_t doca_urom_worker_destroy(struct doca_urom_worker *worker)
{
	if (worker == NULL)
		return urom_check_given(NULL, "worker");
	doca_error_t result = sf_ctx_fini(&worker->ctx);
	if (result != DOCA_SUCCESS)
		return result;
	urom_domains_forget(worker);
	if (worker->service != NULL)
		atomic_fetch_sub(&worker->service->num_workers, 1);
	drop_env(worker);
	free(worker);
	return DOCA_SUCCESS;
}

static doca_error_t check_setter(const struct doca_urom_worker *worker, const char *setter)
{
	doca_error_t result = urom_check_given(worker, "worker");

	return result == DOCA_SUCCESS ? sf_ctx_check_idle(&worker->ctx, setter) : result;
}

doca_error_t doca_urom_worker_set_service(struct doca_urom_worker *worker, struct doca_urom_service *service)
{
	doca_error_t result = urom_check_given(service, "service");

	if (result == DOCA_SUCCESS)
		result = check_setter(worker, __func__);
	if (result != DOCA_SUCCESS || worker->service == service)
		return result;
	if (atomic_fetch_add(&service->num_workers, 1) >= service->max_workers) {
		atomic_fetch_sub(&service->num_workers, 1);
		SF_LOG_ERR("urom worker: the service has its maximum of %u workers: raise doca_urom_service_set_max_workers",
			   service->max_workers);
		return DOCA_ERROR_BAD_STATE;
	}
	if (worker->service != NULL)
		atomic_fetch_sub(&worker->service->num_workers, 1);
	worker->service = service;
	worker->ctx.status.device = service->ctx.status.device;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_worker_set_id(struct doca_urom_worker *worker, uint64_t worker_id)
{
	doca_error_t result = check_setter(worker, __func__);

	if (result == DOCA_SUCCESS)
		worker->wanted_id = worker->id = worker_id;
	return result;
}

doca_error_t doca_urom_worker_set_plugins(struct doca_urom_worker *worker, uint64_t plugins)
{
	doca_error_t result = check_setter(worker, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (plugins == 0 || plugins >> UROM_PLUGINS_MAX != 0) {
		SF_LOG_ERR("urom worker: 0x%llx is not a set of plugin ids: combine those of doca_urom_service_get_plugins_list "
			   "by OR",
			   (unsigned long long)plugins);
		return DOCA_ERROR_INVALID_VALUE;
	}
	worker->plugins = plugins;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_worker_set_cpuset(struct doca_urom_worker *worker, doca_cpu_set_t cpuset)
{
	static const doca_cpu_set_t none;
	doca_error_t result = check_setter(worker, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (memcmp(&cpuset, &none, sizeof(none)) == 0) {
		SF_LOG_ERR("urom worker: the set of processors is empty");
		return DOCA_ERROR_INVALID_VALUE;
	}
	worker->cpuset = cpuset;
	worker->has_cpuset = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_worker_set_gid(struct doca_urom_worker *worker, uint32_t gid)
{
	doca_error_t result = check_setter(worker, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	worker->gid = worker->wanted_gid = gid;
	worker->has_gid = worker->wants_gid = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_worker_set_max_inflight_tasks(struct doca_urom_worker *worker, uint32_t max_tasks)
{
	doca_error_t result = check_setter(worker, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (max_tasks > UROM_INFLIGHT_MAX || __builtin_popcount(max_tasks) != 1) {
		SF_LOG_ERR("urom worker: max_inflight_tasks is %u: give a power of two up to %d", max_tasks, UROM_INFLIGHT_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return configure_tasks(worker, max_tasks);
}

/* NAME=value without blanks, as the guide requires. */
static bool is_variable(const char *entry)
{
	return entry != NULL && entry[0] != '=' && strchr(entry, '=') != NULL && strpbrk(entry, " \t\n") == NULL;
}

static doca_error_t check_env(char *const env[], size_t count)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count && count <= UROM_ENV_MAX; i++) {
		if (!is_variable(env[i])) {
			SF_LOG_ERR("urom worker: \"%s\" is not a variable: give NAME=value without blanks",
				   env[i] != NULL ? env[i] : "");
			return DOCA_ERROR_INVALID_VALUE;
		}
		bytes += strlen(env[i]) + 1;
	}
	if (count <= UROM_ENV_MAX && bytes <= UROM_ENV_BYTES_MAX)
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom worker: %zu variables of %zu bytes: at most %d of %d are possible", count, bytes, UROM_ENV_MAX,
		   UROM_ENV_BYTES_MAX);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_urom_worker_set_env(struct doca_urom_worker *worker, char *const env[], size_t count)
{
	doca_error_t result = urom_check_given(env, "env");

	if (result == DOCA_SUCCESS)
		result = check_setter(worker, __func__);
	if (result == DOCA_SUCCESS)
		result = check_env(env, count);
	if (result != DOCA_SUCCESS)
		return result;
	drop_env(worker);
	worker->env = (char **)calloc(count != 0 ? count : 1, sizeof(worker->env[0]));
	for (size_t i = 0; worker->env != NULL && i < count; i++) {
		worker->env[i] = strdup(env[i]);
		if (worker->env[i] == NULL)
			break;
		worker->num_env++;
	}
	if (worker->env != NULL && worker->num_env == count)
		return DOCA_SUCCESS;
	drop_env(worker);
	SF_LOG_ERR("urom worker: no memory for %zu variables", count);
	return DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_urom_worker_get_id(struct doca_urom_worker *worker, uint64_t *worker_id)
{
	if (worker == NULL || worker_id == NULL)
		return urom_check_given(NULL, worker == NULL ? "worker" : "worker_id");
	*worker_id = worker->id;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_worker_get_gid(struct doca_urom_worker *worker, uint32_t *worker_gid)
{
	if (worker == NULL || worker_gid == NULL)
		return urom_check_given(NULL, worker == NULL ? "worker" : "gid");
	if (!worker->has_gid) {
		SF_LOG_ERR("urom worker %llu is in no group", (unsigned long long)worker->id);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*worker_gid = worker->gid;
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_urom_worker_as_ctx(struct doca_urom_worker *worker)
{
	return worker != NULL ? &worker->ctx : NULL;
}
