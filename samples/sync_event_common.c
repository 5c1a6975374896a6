/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_ctx.h>

#include "common.h"
#include "sync_event_common.h"

/* ---- options ---- */

static doca_error_t take_text(const char *text, char *place, size_t room)
{
	if (strlen(text) >= room)
		return DOCA_ERROR_INVALID_VALUE;
	strcpy(place, text);
	return DOCA_SUCCESS;
}

static doca_error_t take_pci_address(void *value, void *config)
{
	struct options *options = config;

	return take_text(value, options->pci_address, sizeof(options->pci_address));
}

static doca_error_t take_file(void *value, void *config)
{
	struct options *options = config;

	return take_text(value, options->file, sizeof(options->file));
}

static doca_error_t take_async(void *value, void *config)
{
	((struct options *)config)->async = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t take_atomic(void *value, void *config)
{
	((struct options *)config)->atomic = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t option_add(const char *short_name, const char *long_name, const char *description, enum doca_argp_type type,
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
	if (type == DOCA_ARGP_TYPE_STRING)
		doca_argp_param_set_mandatory(param);
	return doca_argp_register_param(param);
}

static doca_error_t options_read(int argc, char **argv, const char *name, struct options *options)
{
	doca_error_t status = doca_argp_init(name, options);

	if (status != DOCA_SUCCESS)
		return status;
	status = option_add("d", "pci-addr", "PCI address of the device", DOCA_ARGP_TYPE_STRING, take_pci_address);
	if (status == DOCA_SUCCESS)
		status = option_add("f", "file", "file by which the export travels", DOCA_ARGP_TYPE_STRING, take_file);
	if (status == DOCA_SUCCESS)
		status = option_add(NULL, "async", "use tasks on a progress engine", DOCA_ARGP_TYPE_BOOLEAN, take_async);
	if (status == DOCA_SUCCESS)
		status = option_add(NULL, "atomic", "signal by adding, not by setting", DOCA_ARGP_TYPE_BOOLEAN, take_atomic);
	if (status == DOCA_SUCCESS)
		status = doca_argp_start(argc, argv);
	doca_argp_destroy();
	return status;
}

/* ---- tasks ---- */

static void task_ended(struct side *side, struct doca_task *task)
{
	side->status = doca_task_get_status(task);
	side->done = true;
	doca_task_free(task);
}

static void set_ended(struct doca_sync_event_task_notify_set *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	task_ended(side.ptr, doca_sync_event_task_notify_set_as_doca_task(task));
}

static void add_ended(struct doca_sync_event_task_notify_add *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	task_ended(side.ptr, doca_sync_event_task_notify_add_as_doca_task(task));
}

static void wait_ended(struct doca_sync_event_task_wait_eq *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	task_ended(side.ptr, doca_sync_event_task_wait_eq_as_doca_task(task));
}

static doca_error_t run_task(struct side *side, struct doca_task *task)
{
	doca_error_t status = doca_task_submit(task);

	if (status != DOCA_SUCCESS) {
		doca_task_free(task);
		return status;
	}
	side->done = false;
	status = sample_progress_until(side->pe, &side->done);
	return status == DOCA_SUCCESS ? side->status : status;
}

static doca_error_t start_async(struct side *side)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(side->event);
	doca_error_t status = doca_pe_create(&side->pe);

	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(side->pe, ctx);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = side});
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_task_notify_set_set_conf(side->event, set_ended, set_ended, 1);
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_task_notify_add_set_conf(side->event, add_ended, add_ended, 1);
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_task_wait_eq_set_conf(side->event, wait_ended, wait_ended, 1);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(ctx);
	return status;
}

static doca_error_t signal_async(struct side *side, uint64_t value, uint64_t *before)
{
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	union doca_data none = {0};
	doca_error_t status;

	if (side->options->atomic) {
		status = doca_sync_event_task_notify_add_alloc_init(side->event, 1, before, none, &add);
		return status == DOCA_SUCCESS ? run_task(side, doca_sync_event_task_notify_add_as_doca_task(add)) : status;
	}
	status = doca_sync_event_task_notify_set_alloc_init(side->event, value, none, &set);
	return status == DOCA_SUCCESS ? run_task(side, doca_sync_event_task_notify_set_as_doca_task(set)) : status;
}

static doca_error_t wait_async(struct side *side, uint64_t value)
{
	struct doca_sync_event_task_wait_eq *wait;
	union doca_data none = {0};
	doca_error_t status = doca_sync_event_task_wait_eq_alloc_init(side->event, value, UINT64_MAX, none, &wait);

	return status == DOCA_SUCCESS ? run_task(side, doca_sync_event_task_wait_eq_as_doca_task(wait)) : status;
}

/* ---- either mode ---- */

doca_error_t side_start(struct side *side)
{
	doca_error_t status = side->options->async ? start_async(side) : doca_sync_event_start(side->event);

	return status == DOCA_SUCCESS ? status : sample_failed("start of the event", status);
}

doca_error_t side_signal(struct side *side, uint64_t value)
{
	uint64_t before = 0;
	doca_error_t status;

	if (side->options->async)
		status = signal_async(side, value, &before);
	else if (side->options->atomic)
		status = doca_sync_event_update_add(side->event, 1, &before);
	else
		status = doca_sync_event_update_set(side->event, value);
	if (status != DOCA_SUCCESS)
		return sample_failed("signal", status);
	if (side->options->atomic)
		printf("added 1 to the event, which was %lu\n", (unsigned long)before);
	else
		printf("set the event to %lu\n", (unsigned long)value);
	return status;
}

doca_error_t side_wait(struct side *side, uint64_t value)
{
	doca_error_t status =
		side->options->async ? wait_async(side, value) : doca_sync_event_wait_eq_yield(side->event, value, UINT64_MAX);

	return status == DOCA_SUCCESS ? status : sample_failed("wait", status);
}

void side_end(struct side *side)
{
	if (side->options->async) {
		struct doca_ctx *ctx = doca_sync_event_as_ctx(side->event);

		while (doca_ctx_stop(ctx) == DOCA_ERROR_IN_PROGRESS)
			doca_pe_progress(side->pe);
	} else {
		doca_sync_event_stop(side->event);
	}
	doca_sync_event_destroy(side->event);
	if (side->pe != NULL)
		doca_pe_destroy(side->pe);
}

int side_main(int argc, char **argv, const char *name, doca_error_t (*supports)(const struct doca_devinfo *devinfo),
	      doca_error_t (*run)(const struct options *options, struct doca_dev *dev))
{
	struct options options = {.async = false};
	struct doca_dev *dev;
	doca_error_t status;

	if (sample_log_to_stderr() != DOCA_SUCCESS || options_read(argc, argv, name, &options) != DOCA_SUCCESS)
		return 1;
	if (sample_open_device(options.pci_address, supports, &dev) != DOCA_SUCCESS)
		return 1;
	status = run(&options, dev);
	doca_dev_close(dev);
	return status == DOCA_SUCCESS ? 0 : 1;
}
