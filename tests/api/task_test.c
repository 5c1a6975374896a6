/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: allocation, submission, completion, and batches of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/task_batch.h"
#include "support/test_ctx.h"

#define NUM_TASKS 4

struct fixture {
	struct test_ctx test;
	struct doca_pe *pe;
};

static uint32_t num_completed, num_failed;
static union doca_data seen_task_data, seen_ctx_data;
static size_t seen_inflight;

static void completed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	num_completed++;
	seen_task_data = task_user_data;
	seen_ctx_data = ctx_user_data;
	assert_int_equal(doca_task_get_status(task), DOCA_SUCCESS);
	doca_ctx_get_num_inflight_tasks(doca_task_get_ctx(task), &seen_inflight);
}

static void failed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	num_failed++;
	assert_int_not_equal(doca_task_get_status(task), DOCA_SUCCESS);
}

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	num_completed = num_failed = 0;
	test_ctx_init(&f->test);
	assert_int_equal(doca_pe_create(&f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(&f->test.base, (union doca_data){.u64 = 77}), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, completed, failed, NUM_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&f->test), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	return 0;
}

static struct doca_task *alloc(struct fixture *f)
{
	struct doca_task *task;

	assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
	return task;
}

static void null_arguments(void **state)
{
	assert_int_equal(doca_task_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_submit_ex(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_try_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_get_status(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_task_get_ctx(NULL));
	assert_int_equal(doca_task_get_user_data(NULL).u64, 0);
	doca_task_set_user_data(NULL, (union doca_data){.u64 = 1});
	doca_task_free(NULL);
}

static void configuration_is_checked(void **state)
{
	struct fixture *f = *state;
	struct test_ctx other;

	test_ctx_init(&other);
	assert_int_equal(test_task_set_conf(&other, NULL, failed, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(test_task_set_conf(&other, completed, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(test_task_set_conf(&other, completed, failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(test_task_set_conf(&other, completed, failed, 1025), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(test_task_set_conf(&other, completed, failed, 1024), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, completed, failed, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(test_ctx_fini(&other), DOCA_SUCCESS);
}

static void allocation_ends_at_the_configured_number(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task[NUM_TASKS], *more = NULL;

	for (int i = 0; i < NUM_TASKS; i++)
		task[i] = alloc(f);
	assert_int_equal(test_task_alloc(&f->test, &more), DOCA_ERROR_NO_MEMORY);
	assert_null(more);
	doca_task_free(task[2]);
	assert_ptr_equal(alloc(f), task[2]);
	for (int i = 0; i < NUM_TASKS; i++)
		doca_task_free(task[i]);
}

static void allocation_outside_running_is_bad_state(void **state)
{
	struct test_ctx other;
	struct doca_task *task;

	test_ctx_init(&other);
	assert_int_equal(test_task_set_conf(&other, completed, failed, 1), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&other, &task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(test_ctx_fini(&other), DOCA_SUCCESS);
}

static void unconfigured_type_has_no_memory(void **state)
{
	struct fixture *f = *state;
	struct test_ctx other;
	struct doca_task *task;

	test_ctx_init(&other);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &other.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&other.base), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&other, &task), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_ctx_stop(&other.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&other), DOCA_SUCCESS);
}

static void completion_brings_user_data_and_runs_in_progress(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);
	size_t num;

	assert_int_equal(doca_task_get_user_data(task).u64, 0);
	doca_task_set_user_data(task, (union doca_data){.u64 = 5});
	assert_int_equal(doca_task_get_user_data(task).u64, 5);
	assert_ptr_equal(doca_task_get_ctx(task), &f->test.base);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(f->test.last_flags, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	assert_int_equal(num_completed, 0);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 1);
	assert_int_equal(seen_task_data.u64, 5);
	assert_int_equal(seen_ctx_data.u64, 77);
	assert_int_equal(seen_inflight, 1); /* counted until the callback returns */
	assert_int_equal(doca_ctx_get_num_inflight_tasks(&f->test.base, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	doca_task_free(task);
}

static void failed_task_runs_the_error_callback(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	f->test.task_status = DOCA_ERROR_IO_FAILED;
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 0);
	assert_int_equal(num_failed, 1);
	assert_int_equal(doca_task_get_status(task), DOCA_ERROR_IO_FAILED);
	doca_task_free(task);
}

static void a_rejected_submit_leaves_the_task_to_its_owner(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);
	size_t num = 9;

	f->test.submit_result = DOCA_ERROR_AGAIN;
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(&f->test.base, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	f->test.submit_result = DOCA_SUCCESS;
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 1);
	doca_task_free(task);
}

static void try_submit_validates_and_submit_does_not(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	f->test.validate_result = DOCA_ERROR_INVALID_VALUE;
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->test.num_submit, 0);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	f->test.validate_result = DOCA_SUCCESS;
	assert_int_equal(doca_task_try_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 2);
	doca_task_free(task);
}

static void submit_flags_reach_the_library(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	assert_int_equal(doca_task_submit_ex(task, 16), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS), DOCA_SUCCESS);
	assert_int_equal(f->test.last_flags, DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_RANGE_PROFILING_REQUESTED |
							   DOCA_TASK_SUBMIT_FLAG_RANGE_PROFILING_PROCESSED),
			 DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	doca_task_free(task);
}

static void task_in_flight_is_not_submitted(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 1);
	doca_task_free(task);
	doca_task_free(task); /* one free too many */
	assert_int_equal(f->test.base.num_allocated, 0);
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
}

/* ---- tasks freed in flight ---- */

static struct doca_task *alloc_freed_in_flight(struct fixture *f)
{
	struct doca_task *task = alloc(f);

	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	doca_task_free(task);
	doca_task_free(task); /* one free too many */
	assert_int_equal(f->test.base.num_allocated, 1);
	return task;
}

/* All tasks are free, and none is free twice. */
static void pool_is_whole(struct fixture *f)
{
	struct doca_task *tasks[NUM_TASKS];

	assert_int_equal(f->test.base.num_allocated, 0);
	for (uint32_t i = 0; i < NUM_TASKS; i++) {
		tasks[i] = alloc(f);
		for (uint32_t j = 0; j < i; j++)
			assert_ptr_not_equal(tasks[i], tasks[j]);
	}
	for (uint32_t i = 0; i < NUM_TASKS; i++)
		doca_task_free(tasks[i]);
}

static void freed_in_flight_is_freed_after_its_callback(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc_freed_in_flight(f);

	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 1);
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	f->test.task_status = DOCA_ERROR_IO_FAILED;
	(void)alloc_freed_in_flight(f);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_failed, 1);
	pool_is_whole(f);
}

/* As the published secure channel does with its receives. */
static void freed_in_flight_before_a_stop(void **state)
{
	struct fixture *f = *state;
	enum doca_ctx_states now;

	f->test.hold_tasks = true;
	for (uint32_t i = 0; i < NUM_TASKS; i++)
		assert_int_equal(doca_task_submit(alloc(f)), DOCA_SUCCESS);
	for (struct doca_task *task = f->test.first; task != NULL; task = task->next)
		doca_task_free(task);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	while (doca_pe_progress(f->pe) != 0)
		;
	assert_int_equal(num_completed + num_failed, NUM_TASKS);
	assert_int_equal(doca_ctx_get_state(&f->test.base, &now), DOCA_SUCCESS);
	assert_int_equal(now, DOCA_CTX_STATE_IDLE);
}

static void free_task(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	num_completed++;
	doca_task_free(task);
}

static void freed_in_flight_and_in_its_callback(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, free_task, failed, NUM_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	(void)alloc_freed_in_flight(f);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 1);
	pool_is_whole(f);
}

static struct doca_task *taken;

/* By then the task is free, and may be the next one to be allocated. */
static void free_and_alloc(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	num_completed++;
	doca_task_free(task);
	assert_int_equal(test_task_alloc((struct test_ctx *)doca_task_get_ctx(task), &taken), DOCA_SUCCESS);
}

static void freed_in_flight_and_allocated_in_its_callback(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, free_and_alloc, failed, NUM_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	struct doca_task *task = alloc_freed_in_flight(f);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_ptr_equal(taken, task);
	assert_int_equal(f->test.base.num_allocated, 1);
	doca_task_free(taken);
	pool_is_whole(f);
}

static void submit_once_more(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	if (++num_completed == 1)
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
}

/* The callback does not know of the free, and submits the task: it is freed when the callback ends. */
static void freed_in_flight_and_submitted_in_its_callback(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, submit_once_more, failed, NUM_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	(void)alloc_freed_in_flight(f);
	while (doca_pe_progress(f->pe) != 0)
		;
	assert_int_equal(num_completed, 2);
	pool_is_whole(f);
}

static void submit_while_stopping_is_bad_state(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f), *late;

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(test_task_alloc(&f->test, &late), DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	assert_int_equal(doca_pe_progress(f->pe), 1);
}

static void freed_task_keeps_its_fields_until_the_next_allocation(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	test_task_of(task)->value = 1234;
	doca_task_set_user_data(task, (union doca_data){.u64 = 6});
	doca_task_free(task);
	assert_int_equal(test_task_of(task)->value, 1234);
	assert_int_equal(doca_task_get_user_data(task).u64, 6);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_of(task)->value, 1234);
}

static void resubmit(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	if (++num_completed < 100)
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	else
		doca_task_free(task);
}

static void resubmission_from_the_callback(void **state)
{
	struct fixture *f = *state;
	size_t num;

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, resubmit, failed, 2), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	f->test.budget = 1;
	assert_int_equal(doca_task_submit(alloc(f)), DOCA_SUCCESS);
	for (uint32_t i = 1; i < 100; i++) {
		assert_int_equal(doca_pe_progress(f->pe), 1);
		assert_int_equal(num_completed, i);
		assert_int_equal(doca_ctx_get_num_inflight_tasks(&f->test.base, &num), DOCA_SUCCESS);
		assert_int_equal(num, 1);
	}
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(num_completed, 100);
	assert_int_equal(sf_ctx_num_inflight(&f->test.base), 0);
	assert_int_equal(f->test.base.num_allocated, 0);
}

/* ---- batches ---- */

static struct doca_task_batch *submitted_batch;

static doca_error_t batch_submit(struct doca_task_batch *batch)
{
	if (submitted_batch != NULL)
		return DOCA_ERROR_AGAIN;
	submitted_batch = batch;
	return DOCA_SUCCESS;
}

static doca_error_t batch_validate(const struct doca_task_batch *batch)
{
	return batch->num_tasks == 13 ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

static void batch_done(struct doca_task_batch *batch, union doca_data batch_user_data, union doca_data ctx_user_data)
{
	seen_task_data = batch_user_data;
	seen_ctx_data = ctx_user_data;
	if (doca_task_batch_get_status(batch) == DOCA_SUCCESS)
		num_completed++;
	else
		num_failed++;
}

static void complete_batch(struct test_ctx *test)
{
	struct doca_task_batch *batch = submitted_batch;

	submitted_batch = NULL;
	sf_task_batch_complete(batch, test->task_status);
}

static const struct sf_task_batch_class batch_class = {
	.name = "test batch",
	.size = sizeof(struct doca_task_batch),
	.submit = batch_submit,
	.validate = batch_validate,
};

static void batch_null_arguments(void **state)
{
	assert_int_equal(doca_task_batch_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_batch_try_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_batch_get_status(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_task_batch_get_ctx(NULL));
	assert_int_equal(doca_task_batch_get_user_data(NULL).u64, 0);
	assert_int_equal(doca_task_batch_get_ctx_user_data(NULL).u64, 0);
	assert_int_equal(doca_task_batch_get_tasks_num(NULL), 0);
	doca_task_batch_set_user_data(NULL, (union doca_data){.u64 = 0});
	doca_task_batch_free(NULL);
}

static void batch_life(void **state)
{
	struct fixture *f = *state;
	struct sf_task_batch_pool pool;
	struct doca_task_batch *batch, *second, *third;
	size_t num;

	assert_int_equal(sf_task_batch_pool_init(&pool, &f->test.base, &batch_class, 2, (enum doca_task_batch_max_tasks_number)4,
						 batch_done, batch_done),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(sf_task_batch_pool_init(&pool, &f->test.base, &batch_class, 2, DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32,
						 batch_done, batch_done),
			 DOCA_SUCCESS);
	assert_int_equal(sf_task_batch_alloc(&pool, &f->test.base, 0, &batch), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(sf_task_batch_alloc(&pool, &f->test.base, 33, &batch), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(sf_task_batch_alloc(&pool, &f->test.base, 32, &batch), DOCA_SUCCESS);
	assert_int_equal(sf_task_batch_alloc(&pool, &f->test.base, 13, &second), DOCA_SUCCESS);
	assert_int_equal(sf_task_batch_alloc(&pool, &f->test.base, 1, &third), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_task_batch_get_tasks_num(batch), 32);
	doca_task_batch_set_user_data(batch, (union doca_data){.u64 = 9});
	assert_int_equal(doca_task_batch_get_user_data(batch).u64, 9);
	assert_ptr_equal(doca_task_batch_get_ctx(batch), &f->test.base);
	assert_int_equal(doca_task_batch_get_ctx_user_data(batch).u64, 77);

	assert_int_equal(doca_task_batch_submit(batch), DOCA_SUCCESS);
	assert_int_equal(doca_task_batch_submit(batch), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(&f->test.base, &num), DOCA_SUCCESS);
	assert_int_equal(num, 32);
	assert_int_equal(doca_task_batch_try_submit(second), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_batch_submit(second), DOCA_ERROR_AGAIN);
	f->test.in_progress = complete_batch;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 1);
	assert_int_equal(seen_task_data.u64, 9);
	assert_int_equal(seen_ctx_data.u64, 77);

	f->test.task_status = DOCA_ERROR_IO_FAILED;
	assert_int_equal(doca_task_batch_submit(second), DOCA_SUCCESS);
	f->test.in_progress = complete_batch;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_failed, 1);
	assert_int_equal(doca_task_batch_get_status(second), DOCA_ERROR_IO_FAILED);

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_task_batch_submit(second), DOCA_ERROR_BAD_STATE);
	doca_task_batch_free(batch);
	doca_task_batch_free(batch); /* one free too many */
	assert_int_equal(doca_pe_progress(f->pe), 0);
	doca_task_batch_free(second);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	sf_task_batch_pool_fini(&pool);
}

static void batch_freed_in_flight(void **state)
{
	struct fixture *f = *state;
	struct sf_task_batch_pool pool;
	struct doca_task_batch *batch, *next;

	assert_int_equal(sf_task_batch_pool_init(&pool, &f->test.base, &batch_class, 1, DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16,
						 batch_done, batch_done),
			 DOCA_SUCCESS);
	assert_int_equal(sf_task_batch_alloc(&pool, &f->test.base, 16, &batch), DOCA_SUCCESS);
	assert_int_equal(doca_task_batch_submit(batch), DOCA_SUCCESS);
	doca_task_batch_free(batch);
	doca_task_batch_free(batch); /* one free too many */
	assert_int_equal(f->test.base.num_allocated, 16);
	f->test.in_progress = complete_batch;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_completed, 1);
	assert_int_equal(f->test.base.num_allocated, 0);
	assert_int_equal(sf_task_batch_alloc(&pool, &f->test.base, 1, &next), DOCA_SUCCESS);
	assert_ptr_equal(next, batch);
	doca_task_batch_free(next);
	sf_task_batch_pool_fini(&pool);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(configuration_is_checked),
		T(allocation_ends_at_the_configured_number),
		T(allocation_outside_running_is_bad_state),
		T(unconfigured_type_has_no_memory),
		T(completion_brings_user_data_and_runs_in_progress),
		T(failed_task_runs_the_error_callback),
		T(a_rejected_submit_leaves_the_task_to_its_owner),
		T(try_submit_validates_and_submit_does_not),
		T(submit_flags_reach_the_library),
		T(task_in_flight_is_not_submitted),
		T(freed_in_flight_is_freed_after_its_callback),
		T(freed_in_flight_before_a_stop),
		T(freed_in_flight_and_in_its_callback),
		T(freed_in_flight_and_allocated_in_its_callback),
		T(freed_in_flight_and_submitted_in_its_callback),
		T(submit_while_stopping_is_bad_state),
		T(freed_task_keeps_its_fields_until_the_next_allocation),
		T(resubmission_from_the_callback),
		T(batch_null_arguments),
		T(batch_life),
		T(batch_freed_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
