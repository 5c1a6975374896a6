/* SPDX-License-Identifier: BSD-3-Clause */
/* A problem with a connection by address logs exactly one line on each side that is affected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <doca_log.h>

#include "support/rdma_cm_side.h"

#define LINES 8
#define LINE_MAX_SIZE 1024

static struct cm_side server, client;
static char place[LINE_MAX_SIZE];
static char lines[LINES][LINE_MAX_SIZE];
static uint32_t num_lines;

static void written(char *line)
{
	if (num_lines < LINES)
		snprintf(lines[num_lines], LINE_MAX_SIZE, "%s", line);
	num_lines++;
}

static int setup(void **state)
{
	cm_side_prepare(&server, 2, 1);
	cm_side_prepare(&client, 0, 2);
	num_lines = 0;
	*state = &server;
	return 0;
}

static void start(void)
{
	rdma_rig_start(&server.rig);
	rdma_rig_start(&client.rig);
	CHECK_OK(doca_rdma_start_listen_to_port(server.rig.rdma, CM_PORT));
}

static int teardown(void **state)
{
	(void)state;
	rdma_rig_fini(&client.rig);
	rdma_rig_fini(&server.rig);
	return 0;
}

#define WAIT(condition) RDMA_RIG_WAIT(&server.rig, &client.rig, condition)

/* One of the lines contains both texts. */
static void has_line(const char *what, const char *more)
{
	for (uint32_t i = 0; i < num_lines && i < LINES; i++) {
		if (strstr(lines[i], what) != NULL && strstr(lines[i], more) != NULL)
			return;
	}
	fail_msg("\"%s\" and \"%s\" expected in %u lines, the last of which is: %s", what, more, num_lines,
		 num_lines > 0 ? lines[(num_lines - 1) % LINES] : "");
}

static void one_line(const char *what, const char *more)
{
	has_line(what, more);
	assert_int_equal(num_lines, 1);
	num_lines = 0;
}

static void two_lines(const char *what, const char *more, const char *other, const char *others_more)
{
	has_line(what, more);
	has_line(other, others_more);
	assert_int_equal(num_lines, 2);
	num_lines = 0;
}

static void call(void)
{
	cm_call_device(&client, server.rig.dev, 0);
}

static void call_in_vain(void)
{
	uint32_t failed = client.num_failed;

	call();
	WAIT(client.num_failed == failed + 1);
}

static void rejected_callers(void **state)
{
	(void)state;
	start();
	server.policy = CM_REJECT;
	call_in_vain();
	one_line("no connection to fd00::100:1 port", "the program there rejected it");
	server.policy = CM_ACCEPT;
	call();
	WAIT(server.num_established == 1 && client.num_established == 1);
	assert_int_equal(num_lines, 0);
	call_in_vain();
	two_lines("all connections there are in use", "no connection to", "all 1 connections are in use",
		  "doca_rdma_set_max_num_connections");
	CHECK_OK(doca_rdma_stop_listen_to_port(server.rig.rdma, CM_PORT));
	call_in_vain();
	one_line("nobody listens there", "doca_rdma_start_listen_to_port");
}

static void another_transport(void **state)
{
	struct doca_rdma_connection *connection;
	const void *details;
	size_t size;

	(void)state;
	CHECK_OK(doca_rdma_set_transport_type(client.rig.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	start();
	call_in_vain();
	two_lines("its transport differs", "set the same", "rejected a peer with transport DC, this instance's is RC",
		  "set the same");
	CHECK_OK(doca_rdma_export(server.rig.rdma, &details, &size, &connection));
	CHECK_OK(doca_rdma_export(client.rig.rdma, &(const void *){NULL}, &(size_t){0}, &connection));
	assert_int_equal(doca_rdma_connect(client.rig.rdma, details, size, connection), DOCA_ERROR_INVALID_VALUE);
	one_line("the peer's transport is RC, this instance's is DC", "set the same");
}

static void no_answer(void **state)
{
	(void)state;
	CHECK_OK(doca_rdma_set_connection_request_timeout(client.rig.rdma, 300));
	start();
	server.policy = CM_WAIT;
	do { /* on a busy machine a call may time out before the server's agent has seen it */
		num_lines = 0;
		call_in_vain();
	} while (server.num_requests == 0);
	one_line("no answer within", "doca_rdma_set_connection_request_timeout");
	if (doca_rdma_connection_accept(server.requested, NULL, 0) != DOCA_SUCCESS)
		one_line("rdma accept: the peer at", "has gone");
}

/* Disconnected and stopped without a mistake. */
static void an_ordinary_end(void **state)
{
	(void)state;
	start();
	call();
	WAIT(server.num_established == 1 && client.num_established == 1);
	CHECK_OK(doca_rdma_connection_disconnect(client.established));
	WAIT(server.num_ended == 1 && client.num_ended == 1);
	call();
	WAIT(server.num_established == 2 && client.num_established == 2);
	rdma_rig_stop(&client.rig);
	RDMA_RIG_WAIT(&server.rig, NULL, server.num_ended == 2);
	assert_int_equal(num_lines, 0);
}

static void mistakes(void **state)
{
	struct cm_side other;
	struct doca_rdma_addr *addr;

	(void)state;
	assert_int_equal(doca_rdma_start_listen_to_port(server.rig.rdma, CM_PORT), DOCA_ERROR_BAD_STATE);
	one_line("the context is not started", "doca_ctx_start");
	CHECK_OK(doca_rdma_set_connection_state_callbacks(client.rig.rdma, NULL, cm_established, cm_failed, cm_ended));
	start();
	assert_int_equal(doca_rdma_start_listen_to_port(client.rig.rdma, CM_PORT), DOCA_ERROR_BAD_STATE);
	one_line("no callback would answer a peer", "request callback");
	assert_int_equal(doca_rdma_start_listen_to_port(server.rig.rdma, CM_PORT), DOCA_ERROR_INVALID_VALUE);
	one_line("rdma listen: port", "is in use by this instance already");
	assert_int_equal(doca_rdma_stop_listen_to_port(server.rig.rdma, 1), DOCA_ERROR_INVALID_VALUE);
	one_line("the instance does not listen to port 1", "rdma");
	cm_side_prepare(&other, 2, 1);
	rdma_rig_start(&other.rig);
	assert_int_equal(doca_rdma_start_listen_to_port(other.rig.rdma, CM_PORT), DOCA_ERROR_CONNECTION_ABORTED);
	one_line("rdma-cm/host0/0000:d8:00.0/", "listen");
	rdma_rig_fini(&other.rig);
	assert_int_equal(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.1", CM_PORT, &addr), DOCA_ERROR_INVALID_VALUE);
	one_line("\"192.168.1\" is not an IPv4 address", "rdma");
	assert_int_equal(cm_call(&client, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.1.1", CM_PORT, 0), DOCA_ERROR_CONNECTION_ABORTED);
	one_line("no device has the IPv4 address 192.168.1.1", "softfield devices");
	call();
	WAIT(server.num_established == 1 && client.num_established == 1);
	assert_int_equal(doca_rdma_connection_reject(server.established), DOCA_ERROR_INVALID_VALUE);
	one_line("has no pending request", "rdma reject");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	struct doca_log_backend *backend;
	const struct CMUnitTest tests[] = {
		TEST(rejected_callers), TEST(another_transport), TEST(no_answer), TEST(an_ordinary_end), TEST(mistakes),
	};

	CHECK_OK(doca_log_backend_create_with_buf_sdk(place, sizeof(place), written, &backend));
	CHECK_OK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING));
	return cmocka_run_group_tests_name("lines about connections by address", tests, NULL, NULL);
}
