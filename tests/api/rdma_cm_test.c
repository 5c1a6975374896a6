/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA connections by address: each kind of address, each answer, and what the callbacks report in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_cm_fixture.h"

/* ---- addresses ---- */

static void addr_rejected(enum doca_rdma_addr_type type, const char *text, uint16_t port)
{
	struct doca_rdma_addr *addr = NULL;

	assert_int_equal(doca_rdma_addr_create(type, text, port, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_null(addr);
}

static void addresses_are_checked(void **state)
{
	struct doca_rdma_addr *addr;
	enum doca_rdma_addr_type type;
	const char *text;
	uint16_t port;
	char endless[200];

	(void)state;
	memset(endless, '1', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	addr_rejected(DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100", CM_PORT);
	addr_rejected(DOCA_RDMA_ADDR_TYPE_IPv4, "fd00::1", CM_PORT);
	addr_rejected(DOCA_RDMA_ADDR_TYPE_IPv4, "", CM_PORT);
	addr_rejected(DOCA_RDMA_ADDR_TYPE_IPv6, "192.168.100.1", CM_PORT);
	addr_rejected(DOCA_RDMA_ADDR_TYPE_GID, "fe80:0000:0000:0000:0000:0000:0000:0000:0000", CM_PORT);
	addr_rejected(DOCA_RDMA_ADDR_TYPE_GID, endless, CM_PORT);
	addr_rejected(DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", 0);
	addr_rejected(DOCA_RDMA_ADDR_TYPE_IPv4, NULL, CM_PORT);
	addr_rejected((enum doca_rdma_addr_type)3, "192.168.100.1", CM_PORT);
	assert_int_equal(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "1.2.3.4", CM_PORT, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_addr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, "fe80::1%eth0", 9, &addr));
	assert_int_equal(doca_rdma_addr_get_params(addr, NULL, &text, &port), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_int_equal(type, DOCA_RDMA_ADDR_TYPE_IPv6);
	assert_string_equal(text, "fe80::1%eth0");
	assert_int_equal(port, 9);
	CHECK_OK(doca_rdma_addr_destroy(addr));
}

static void connect_by(struct fixture *f, enum doca_rdma_addr_type type)
{
	char text[64], own[64];
	struct doca_rdma_addr *addr;
	enum doca_rdma_addr_type got;
	const char *at;
	uint16_t port;

	cm_text(f->server.rig.dev, type, text);
	cm_text(f->client.rig.dev, type, own);
	CHECK_OK(cm_call(&f->client, type, text, CM_PORT, 4711));
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
	cm_events_are(&f->server, "qe");
	cm_events_are(&f->client, "e");
	assert_int_equal(f->client.established_data, 4711);
	assert_int_equal(f->server.established_data, 1000);
	CHECK_OK(doca_rdma_connection_get_addr(f->client.established, &addr));
	CHECK_OK(doca_rdma_addr_get_params(addr, &got, &at, &port));
	assert_int_equal(got, type);
	assert_string_equal(at, text);
	assert_int_equal(port, CM_PORT);
	assert_int_equal(doca_rdma_addr_destroy(addr), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_rdma_connection_get_addr(f->server.established, &addr));
	CHECK_OK(doca_rdma_addr_get_params(addr, &got, &at, &port));
	assert_int_equal(got, type);
	if (type != DOCA_RDMA_ADDR_TYPE_GID)
		assert_string_equal(at, own);
	assert_int_equal(port, 0);
	talk_on_last(f);
}

static void by_ipv4(void **state)
{
	connect_by(*state, DOCA_RDMA_ADDR_TYPE_IPv4);
}

static void by_ipv6(void **state)
{
	connect_by(*state, DOCA_RDMA_ADDR_TYPE_IPv6);
}

static void by_gid(void **state)
{
	connect_by(*state, DOCA_RDMA_ADDR_TYPE_GID);
}

/* The link-local address of a device that has another IPv6 address too; IPv4 as a GID, and in IPv6. */
static void by_further_addresses(void **state)
{
	struct fixture *f = *state;
	char text[64];

	cm_text(f->server.rig.dev, DOCA_RDMA_ADDR_TYPE_GID, text);
	for (int i = 0; i < 2; i++) {
		CHECK_OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_IPv6, i == 0 ? text : "::ffff:192.168.100.1", CM_PORT, 0));
		WAIT(f->server.num_established == 1 + (uint32_t)i && f->client.num_established == 1 + (uint32_t)i);
		CHECK_OK(doca_rdma_connection_disconnect(f->client.established));
		WAIT(f->server.num_ended == 1 + (uint32_t)i && f->client.num_ended == 1 + (uint32_t)i);
	}

	CHECK_OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_GID, "0000:0000:0000:0000:0000:ffff:c0a8:6401", CM_PORT, 0));
	WAIT(f->server.num_established == 3 && f->client.num_established == 3);
}

static void no_such_device(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.77", CM_PORT, 0),
			 DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_GID, "fe80::1", CM_PORT, 0), DOCA_ERROR_CONNECTION_ABORTED);
	connect_both(f);
}

/* ---- arguments and states ---- */

static void arguments_and_states(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma *server = f->server.rig.rdma, *client = f->client.rig.rdma;
	struct doca_rdma_addr *addr;
	union doca_data data = {.u64 = 0};
	uint16_t timeout;

	CHECK_OK(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", CM_PORT, &addr));
	assert_int_equal(doca_rdma_start_listen_to_port(NULL, CM_PORT), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_stop_listen_to_port(NULL, CM_PORT), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_start_listen_to_port(server, CM_PORT), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_connect_to_addr(client, addr, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_set_connection_state_callbacks(client, NULL, cm_established, cm_failed, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_connection_state_callbacks(NULL, NULL, cm_established, cm_failed, cm_ended),
			 DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_set_connection_state_callbacks(client, NULL, cm_established, cm_failed, cm_ended));
	CHECK_OK(doca_rdma_get_connection_request_timeout(client, &timeout));
	assert_int_equal(timeout, 10000);
	assert_int_equal(doca_rdma_set_connection_request_timeout(client, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_set_connection_request_timeout(client, 20000));
	start(f);
	assert_int_equal(doca_rdma_set_connection_request_timeout(client, 9), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_set_connection_state_callbacks(client, NULL, cm_established, cm_failed, cm_ended),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_start_listen_to_port(client, CM_PORT), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_start_listen_to_port(server, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_start_listen_to_port(server, CM_PORT), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_stop_listen_to_port(server, (uint16_t)(CM_PORT + 1)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect_to_addr(client, NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect_to_addr(NULL, addr, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_accept(NULL, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_reject(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_disconnect(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_get_addr(NULL, &addr), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_connect_to_addr(client, addr, data));
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
	assert_int_equal(doca_rdma_connect_to_addr(client, addr, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_connection_accept(f->server.established, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_reject(f->server.established), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_addr_destroy(addr));
}

static void a_port_in_use(void **state)
{
	struct fixture *f = *state;
	struct cm_side other;

	cm_side_prepare(&other, SERVER_DEVICE, 1);
	rdma_rig_start(&other.rig);
	assert_int_equal(doca_rdma_start_listen_to_port(other.rig.rdma, CM_PORT), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(doca_rdma_start_listen_to_port(other.rig.rdma, (uint16_t)(CM_PORT + 1)));
	CHECK_OK(doca_rdma_stop_listen_to_port(f->server.rig.rdma, CM_PORT));
	CHECK_OK(doca_rdma_start_listen_to_port(other.rig.rdma, CM_PORT));
	rdma_rig_fini(&other.rig);
	CHECK_OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	connect_both(f);
}

/* The same port number on another device is another port. */
static void a_port_of_each_device(void **state)
{
	struct fixture *f = *state;

	CHECK_OK(doca_rdma_start_listen_to_port(f->client.rig.rdma, CM_PORT));
	connect_both(f);
	cm_events_are(&f->server, "qe");
}

static void sixteen_ports(void **state)
{
	struct fixture *f = *state;

	for (uint16_t i = 1; i < 16; i++)
		CHECK_OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, (uint16_t)(CM_PORT + i)));
	assert_int_equal(doca_rdma_start_listen_to_port(f->server.rig.rdma, (uint16_t)(CM_PORT + 16)), DOCA_ERROR_BAD_STATE);
	CHECK_OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", (uint16_t)(CM_PORT + 15), 0));
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
}

/* ---- answers ---- */

static void nobody_listens(void **state)
{
	struct fixture *f = *state;

	CHECK_OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", (uint16_t)(CM_PORT + 1), 5));
	WAIT(f->client.num_failed == 1);
	assert_int_equal(f->client.end_data, 5);
	cm_events_are(&f->client, "f");
	cm_events_are(&f->server, "");
	assert_int_equal(f->client.rig.state, DOCA_CTX_STATE_RUNNING);
	connect_both(f);
}

static void rejected(void **state)
{
	struct fixture *f = *state;

	f->server.policy = CM_REJECT;
	for (uint32_t i = 1; i <= 10; i++) {
		call(f, i);
		WAIT(f->client.num_failed == i);
		assert_int_equal(f->client.end_data, i);
		assert_int_equal(f->server.num_events, i);
	}
	assert_int_equal(doca_rdma_connection_accept(f->server.requested, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	f->server.policy = CM_ACCEPT;
	connect_both(f);
	talk_on_last(f);
}

static void answered_later(void **state)
{
	struct fixture *f = *state;
	uint8_t secret[255] = {1, 2, 3};

	f->server.policy = CM_WAIT;
	call(f, 1);
	WAIT(f->server.num_requests == 1);
	assert_int_equal(doca_rdma_connection_disconnect(f->server.requested), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_connection_reject(f->server.requested));
	WAIT(f->client.num_failed == 1);
	call(f, 2);
	WAIT(f->server.num_requests == 2);
	assert_int_equal(doca_rdma_connection_accept(f->server.requested, secret, 197), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_accept(f->server.requested, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_connection_accept(f->server.requested, secret, 196));
	assert_int_equal(f->server.num_established, 0);
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
	cm_events_are(&f->server, "qqe");
	cm_events_are(&f->client, "fe");
	talk_on_last(f);
}

/* What the caller does in the callback of the callee's task, after the connection is established. */
static enum { CALLER_STAYS, CALLER_SENDS, CALLER_LEAVES } caller_then;
static struct fixture *looping;

/* A program may wait here for what the peer does after it is established: the answer was sent without a progress call of ours. */
static void accept_in_a_task_callback(struct doca_rdma_task_send *task, union doca_data data, union doca_data ctx_data)
{
	struct cm_side *side = ctx_data.ptr;
	struct rdma_rig *caller = &looping->client.rig;

	(void)data;
	doca_task_free(doca_rdma_task_send_as_task(task));
	CHECK_OK(doca_rdma_connection_accept(side->requested, NULL, 0));
	assert_int_equal(side->num_established, 1); /* reported by progress */
	RDMA_RIG_WAIT(caller, NULL, looping->client.num_established == 2);
	if (caller_then == CALLER_SENDS) {
		CHECK_OK(rig_send(caller, looping->client.established, NULL, 0));
		RDMA_RIG_WAIT(caller, NULL, caller->num_good == 2); /* the receive of before, and the send */
	} else if (caller_then == CALLER_LEAVES) {
		CHECK_OK(doca_rdma_connection_disconnect(looping->client.established));
	}
}

static void accepted_in_a_task(struct fixture *f)
{
	looping = f;
	CHECK_OK(doca_rdma_task_send_set_conf(f->server.rig.rdma, accept_in_a_task_callback, rdma_rig_send_failed, RIG_TASKS));
	CHECK_OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 2));
	CHECK_OK(doca_rdma_set_max_num_connections(f->client.rig.rdma, 2));
	start(f);
	connect_both(f);
	f->server.policy = CM_WAIT;
	call(f, 2);
	WAIT(f->server.num_requests == 2);
	CHECK_OK(rig_receive(&f->client.rig, NULL, 0));
	CHECK_OK(rig_send(&f->server.rig, f->server.established, NULL, 0));
}

static void accepted_in_a_task_callback(void **state)
{
	struct fixture *f = *state;

	caller_then = CALLER_STAYS;
	accepted_in_a_task(f);
	WAIT(f->server.num_established == 2);
	cm_events_are(&f->server, "qeqe");
}

static void established_before_the_message(struct rdma_rig *rig)
{
	assert_int_equal(((struct cm_side *)rig)->num_established, 2);
	assert_ptr_equal(rig->from, ((struct cm_side *)rig)->established);
}

/* Its message may arrive in the same poll in which it was accepted. */
static void accepted_in_a_task_callback_and_received_from(void **state)
{
	struct fixture *f = *state;

	caller_then = CALLER_SENDS;
	f->server.rig.on_ended = established_before_the_message;
	accepted_in_a_task(f);
	CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
	WAIT(f->server.rig.num_received == 1);
	cm_events_are(&f->server, "qeqe");
}

/* And so may its end. */
static void accepted_in_a_task_callback_and_ended(void **state)
{
	struct fixture *f = *state;

	caller_then = CALLER_LEAVES;
	accepted_in_a_task(f);
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	cm_events_are(&f->server, "qeqed");
}

static void no_answer_in_time(void **state)
{
	struct fixture *f = *state;
	doca_error_t result;
	uint32_t calls = 0;

	CHECK_OK(doca_rdma_set_connection_request_timeout(f->client.rig.rdma, 20));
	CHECK_OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 4));
	start(f);
	f->server.policy = CM_WAIT;
	f->server.may_be_gone = true;
	do { /* on a busy machine a call may time out before the server's agent has seen it, and be seen later */
		call(f, 9);
		calls++;
		WAIT(f->client.num_failed == calls);
	} while (f->server.num_requests == 0);
	/* The end of the call may not have arrived yet. */
	result = doca_rdma_connection_accept(f->server.requested, NULL, 0);
	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_CONNECTION_ABORTED);
	if (result == DOCA_SUCCESS)
		WAIT(f->server.num_ended + f->server.num_failed >= 1);
	rdma_rig_stop(&f->client.rig); /* to connect within a time that any machine can meet */
	CHECK_OK(doca_rdma_set_connection_request_timeout(f->client.rig.rdma, UINT16_MAX));
	rdma_rig_start(&f->client.rig);
	f->server.policy = CM_ACCEPT;
	connect_both(f);
	assert_int_equal(f->client.num_failed, calls);
}

static void too_many(void **state)
{
	struct fixture *f = *state;
	struct cm_side other;

	cm_side_prepare(&other, CLIENT_DEVICE, 3);
	rdma_rig_start(&other.rig);
	connect_both(f);
	cm_call_device(&other, f->server.rig.dev, 0);
	cm_call_device(&other, f->server.rig.dev, 1);
	RDMA_RIG_WAIT(&f->server.rig, &other.rig, other.num_failed == 2);
	cm_events_are(&f->server, "qe");
	talk_on_last(f);
	CHECK_OK(doca_rdma_connection_disconnect(f->client.established));
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	cm_call_device(&other, f->server.rig.dev, 2);
	RDMA_RIG_WAIT(&f->server.rig, &other.rig, other.num_established == 1 && f->server.num_established == 2);
	rdma_rig_fini(&other.rig);
	WAIT(f->server.num_ended == 2);
}

static void stop_listening(void **state)
{
	struct fixture *f = *state;

	CHECK_OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 3));
	CHECK_OK(doca_rdma_set_max_num_connections(f->client.rig.rdma, 3));
	start(f);
	connect_both(f);
	f->server.policy = CM_WAIT;
	call(f, 1);
	WAIT(f->server.num_requests == 2);
	CHECK_OK(doca_rdma_stop_listen_to_port(f->server.rig.rdma, CM_PORT));
	assert_int_equal(doca_rdma_connection_accept(f->server.requested, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	WAIT(f->client.num_failed == 1 && f->server.num_failed == 1);
	call(f, 2);
	WAIT(f->client.num_failed == 2);
	talk_on_last(f);
	CHECK_OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	f->server.policy = CM_ACCEPT;
	connect_both(f);
	talk_on_last(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_checked),
		TEST(by_ipv4),
		TEST(by_ipv6),
		TEST(by_gid),
		TEST(by_further_addresses),
		TEST(no_such_device),
		TEST_IDLE(arguments_and_states),
		TEST(a_port_in_use),
		TEST(a_port_of_each_device),
		TEST(sixteen_ports),
		TEST(nobody_listens),
		TEST(rejected),
		TEST(answered_later),
		TEST_IDLE(accepted_in_a_task_callback),
		TEST_IDLE(accepted_in_a_task_callback_and_received_from),
		TEST_IDLE(accepted_in_a_task_callback_and_ended),
		TEST_IDLE(no_answer_in_time),
		TEST(too_many),
		TEST_IDLE(stop_listening),
	};

	return cmocka_run_group_tests_name("rdma by address", tests, NULL, NULL);
}
