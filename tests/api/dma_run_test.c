/* SPDX-License-Identifier: BSD-3-Clause */
/* The run of a DMA context: tasks submitted again, failure, stop, event-driven mode. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>

#include "core/ctx.h"
#include "dma_fixture.h"

static void resubmitted_from_its_callback(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 1, 64), *dst = destination(f, 10000, 64);

	f->rig.resubmits = 10000;
	assert_int_equal(doca_task_submit(rig_task(&f->rig, src, dst)), DOCA_SUCCESS);
	RIG_WAIT(&f->rig, f->rig.num_good == 10001);
	assert_memory_equal(f->memory + 10000, f->memory + 1, 64);
	rig_put(src);
	rig_put(dst);
}

static void failure_flushes_the_tasks_behind(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, 64), *empty = destination(f, 100, 64), *dst[5];
	struct doca_task *left = rig_task(&f->rig, NULL, NULL);

	for (int i = 0; i < 5; i++) {
		dst[i] = destination(f, 1000 + 100 * (size_t)i, 64);
		assert_int_equal(doca_task_submit(rig_task(&f->rig, i == 2 ? empty : src, dst[i])), DOCA_SUCCESS);
	}
	RIG_WAIT(&f->rig, f->rig.num_good + f->rig.num_failed == 5);
	assert_int_equal(f->rig.num_good, 2);
	assert_int_equal(f->rig.num_failed, 3);
	assert_int_equal(f->rig.status, DOCA_ERROR_BAD_STATE); /* status of the tasks behind it */
	for (int i = 0; i < 5; i++) {
		assert_int_equal(rig_data_len(dst[i]), i < 2 ? 64 : 0);
		rig_put(dst[i]);
	}
	/* Still STOPPING until the task that was never submitted is freed too. */
	assert_int_equal(f->rig.state, DOCA_CTX_STATE_STOPPING);
	assert_int_equal(doca_task_submit(left), DOCA_ERROR_BAD_STATE);
	doca_task_free(left);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
	rig_put(src);
	rig_put(empty);
}

/* A mistake of the program, which must cause no harm. Engine threads have already read the lists. */
static void source_cut_short_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, LARGE), *dst = destination(f, LARGE, LARGE);

	assert_int_equal(doca_task_submit(rig_task(&f->rig, src, dst)), DOCA_SUCCESS);
	(void)doca_pe_progress(f->rig.pe);
	assert_int_equal(doca_buf_set_data(src, f->memory, 64), DOCA_SUCCESS);
	RIG_WAIT(&f->rig, f->rig.num_good + f->rig.num_failed == 1);
	if (f->rig.num_failed == 1)
		assert_int_equal(f->rig.status, DOCA_ERROR_INVALID_VALUE);
	rig_put(src);
	rig_put(dst);
}

/* Two threads with a context each on the same device: they share its engine threads, which start and end with the contexts. */
static void *copy_and_stop(void *arg)
{
	uint8_t *memory = malloc(2 * LARGE);

	memset(memory, *(const char *)arg, LARGE);
	for (int round = 0; round < 10; round++) {
		struct rig rig;

		rig_prepare(&rig, test_dev_open(0));
		rig_start(&rig);

		struct doca_mmap *mmap = rig_mmap(&rig, memory, 2 * LARGE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
		struct doca_buf *src = rig_source(&rig, mmap, memory, LARGE);
		struct doca_buf *dst = rig_destination(&rig, mmap, memory + LARGE, LARGE);

		memset(memory + LARGE, 0, LARGE);
		assert_int_equal(rig_copy(&rig, src, dst), DOCA_SUCCESS);
		assert_memory_equal(memory + LARGE, memory, LARGE);
		rig_put(src);
		rig_put(dst);
		rig_stop(&rig);
		assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
		rig_fini(&rig);
	}
	free(memory);
	return NULL;
}

static void contexts_of_two_threads(void **state)
{
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, copy_and_stop, (void *)(uintptr_t) & "ab"[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* ---- stop ---- */

static void stop_with_tasks_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, LARGE), *small = source(f, 0, 64), *dst[8];
	size_t num;

	for (int i = 0; i < 8; i++) {
		bool large = i % 4 == 0;

		dst[i] = large ? destination(f, LARGE + (size_t)i, LARGE) : destination(f, 7 << 20, 64);
		assert_int_equal(doca_task_submit(rig_task(&f->rig, large ? src : small, dst[i])), DOCA_SUCCESS);
	}
	assert_int_equal(doca_ctx_get_num_inflight_tasks(f->rig.ctx, &num), DOCA_SUCCESS);
	assert_int_equal(num, 8);
	assert_int_equal(doca_ctx_stop(f->rig.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(f->rig.state, DOCA_CTX_STATE_STOPPING);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->rig.num_good + f->rig.num_failed, 8);
	assert_true(f->rig.num_failed >= 6); /* engine threads may have finished some already */
	assert_int_equal(f->rig.status, DOCA_ERROR_BAD_STATE);
	for (int i = 0; i < 8; i++)
		rig_put(dst[i]);
	rig_put(src);
	rig_put(small);
	rig_start(&f->rig);
	src = source(f, 1, 64);
	dst[0] = destination(f, 1000, 64);
	assert_int_equal(rig_copy(&f->rig, src, dst[0]), DOCA_SUCCESS);
	rig_put(src);
	rig_put(dst[0]);
}

static void tasks_freed_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, LARGE), *dst = destination(f, LARGE, SIZE - LARGE);
	struct doca_task *task;

	f->rig.keep = true;
	for (uint32_t i = 0; i < 2; i++) {
		task = rig_task(&f->rig, src, dst);
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
		doca_task_free(task);
		if (i == 0)
			RIG_WAIT(&f->rig, f->rig.num_good == 1);
	}
	assert_int_equal(doca_ctx_stop(f->rig.ctx), DOCA_ERROR_IN_PROGRESS);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->rig.num_good + f->rig.num_failed, 2);
	rig_put(src);
	rig_put(dst);
	rig_start(&f->rig);
}

static void stop_waits_for_tasks_to_be_freed(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, 64), *dst = destination(f, 1000, 64);
	struct doca_task *task = rig_task(&f->rig, src, dst);

	f->rig.keep = true;
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	RIG_WAIT(&f->rig, f->rig.num_good == 1);
	assert_int_equal(doca_ctx_stop(f->rig.ctx), DOCA_ERROR_IN_PROGRESS);
	(void)doca_pe_progress(f->rig.pe);
	assert_int_equal(f->rig.state, DOCA_CTX_STATE_STOPPING);
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_put(src);
	rig_put(dst);
}

/* ---- ordered completions ---- */

static struct doca_dma_task_memcpy *ended[RIG_TASKS];

static void ended_good(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct rig *rig = ctx_user_data.ptr;

	(void)task_user_data;
	ended[rig->num_good + rig->num_failed] = task;
	rig_ended(task, ctx_user_data, true);
}

static void ended_failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct rig *rig = ctx_user_data.ptr;

	(void)task_user_data;
	ended[rig->num_good + rig->num_failed] = task;
	rig_ended(task, ctx_user_data, false);
}

#define ORDERED_TASKS 12 /* every third task is large */

struct ordered {
	struct doca_buf *src[ORDERED_TASKS], *dst[ORDERED_TASKS];
	struct doca_dma_task_memcpy *tasks[ORDERED_TASKS];
};

static void ordered_submit(struct fixture *f, struct ordered *o, size_t num)
{
	rig_stop(&f->rig);
	assert_int_equal(doca_dma_set_ordered_completions(f->rig.dma, 1), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, ended_good, ended_failed, RIG_TASKS), DOCA_SUCCESS);
	rig_start(&f->rig);
	for (size_t i = 0; i < num; i++) {
		bool large = i % 3 == 0;

		o->src[i] = source(f, i, large ? LARGE : 64);
		o->dst[i] = destination(f, large ? 4 << 20 : (7 << 20) + 4096 + 64 * i, large ? LARGE : 64);
		assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, o->src[i], o->dst[i], (union doca_data){.u64 = i},
								 &o->tasks[i]),
				 DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(doca_dma_task_memcpy_as_task(o->tasks[i])), DOCA_SUCCESS);
	}
}

static void ordered_expect(struct ordered *o, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		assert_ptr_equal(ended[i], o->tasks[i]);
		rig_put(o->src[i]);
		rig_put(o->dst[i]);
	}
}

static void wait_by_events(struct fixture *f, uint32_t num);

static void ordered_completions_come_as_submitted(void **state)
{
	struct fixture *f = *state;
	struct ordered o;

	ordered_submit(f, &o, ORDERED_TASKS);
	wait_by_events(f, ORDERED_TASKS);
	for (size_t i = 0; i < ORDERED_TASKS; i++)
		assert_int_equal(rig_data_len(o.dst[i]), i % 3 == 0 ? LARGE : 64);
	assert_memory_equal(f->memory + (4 << 20), f->memory + 9, LARGE); /* the last large task */
	assert_memory_equal(f->memory + (7 << 20) + 4096 + 64 * 11, f->memory + 11, 64);
	ordered_expect(&o, ORDERED_TASKS);
}

/* A peer may wait for a task's effect without a completion, but a later task must not take effect before an earlier one: it
 * may be the flag that the peer polls. */
static void ordered_tasks_are_done_as_submitted(void **state)
{
	struct fixture *f = *state;
	struct ordered o;
	uint8_t *first = f->memory + (4 << 20), *second = f->memory + (7 << 20) + 4096 + 64;

	memset(first, 0xee, LARGE);
	memset(second, 0xee, 64);
	ordered_submit(f, &o, 2);
	sf_ctx_send_pending(f->rig.ctx); /* as a submit that finds the peer full does */
	if (memcmp(second, f->memory + 1, 64) == 0)
		assert_memory_equal(first + LARGE - 64, f->memory + LARGE - 64, 64); /* its last bytes are copied last */
	wait_by_events(f, 2);
	assert_memory_equal(second, f->memory + 1, 64);
	ordered_expect(&o, 2);
}

static void ordered_completions_of_a_stop(void **state)
{
	struct fixture *f = *state;
	struct ordered o;

	ordered_submit(f, &o, ORDERED_TASKS);
	(void)doca_pe_progress(f->rig.pe); /* engine threads have the first task */
	assert_int_equal(doca_ctx_stop(f->rig.ctx), DOCA_ERROR_IN_PROGRESS);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->rig.num_good + f->rig.num_failed, ORDERED_TASKS);
	ordered_expect(&o, ORDERED_TASKS);
}

static void ordered_completions_are_set_while_idle(void **state)
{
	struct fixture *f = *state;
	uint8_t ordered = 2;

	assert_int_equal(doca_dma_get_ordered_completions(f->rig.dma, &ordered), DOCA_SUCCESS);
	assert_int_equal(ordered, 0);
	assert_int_equal(doca_dma_set_ordered_completions(f->rig.dma, 1), DOCA_ERROR_BAD_STATE);
	rig_stop(&f->rig);
	assert_int_equal(doca_dma_set_ordered_completions(f->rig.dma, 2), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_set_ordered_completions(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_set_ordered_completions(f->rig.dma, 1), DOCA_SUCCESS);
	assert_int_equal(doca_dma_get_ordered_completions(f->rig.dma, &ordered), DOCA_SUCCESS);
	assert_int_equal(ordered, 1);
	assert_int_equal(doca_dma_get_ordered_completions(f->rig.dma, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_get_ordered_completions(NULL, &ordered), DOCA_ERROR_INVALID_VALUE);
	rig_start(&f->rig);
}

/* ---- event-driven mode ---- */

static bool readable(doca_notification_handle_t handle, int timeout_ms)
{
	struct pollfd fd = {.fd = handle, .events = POLLIN};

	return poll(&fd, 1, timeout_ms) == 1;
}

static void wait_by_events(struct fixture *f, uint32_t num)
{
	doca_notification_handle_t handle;

	assert_int_equal(doca_pe_get_notification_handle(f->rig.pe, &handle), DOCA_SUCCESS);
	while (f->rig.num_good < num) {
		while (doca_pe_progress(f->rig.pe) != 0)
			;
		if (f->rig.num_good >= num)
			break;
		assert_int_equal(doca_pe_request_notification(f->rig.pe), DOCA_SUCCESS);
		assert_true(readable(handle, RIG_WAIT_S * 1000));
		assert_int_equal(doca_pe_clear_notification(f->rig.pe, 0), DOCA_SUCCESS);
	}
}

static void events_for_small_and_large(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src[2] = {source(f, 0, 64), source(f, 0, LARGE)};
	struct doca_buf *dst[2] = {destination(f, 7 << 20, 64), destination(f, LARGE, LARGE)};

	for (uint32_t i = 0; i < 300; i++) {
		int which = i % 3 == 0;

		assert_int_equal(doca_buf_reset_data_len(dst[which]), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(rig_task(&f->rig, src[which], dst[which])), DOCA_SUCCESS);
		wait_by_events(f, i + 1);
	}
	for (int i = 0; i < 2; i++) {
		rig_put(src[i]);
		rig_put(dst[i]);
	}
}

static void an_idle_context_causes_no_event(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, 64), *dst = destination(f, 1000, 64);
	doca_notification_handle_t handle;

	assert_int_equal(doca_pe_get_notification_handle(f->rig.pe, &handle), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->rig.pe), DOCA_SUCCESS);
	assert_false(readable(handle, 20));
	assert_int_equal(doca_task_submit(rig_task(&f->rig, src, dst)), DOCA_SUCCESS); /* after the notification request */
	assert_true(readable(handle, 0));
	assert_int_equal(doca_pe_clear_notification(f->rig.pe, 0), DOCA_SUCCESS);
	RIG_WAIT(&f->rig, f->rig.num_good == 1);
	rig_put(src);
	rig_put(dst);
}

/* Stopped while asleep: the last flushed task and the change to IDLE cause events too. */
static void stop_by_events(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, LARGE), *dst = destination(f, LARGE, LARGE);
	doca_notification_handle_t handle;

	assert_int_equal(doca_pe_get_notification_handle(f->rig.pe, &handle), DOCA_SUCCESS);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(rig_task(&f->rig, src, dst)), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_stop(f->rig.ctx), DOCA_ERROR_IN_PROGRESS);
		while (f->rig.state != DOCA_CTX_STATE_IDLE) {
			assert_int_equal(doca_pe_request_notification(f->rig.pe), DOCA_SUCCESS);
			assert_true(readable(handle, RIG_WAIT_S * 1000));
			assert_int_equal(doca_pe_clear_notification(f->rig.pe, 0), DOCA_SUCCESS);
			(void)doca_pe_progress(f->rig.pe);
		}
		rig_start(&f->rig);
	}
	rig_put(src);
	rig_put(dst);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(stop_with_tasks_in_flight),
		T(tasks_freed_in_flight),
		T(stop_waits_for_tasks_to_be_freed),
		T(events_for_small_and_large),
		T(an_idle_context_causes_no_event),
		T(stop_by_events),
		T(resubmitted_from_its_callback),
		T(failure_flushes_the_tasks_behind),
		T(source_cut_short_in_flight),
		cmocka_unit_test(contexts_of_two_threads),
		T(ordered_completions_come_as_submitted),
		T(ordered_tasks_are_done_as_submitted),
		T(ordered_completions_of_a_stop),
		T(ordered_completions_are_set_while_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
