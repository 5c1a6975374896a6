/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom_common.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common.h"

doca_error_t urom_add_option(const char *short_name, const char *long_name, const char *description, enum doca_argp_type type,
			     doca_argp_param_cb_t take)
{
	struct doca_argp_param *param;
	doca_error_t status = doca_argp_param_create(&param);

	if (status != DOCA_SUCCESS)
		return status;
	if (short_name != NULL)
		doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, description);
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, take);
	return doca_argp_register_param(param);
}

doca_error_t urom_open_device(const char *name, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	char found[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	uint32_t num;
	doca_error_t status = doca_devinfo_create_list(&list, &num);

	if (status != DOCA_SUCCESS)
		return sample_failed("list of devices", status);
	status = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < num && status == DOCA_ERROR_NOT_FOUND; i++)
		if (name[0] == '\0' ||
		    (doca_devinfo_get_ibdev_name(list[i], found, sizeof(found)) == DOCA_SUCCESS && strcmp(found, name) == 0))
			status = doca_dev_open(list[i], dev);
	doca_devinfo_destroy_list(list);
	if (status == DOCA_SUCCESS)
		return status;
	fprintf(stderr, "IB device %s: %s (see softfield devices)\n", name, doca_error_get_descr(status));
	return status;
}

/* ---- the service ---- */

doca_error_t urom_start_service(struct doca_pe *pe, struct doca_dev *dev, struct doca_urom_service **service)
{
	doca_error_t status = doca_urom_service_create(service);

	if (status != DOCA_SUCCESS)
		return sample_failed("service", status);
	status = doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(*service));
	if (status == DOCA_SUCCESS)
		status = doca_urom_service_set_dev(*service, dev);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_urom_service_as_ctx(*service)); /* returns when the service has answered */
	if (status == DOCA_SUCCESS)
		return status;
	doca_urom_service_destroy(*service);
	return sample_failed("start of the service", status);
}

void urom_stop_service(struct doca_urom_service *service)
{
	doca_error_t status = doca_ctx_stop(doca_urom_service_as_ctx(service));

	if (status == DOCA_SUCCESS)
		status = doca_urom_service_destroy(service);
	if (status != DOCA_SUCCESS)
		(void)sample_failed("stop of the service", status);
}

doca_error_t urom_find_plugin(struct doca_urom_service *service, const char *name,
			      const struct doca_urom_service_plugin_info **plugin)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;
	doca_error_t status = doca_urom_service_get_plugins_list(service, &plugins, &num);

	if (status != DOCA_SUCCESS)
		return sample_failed("plugins of the service", status);
	for (size_t i = 0; i < num; i++) {
		if (strcmp(plugins[i].plugin_name, name) == 0) {
			*plugin = &plugins[i];
			return DOCA_SUCCESS;
		}
	}
	fprintf(stderr, "the service has no plugin %s: is it in a folder of its UROM_PLUGIN_PATH?\n", name);
	return DOCA_ERROR_NOT_FOUND;
}

/* ---- a worker ---- */

doca_error_t urom_begin_worker(struct doca_pe *pe, struct doca_urom_service *service, uint64_t id, const uint32_t *group,
			       uint64_t plugins, struct doca_urom_worker **worker)
{
	doca_error_t status = doca_urom_worker_create(worker);

	if (status != DOCA_SUCCESS)
		return sample_failed("worker", status);
	status = doca_pe_connect_ctx(pe, doca_urom_worker_as_ctx(*worker));
	if (status == DOCA_SUCCESS)
		status = doca_urom_worker_set_service(*worker, service);
	if (status == DOCA_SUCCESS)
		status = doca_urom_worker_set_id(*worker, id);
	if (status == DOCA_SUCCESS && group != NULL)
		status = doca_urom_worker_set_gid(*worker, *group);
	if (status == DOCA_SUCCESS)
		status = doca_urom_worker_set_plugins(*worker, plugins);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_urom_worker_as_ctx(*worker));
	if (status == DOCA_ERROR_IN_PROGRESS)
		return DOCA_SUCCESS;
	doca_urom_worker_destroy(*worker);
	return sample_failed("start of the worker", status);
}

/* Waits until the context has left that state. */
static doca_error_t await_change(struct doca_pe *pe, struct doca_ctx *ctx, enum doca_ctx_states from, enum doca_ctx_states *state)
{
	time_t until = time(NULL) + SAMPLE_PATIENCE_SECONDS;
	doca_error_t status;

	do {
		(void)doca_pe_progress(pe);
		status = doca_ctx_get_state(ctx, state);
		if (status == DOCA_SUCCESS && *state == from && time(NULL) > until)
			status = DOCA_ERROR_TIME_OUT;
	} while (status == DOCA_SUCCESS && *state == from);
	return status;
}

doca_error_t urom_await_running(struct doca_pe *pe, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	doca_error_t status = await_change(pe, ctx, DOCA_CTX_STATE_STARTING, &state);

	if (status == DOCA_SUCCESS && state != DOCA_CTX_STATE_RUNNING)
		status = DOCA_ERROR_BAD_STATE;
	return status == DOCA_SUCCESS ? status : sample_failed("start", status);
}

doca_error_t urom_stop_worker(struct doca_pe *pe, struct doca_urom_worker *worker)
{
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);
	enum doca_ctx_states state;
	doca_error_t status = doca_ctx_stop(ctx);

	if (status == DOCA_ERROR_IN_PROGRESS)
		status = await_change(pe, ctx, DOCA_CTX_STATE_STOPPING, &state);
	if (status == DOCA_SUCCESS || status == DOCA_ERROR_BAD_STATE) /* BAD_STATE: it never ran */
		status = doca_urom_worker_destroy(worker);
	return status == DOCA_SUCCESS ? status : sample_failed("stop of the worker", status);
}
