/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of an RDMA instance of DOCA 2.5, with both sides in one process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>

#include "legacy25/rig.h"

#define BAD_STATE(call) CHECK((call) == DOCA_ERROR_BAD_STATE)
#define INVALID(call) CHECK((call) == DOCA_ERROR_INVALID_VALUE)

struct fixture {
	struct rig a, b;
};

static int setup(void **state)
{
	static struct fixture f;

	rig_prepare(&f.a, 0);
	rig_prepare(&f.b, 1);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rig_end(&f->a);
	rig_end(&f->b);
	return 0;
}

static void start(struct rig *rig)
{
	CHECK(doca_ctx_start(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	CHECK(rig_state(rig) == DOCA_CTX_STATE_STARTING);
}

static void connect_to(struct rig *rig, const struct rig *peer)
{
	const void *details;
	size_t size;

	CHECK_OK(doca_rdma_export(peer->rdma, &details, &size));
	CHECK_OK(doca_rdma_connect(rig->rdma, details, size));
}

static void progress_some(struct fixture *f)
{
	for (int i = 0; i < 100; i++) {
		(void)doca_pe_progress(f->a.pe);
		(void)doca_pe_progress(f->b.pe);
	}
}

static void start_waits_for_the_connect(void **state)
{
	struct fixture *f = *state;

	start(&f->a);
	start(&f->b);
	progress_some(f);
	CHECK(rig_state(&f->a) == DOCA_CTX_STATE_STARTING);
	connect_to(&f->a, &f->b);
	CHECK(rig_state(&f->a) == DOCA_CTX_STATE_STARTING); /* until the next progress */
	progress_some(f);
	CHECK(rig_state(&f->a) == DOCA_CTX_STATE_RUNNING);
	CHECK(rig_state(&f->b) == DOCA_CTX_STATE_STARTING); /* this side has not connected */
	connect_to(&f->b, &f->a);
	progress_some(f);
	CHECK(rig_state(&f->b) == DOCA_CTX_STATE_RUNNING);
	rig_stop(&f->a);
	CHECK(f->a.states[0] == DOCA_CTX_STATE_STARTING && f->a.states[1] == DOCA_CTX_STATE_RUNNING);
	CHECK(f->a.states[2] == DOCA_CTX_STATE_STOPPING && f->a.states[3] == DOCA_CTX_STATE_IDLE && f->a.num_states == 4);
}

static void connect_from_callback(struct rig *rig)
{
	const void *details;
	size_t size;

	CHECK_OK(doca_rdma_export(rig->rdma, &details, &size));
	if (rig->peer != NULL)
		CHECK_OK(doca_rdma_connect(rig->rdma, rig->peer, rig->peer_size));
}

static void the_state_callback_may_connect(void **state)
{
	struct fixture *f = *state;

	start(&f->a);
	CHECK_OK(doca_rdma_export(f->a.rdma, &f->b.peer, &f->b.peer_size));
	f->b.starting = connect_from_callback;
	start(&f->b);
	connect_to(&f->a, &f->b);
	RIG_WAIT(&f->a, &f->b, rig_state(&f->a) == DOCA_CTX_STATE_RUNNING && rig_state(&f->b) == DOCA_CTX_STATE_RUNNING);
}

static void calls_in_a_wrong_state_fail(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_task_send *task;
	const void *details, *again;
	union doca_data data = {.u64 = 0};
	size_t size, size_again;

	BAD_STATE(doca_rdma_export(f->a.rdma, &details, &size));
	BAD_STATE(doca_rdma_connect(f->a.rdma, "x", 1));
	BAD_STATE(doca_rdma_task_send_allocate_init(f->a.rdma, NULL, data, &task));
	start(&f->a);
	start(&f->b);
	BAD_STATE(doca_rdma_task_send_allocate_init(f->a.rdma, NULL, data, &task));
	BAD_STATE(doca_rdma_set_permissions(f->a.rdma, RIG_ALL));
	CHECK_OK(doca_rdma_export(f->a.rdma, &details, &size));
	CHECK_OK(doca_rdma_export(f->a.rdma, &again, &size_again));
	CHECK(again == details && size_again == size);
	INVALID(doca_rdma_connect(f->a.rdma, details, size));	  /* its own export */
	INVALID(doca_rdma_connect(f->a.rdma, details, size - 1)); /* truncated */
	connect_to(&f->a, &f->b);
	BAD_STATE(doca_rdma_connect(f->a.rdma, details, size)); /* it is connected */
	RIG_WAIT(&f->a, NULL, rig_state(&f->a) == DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_rdma_task_send_allocate_init(f->a.rdma, NULL, data, &task));
	doca_task_free(doca_rdma_task_send_as_task(task));
	BAD_STATE(doca_rdma_destroy(f->a.rdma));
}

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma *rdma;
	struct doca_rdma_task_write *task;
	union doca_data data = {.u64 = 0};
	const void *details;
	bool grh;
	size_t size;

	INVALID(doca_rdma_create(NULL, &rdma));
	INVALID(doca_rdma_create(f->a.dev, NULL));
	INVALID(doca_rdma_export(NULL, &details, &size));
	INVALID(doca_rdma_export(f->a.rdma, NULL, &size));
	INVALID(doca_rdma_export(f->a.rdma, &details, NULL));
	INVALID(doca_rdma_task_write_allocate_init(NULL, NULL, NULL, data, &task));
	INVALID(doca_rdma_get_grh_enabled(f->a.rdma, NULL));
	CHECK_OK(doca_rdma_get_grh_enabled(f->a.rdma, &grh));
	CHECK(grh);
	start(&f->a);
	start(&f->b);
	INVALID(doca_rdma_connect(NULL, "x", 1));
	INVALID(doca_rdma_connect(f->a.rdma, NULL, 1));
	connect_to(&f->a, &f->b);
	RIG_WAIT(&f->a, NULL, rig_state(&f->a) == DOCA_CTX_STATE_RUNNING);
	INVALID(doca_rdma_task_write_allocate_init(f->a.rdma, NULL, NULL, data, NULL));
}

static void a_peer_that_connects_later(void **state)
{
	struct fixture *f = *state;

	start(&f->a);
	start(&f->b);
	memcpy(f->a.memory, "early", 5);
	connect_to(&f->a, &f->b);
	RIG_WAIT(&f->a, NULL, rig_state(&f->a) == DOCA_CTX_STATE_RUNNING);
	RIG_SUBMIT(&f->a, send, rig_data(&f->a, 0, 5));
	progress_some(f);
	CHECK(f->a.num_good == 0);
	connect_to(&f->b, &f->a);
	RIG_WAIT(&f->a, &f->b, rig_state(&f->b) == DOCA_CTX_STATE_RUNNING);
	rig_receive(&f->b, rig_room(&f->b, 100, 50));
	RIG_WAIT(&f->a, &f->b, f->a.num_good == 1 && f->b.num_received == 1);
	CHECK(f->b.len == 5 && memcmp(f->b.memory + 100, "early", 5) == 0);
}

static void stopped_while_it_starts(void **state)
{
	struct fixture *f = *state;

	start(&f->a);
	rig_stop(&f->a);
	start(&f->a); /* started again, to be connected now */
	start(&f->b);
	connect_to(&f->a, &f->b);
	(void)doca_ctx_stop(f->a.ctx); /* connected, but not yet reported */
	RIG_WAIT(&f->a, &f->b, rig_state(&f->a) == DOCA_CTX_STATE_IDLE);
	for (uint32_t i = 0; i < f->a.num_states; i++)
		CHECK(f->a.states[i] != DOCA_CTX_STATE_RUNNING);
}

static void each_run_has_its_export(void **state)
{
	struct fixture *f = *state;
	uint8_t old[4096];
	const void *details;
	size_t size;

	start(&f->a);
	CHECK_OK(doca_rdma_export(f->a.rdma, &details, &size));
	CHECK(size <= sizeof(old));
	memcpy(old, details, size);
	rig_stop(&f->a);
	start(&f->a);
	start(&f->b);
	CHECK_OK(doca_rdma_export(f->a.rdma, &details, &size));
	CHECK(memcmp(old, details, size) != 0);
	/* A side that connects by the old export runs, and its first task reports that there is no peer. */
	if (doca_rdma_connect(f->b.rdma, old, size) == DOCA_SUCCESS) {
		RIG_WAIT(&f->b, NULL, rig_state(&f->b) == DOCA_CTX_STATE_RUNNING);
		RIG_SUBMIT(&f->b, send, rig_data(&f->b, 0, 5));
		RIG_WAIT(&f->b, &f->a, f->b.num_failed == 1);
		CHECK(f->b.status == DOCA_ERROR_CONNECTION_ABORTED);
	}
}

static void the_connect_wakes_a_sleeper(void **state)
{
	struct fixture *f = *state;
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};

	start(&f->a);
	start(&f->b);
	while (doca_pe_progress(f->a.pe) != 0)
		;
	CHECK_OK(doca_pe_get_notification_handle(f->a.pe, &handle));
	CHECK_OK(doca_pe_request_notification(f->a.pe));
	fd.fd = handle;
	CHECK(poll(&fd, 1, 0) == 0);
	connect_to(&f->a, &f->b);
	CHECK(poll(&fd, 1, RIG_WAIT_S * 1000) == 1);
	CHECK_OK(doca_pe_clear_notification(f->a.pe, 0));
	RIG_WAIT(&f->a, NULL, rig_state(&f->a) == DOCA_CTX_STATE_RUNNING);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(start_waits_for_the_connect), TEST(the_state_callback_may_connect),
		TEST(calls_in_a_wrong_state_fail), TEST(null_arguments),
		TEST(a_peer_that_connects_later),  TEST(stopped_while_it_starts),
		TEST(each_run_has_its_export),	   TEST(the_connect_wakes_a_sleeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
