/* SPDX-License-Identifier: BSD-3-Clause */
/* The service context. */
#include "urom/service.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "core/dev.h"
#include "urom/check.h"
#include "urom/service_connect.h"
#include "urom/service_peer.h"
#include "urom/service_request.h"
#include "urom/service_task_gid.h"

/* ---- start and stop ---- */

static doca_error_t look_up(struct doca_urom_service *service)
{
	if (service->dev == NULL) {
		SF_LOG_ERR("urom service: no device is set: call doca_urom_service_set_dev before doca_ctx_start");
		return DOCA_ERROR_BAD_STATE;
	}
	return urom_service_look_up(sf_dev_desc(service->dev)->pci_addr, &service->entry);
}

static doca_error_t service_start(struct doca_ctx *ctx)
{
	struct doca_urom_service *service = (struct doca_urom_service *)ctx;
	doca_error_t result = look_up(service);

	if (result != DOCA_SUCCESS)
		return result;
	service->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (service->wake_fd < 0) {
		SF_LOG_ERR("urom service: no eventfd: too many open files?");
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	service->asked = service->ended = NULL;
	result = urom_service_connect(service);
	if (result == DOCA_SUCCESS)
		result = sf_ctx_watch_fd(ctx, service->wake_fd);
	if (result == DOCA_SUCCESS) {
		result = sf_ctx_watch_fd(ctx, sf_comm_fd(service->comm));
		if (result != DOCA_SUCCESS)
			sf_ctx_unwatch_fd(ctx, service->wake_fd);
	}
	if (result != DOCA_SUCCESS) {
		urom_service_disconnect(service);
		close(service->wake_fd);
		return result;
	}
	service->process = sf_comm_process(service->peer);
	sf_status_conn_open(&service->status_conn, ctx, service->process, true);
	return DOCA_SUCCESS;
}

static void service_cancel(struct doca_ctx *ctx)
{
	struct doca_urom_service *service = (struct doca_urom_service *)ctx;

	urom_gid_tasks_fail(service,
			    service->session == UROM_SESSION_OPEN ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_CONNECTION_ABORTED);
	sf_ctx_kick(ctx);
}

static void service_stop(struct doca_ctx *ctx)
{
	struct doca_urom_service *service = (struct doca_urom_service *)ctx;

	sf_ctx_unwatch_fd(ctx, sf_comm_fd(service->comm));
	sf_ctx_unwatch_fd(ctx, service->wake_fd);
	urom_service_disconnect(service);
	close(service->wake_fd);
}

static bool service_progress(struct doca_ctx *ctx)
{
	struct doca_urom_service *service = (struct doca_urom_service *)ctx;
	bool any = sf_comm_poll(service->comm);

	if (service->ended != NULL)
		any |= urom_gid_tasks_complete(service);
	if (atomic_load_explicit(&service->any_queued, memory_order_acquire) || service->session == UROM_SESSION_ENDED)
		any |= urom_requests_run(service);
	if (service->session == UROM_SESSION_ENDED && ctx->state == DOCA_CTX_STATE_RUNNING) {
		sf_ctx_fail(ctx);
		any = true;
	}
	return any;
}

static bool service_arm(struct doca_ctx *ctx)
{
	struct doca_urom_service *service = (struct doca_urom_service *)ctx;
	uint64_t count;

	(void)!read(service->wake_fd, &count, sizeof(count));
	return service->ended != NULL || service->session == UROM_SESSION_ENDED ||
	       atomic_load_explicit(&service->any_queued, memory_order_acquire) || sf_comm_arm(service->comm);
}

/* Only writes: a daemon keeps its answers until they are read. */
static void service_send_pending(struct doca_ctx *ctx)
{
	struct doca_urom_service *service = (struct doca_urom_service *)ctx;

	if (atomic_load_explicit(&service->any_queued, memory_order_acquire))
		(void)urom_requests_run(service);
	sf_comm_push(service->comm);
}

static const struct sf_ctx_ops service_ops = {
	.name = "urom service",
	.needs_pe = true,
	.start = service_start,
	.cancel = service_cancel,
	.stop = service_stop,
	.progress = service_progress,
	.arm = service_arm,
	.send_pending = service_send_pending,
};

/* ---- public ---- */

doca_error_t doca_urom_service_create(struct doca_urom_service **service_ctx)
{
	if (service_ctx == NULL)
		return urom_check_given(NULL, "service");
	struct doca_urom_service *service = (struct doca_urom_service *)calloc(1, sizeof(*service));
	if (service == NULL) {
		SF_LOG_ERR("no memory for a urom service");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&service->ctx, &service_ops, &service->pool, 1);
	doca_error_t result = sf_task_pool_configure(&service->ctx, &service->pool, &urom_gid_task_class, urom_gid_task_done,
						     urom_gid_task_done, UROM_GID_TASKS, UROM_GID_TASKS);
	if (result != DOCA_SUCCESS) {
		(void)sf_ctx_fini(&service->ctx);
		free(service);
		return result;
	}
	pthread_mutex_init(&service->lock, NULL);
	TAILQ_INIT(&service->queued);
	TAILQ_INIT(&service->sent);
	service->message_max = UROM_MESSAGE_DEFAULT;
	service->max_workers = UROM_WORKERS_DEFAULT;
	sf_ctx_created(&service->ctx);
	*service_ctx = service;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_service_destroy(struct doca_urom_service *service)
{
	if (service == NULL) {
		SF_LOG_ERR("urom: service is NULL");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (atomic_load(&service->num_workers) != 0) {
		SF_LOG_ERR("urom service: %u workers name it: destroy them first", atomic_load(&service->num_workers));
		return DOCA_ERROR_IN_USE;
	}
	doca_error_t result = sf_ctx_fini(&service->ctx);
	if (result != DOCA_SUCCESS)
		return result;
	if (service->dev != NULL)
		sf_dev_release(service->dev);
	pthread_mutex_destroy(&service->lock);
	free(service);
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_service_set_max_comm_msg_size(struct doca_urom_service *service, size_t msg_size)
{
	doca_error_t result = urom_check_given(service, "service");

	if (result == DOCA_SUCCESS)
		result = sf_ctx_check_idle(&service->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (msg_size < UROM_MESSAGE_MIN || msg_size > UROM_MESSAGE_MAX) {
		SF_LOG_ERR("urom service: max_comm_msg_size is %zu: give %d to %u", msg_size, UROM_MESSAGE_MIN, UROM_MESSAGE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	service->message_max = msg_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_service_set_max_workers(struct doca_urom_service *service, uint32_t max_workers)
{
	doca_error_t result = urom_check_given(service, "service");

	if (result == DOCA_SUCCESS)
		result = sf_ctx_check_idle(&service->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (max_workers > UROM_WORKERS_MAX || __builtin_popcount(max_workers) != 1) {
		SF_LOG_ERR("urom service: max_workers is %u: give a power of two up to %d", max_workers, UROM_WORKERS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	service->max_workers = max_workers;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_service_set_dev(struct doca_urom_service *service, struct doca_dev *dev)
{
	doca_error_t result = urom_check_given(service != NULL ? (const void *)dev : NULL, service == NULL ? "service" : "dev");

	if (result == DOCA_SUCCESS)
		result = sf_ctx_check_idle(&service->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (secure_getenv("DOCA_UROM_SERVICE_FILE") == NULL) {
		SF_LOG_ERR("urom service: DOCA_UROM_SERVICE_FILE is not set: it names the file in which services are looked up");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	sf_dev_hold(dev);
	if (service->dev != NULL)
		sf_dev_release(service->dev);
	service->dev = dev;
	service->ctx.status.device = sf_dev_desc(dev)->key;
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_urom_service_as_ctx(struct doca_urom_service *service)
{
	return service != NULL ? &service->ctx : NULL;
}

static doca_error_t check_running(const struct doca_urom_service *service, const char *what)
{
	if (service->ctx.state == DOCA_CTX_STATE_RUNNING)
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom service: the %s are known only while the context is RUNNING", what);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_urom_service_get_plugins_list(struct doca_urom_service *service,
						const struct doca_urom_service_plugin_info **plugins, size_t *plugins_count)
{
	if (service == NULL || plugins == NULL || plugins_count == NULL)
		return urom_check_given(NULL, service == NULL ? "service" : "plugins or num_plugins");
	doca_error_t result = check_running(service, "plugins");
	if (result != DOCA_SUCCESS)
		return result;
	if (service->num_plugins == 0) {
		SF_LOG_WARN("urom service: %s has no plugins: is its UROM_PLUGIN_PATH right?", service->entry.host);
		return DOCA_ERROR_NOT_FOUND;
	}
	*plugins = service->plugins;
	*plugins_count = service->num_plugins;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_service_get_cpuset(struct doca_urom_service *service, doca_cpu_set_t *cpuset)
{
	if (service == NULL || cpuset == NULL)
		return urom_check_given(NULL, service == NULL ? "service" : "cpuset");
	doca_error_t result = check_running(service, "processors");
	if (result == DOCA_SUCCESS)
		*cpuset = service->cpuset;
	return result;
}
