/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy_sync_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_argp.h>

/* ---- flags ---- */

static doca_error_t set_dev(void *value, void *config)
{
	struct legacy_event_side *side = config;

	snprintf(side->dev_address, sizeof(side->dev_address), "%s", (const char *)value);
	return DOCA_SUCCESS;
}

static doca_error_t set_rep(void *value, void *config)
{
	struct legacy_event_side *side = config;

	snprintf(side->rep_address, sizeof(side->rep_address), "%s", (const char *)value);
	return DOCA_SUCCESS;
}

static doca_error_t set_async(void *value, void *config)
{
	((struct legacy_event_side *)config)->async = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t set_atomic(void *value, void *config)
{
	((struct legacy_event_side *)config)->atomic = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t set_qdepth(void *value, void *config)
{
	((struct legacy_event_side *)config)->qdepth = *(int *)value;
	return *(int *)value > 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static void flag(const char *short_name, const char *long_name, const char *description, callback_func callback,
		 enum doca_argp_type type)
{
	struct doca_argp_param *param;

	legacy_must(doca_argp_param_create(&param), "make a flag");
	if (short_name != NULL)
		doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, description);
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_type(param, type);
	legacy_must(doca_argp_register_param(param), "register a flag");
}

void legacy_event_flags(struct legacy_event_side *side, const char *program, int argc, char **argv)
{
	legacy_must(doca_argp_init(program, side), "read the flags");
	flag("d", "dev-pci-addr", "Device PCI address", set_dev, DOCA_ARGP_TYPE_STRING);
	flag("r", "rep-pci-addr", "DPU representor PCI address", set_rep, DOCA_ARGP_TYPE_STRING);
	flag(NULL, "async", "Use jobs on a work queue (calls that wait by default)", set_async, DOCA_ARGP_TYPE_BOOLEAN);
	flag(NULL, "qdepth", "Depth of the work queue", set_qdepth, DOCA_ARGP_TYPE_INT);
	flag(NULL, "atomic", "Signal by adding (setting by default)", set_atomic, DOCA_ARGP_TYPE_BOOLEAN);
	legacy_must(doca_argp_start(argc, argv), "read the flags");
	doca_argp_destroy();
}

/* ---- the event ---- */

void legacy_event_start(struct legacy_event_side *side)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(side->event);

	if (!side->async) {
		legacy_must(doca_sync_event_start(side->event), "start the sync event");
		return;
	}
	legacy_must(doca_workq_create((uint32_t)side->qdepth, &side->workq), "create the work queue");
	legacy_must(doca_ctx_start(ctx), "start the sync event");
	legacy_must(doca_ctx_workq_add(ctx, side->workq), "add the work queue");
}

void legacy_event_end(struct legacy_event_side *side)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(side->event);

	if (side->async) {
		legacy_must(doca_ctx_workq_rm(ctx, side->workq), "remove the work queue");
		legacy_must(doca_ctx_stop(ctx), "stop the sync event");
		legacy_must(doca_workq_destroy(side->workq), "destroy the work queue");
	} else {
		legacy_must(doca_sync_event_stop(side->event), "stop the sync event");
	}
	legacy_must(doca_sync_event_destroy(side->event), "destroy the sync event");
}

static void job_run(struct legacy_event_side *side, const struct doca_job *job)
{
	struct doca_event event;

	legacy_must(doca_workq_submit(side->workq, job), "submit");
	legacy_must(legacy_retrieve(side->workq, &event), "retrieve");
}

void legacy_event_signal(struct legacy_event_side *side, uint64_t value)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(side->event);
	uint64_t before;
	struct doca_sync_event_job_update_set set = {.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET, .ctx = ctx},
						     .value = value};
	struct doca_sync_event_job_update_add add = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_ADD, .ctx = ctx}, .value = 1, .fetched = &before};

	if (side->async)
		job_run(side, side->atomic ? &add.base : &set.base);
	else if (side->atomic)
		legacy_must(doca_sync_event_update_add(side->event, 1, &before), "add to the sync event");
	else
		legacy_must(doca_sync_event_update_set(side->event, value), "set the sync event");
}

void legacy_event_wait(struct legacy_event_side *side, uint64_t value)
{
	struct doca_sync_event_job_wait wait = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .ctx = doca_sync_event_as_ctx(side->event)},
		.value = value,
		.mask = UINT64_MAX};

	if (side->async)
		job_run(side, &wait.base);
	else
		legacy_must(doca_sync_event_wait_gt_yield(side->event, value, UINT64_MAX), "wait for the sync event");
}

/* ---- the Comm Channel ---- */

void legacy_event_send(struct legacy_event_side *side, const void *msg, size_t len)
{
	double begin = legacy_now();
	doca_error_t status;

	while ((status = doca_comm_channel_ep_sendto(side->ep, msg, len, DOCA_CC_MSG_FLAG_NONE, side->peer)) == DOCA_ERROR_AGAIN)
		legacy_patience(begin, "send");
	legacy_must(status, "send");
}

size_t legacy_event_receive(struct legacy_event_side *side, void *msg, size_t room)
{
	double begin = legacy_now();
	doca_error_t status;
	size_t len;

	do {
		len = room;
		status = doca_comm_channel_ep_recvfrom(side->ep, msg, &len, DOCA_CC_MSG_FLAG_NONE, &side->peer);
		legacy_patience(begin, "receive");
	} while (status == DOCA_ERROR_AGAIN);
	legacy_must(status, "receive");
	return len;
}
