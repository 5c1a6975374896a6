/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events that a kernel publishes and waits for, on the software GPU, where a kernel is a C function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <poll.h>

#include <cmocka.h>

#include <doca_gpunetio.h>
#include <softfield/device.h>
#include <softfield/gpu.h>

#include "sync_event_fixture.h"

#define GPU "b5:00.0"
#define DEADLINE_MS 10000

struct kernel_args {
	doca_gpu_dev_sync_event_t *event;
};

void answer_event(const void *args);

/* Waits for 1 and sets 2. */
SOFTFIELD_KERNEL(answer_event, struct kernel_args, args)
{
	while (__atomic_load_n(args->event, __ATOMIC_ACQUIRE) != 1)
		;
	__atomic_store_n(args->event, 2, __ATOMIC_RELEASE);
}

static const struct softfield_kernel kernel = {.name = "answer_event", .soft = answer_event};

struct gpu_fixture {
	struct doca_dev *dev;
	struct doca_gpu *gpu, *other;
	struct doca_sync_event *event; /* published by the GPU, not started */
};

static int gpu_setup(void **state)
{
	struct gpu_fixture *f = calloc(1, sizeof(*f));

	f->dev = test_dev_open_pci("d8:00.0");
	CHECK_OK(doca_gpu_create(GPU, &f->gpu));
	CHECK_OK(doca_sync_event_create(&f->event));
	CHECK_OK(doca_sync_event_add_publisher_location_gpu(f->event, f->gpu));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(f->event, f->dev));
	*state = f;
	return 0;
}

static int gpu_teardown(void **state)
{
	struct gpu_fixture *f = *state;

	if (f->event != NULL) {
		assert_int_equal(doca_gpu_destroy(f->gpu), DOCA_ERROR_IN_USE);
		doca_sync_event_stop(f->event);
		CHECK_OK(doca_sync_event_destroy(f->event));
	}
	CHECK_OK(doca_gpu_destroy(f->gpu));
	CHECK_OK(doca_dev_close(f->dev));
	free(f);
	return 0;
}

static struct softfield_launch *launch(struct gpu_fixture *f)
{
	struct softfield_launch *launched;
	struct kernel_args args;

	CHECK_OK(doca_sync_event_get_gpu_handle(f->event, f->gpu, &args.event));
	CHECK_OK(softfield_gpu_launch(f->gpu, &kernel, 1, 1, &args, sizeof(args), &launched));
	return launched;
}

static void finish(struct softfield_launch *launched)
{
	CHECK_OK(softfield_gpu_launch_wait(launched, DEADLINE_MS));
	CHECK_OK(softfield_gpu_launch_destroy(launched));
}

static void a_kernel_waits_and_publishes(void **state)
{
	struct gpu_fixture *f = *state;
	struct softfield_launch *launched;

	CHECK_OK(doca_sync_event_start(f->event));
	launched = launch(f);
	CHECK_OK(doca_sync_event_update_set(f->event, 1));
	CHECK_OK(doca_sync_event_wait_gt_yield(f->event, 1, UINT64_MAX));
	finish(launched);
}

static bool ended;

static void on_end(struct doca_sync_event_task_wait_eq *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	CHECK_OK(doca_task_get_status(doca_sync_event_task_wait_eq_as_doca_task(task)));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
	ended = true;
}

/* A kernel rings no doorbell: the watcher polls. */
static void a_kernel_wakes_a_sleeper(void **state)
{
	struct gpu_fixture *f = *state;
	struct doca_ctx *ctx = doca_sync_event_as_ctx(f->event);
	struct doca_sync_event_task_wait_eq *wait;
	struct softfield_launch *launched;
	doca_gpu_dev_sync_event_t *word;
	doca_notification_handle_t handle;
	union doca_data none = {0};
	struct pollfd fd = {.events = POLLIN};
	struct doca_pe *pe;

	CHECK_OK(doca_pe_create(&pe));
	CHECK_OK(doca_pe_connect_ctx(pe, ctx));
	CHECK_OK(doca_pe_get_notification_handle(pe, &handle));
	fd.fd = handle;
	CHECK_OK(doca_sync_event_task_wait_eq_set_conf(f->event, on_end, on_end, 1));
	CHECK_OK(doca_ctx_start(ctx));
	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(f->event, 2, UINT64_MAX, none, &wait));
	CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)));
	launched = launch(f);
	CHECK_OK(doca_sync_event_get_gpu_handle(f->event, f->gpu, &word));
	doca_pe_progress(pe);
	CHECK_OK(doca_pe_request_notification(pe));
	__atomic_store_n(word, 1, __ATOMIC_RELEASE); /* as another kernel would */
	ended = false;
	for (double end = sf_now_s() + 10; !ended && sf_now_s() < end;) {
		if (doca_pe_progress(pe) != 0)
			continue;
		CHECK_OK(doca_pe_request_notification(pe));
		assert_int_equal(poll(&fd, 1, 400), 1); /* sooner than the check for dead owners */
		CHECK_OK(doca_pe_clear_notification(pe, handle));
	}
	assert_true(ended);
	finish(launched);
	CHECK_OK(doca_ctx_stop(ctx));
	CHECK_OK(doca_sync_event_destroy(f->event));
	f->event = NULL;
	CHECK_OK(doca_pe_destroy(pe));
}

static void a_gpus_event_stays_on_its_node(void **state)
{
	struct gpu_fixture *f = *state;
	struct doca_sync_event *event;
	doca_gpu_dev_sync_event_t *handle;
	const uint8_t *data;
	uint64_t word;
	size_t sz;

	assert_int_equal(doca_sync_event_set_addr(f->event, &word), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_get_gpu_handle(f->event, f->gpu, &handle), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(doca_sync_event_export_to_remote_pci(f->event, f->dev, &data, &sz), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_export_to_remote_net(f->event, &data, &sz), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_get_gpu_handle(f->event, NULL, &handle), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_get_gpu_handle(f->event, f->gpu, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_create(&event)); /* memory of no GPU */
	assert_int_equal(doca_sync_event_get_gpu_handle(event, f->gpu, &handle), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_set_addr(event, &word)); /* in the other order, start fails */
	CHECK_OK(doca_sync_event_add_publisher_location_cpu(event, f->dev));
	CHECK_OK(doca_sync_event_add_subscriber_location_gpu(event, f->gpu));
	assert_int_equal(doca_sync_event_start(event), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_destroy(event));
}

#define T(name) cmocka_unit_test_setup_teardown(name, gpu_setup, gpu_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_kernel_waits_and_publishes),
		T(a_kernel_wakes_a_sleeper),
		T(a_gpus_event_stays_on_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
