/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations on several contexts of one progress engine, from outside and inside their callbacks, checked against
 * invariants. The seed is printed; SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "support/test_ctx.h"

#define CONTEXTS 4
#define TASKS 6
#define STEPS 200000
#define PATIENCE 1000 /* progress calls after which an undisturbed ctx must have ended */

struct slot {
	struct test_ctx *test;
	struct doca_task *tasks[TASKS]; /* allocated, not freed */
	bool inflight[TASKS];
	bool freed[TASKS];	    /* in flight: the callback frees the task unless it submits it again */
	enum doca_ctx_states state; /* as the callbacks reported */
	uint64_t num_accepted, num_done;
};

static struct slot slots[CONTEXTS];
static struct doca_pe *pe;
static uint64_t random_state;
static int depth;				    /* of nested callbacks */
static uint64_t num_idle, num_destroyed, num_tasks; /* how often anything happened */

static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

static struct slot *slot_of(struct test_ctx *test)
{
	for (int i = 0; i < CONTEXTS; i++) {
		if (slots[i].test == test)
			return &slots[i];
	}
	fail();
	return NULL;
}

static void act(void);

static void done(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct slot *slot = slot_of((struct test_ctx *)doca_task_get_ctx(task));
	uint64_t i = task_user_data.u64;

	assert_ptr_equal(slot->tasks[i], task);
	assert_true(slot->inflight[i]);
	assert_true(slot->state == DOCA_CTX_STATE_RUNNING || slot->state == DOCA_CTX_STATE_STOPPING);
	slot->inflight[i] = false;
	slot->num_done++;
	num_tasks++;
	if (random_below(2) == 0) {
		doca_task_free(task);
		slot->tasks[i] = NULL;
		slot->freed[i] = false;
	} else if (random_below(2) == 0 && doca_task_submit(task) == DOCA_SUCCESS) {
		slot->inflight[i] = true;
		slot->num_accepted++;
	}
	act();
	if (slot->freed[i] && !slot->inflight[i]) {
		slot->tasks[i] = NULL;
		slot->freed[i] = false;
	}
}

static void completed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	assert_int_equal(doca_task_get_status(task), DOCA_SUCCESS);
	done(task, task_user_data, ctx_user_data);
}

static void failed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	assert_int_not_equal(doca_task_get_status(task), DOCA_SUCCESS);
	done(task, task_user_data, ctx_user_data);
}

static bool is_legal(enum doca_ctx_states prev, enum doca_ctx_states next)
{
	switch (next) {
	case DOCA_CTX_STATE_STARTING:
		return prev == DOCA_CTX_STATE_IDLE;
	case DOCA_CTX_STATE_RUNNING:
		return prev == DOCA_CTX_STATE_IDLE || prev == DOCA_CTX_STATE_STARTING;
	case DOCA_CTX_STATE_STOPPING:
		return prev == DOCA_CTX_STATE_STARTING || prev == DOCA_CTX_STATE_RUNNING;
	default:
		return prev == DOCA_CTX_STATE_STOPPING || prev == DOCA_CTX_STATE_STARTING;
	}
}

static void on_state(struct test_ctx *test, enum doca_ctx_states next)
{
	struct slot *slot = slot_of(test);
	enum doca_ctx_states now;

	assert_int_equal(doca_ctx_get_state(&test->base, &now), DOCA_SUCCESS);
	assert_int_equal(now, next);
	assert_true(is_legal(slot->state, next));
	slot->state = next;
	if (next == DOCA_CTX_STATE_IDLE) {
		num_idle++;
		assert_int_equal(slot->num_done, slot->num_accepted);
		for (int i = 0; i < TASKS; i++)
			assert_null(slot->tasks[i]);
	}
	act();
}

static void slot_make(struct slot *slot)
{
	*slot = (struct slot){.test = test_malloc(sizeof(*slot->test))};
	test_ctx_init(slot->test);
	slot->test->on_state = on_state;
	assert_int_equal(doca_pe_connect_ctx(pe, &slot->test->base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(slot->test, completed, failed, TASKS), DOCA_SUCCESS);
}

static void slot_destroy(struct slot *slot)
{
	doca_error_t result = test_ctx_fini(slot->test);

	assert_int_equal(result, slot->state == DOCA_CTX_STATE_IDLE ? DOCA_SUCCESS : DOCA_ERROR_IN_USE);
	if (result != DOCA_SUCCESS)
		return;
	num_destroyed++;
	test_free(slot->test);
	slot_make(slot);
}

static void slot_start(struct slot *slot)
{
	struct test_ctx *test = slot->test;
	bool idle = slot->state == DOCA_CTX_STATE_IDLE;

	if (idle) {
		test->start_result = random_below(2) ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
		test->start_done = random_below(2);
		test->start_fail = random_below(4) == 0;
	}
	doca_error_t expected = idle ? test->start_result : DOCA_ERROR_BAD_STATE;
	assert_int_equal(doca_ctx_start(&test->base), expected); /* another ctx may have the pointer now */
}

static void slot_stop(struct slot *slot)
{
	doca_error_t result = doca_ctx_stop(&slot->test->base);

	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
}

static void slot_submit(struct slot *slot, int i)
{
	if (slot->tasks[i] == NULL) {
		doca_error_t result = test_task_alloc(slot->test, &slot->tasks[i]);

		assert_int_equal(result, slot->state == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
		if (result != DOCA_SUCCESS)
			return;
		doca_task_set_user_data(slot->tasks[i], (union doca_data){.u64 = (uint64_t)i});
	}
	if (random_below(3) == 0)
		return;
	doca_error_t result = doca_task_submit(slot->tasks[i]);
	if (slot->inflight[i] || slot->state != DOCA_CTX_STATE_RUNNING) {
		assert_int_equal(result, DOCA_ERROR_BAD_STATE);
		return;
	}
	assert_int_equal(result, DOCA_SUCCESS);
	slot->inflight[i] = true;
	slot->num_accepted++;
}

static void slot_free(struct slot *slot, int i)
{
	if (slot->tasks[i] == NULL)
		return;
	doca_task_free(slot->tasks[i]);
	slot->freed[i] = slot->inflight[i];
	if (!slot->inflight[i])
		slot->tasks[i] = NULL;
}

/* One random operation that a program might do, from outside or from a callback. */
static void act(void)
{
	struct slot *slot = &slots[random_below(CONTEXTS)];
	int i = (int)random_below(TASKS);

	if (depth > 3)
		return;
	depth++;
	switch (random_below(12)) {
	case 0:
		slot_start(slot);
		break;
	case 1:
		slot_stop(slot);
		break;
	case 2:
		if (random_below(2))
			slot_stop(slot);
		slot_destroy(slot);
		break;
	case 3:
	case 4:
	case 5:
		slot_submit(slot, i);
		break;
	case 6:
	case 7:
		slot_free(slot, i);
		break;
	case 8:
		slot->test->hold_tasks = random_below(2);
		slot->test->not_drained = random_below(4) == 0;
		break;
	case 9:
		slot->test->start_done = true;
		break;
	case 10:
		slot->test->fatal = random_below(8) == 0 && slot->state == DOCA_CTX_STATE_RUNNING;
		slot->test->task_status = random_below(4) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
		break;
	default:
		slot->test->budget = 1 + random_below(4);
	}
	depth--;
}

static void expect_counts(void)
{
	size_t all = 0, num;

	for (int s = 0; s < CONTEXTS; s++) {
		size_t expected = 0;

		for (int i = 0; i < TASKS; i++)
			expected += slots[s].inflight[i];
		assert_int_equal(doca_ctx_get_num_inflight_tasks(&slots[s].test->base, &num), DOCA_SUCCESS);
		assert_int_equal(num, expected);
		assert_int_equal(slots[s].num_accepted - slots[s].num_done, expected);
		all += expected;
	}
	assert_int_equal(doca_pe_get_num_inflight_tasks(pe, &num), DOCA_SUCCESS);
	assert_int_equal(num, all);
}

/* Without further operations every ctx ends. */
static void end_all(void)
{
	depth = 100; /* callbacks do nothing any more */
	for (int calls = 0; calls < PATIENCE; calls++) {
		for (int s = 0; s < CONTEXTS; s++) {
			slots[s].test->not_drained = false;
			slots[s].test->fatal = false;
			slot_stop(&slots[s]);
			for (int i = 0; i < TASKS; i++)
				slot_free(&slots[s], i);
		}
		doca_pe_progress(pe);
	}
	for (int s = 0; s < CONTEXTS; s++) {
		assert_int_equal(slots[s].state, DOCA_CTX_STATE_IDLE);
		assert_int_equal(test_ctx_fini(slots[s].test), DOCA_SUCCESS);
		test_free(slots[s].test);
	}
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void anything_at_any_time(void **state)
{
	assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);
	for (int s = 0; s < CONTEXTS; s++)
		slot_make(&slots[s]);
	for (int step = 0; step < STEPS; step++) {
		act();
		if (random_below(2) == 0)
			doca_pe_progress(pe);
		if (random_below(16) == 0)
			expect_counts();
	}
	expect_counts();
	end_all();
	printf("%lu tasks done, IDLE reached %lu times, %lu contexts destroyed\n", (unsigned long)num_tasks,
	       (unsigned long)num_idle, (unsigned long)num_destroyed);
	assert_true(num_tasks > STEPS / 100 && num_idle > STEPS / 100 && num_destroyed > STEPS / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(anything_at_any_time)};
	const char *seed = getenv("SEED");

	if (seed != NULL)
		random_state = strtoull(seed, NULL, 0);
	else if (getrandom(&random_state, sizeof(random_state), 0) != sizeof(random_state))
		return 1;
	if (random_state == 0)
		random_state = 1;
	printf("SEED=0x%llx\n", (unsigned long long)random_state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
