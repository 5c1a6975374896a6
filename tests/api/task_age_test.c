/* SPDX-License-Identifier: BSD-3-Clause */
/* Ages of tasks in flight, counted in their states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/task_age.h"

#define NUM_TASKS 3
#define SLOT 64

static uint64_t number; /* of the next look */

static struct sf_task_pool *pool_create(void)
{
	struct sf_task_pool *pool = calloc(1, sizeof(*pool));

	assert_non_null(pool);
	pool->memory = calloc(NUM_TASKS, SLOT);
	assert_non_null(pool->memory);
	pool->slot_built = SLOT;
	pool->num_begun = NUM_TASKS;
	number = 0;
	return pool;
}

static void pool_destroy(struct sf_task_pool *pool)
{
	free(pool->memory);
	free(pool);
}

static struct doca_task *task_at(const struct sf_task_pool *pool, uint32_t i)
{
	return (struct doca_task *)((char *)pool->memory + (size_t)SLOT * i);
}

/* Looks num times. Returns the age that the last look found. */
static uint64_t age_after(const struct sf_task_pool *pool, uint64_t num, uint64_t num_inflight)
{
	uint64_t looks = 0;

	while (num-- > 0) {
		uint32_t left = NUM_TASKS;

		looks = 0;
		assert_int_equal(sf_task_ages_look(pool, number++, &left, &looks), num_inflight);
		assert_int_equal(left, 0);
	}
	return looks;
}

static void the_oldest_counts(void **state)
{
	struct sf_task_pool *pool = pool_create();

	(void)state;
	assert_int_equal(age_after(pool, 5, 0), 0);
	task_at(pool, 0)->state = SF_TASK_INFLIGHT;
	assert_int_equal(age_after(pool, 1, 1), 0); /* perhaps submitted just now */
	assert_int_equal(age_after(pool, 10, 1), 10);
	task_at(pool, 2)->state = SF_TASK_INFLIGHT;
	assert_int_equal(age_after(pool, 1, 2), 11);
	task_at(pool, 0)->state = SF_TASK_ALLOCATED;
	assert_int_equal(age_after(pool, 1, 1), 1);
	pool_destroy(pool);
}

static void a_task_submitted_again_is_new(void **state)
{
	struct sf_task_pool *pool = pool_create();

	(void)state;
	for (int i = 0; i < 100; i++) {
		task_at(pool, 1)->state = SF_TASK_INFLIGHT;
		assert_int_equal(age_after(pool, 1, 1), 0);
		assert_true(sf_task_is_inflight(task_at(pool, 1)));
	}
	pool_destroy(pool);
}

static void tasks_that_are_not_in_flight_keep_their_state(void **state)
{
	struct sf_task_pool *pool = pool_create();

	(void)state;
	task_at(pool, 1)->state = SF_TASK_ALLOCATED;
	task_at(pool, 2)->state = SF_TASK_CLAIMED;
	assert_int_equal(age_after(pool, 300, 0), 0);
	assert_int_equal(task_at(pool, 0)->state, SF_TASK_FREE);
	assert_int_equal(task_at(pool, 1)->state, SF_TASK_ALLOCATED);
	assert_int_equal(task_at(pool, 2)->state, SF_TASK_CLAIMED);
	pool_destroy(pool);
}

/* The age is never more than the looks before, never shrinks, lags by 256 of them at most, and stays at the largest. */
static void an_old_task_is_never_shown_as_older(void **state)
{
	struct sf_task_pool *pool = pool_create();
	uint64_t before = 0;

	(void)state;
	task_at(pool, 0)->state = SF_TASK_INFLIGHT;
	for (uint64_t looks = 0; looks < 40000; looks++) {
		uint64_t age = age_after(pool, 1, 1);

		assert_true(age <= looks && age >= before);
		assert_true(looks > 30000 || age + 600 > looks);
		assert_true(looks > 60 || age == looks);
		before = age;
	}
	assert_true(before > 30000);
	assert_true(sf_task_is_inflight(task_at(pool, 0)));
	pool_destroy(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_counts),
		cmocka_unit_test(a_task_submitted_again_is_new),
		cmocka_unit_test(tasks_that_are_not_in_flight_keep_their_state),
		cmocka_unit_test(an_old_task_is_never_shown_as_older),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
