/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test_ctx.h"

#include <string.h>

static struct test_ctx *of(struct doca_ctx *ctx)
{
	return (struct test_ctx *)ctx;
}

static doca_error_t start(struct doca_ctx *ctx)
{
	of(ctx)->num_start++;
	return of(ctx)->start_result;
}

static void cancel(struct doca_ctx *ctx)
{
	of(ctx)->num_cancel++;
}

static bool drained(struct doca_ctx *ctx)
{
	return !of(ctx)->not_drained;
}

static void stop(struct doca_ctx *ctx)
{
	of(ctx)->num_stop++;
}

static void flush(struct doca_ctx *ctx)
{
	of(ctx)->num_flush++;
}

static bool arm(struct doca_ctx *ctx)
{
	of(ctx)->num_arm++;
	return of(ctx)->due;
}

static bool complete_some(struct test_ctx *test)
{
	uint32_t n = 0;
	bool cancelled = test->base.cancelled;

	while (test->first != NULL && n < test->budget && (cancelled || !test->hold_tasks)) {
		struct doca_task *task = test->first;

		test->first = task->next;
		if (test->first == NULL)
			test->last = &test->first;
		doca_error_t status = cancelled ? DOCA_ERROR_BAD_STATE : test->task_status;
		if (__builtin_expect(test->status_of != NULL && !cancelled, 0))
			status = test->status_of(task);
		sf_task_complete(task, status);
		n++;
	}
	return n > 0;
}

static bool progress(struct doca_ctx *ctx)
{
	struct test_ctx *test = of(ctx);
	bool moved = false;

	if (__builtin_expect(test->in_progress != NULL, 0)) {
		void (*callback)(struct test_ctx *) = test->in_progress;

		test->in_progress = NULL;
		callback(test);
		moved = true;
	}
	if (__builtin_expect(ctx->state == DOCA_CTX_STATE_STARTING && (test->start_done || test->start_fail), 0)) {
		if (test->start_fail)
			sf_ctx_fail(ctx);
		else
			sf_ctx_started(ctx);
		moved = true;
	}
	if (__builtin_expect(test->fatal, 0)) {
		test->fatal = false;
		sf_ctx_fail(ctx);
		moved = true;
	}
	return complete_some(test) || moved;
}

static const struct sf_ctx_ops ops = {
	.name = "test",
	.needs_pe = true,
	.has_gpu_path = true,
	.start = start,
	.cancel = cancel,
	.drained = drained,
	.stop = stop,
	.progress = progress,
	.arm = arm,
	.flush = flush,
};

static const struct sf_ctx_ops unarmed_ops = {
	.name = "unarmed test",
	.needs_pe = true,
	.has_gpu_path = true,
	.start = start,
	.stop = stop,
	.progress = progress,
};

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	struct test_ctx *test = of(ctx);

	(void)user_data;
	if (test->num_states < TEST_CTX_STATES_MAX) {
		test->prev[test->num_states] = prev;
		test->next[test->num_states] = next;
	}
	test->num_states++;
	if (test->on_state != NULL)
		test->on_state(test, next);
}

static void init(struct test_ctx *test, const struct sf_ctx_ops *with)
{
	memset(test, 0, sizeof(*test));
	sf_ctx_init(&test->base, with, &test->pool, 1);
	test->last = &test->first;
	test->budget = 16;
	doca_ctx_set_state_changed_cb(&test->base, state_changed);
}

void test_ctx_init(struct test_ctx *test)
{
	init(test, &ops);
}

void test_ctx_init_unarmed(struct test_ctx *test)
{
	init(test, &unarmed_ops);
}

doca_error_t test_ctx_fini(struct test_ctx *test)
{
	return sf_ctx_fini(&test->base);
}

/* ---- its task ---- */

static doca_error_t submit(struct doca_task *task, uint32_t flags)
{
	struct test_ctx *test = of(task->ctx);

	if (test->submit_result != DOCA_SUCCESS)
		return test->submit_result;
	if (__builtin_expect(test->room != 0 && sf_ctx_num_inflight(&test->base) >= test->room, 0))
		return DOCA_ERROR_AGAIN;
	if (__builtin_expect(test->on_submit != NULL, 0))
		test->on_submit(task);
	test->num_submit++;
	test->last_flags = flags;
	task->next = NULL;
	*test->last = task;
	test->last = &task->next;
	return DOCA_SUCCESS;
}

static doca_error_t validate(const struct doca_task *task)
{
	return of(task->ctx)->validate_result;
}

static const struct sf_task_class task_class = {
	.name = "test",
	.size = sizeof(struct test_task),
	.submit = submit,
	.validate = validate,
};

doca_error_t test_task_set_conf(struct test_ctx *test, doca_task_completion_cb_t completed, doca_task_completion_cb_t failed,
				uint32_t num)
{
	return sf_task_pool_configure(&test->base, &test->pool, &task_class, completed, failed, num, 1024);
}

doca_error_t test_task_alloc(struct test_ctx *test, struct doca_task **task)
{
	return sf_task_alloc(&test->base, &test->pool, task);
}
