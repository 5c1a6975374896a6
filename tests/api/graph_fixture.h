/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the graph tests: a progress engine with two private contexts, and records of what their callbacks saw. */
#ifndef SF_GRAPH_FIXTURE_H
#define SF_GRAPH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>

#include <doca_graph.h>
#include <doca_pe.h>

#include "core/pe.h"
#include "graph/graph.h"
#include "support/test_ctx.h"

#define FIXTURE_TASKS 256

struct fixture {
	struct doca_pe *pe;
	struct test_ctx a, b;
	uint32_t num_task_callbacks; /* of tasks submitted outside a graph */
	struct doca_graph *graph;    /* calls fixture_completed and fixture_failed */
	/* counted by those two */
	uint32_t num_completed, num_failed;
	struct doca_graph_instance *last;
	doca_error_t last_status;
};

static struct fixture the_fixture;

/* Recorded by count_call, and its return value. */
static int num_calls;
static doca_error_t call_result;

static inline void ok(doca_error_t result)
{
	assert_int_equal(result, DOCA_SUCCESS);
}

static inline void fixture_task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	the_fixture.num_task_callbacks++;
}

static inline void fixture_completed(struct doca_graph_instance *instance, union doca_data instance_user_data,
				     union doca_data graph_user_data)
{
	the_fixture.num_completed++;
	the_fixture.last = instance;
	the_fixture.last_status = sf_graph_instance_status(instance);
}

static inline void fixture_failed(struct doca_graph_instance *instance, union doca_data instance_user_data,
				  union doca_data graph_user_data)
{
	the_fixture.num_failed++;
	the_fixture.last = instance;
	the_fixture.last_status = sf_graph_instance_status(instance);
}

static inline void fixture_ctx_start(struct fixture *f, struct test_ctx *test)
{
	test_ctx_init(test);
	ok(doca_pe_connect_ctx(f->pe, &test->base));
	ok(test_task_set_conf(test, fixture_task_ended, fixture_task_ended, FIXTURE_TASKS));
	ok(doca_ctx_start(&test->base));
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = &the_fixture;

	*f = (struct fixture){0};
	num_calls = 0;
	call_result = DOCA_SUCCESS;
	ok(doca_pe_create(&f->pe));
	fixture_ctx_start(f, &f->a);
	fixture_ctx_start(f, &f->b);
	ok(doca_graph_create(f->pe, &f->graph));
	ok(doca_graph_set_conf(f->graph, fixture_completed, fixture_failed, 16));
	*state = f;
	return 0;
}

static inline void fixture_drain(struct fixture *f)
{
	for (int i = 0; i < 100000; i++) {
		if (doca_pe_progress(f->pe) == 0)
			return;
	}
	fail_msg("progress always found something to do");
}

/* Frees the context's tasks that tests left allocated. */
static inline void fixture_tasks_free(struct test_ctx *test)
{
	size_t slot = test->pool.slot_built;

	for (uint32_t i = 0; i < test->pool.num_begun; i++) {
		struct doca_task *task = (struct doca_task *)((char *)test->pool.memory + slot * i);

		if (task->state != SF_TASK_FREE)
			doca_task_free(task);
	}
}

static inline void fixture_ctx_stop(struct fixture *f, struct test_ctx *test)
{
	enum doca_ctx_states ctx_state;

	doca_ctx_stop(&test->base);
	fixture_drain(f);
	fixture_tasks_free(test);
	fixture_drain(f);
	ok(doca_ctx_get_state(&test->base, &ctx_state));
	assert_int_equal(ctx_state, DOCA_CTX_STATE_IDLE);
	ok(test_ctx_fini(test));
}

/* Instances are destroyed by the tests; f->graph may be gone. */
static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	if (f->graph != NULL) {
		ok(doca_graph_stop(f->graph));
		ok(doca_graph_destroy(f->graph));
	}
	fixture_ctx_stop(f, &f->a);
	fixture_ctx_stop(f, &f->b);
	ok(doca_pe_destroy(f->pe));
	return 0;
}

static inline struct doca_graph_node *fixture_ctx_node(struct doca_graph *graph, struct test_ctx *test)
{
	struct doca_graph_node *node = NULL;

	ok(doca_graph_node_create_from_ctx(graph, &test->base, &node));
	return node;
}

static inline struct doca_graph_node *fixture_user_node(struct doca_graph *graph, doca_graph_user_node_cb_t cb)
{
	struct doca_graph_node *node = NULL;

	ok(doca_graph_node_create_from_user(graph, cb, &node));
	return node;
}

static inline struct doca_graph_instance *fixture_instance(struct doca_graph *graph)
{
	struct doca_graph_instance *instance = NULL;

	ok(doca_graph_instance_create(graph, &instance));
	return instance;
}

/* Sets a new task for the node. */
static inline struct doca_task *fixture_task(struct doca_graph_instance *instance, struct doca_graph_node *node,
					     struct test_ctx *test)
{
	struct doca_task *task = NULL;

	ok(test_task_alloc(test, &task));
	ok(doca_graph_instance_set_ctx_node_data(instance, node, task));
	return task;
}

/* For user nodes. Sets the cookie, if not NULL, to the number of the call. */
static inline doca_error_t count_call(void *cookie)
{
	num_calls++;
	if (cookie != NULL)
		*(int *)cookie = num_calls;
	return call_result;
}

static inline enum sf_graph_step_state state_of(struct doca_graph_instance *instance, struct doca_graph_node *node)
{
	enum sf_graph_step_state at;
	doca_error_t status;

	ok(sf_graph_instance_node_state(instance, node, &at, &status));
	return at;
}

static inline bool wakes_within(struct fixture *f, int timeout_ms)
{
	doca_notification_handle_t handle;

	ok(doca_pe_get_notification_handle(f->pe, &handle));
	struct pollfd fd = {.fd = handle, .events = POLLIN};
	return poll(&fd, 1, timeout_ms) == 1;
}

static inline bool wakes(struct fixture *f)
{
	return wakes_within(f, 0);
}

static inline void rest(struct fixture *f)
{
	fixture_drain(f);
	ok(doca_pe_clear_notification(f->pe, 0));
	ok(doca_pe_request_notification(f->pe));
}

#endif
