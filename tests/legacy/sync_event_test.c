/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events of the 2.2 API: a host and its DPU, both in this process. */
#include <poll.h>
#include <stdlib.h>

#include "fixture.h"

#include <doca_sync_event.h>

#include "support/recheck.h"

struct side {
	struct doca_dev *host, *dpu;
	struct doca_sync_event *event, *imported;
	struct doca_workq *workq;
};

/* The host publishes, the DPU waits. */
static void side_open(struct side *s, bool as_ctx)
{
	const uint8_t *data;
	size_t size;

	memset(s, 0, sizeof(*s));
	s->host = open_device("d8:00.0");
	s->dpu = open_device("03:00.0");
	assert_ok(doca_workq_create(8, &s->workq));
	assert_ok(doca_sync_event_create(&s->event));
	assert_ok(doca_sync_event_publisher_add_location_cpu(s->event, s->host));
	assert_ok(doca_sync_event_subscriber_add_location_dpu(s->event));
	if (as_ctx)
		assert_ok(doca_ctx_start(doca_sync_event_as_ctx(s->event)));
	else
		assert_ok(doca_sync_event_start(s->event));
	assert_ok(doca_sync_event_export_to_dpu(s->event, s->host, &data, &size));
	assert_ok(doca_sync_event_create_from_export(s->dpu, data, size, &s->imported));
	if (as_ctx) {
		assert_ok(doca_ctx_workq_add(doca_sync_event_as_ctx(s->event), s->workq));
		assert_ok(doca_ctx_start(doca_sync_event_as_ctx(s->imported)));
		assert_ok(doca_ctx_workq_add(doca_sync_event_as_ctx(s->imported), s->workq));
	} else {
		assert_ok(doca_sync_event_start(s->imported));
	}
}

static void side_close(struct side *s, bool as_ctx)
{
	if (as_ctx) {
		assert_ok(doca_ctx_workq_rm(doca_sync_event_as_ctx(s->imported), s->workq));
		assert_ok(doca_ctx_workq_rm(doca_sync_event_as_ctx(s->event), s->workq));
		assert_ok(doca_ctx_stop(doca_sync_event_as_ctx(s->imported)));
		assert_int_equal(doca_sync_event_destroy(s->event), DOCA_ERROR_IN_USE);
		assert_ok(doca_ctx_stop(doca_sync_event_as_ctx(s->event)));
	} else {
		assert_ok(doca_sync_event_stop(s->imported));
		assert_ok(doca_sync_event_stop(s->event));
	}
	assert_ok(doca_sync_event_destroy(s->imported));
	assert_ok(doca_sync_event_destroy(s->event));
	assert_ok(doca_workq_destroy(s->workq));
	assert_ok(doca_dev_close(s->host));
	assert_ok(doca_dev_close(s->dpu));
}

static void calls_reach_the_other_side(void **state)
{
	struct side s;
	uint64_t value;

	side_open(&s, false);
	assert_ok(doca_sync_event_update_set(s.event, 5));
	assert_ok(doca_sync_event_wait_gt(s.imported, 4, UINT64_MAX));
	assert_ok(doca_sync_event_wait_gt_yield(s.imported, 4, UINT64_MAX));
	assert_ok(doca_sync_event_get(s.imported, &value));
	assert_int_equal(value, 5);
	assert_ok(doca_sync_event_update_add(s.event, 3, &value));
	assert_int_equal(value, 5);
	assert_ok(doca_sync_event_get(s.imported, &value));
	assert_int_equal(value, 8);
	side_close(&s, false);
	(void)state;
}

static void jobs_set_add_and_get(void **state)
{
	struct side s;
	struct doca_event event;
	uint64_t value = 0, fetched = 0;

	side_open(&s, true);
	struct doca_sync_event_job_update_set set = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET, .ctx = doca_sync_event_as_ctx(s.event), .user_data.u64 = 1},
		.value = 41};
	struct doca_sync_event_job_update_add add = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_ADD, .ctx = doca_sync_event_as_ctx(s.event), .user_data.u64 = 2},
		.value = 1,
		.fetched = &fetched};
	struct doca_sync_event_job_get get = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_GET, .ctx = doca_sync_event_as_ctx(s.imported), .user_data.u64 = 3},
		.value = &value};

	assert_ok(doca_workq_submit(s.workq, &set.base));
	assert_ok(retrieve(s.workq, &event));
	assert_int_equal(event.type, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	assert_ok(doca_workq_submit(s.workq, &add.base));
	assert_ok(retrieve(s.workq, &event));
	assert_int_equal(event.user_data.u64, 2);
	assert_int_equal(fetched, 41);
	assert_ok(doca_workq_submit(s.workq, &get.base));
	assert_ok(retrieve(s.workq, &event));
	assert_int_equal(event.user_data.u64, 3);
	assert_int_equal(value, 42);
	get.value = NULL;
	assert_int_equal(doca_workq_submit(s.workq, &get.base), DOCA_ERROR_INVALID_VALUE);
	side_close(&s, true);
	(void)state;
}

static void a_wait_ends_when_the_value_is_greater(void **state)
{
	struct side s;
	struct doca_event event;

	side_open(&s, true);
	struct doca_sync_event_job_wait wait = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .ctx = doca_sync_event_as_ctx(s.imported), .user_data.u64 = 9},
		.value = 2,
		.mask = 0xff};
	struct doca_sync_event_job_update_set set = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET, .ctx = doca_sync_event_as_ctx(s.event)}};

	wait.value = 255;
	assert_int_equal(doca_workq_submit(s.workq, &wait.base), DOCA_ERROR_INVALID_VALUE);
	wait.value = 2;
	assert_ok(doca_workq_submit(s.workq, &wait.base));
	for (uint64_t value = 0; value <= 2; value++) { /* 0x100 is masked out */
		set.value = 0x100 + value;
		assert_ok(doca_workq_submit(s.workq, &set.base));
		assert_ok(retrieve(s.workq, &event));
		assert_int_equal(event.type, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
		for (int i = 0; i < 100; i++)
			assert_int_equal(doca_workq_progress_retrieve(s.workq, &event, 0), DOCA_ERROR_AGAIN);
	}
	assert_int_equal(doca_ctx_workq_rm(doca_sync_event_as_ctx(s.imported), s.workq), DOCA_ERROR_IN_USE);
	set.value = 3;
	assert_ok(doca_workq_submit(s.workq, &set.base));
	assert_ok(retrieve(s.workq, &event));
	assert_ok(retrieve(s.workq, &event)); /* in any order */
	assert_int_equal(doca_workq_progress_retrieve(s.workq, &event, 0), DOCA_ERROR_AGAIN);
	side_close(&s, true);
	(void)state;
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, timeout_ms) == 1;
}

/* A waiter sleeps until the value changes. */
static void a_wait_wakes_an_event_driven_queue(void **state)
{
	struct side s;
	struct doca_event event;
	struct doca_workq *waiting;
	doca_event_handle_t handle;
	doca_error_t result = DOCA_ERROR_AGAIN;

	side_open(&s, true);
	assert_ok(doca_workq_create(2, &waiting));
	assert_int_equal(doca_ctx_workq_add(doca_sync_event_as_ctx(s.imported), waiting),
			 DOCA_ERROR_IN_USE); /* a context is in one queue at most */
	assert_ok(doca_ctx_workq_rm(doca_sync_event_as_ctx(s.imported), s.workq));
	assert_ok(doca_workq_set_event_driven_enable(waiting, 1));
	assert_ok(doca_workq_get_event_handle(waiting, &handle));
	assert_ok(doca_ctx_workq_add(doca_sync_event_as_ctx(s.imported), waiting));
	struct doca_sync_event_job_wait wait = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .ctx = doca_sync_event_as_ctx(s.imported)},
		.value = 0,
		.mask = UINT64_MAX};
	struct doca_sync_event_job_update_set set = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET, .ctx = doca_sync_event_as_ctx(s.event)}, .value = 1};

	assert_ok(doca_workq_submit(waiting, &wait.base));
	do { /* retrieve everything that is due */
		assert_int_equal(doca_workq_progress_retrieve(waiting, &event, 0), DOCA_ERROR_AGAIN);
		assert_ok(doca_workq_event_handle_clear(waiting, handle));
		assert_ok(doca_workq_event_handle_arm(waiting));
	} while (is_readable(handle, 20));
	assert_ok(doca_workq_submit(s.workq, &set.base));
	assert_ok(retrieve(s.workq, &event));
	for (int i = 0; i < 10 && result == DOCA_ERROR_AGAIN; i++) {
		assert_true(is_readable(handle, 5000));
		assert_ok(doca_workq_event_handle_clear(waiting, handle));
		result = doca_workq_progress_retrieve(waiting, &event, 0);
		assert_ok(doca_workq_event_handle_arm(waiting));
	}
	assert_ok(result);
	assert_int_equal(event.type, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	assert_ok(doca_ctx_workq_rm(doca_sync_event_as_ctx(s.imported), waiting));
	assert_ok(doca_workq_destroy(waiting));
	assert_ok(doca_ctx_workq_add(doca_sync_event_as_ctx(s.imported), s.workq));
	side_close(&s, true);
	(void)state;
}

/* Arm, retrieve once more and find nothing, wait: the context has its own engine, which the queue's engine progresses. */
static void a_retrieve_that_finds_nothing_leaves_the_queue_armed(void **state)
{
	struct side s;
	struct doca_event event;
	struct doca_workq *waiting;
	doca_event_handle_t handle;

	side_open(&s, true);
	assert_ok(doca_workq_create(2, &waiting));
	assert_ok(doca_ctx_workq_rm(doca_sync_event_as_ctx(s.imported), s.workq));
	assert_ok(doca_workq_set_event_driven_enable(waiting, 1));
	assert_ok(doca_workq_get_event_handle(waiting, &handle));
	assert_ok(doca_ctx_workq_add(doca_sync_event_as_ctx(s.imported), waiting));
	for (uint32_t round = 0; round < RECHECK_ROUNDS / 10; round++) {
		struct doca_sync_event_job_wait wait = {
			.base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .ctx = doca_sync_event_as_ctx(s.imported)},
			.value = 0,
			.mask = UINT64_MAX};
		struct doca_sync_event_job_update_set set = {
			.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET, .ctx = doca_sync_event_as_ctx(s.event)}, .value = 0};
		doca_error_t result;

		assert_ok(doca_workq_submit(s.workq, &set.base));
		assert_ok(retrieve(s.workq, &event));
		set.value = 1;
		assert_ok(doca_workq_submit(waiting, &wait.base));
		do { /* retrieve everything that is due */
			assert_int_equal(doca_workq_progress_retrieve(waiting, &event, 0), DOCA_ERROR_AGAIN);
			assert_ok(doca_workq_event_handle_clear(waiting, handle));
			assert_ok(doca_workq_event_handle_arm(waiting));
		} while (is_readable(handle, 0));
		for (uint32_t i = 0; i <= round % 3; i++)
			assert_int_equal(doca_workq_progress_retrieve(waiting, &event, 0), DOCA_ERROR_AGAIN);
		assert_ok(doca_workq_submit(s.workq, &set.base));
		assert_ok(retrieve(s.workq, &event));
		do {
			recheck_wait(handle, round);
			assert_ok(doca_workq_event_handle_clear(waiting, handle));
			result = doca_workq_progress_retrieve(waiting, &event, 0);
			if (result == DOCA_ERROR_AGAIN)
				assert_ok(doca_workq_event_handle_arm(waiting));
		} while (result == DOCA_ERROR_AGAIN);
		assert_ok(result);
	}
	assert_ok(doca_ctx_workq_rm(doca_sync_event_as_ctx(s.imported), waiting));
	assert_ok(doca_workq_destroy(waiting));
	assert_ok(doca_ctx_workq_add(doca_sync_event_as_ctx(s.imported), s.workq));
	side_close(&s, true);
	(void)state;
}

static void wrong_calls_are_rejected(void **state)
{
	struct side s;
	struct doca_sync_event *event;
	struct doca_devinfo *info;
	doca_dpa_dev_sync_event_t dpa;
	doca_sync_event_remote_t remote;
	uint8_t junk[16] = {0};

	side_open(&s, false);
	info = doca_dev_as_devinfo(s.dpu);
	assert_int_equal(doca_sync_event_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_create_from_export(s.dpu, junk, sizeof(junk), &event), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_create_from_export(s.dpu, junk, sizeof(junk), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_get(NULL, &(uint64_t){0}), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_update_set(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_export_to_dpa(s.event, NULL, &dpa), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_export_remote(s.event, &remote), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_export_remote(s.event, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_get_export_to_dpa_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_sync_event_job_get_supported(info, DOCA_SYNC_EVENT_JOB_WAIT_GT));
	assert_ok(doca_sync_event_job_get_supported(info, DOCA_SYNC_EVENT_JOB_UPDATE_ADD));
	assert_int_equal(doca_sync_event_job_get_supported(info, (enum doca_sync_event_job_types)3), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_sync_event_create(&event));
	assert_int_not_equal(doca_sync_event_start(event), DOCA_SUCCESS); /* no locations */
	assert_int_not_equal(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_publisher_add_location_dpa(event, (struct doca_dpa *)&s), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_subscriber_add_location_dpa(event, (struct doca_dpa *)&s), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_sync_event_destroy(event));
	assert_null(doca_sync_event_as_ctx(NULL));
	side_close(&s, false);
	(void)state;
}

/* The value is in the program's memory. */
static void the_programs_memory_may_hold_it(void **state)
{
	struct doca_dev *host = open_device("d8:00.0");
	struct doca_sync_event *event;
	uint64_t *word = aligned_alloc(4096, 4096);

	assert_non_null(word);
	*word = 0;
	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_publisher_add_location_cpu(event, host));
	assert_ok(doca_sync_event_subscriber_add_location_dpu(event));
	assert_ok(doca_sync_event_set_addr(event, word));
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_update_set(event, 123));
	assert_int_equal(*word, 123);
	assert_ok(doca_sync_event_stop(event));
	assert_ok(doca_sync_event_destroy(event));
	assert_ok(doca_dev_close(host));
	free(word);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_reach_the_other_side),
		cmocka_unit_test(jobs_set_add_and_get),
		cmocka_unit_test(a_wait_ends_when_the_value_is_greater),
		cmocka_unit_test(a_wait_wakes_an_event_driven_queue),
		cmocka_unit_test(a_retrieve_that_finds_nothing_leaves_the_queue_armed),
		cmocka_unit_test(wrong_calls_are_rejected),
		cmocka_unit_test(the_programs_memory_may_hold_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
