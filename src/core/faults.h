/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults in contexts, progress engines and devices (base/faults.h). Nothing here is called without SOFTFIELD_FAULTS. */
#ifndef SF_CORE_FAULTS_H
#define SF_CORE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "base/faults.h"
#include "base/visibility.h"

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct sf_device;
struct sf_offload;

/* ---- contexts ---- */

/* Called at the first start, when the ctx knows its device. */
void sf_ctx_faults_attach(struct doca_ctx *ctx);

/* Calls the task class's submit, or returns AGAIN in its place. */
SF_API doca_error_t sf_task_submit_faulty(struct doca_task *task, uint32_t flags);

/* Called before a progress call of the ctx: moves it to STOPPING when its device is gone. */
void sf_ctx_faults_poll(struct doca_ctx *ctx);

/* Called before a slice of a task. SUCCESS; IN_PROGRESS while the task is delayed; or IO_FAILED. */
SF_API doca_error_t sf_offload_fault(struct sf_offload *offload, const struct doca_ctx *ctx, struct doca_task *task);

/* ---- progress engines ---- */

struct sf_pe_faults {
	struct sf_faults *faults;
	int timer_fd; /* in the engine's epoll set, for a late notification; or -1 */
	bool hidden;  /* the engine's eventfd is not in its epoll set, so no waiter sees it */
};

/* NULL: no rule concerns progress engines. */
struct sf_pe_faults *sf_pe_faults_attach(struct doca_pe *pe);
void sf_pe_faults_detach(struct sf_pe_faults *faults);

/* Called after a request for a notification: may drop or delay it. */
void sf_pe_faults_request(struct doca_pe *pe);

/* Called before the next request, and when the notification is cleared: puts the engine's eventfd back. */
void sf_pe_faults_show(struct doca_pe *pe);

/* ---- devices; with sf_dev_lock ---- */

/* INITIALIZATION for a fault, NOT_CONNECTED for a device that was removed; logged. */
doca_error_t sf_dev_faults_open(const struct sf_device *device);

/* Any thread, without a lock. */
bool sf_dev_is_removed(const struct sf_device *device);

#endif
