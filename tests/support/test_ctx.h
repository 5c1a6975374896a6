/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A private library for tests of the core: its tasks do nothing, and the test decides how it starts, when its tasks complete and
 * when it is drained. It records the states that its state callback saw.
 */
#ifndef SF_TEST_CTX_H
#define SF_TEST_CTX_H

#include "core/ctx.h"

#define TEST_CTX_STATES_MAX 32

struct test_ctx {
	struct doca_ctx base;
	struct sf_task_pool pool;

	/* set by the test */
	doca_error_t start_result; /* SUCCESS, or IN_PROGRESS: then progress calls sf_ctx_started when start_done is set */
	bool start_done, start_fail;
	doca_error_t submit_result;				 /* result of submit */
	doca_error_t validate_result;				 /* result of validate */
	doca_error_t task_status;				 /* status with which tasks complete */
	doca_error_t (*status_of)(const struct doca_task *task); /* the same for each task, if set */
	void (*on_submit)(const struct doca_task *task);	 /* called for each task that submit accepts */
	uint32_t room;	 /* tasks in flight beyond which submit returns AGAIN; 0: no limit */
	bool hold_tasks; /* progress completes nothing, except after cancel */
	bool fatal;	 /* the next progress calls sf_ctx_fail */
	uint32_t budget; /* tasks that one progress call completes */
	bool not_drained;
	bool due;				    /* result of arm */
	void (*in_progress)(struct test_ctx *test); /* called once by the next progress, as an event callback would be */

	/* counted by it, read by the test */
	uint32_t num_start, num_cancel, num_stop, num_arm, num_flush, num_submit;
	uint32_t last_flags;
	uint32_t num_states;
	enum doca_ctx_states prev[TEST_CTX_STATES_MAX], next[TEST_CTX_STATES_MAX];
	void (*on_state)(struct test_ctx *test, enum doca_ctx_states next); /* called after the state was recorded */

	struct doca_task *first, **last; /* in flight */
};

struct test_task {
	struct doca_task base;
	uint64_t value;
};

void test_ctx_init(struct test_ctx *test);
doca_error_t test_ctx_fini(struct test_ctx *test);

/* The same without arm: due only after a submit. */
void test_ctx_init_unarmed(struct test_ctx *test);

doca_error_t test_task_set_conf(struct test_ctx *test, doca_task_completion_cb_t completed, doca_task_completion_cb_t failed,
				uint32_t num);
doca_error_t test_task_alloc(struct test_ctx *test, struct doca_task **task);

static inline struct test_task *test_task_of(struct doca_task *task)
{
	return (struct test_task *)task;
}

#endif
