/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA connections by address: each way to end one, many of them, and the bridge to rdma_cm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_cm_fixture.h"

#define ROUNDS 1000
#define WARM_UP 100

/* ---- ends ---- */

static void disconnected_by_the_caller(void **state)
{
	struct fixture *f = *state;

	connect_both(f);
	CHECK_OK(doca_rdma_connection_disconnect(f->client.established));
	CHECK_OK(doca_rdma_connection_disconnect(f->client.established));
	assert_int_equal(f->client.num_ended, 0); /* reported by progress only */
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	assert_int_equal(f->client.end_data, 77);
	assert_int_equal(f->server.end_data, 1000);
	assert_ptr_equal(f->server.last, f->server.established);
	CHECK_OK(doca_rdma_connection_disconnect(f->client.established));
	CHECK_OK(doca_rdma_connection_disconnect(f->server.established));
	assert_int_equal(rig_send(&f->client.rig, f->client.established, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	connect_both(f);
	talk_on_last(f);
	cm_events_are(&f->server, "qedqe");
	cm_events_are(&f->client, "ede");
	assert_int_equal(f->server.rig.state, DOCA_CTX_STATE_RUNNING);
}

static void disconnected_by_the_listener(void **state)
{
	struct fixture *f = *state;

	f->client.end_again = f->server.end_again = false; /* and no second disconnect is needed */
	for (uint32_t i = 1; i <= 5; i++) {
		connect_both(f);
		CHECK_OK(doca_rdma_connection_disconnect(f->server.established));
		WAIT(f->server.num_ended == i && f->client.num_ended == i);
	}
	cm_events_are(&f->client, "ededededed");
}

static void disconnected_by_both(void **state)
{
	struct fixture *f = *state;

	f->server.policy = CM_WAIT;
	call(f, 1);
	WAIT(f->server.num_requests == 1);
	CHECK_OK(doca_rdma_connection_accept(f->server.requested, NULL, 0));
	CHECK_OK(doca_rdma_connection_disconnect(f->server.requested));
	WAIT(f->server.num_failed == 1 && f->client.num_failed + f->client.num_ended == 1);
	cm_events_are(&f->server, "qf");
	f->server.policy = CM_ACCEPT;
	connect_both(f);
}

/* Pending tasks end before the disconnection callback. */
static void tasks_end_first(void **state)
{
	struct fixture *f = *state;

	connect_both(f);
	for (uint64_t i = 0; i < 10; i++) {
		CHECK_OK(rig_send(&f->client.rig, f->client.established, NULL, i)); /* no receive is posted */
		CHECK_OK(rig_send(&f->server.rig, f->server.established, NULL, i));
	}
	CHECK_OK(doca_rdma_connection_disconnect(f->client.established));
	CHECK_OK(rig_send(&f->client.rig, f->client.established, NULL, 10));
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	assert_int_equal(f->client.rig.num_failed, 11);
	assert_int_equal(f->client.ended_tasks, 11);
	assert_int_equal(f->client.rig.status, DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->client.rig.order[10], 10);
	assert_int_equal(f->server.rig.num_failed, 10);
	assert_int_equal(f->server.ended_tasks, 10);
	assert_int_equal(f->server.rig.status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(f->server.rig.statuses[9], DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->client.rig.state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(f->server.rig.state, DOCA_CTX_STATE_RUNNING);
	connect_both(f);
	talk_on_last(f);
}

/* What was sent before the end arrives; a message that comes too late uses no receive. */
static void receives_stay(void **state)
{
	struct fixture *f = *state;
	uint32_t posted = 10;

	connect_both(f);
	for (uint32_t i = 0; i < posted; i++)
		CHECK_OK(rig_receive(&f->server.rig, NULL, i));
	CHECK_OK(rig_send(&f->client.rig, f->client.established, NULL, 0));
	CHECK_OK(rig_send(&f->client.rig, f->client.established, NULL, 1));
	RDMA_RIG_WAIT(&f->client.rig, NULL, f->client.rig.num_good == 2);
	CHECK_OK(doca_rdma_connection_disconnect(f->server.established)); /* before the server has polled */
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	assert_int_equal(f->server.rig.num_failed, 0);
	posted -= f->server.rig.num_received;
	connect_both(f);
	f->server.rig.num_received = 0;
	for (uint32_t i = 0; i < posted; i++)
		CHECK_OK(rig_send(&f->client.rig, f->client.established, NULL, i));
	WAIT(f->server.rig.num_received == posted);
	CHECK_OK(rig_send(&f->client.rig, f->client.established, NULL, 99));
	CHECK_OK(doca_rdma_connection_disconnect(f->client.established));
	WAIT(f->client.num_ended == 2);
	assert_int_equal(f->server.rig.num_failed, 0);
}

/* A task that breaks a rule ends its connection on both sides. The listener continues; the caller has no other connection. */
static void a_task_fails(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *small = rig_room(&f->server.rig, 0, 10), *large = rig_source(&f->client.rig, 0, 20);

	connect_both(f);
	CHECK_OK(rig_receive(&f->server.rig, small, 0));
	CHECK_OK(rig_send(&f->client.rig, f->client.established, large, 0));
	WAIT(f->client.num_ended == 1 && f->server.num_ended == 1);
	assert_int_equal(f->client.rig.num_failed, 1);
	assert_int_equal(f->client.rig.status, DOCA_ERROR_IO_FAILED);
	WAIT(f->client.rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->server.rig.state, DOCA_CTX_STATE_RUNNING);
	rdma_rig_start(&f->client.rig);
	connect_both(f);
	rig_put(small);
	rig_put(large);
}

/* The call and the answer carry the rights of each side. */
static void rights_are_known(void **state)
{
	struct fixture *f = *state;
	struct rdma_rig *rig = &f->client.rig;
	const void *descriptor;
	size_t len;

	CHECK_OK(doca_rdma_set_permissions(f->server.rig.rdma, DOCA_ACCESS_FLAG_RDMA_READ));
	start(f);
	connect_both(f);
	CHECK_OK(doca_mmap_export_rdma(f->server.rig.mmap, f->server.rig.dev, &descriptor, &len));
	rdma_rig_import(rig, descriptor, len);
	struct doca_buf *there = rig_remote_source(rig, 0, 64), *here = rig_room(rig, 0, 64),
			*room = rig_remote_room(rig, 64, 64);
	memset(f->server.rig.memory, 7, 64);
	CHECK_OK(rig_read(rig, f->client.established, there, here, 0));
	WAIT(rig->num_good == 1);
	assert_memory_equal(rig->memory, f->server.rig.memory, 64);
	CHECK_OK(rig_write(rig, f->client.established, here, room, 1));
	WAIT(rig->num_failed == 1 && f->server.num_ended == 1);
	assert_int_equal(rig->status, DOCA_ERROR_NOT_PERMITTED);
	rig_put(there);
	rig_put(here);
	rig_put(room);
}

static void either_side_stops(void **state)
{
	struct fixture *f = *state;

	connect_both(f);
	rdma_rig_stop(&f->client.rig);
	assert_int_equal(f->client.num_ended, 0);
	RDMA_RIG_WAIT(&f->server.rig, NULL, f->server.num_ended == 1);
	rdma_rig_start(&f->client.rig);
	connect_both(f);
	rdma_rig_stop(&f->server.rig);
	RDMA_RIG_WAIT(&f->client.rig, NULL, f->client.num_ended == 1);
	call(f, 0);
	RDMA_RIG_WAIT(&f->client.rig, NULL, f->client.num_failed == 1);
	rdma_rig_start(&f->server.rig);
	CHECK_OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	connect_both(f);
	talk_on_last(f);
}

/* While a call is pending, and while a request waits for its answer. */
static void stop_while_connecting(void **state)
{
	struct fixture *f = *state;

	f->server.policy = CM_WAIT;
	call(f, 0);
	rdma_rig_stop(&f->client.rig);
	rdma_rig_start(&f->client.rig);
	call(f, 0);
	RDMA_RIG_WAIT(&f->server.rig, &f->client.rig, f->server.num_requests >= 1);
	rdma_rig_stop(&f->server.rig);
	RDMA_RIG_WAIT(&f->client.rig, NULL, f->client.num_failed == 1);
}

/* ---- many ---- */

static void several_connections(void **state)
{
	struct fixture *f = *state;
	uint32_t id;

	CHECK_OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 8));
	CHECK_OK(doca_rdma_set_max_num_connections(f->client.rig.rdma, 8));
	start(f);
	for (uint32_t i = 0; i < 8; i++) {
		connect_both(f);
		CHECK_OK(doca_rdma_connection_get_id(f->server.all[i], &id));
		assert_int_equal(id, i);
	}
	CHECK_OK(doca_rdma_connection_disconnect(f->client.all[3]));
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	for (uint32_t i = 0; i < 8; i++) {
		if (i != 3)
			talk(f, f->client.all[i], f->server.all[i]);
	}
	connect_both(f);
	assert_ptr_equal(f->server.all[8], f->server.all[3]);
	talk(f, f->client.all[8], f->server.all[8]);
}

/* One instance may be both sides. */
static void with_itself(void **state)
{
	struct fixture *f = *state;

	CHECK_OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 2));
	start(f);
	cm_call_device(&f->server, f->server.rig.dev, 3);
	WAIT(f->server.num_established == 2);
	CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
	CHECK_OK(rig_send(&f->server.rig, f->server.all[0], NULL, 0));
	WAIT(f->server.rig.num_received == 1);
	assert_ptr_equal(f->server.rig.from, f->server.all[1]);
	CHECK_OK(doca_rdma_connection_disconnect(f->server.all[1]));
	WAIT(f->server.num_ended == 2);
}

static void rounds(struct fixture *f, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++) {
		uint32_t server = f->server.num_ended, client = f->client.num_ended;

		connect_both(f);
		CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
		CHECK_OK(rig_send(&f->client.rig, f->client.established, NULL, 0));
		WAIT(f->client.rig.num_good > 0);
		f->client.rig.num_good = f->server.rig.num_good = 0;
		CHECK_OK(doca_rdma_connection_disconnect(i % 2 == 0 ? f->client.established : f->server.established));
		WAIT(f->server.num_ended == server + 1 && f->client.num_ended == client + 1);
	}
}

/* A long-lived server: closed connections leave no descriptor and no memory. */
static void a_thousand_rounds(void **state)
{
	struct fixture *f = *state;

	rounds(f, WARM_UP);
	uint32_t fds = num_descriptors();
	uint64_t memory = cm_resident_kib();
	rounds(f, ROUNDS);
	assert_true(num_descriptors() <= fds + 8); /* connections that were just closed are freed later */
	assert_true(cm_resident_kib() <= memory + 2048);
}

/* Exports release their entries too, after the program has ended them. */
static void exports_end_too(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *ab, *ba;
	const void *a, *b;
	size_t a_size, b_size;

	for (int i = 0; i < 100; i++) {
		CHECK_OK(doca_rdma_export(f->server.rig.rdma, &a, &a_size, &ab));
		CHECK_OK(doca_rdma_export(f->client.rig.rdma, &b, &b_size, &ba));
		CHECK_OK(doca_rdma_connect(f->server.rig.rdma, b, b_size, ab));
		CHECK_OK(doca_rdma_connect(f->client.rig.rdma, a, a_size, ba));
		CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
		CHECK_OK(rig_send(&f->client.rig, ba, NULL, 0));
		WAIT(f->server.rig.num_received == (uint32_t)i + 1 && f->client.rig.num_good == (uint32_t)i + 1);
		assert_int_equal(doca_rdma_connection_get_addr(ab, &(struct doca_rdma_addr *){NULL}), DOCA_ERROR_INVALID_VALUE);
		CHECK_OK(doca_rdma_connection_disconnect(ab));
		CHECK_OK(doca_rdma_connection_disconnect(ba));
		assert_int_equal(doca_rdma_export(f->server.rig.rdma, &a, &a_size, &ab), DOCA_ERROR_FULL);
		(void)doca_pe_progress(f->server.rig.pe);
		(void)doca_pe_progress(f->client.rig.pe);
		assert_int_equal(doca_rdma_connect(f->server.rig.rdma, b, b_size, ab), DOCA_ERROR_BAD_STATE);
	}
	cm_events_are(&f->server, "");
	connect_both(f);
}

/* ---- the bridge ---- */

static void no_bridge_to_software(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *connection;
	struct rdma_cm_id id;

	memset(&id, 0, sizeof(id));
	connect_both(f);
	assert_int_equal(doca_rdma_bridge_prepare_connection(NULL, &id, &connection), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_prepare_connection(f->server.rig.rdma, NULL, &connection), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_prepare_connection(f->server.rig.rdma, &id, &connection), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_bridge_accept(f->server.rig.rdma, NULL, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_accept(f->server.rig.rdma, NULL, 0, f->server.established), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_bridge_established(f->server.rig.rdma, f->server.established), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_bridge_established(NULL, f->server.established), DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(disconnected_by_the_caller),
		TEST(disconnected_by_the_listener),
		TEST(disconnected_by_both),
		TEST(tasks_end_first),
		TEST(receives_stay),
		TEST(a_task_fails),
		TEST_IDLE(rights_are_known),
		TEST(either_side_stops),
		TEST(stop_while_connecting),
		TEST_IDLE(several_connections),
		TEST_IDLE(with_itself),
		TEST(a_thousand_rounds),
		TEST(exports_end_too),
		TEST(no_bridge_to_software),
	};

	return cmocka_run_group_tests_name("ends of rdma by address", tests, NULL, NULL);
}
