/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the UROM samples: the device, the service, one of its plugins, and waiting for a context. */
#ifndef SAMPLES_UROM_COMMON_H
#define SAMPLES_UROM_COMMON_H

#include <doca_argp.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_urom.h>

/* Adds an option of the command line; a BOOLEAN has no value. */
doca_error_t urom_add_option(const char *short_name, const char *long_name, const char *description, enum doca_argp_type type,
			     doca_argp_param_cb_t take);

/* Opens the IB device with that name; the first, if it is empty. */
doca_error_t urom_open_device(const char *name, struct doca_dev **dev);

/* Creates a RUNNING service context; the variable DOCA_UROM_SERVICE_FILE locates the service. */
doca_error_t urom_start_service(struct doca_pe *pe, struct doca_dev *dev, struct doca_urom_service **service);
void urom_stop_service(struct doca_urom_service *service);

doca_error_t urom_find_plugin(struct doca_urom_service *service, const char *name,
			      const struct doca_urom_service_plugin_info **plugin);

/* Creates a worker context on the progress engine and begins to start it, in the group unless that is NULL. Progress of the
 * service and of this engine completes the start. */
doca_error_t urom_begin_worker(struct doca_pe *pe, struct doca_urom_service *service, uint64_t id, const uint32_t *group,
			       uint64_t plugins, struct doca_urom_worker **worker);

/* Runs the progress engine until the context is RUNNING, or IDLE. */
doca_error_t urom_await_running(struct doca_pe *pe, struct doca_ctx *ctx);
doca_error_t urom_stop_worker(struct doca_pe *pe, struct doca_urom_worker *worker);

#endif
