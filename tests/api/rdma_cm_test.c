/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA connections by address: each address, each answer, each end, and what the callbacks are told, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_cm_side.h"

#define ROUNDS 1000
#define WARM_UP 100

struct fixture {
	struct cm_side server, client;
};

/* Devices by their place in the topology of this test. */
enum { SERVER_DEVICE = 2, CLIENT_DEVICE = 0 };

static int prepare(void **state)
{
	static struct fixture f;

	cm_side_prepare(&f.server, SERVER_DEVICE, 1);
	cm_side_prepare(&f.client, CLIENT_DEVICE, 1);
	*state = &f;
	return 0;
}

static void start(struct fixture *f)
{
	rdma_rig_start(&f->server.rig);
	rdma_rig_start(&f->client.rig);
	OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
}

static int setup(void **state)
{
	(void)prepare(state);
	start(*state);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rdma_rig_fini(&f->client.rig);
	rdma_rig_fini(&f->server.rig);
	return 0;
}

#define WAIT(condition) RDMA_RIG_WAIT(&f->server.rig, &f->client.rig, condition)

static void call(struct fixture *f, uint64_t data)
{
	cm_call_device(&f->client, f->server.rig.dev, data);
}

static void connect_both(struct fixture *f)
{
	uint32_t server = f->server.num_established, client = f->client.num_established;

	call(f, 77);
	WAIT(f->server.num_established == server + 1 && f->client.num_established == client + 1);
}

/* A message each way, and who each came from. */
static void talk(struct fixture *f, struct doca_rdma_connection *to_server, struct doca_rdma_connection *to_client)
{
	struct rdma_rig *server = &f->server.rig, *client = &f->client.rig;
	struct doca_buf *there = rig_room(server, 100, 50), *here = rig_room(client, 200, 50);
	struct doca_buf *ask = rig_source(client, 1000, 40), *answer = rig_source(server, 2000, 30);
	uint32_t at_server = server->num_received, at_client = client->num_received;

	memset(client->memory + 1000, 0x5a, 40);
	memset(server->memory + 2000, 0xa5, 30);
	OK(rig_receive(server, there, 0));
	OK(rig_receive(client, here, 0));
	OK(rig_send(client, to_server, ask, 0));
	WAIT(server->num_received == at_server + 1);
	assert_ptr_equal(server->from, to_client);
	assert_memory_equal(server->memory + 100, client->memory + 1000, 40);
	OK(rig_send(server, to_client, answer, 0));
	WAIT(client->num_received == at_client + 1);
	assert_ptr_equal(client->from, to_server);
	assert_memory_equal(client->memory + 200, server->memory + 2000, 30);
	rig_put(there);
	rig_put(here);
	rig_put(ask);
	rig_put(answer);
}

static void talk_on_last(struct fixture *f)
{
	talk(f, f->client.established, f->server.established);
}

/* ---- addresses ---- */

static void refused_addr(enum doca_rdma_addr_type type, const char *text, uint16_t port)
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
	refused_addr(DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100", CM_PORT);
	refused_addr(DOCA_RDMA_ADDR_TYPE_IPv4, "fd00::1", CM_PORT);
	refused_addr(DOCA_RDMA_ADDR_TYPE_IPv4, "", CM_PORT);
	refused_addr(DOCA_RDMA_ADDR_TYPE_IPv6, "192.168.100.1", CM_PORT);
	refused_addr(DOCA_RDMA_ADDR_TYPE_GID, "fe80:0000:0000:0000:0000:0000:0000:0000:0000", CM_PORT);
	refused_addr(DOCA_RDMA_ADDR_TYPE_GID, endless, CM_PORT);
	refused_addr(DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", 0);
	refused_addr(DOCA_RDMA_ADDR_TYPE_IPv4, NULL, CM_PORT);
	refused_addr((enum doca_rdma_addr_type)3, "192.168.100.1", CM_PORT);
	assert_int_equal(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "1.2.3.4", CM_PORT, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_addr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, "fe80::1%eth0", 9, &addr));
	assert_int_equal(doca_rdma_addr_get_params(addr, NULL, &text, &port), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_int_equal(type, DOCA_RDMA_ADDR_TYPE_IPv6);
	assert_string_equal(text, "fe80::1%eth0");
	assert_int_equal(port, 9);
	OK(doca_rdma_addr_destroy(addr));
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
	OK(cm_call(&f->client, type, text, CM_PORT, 4711));
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
	cm_events_are(&f->server, "qe");
	cm_events_are(&f->client, "e");
	assert_int_equal(f->client.established_data, 4711);
	assert_int_equal(f->server.established_data, 1000);
	OK(doca_rdma_connection_get_addr(f->client.established, &addr));
	OK(doca_rdma_addr_get_params(addr, &got, &at, &port));
	assert_int_equal(got, type);
	assert_string_equal(at, text);
	assert_int_equal(port, CM_PORT);
	assert_int_equal(doca_rdma_addr_destroy(addr), DOCA_ERROR_BAD_STATE);
	OK(doca_rdma_connection_get_addr(f->server.established, &addr));
	OK(doca_rdma_addr_get_params(addr, &got, &at, &port));
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
		OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_IPv6, i == 0 ? text : "::ffff:192.168.100.1", CM_PORT, 0));
		WAIT(f->server.num_established == 1 + (uint32_t)i && f->client.num_established == 1 + (uint32_t)i);
		OK(doca_rdma_connection_disconnect(f->client.established));
		WAIT(f->server.num_ended == 1 + (uint32_t)i && f->client.num_ended == 1 + (uint32_t)i);
	}

	OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_GID, "0000:0000:0000:0000:0000:ffff:c0a8:6401", CM_PORT, 0));
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

/* ---- who may, and when ---- */

static void arguments_and_states(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma *server = f->server.rig.rdma, *client = f->client.rig.rdma;
	struct doca_rdma_addr *addr;
	union doca_data data = {.u64 = 0};
	uint16_t timeout;

	OK(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", CM_PORT, &addr));
	assert_int_equal(doca_rdma_start_listen_to_port(NULL, CM_PORT), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_stop_listen_to_port(NULL, CM_PORT), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_start_listen_to_port(server, CM_PORT), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_connect_to_addr(client, addr, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_set_connection_state_callbacks(client, NULL, cm_established, cm_failed, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_connection_state_callbacks(NULL, NULL, cm_established, cm_failed, cm_ended),
			 DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_set_connection_state_callbacks(client, NULL, cm_established, cm_failed, cm_ended));
	OK(doca_rdma_get_connection_request_timeout(client, &timeout));
	assert_int_equal(timeout, 10000);
	assert_int_equal(doca_rdma_set_connection_request_timeout(client, 0), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_set_connection_request_timeout(client, 20000));
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
	OK(doca_rdma_connect_to_addr(client, addr, data));
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
	assert_int_equal(doca_rdma_connect_to_addr(client, addr, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_connection_accept(f->server.established, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_reject(f->server.established), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_addr_destroy(addr));
}

static void a_port_in_use(void **state)
{
	struct fixture *f = *state;
	struct cm_side other;

	cm_side_prepare(&other, SERVER_DEVICE, 1);
	rdma_rig_start(&other.rig);
	assert_int_equal(doca_rdma_start_listen_to_port(other.rig.rdma, CM_PORT), DOCA_ERROR_CONNECTION_ABORTED);
	OK(doca_rdma_start_listen_to_port(other.rig.rdma, (uint16_t)(CM_PORT + 1)));
	OK(doca_rdma_stop_listen_to_port(f->server.rig.rdma, CM_PORT));
	OK(doca_rdma_start_listen_to_port(other.rig.rdma, CM_PORT));
	rdma_rig_fini(&other.rig);
	OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	connect_both(f);
}

/* The same port of another device is another port. */
static void a_port_of_each_device(void **state)
{
	struct fixture *f = *state;

	OK(doca_rdma_start_listen_to_port(f->client.rig.rdma, CM_PORT));
	connect_both(f);
	cm_events_are(&f->server, "qe");
}

static void sixteen_ports(void **state)
{
	struct fixture *f = *state;

	for (uint16_t i = 1; i < 16; i++)
		OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, (uint16_t)(CM_PORT + i)));
	assert_int_equal(doca_rdma_start_listen_to_port(f->server.rig.rdma, (uint16_t)(CM_PORT + 16)), DOCA_ERROR_BAD_STATE);
	OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", (uint16_t)(CM_PORT + 15), 0));
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
}

/* ---- answers ---- */

static void nobody_listens(void **state)
{
	struct fixture *f = *state;

	OK(cm_call(&f->client, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.1", (uint16_t)(CM_PORT + 1), 5));
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
	OK(doca_rdma_connection_reject(f->server.requested));
	WAIT(f->client.num_failed == 1);
	call(f, 2);
	WAIT(f->server.num_requests == 2);
	assert_int_equal(doca_rdma_connection_accept(f->server.requested, secret, 197), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_accept(f->server.requested, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_connection_accept(f->server.requested, secret, 196));
	assert_int_equal(f->server.num_established, 0);
	WAIT(f->server.num_established == 1 && f->client.num_established == 1);
	cm_events_are(&f->server, "qqe");
	cm_events_are(&f->client, "fe");
	talk_on_last(f);
}

static void accept_in_a_task_callback(struct doca_rdma_task_send *task, union doca_data data, union doca_data ctx_data)
{
	struct cm_side *side = ctx_data.ptr;

	(void)data;
	doca_task_free(doca_rdma_task_send_as_task(task));
	OK(doca_rdma_connection_accept(side->requested, NULL, 0));
}

/* Where the accept waits for the end of the poll. */
static void accepted_in_a_task_callback(void **state)
{
	struct fixture *f = *state;

	OK(doca_rdma_task_send_set_conf(f->server.rig.rdma, accept_in_a_task_callback, rdma_rig_send_failed, RIG_TASKS));
	OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 2));
	OK(doca_rdma_set_max_num_connections(f->client.rig.rdma, 2));
	start(f);
	connect_both(f);
	f->server.policy = CM_WAIT;
	call(f, 2);
	WAIT(f->server.num_requests == 2);
	OK(rig_receive(&f->client.rig, NULL, 0));
	OK(rig_send(&f->server.rig, f->server.established, NULL, 0));
	WAIT(f->server.num_established == 2 && f->client.num_established == 2);
	cm_events_are(&f->server, "qeqe");
}

static void no_answer_in_time(void **state)
{
	struct fixture *f = *state;
	doca_error_t result;

	OK(doca_rdma_set_connection_request_timeout(f->client.rig.rdma, 20));
	start(f);
	f->server.policy = CM_WAIT;
	call(f, 9);
	WAIT(f->client.num_failed == 1 && f->server.num_requests == 1);
	/* The news may be on its way. */
	result = doca_rdma_connection_accept(f->server.requested, NULL, 0);
	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_CONNECTION_ABORTED);
	if (result == DOCA_SUCCESS)
		WAIT(f->server.num_ended + f->server.num_failed == 1);
	f->server.policy = CM_ACCEPT;
	connect_both(f);
	cm_events_are(&f->client, "fe");
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
	OK(doca_rdma_connection_disconnect(f->client.established));
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	cm_call_device(&other, f->server.rig.dev, 2);
	RDMA_RIG_WAIT(&f->server.rig, &other.rig, other.num_established == 1 && f->server.num_established == 2);
	rdma_rig_fini(&other.rig);
	WAIT(f->server.num_ended == 2);
}

static void stop_listening(void **state)
{
	struct fixture *f = *state;

	OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 3));
	OK(doca_rdma_set_max_num_connections(f->client.rig.rdma, 3));
	start(f);
	connect_both(f);
	f->server.policy = CM_WAIT;
	call(f, 1);
	WAIT(f->server.num_requests == 2);
	OK(doca_rdma_stop_listen_to_port(f->server.rig.rdma, CM_PORT));
	assert_int_equal(doca_rdma_connection_accept(f->server.requested, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	WAIT(f->client.num_failed == 1 && f->server.num_failed == 1);
	call(f, 2);
	WAIT(f->client.num_failed == 2);
	talk_on_last(f);
	OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	f->server.policy = CM_ACCEPT;
	connect_both(f);
	talk_on_last(f);
}

/* ---- ends ---- */

static void disconnected_by_the_caller(void **state)
{
	struct fixture *f = *state;

	connect_both(f);
	OK(doca_rdma_connection_disconnect(f->client.established));
	OK(doca_rdma_connection_disconnect(f->client.established));
	assert_int_equal(f->client.num_ended, 0); /* from progress only */
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	assert_int_equal(f->client.end_data, 77);
	assert_int_equal(f->server.end_data, 1000);
	assert_ptr_equal(f->server.last, f->server.established);
	OK(doca_rdma_connection_disconnect(f->client.established));
	OK(doca_rdma_connection_disconnect(f->server.established));
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

	f->client.end_again = f->server.end_again = false; /* nor is it needed */
	for (uint32_t i = 1; i <= 5; i++) {
		connect_both(f);
		OK(doca_rdma_connection_disconnect(f->server.established));
		WAIT(f->server.num_ended == i && f->client.num_ended == i);
	}
	cm_events_are(&f->client, "ededededed");
}

static void disconnected_at_once(void **state)
{
	struct fixture *f = *state;

	f->server.policy = CM_WAIT;
	call(f, 1);
	WAIT(f->server.num_requests == 1);
	OK(doca_rdma_connection_accept(f->server.requested, NULL, 0));
	OK(doca_rdma_connection_disconnect(f->server.requested));
	WAIT(f->server.num_failed == 1 && f->client.num_failed + f->client.num_ended == 1);
	cm_events_are(&f->server, "qf");
	f->server.policy = CM_ACCEPT;
	connect_both(f);
}

/* All that waits ends before the disconnection callback. */
static void tasks_end_first(void **state)
{
	struct fixture *f = *state;

	connect_both(f);
	for (uint64_t i = 0; i < 10; i++) {
		OK(rig_send(&f->client.rig, f->client.established, NULL, i)); /* there is no receive */
		OK(rig_send(&f->server.rig, f->server.established, NULL, i));
	}
	OK(doca_rdma_connection_disconnect(f->client.established));
	OK(rig_send(&f->client.rig, f->client.established, NULL, 10));
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

/* What was sent before the end arrives; a message that comes too late costs no receive. */
static void receives_stay(void **state)
{
	struct fixture *f = *state;
	uint32_t posted = 10;

	connect_both(f);
	for (uint32_t i = 0; i < posted; i++)
		OK(rig_receive(&f->server.rig, NULL, i));
	OK(rig_send(&f->client.rig, f->client.established, NULL, 0));
	OK(rig_send(&f->client.rig, f->client.established, NULL, 1));
	RDMA_RIG_WAIT(&f->client.rig, NULL, f->client.rig.num_good == 2);
	OK(doca_rdma_connection_disconnect(f->server.established)); /* before it looked */
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	assert_int_equal(f->server.rig.num_failed, 0);
	posted -= f->server.rig.num_received;
	connect_both(f);
	f->server.rig.num_received = 0;
	for (uint32_t i = 0; i < posted; i++)
		OK(rig_send(&f->client.rig, f->client.established, NULL, i));
	WAIT(f->server.rig.num_received == posted);
	OK(rig_send(&f->client.rig, f->client.established, NULL, 99));
	OK(doca_rdma_connection_disconnect(f->client.established));
	WAIT(f->client.num_ended == 2);
	assert_int_equal(f->server.rig.num_failed, 0);
}

/* A task that breaks a rule ends its connection, here and there. The listener goes on; the caller has no other connection. */
static void a_task_fails(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *small = rig_room(&f->server.rig, 0, 10), *large = rig_source(&f->client.rig, 0, 20);

	connect_both(f);
	OK(rig_receive(&f->server.rig, small, 0));
	OK(rig_send(&f->client.rig, f->client.established, large, 0));
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

/* Rights travel with the call and the answer. */
static void rights_are_known(void **state)
{
	struct fixture *f = *state;
	struct rdma_rig *rig = &f->client.rig;
	const void *descriptor;
	size_t len;

	OK(doca_rdma_set_permissions(f->server.rig.rdma, DOCA_ACCESS_FLAG_RDMA_READ));
	start(f);
	connect_both(f);
	OK(doca_mmap_export_rdma(f->server.rig.mmap, f->server.rig.dev, &descriptor, &len));
	rdma_rig_import(rig, descriptor, len);
	struct doca_buf *there = rig_remote_source(rig, 0, 64), *here = rig_room(rig, 0, 64),
			*room = rig_remote_room(rig, 64, 64);
	memset(f->server.rig.memory, 7, 64);
	OK(rig_read(rig, f->client.established, there, here, 0));
	WAIT(rig->num_good == 1);
	assert_memory_equal(rig->memory, f->server.rig.memory, 64);
	OK(rig_write(rig, f->client.established, here, room, 1));
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
	OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	connect_both(f);
	talk_on_last(f);
}

/* With a call under way, and with one that waits for its answer. */
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

	OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 8));
	OK(doca_rdma_set_max_num_connections(f->client.rig.rdma, 8));
	start(f);
	for (uint32_t i = 0; i < 8; i++) {
		connect_both(f);
		OK(doca_rdma_connection_get_id(f->server.all[i], &id));
		assert_int_equal(id, i);
	}
	OK(doca_rdma_connection_disconnect(f->client.all[3]));
	WAIT(f->server.num_ended == 1 && f->client.num_ended == 1);
	for (uint32_t i = 0; i < 8; i++) {
		if (i != 3)
			talk(f, f->client.all[i], f->server.all[i]);
	}
	connect_both(f);
	assert_ptr_equal(f->server.all[8], f->server.all[3]);
	talk(f, f->client.all[8], f->server.all[8]);
}

/* One instance may be on both sides. */
static void with_itself(void **state)
{
	struct fixture *f = *state;

	OK(doca_rdma_set_max_num_connections(f->server.rig.rdma, 2));
	start(f);
	cm_call_device(&f->server, f->server.rig.dev, 3);
	WAIT(f->server.num_established == 2);
	OK(rig_receive(&f->server.rig, NULL, 0));
	OK(rig_send(&f->server.rig, f->server.all[0], NULL, 0));
	WAIT(f->server.rig.num_received == 1);
	assert_ptr_equal(f->server.rig.from, f->server.all[1]);
	OK(doca_rdma_connection_disconnect(f->server.all[1]));
	WAIT(f->server.num_ended == 2);
}

static void rounds(struct fixture *f, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++) {
		uint32_t server = f->server.num_ended, client = f->client.num_ended;

		connect_both(f);
		OK(rig_receive(&f->server.rig, NULL, 0));
		OK(rig_send(&f->client.rig, f->client.established, NULL, 0));
		WAIT(f->client.rig.num_good > 0);
		f->client.rig.num_good = f->server.rig.num_good = 0;
		OK(doca_rdma_connection_disconnect(i % 2 == 0 ? f->client.established : f->server.established));
		WAIT(f->server.num_ended == server + 1 && f->client.num_ended == client + 1);
	}
}

/* A server that lives for a year: no descriptor and no memory is left of those that went. */
static void a_thousand_rounds(void **state)
{
	struct fixture *f = *state;

	rounds(f, WARM_UP);
	uint32_t fds = cm_num_fds();
	uint64_t memory = cm_resident_kib();
	rounds(f, ROUNDS);
	assert_true(cm_num_fds() <= fds + 8); /* the links that were just closed are freed by and by */
	assert_true(cm_resident_kib() <= memory + 2048);
}

/* Exports too give their places back, if the program says that they are over. */
static void exports_end_too(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *ab, *ba;
	const void *a, *b;
	size_t a_size, b_size;

	for (int i = 0; i < 100; i++) {
		OK(doca_rdma_export(f->server.rig.rdma, &a, &a_size, &ab));
		OK(doca_rdma_export(f->client.rig.rdma, &b, &b_size, &ba));
		OK(doca_rdma_connect(f->server.rig.rdma, b, b_size, ab));
		OK(doca_rdma_connect(f->client.rig.rdma, a, a_size, ba));
		OK(rig_receive(&f->server.rig, NULL, 0));
		OK(rig_send(&f->client.rig, ba, NULL, 0));
		WAIT(f->server.rig.num_received == (uint32_t)i + 1 && f->client.rig.num_good == (uint32_t)i + 1);
		assert_int_equal(doca_rdma_connection_get_addr(ab, &(struct doca_rdma_addr *){NULL}), DOCA_ERROR_INVALID_VALUE);
		OK(doca_rdma_connection_disconnect(ab));
		OK(doca_rdma_connection_disconnect(ba));
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_IDLE(name) cmocka_unit_test_setup_teardown(name, prepare, teardown)

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
		TEST_IDLE(no_answer_in_time),
		TEST(too_many),
		TEST_IDLE(stop_listening),
		TEST(disconnected_by_the_caller),
		TEST(disconnected_by_the_listener),
		TEST(disconnected_at_once),
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

	return cmocka_run_group_tests_name("rdma by address", tests, NULL, NULL);
}
