/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of an RDMA call: the peer is a plain endpoint of the fabric and sends what it likes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "rdma/cm_wire.h"
#include "support/rdma_cm_side.h"

#define SERVER_DEVICE 2

/* The plain endpoint. */
struct bare {
	struct sf_domain *domain;
	struct sf_ep *ep;
	struct sf_conn *conn;
	int event_fd;
	uint32_t num_answers;
	doca_error_t status;
	uint8_t data[SF_PRIVATE_MAX];
	size_t len;
	/* private data that its own listener answers with */
	const void *answer;
	size_t answer_len;
	bool reject;
};

static struct bare bare;
static char server_name[SF_NAME_MAX];

static void connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	(void)conn;
	bare.num_answers++;
	bare.status = status;
	bare.len = len;
	if (len != 0)
		memcpy(bare.data, data, len);
}

static void requested(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	struct rdma_cm_call call;

	assert_int_equal(rdma_cm_call_parse(data, len, &call), DOCA_SUCCESS);
	assert_int_equal(call.transport, DOCA_RDMA_TRANSPORT_TYPE_RC);
	assert_int_equal(call.permissions, RIG_ALL);
	bare.num_answers++;
	if (bare.reject)
		sf_conn_reject(listener, request, bare.answer, bare.answer_len);
	else
		assert_int_equal(sf_conn_accept(listener, request, bare.answer, bare.answer_len, NULL, &bare.conn), DOCA_SUCCESS);
}

static void closed(struct sf_conn *conn, doca_error_t reason)
{
	(void)reason;
	sf_conn_close(conn);
	bare.conn = NULL;
}

static const struct sf_ep_handler handler = {.request = requested, .connected = connected, .closed = closed};

static int setup(void **state)
{
	static struct cm_side side;

	memset(&bare, 0, sizeof(bare));
	snprintf(server_name, sizeof(server_name), "rdma-cm/host0/0000:d8:00.0/%u", CM_PORT);
	assert_int_equal(sf_domain_open(sf_fabric_find(NULL), "dpu0/0000:03:00.0", &bare.domain), DOCA_SUCCESS);
	bare.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_true(bare.event_fd >= 0);
	assert_int_equal(sf_ep_open(bare.domain, &handler, 1, bare.event_fd, &bare.ep), DOCA_SUCCESS);
	cm_side_prepare(&side, SERVER_DEVICE, 1);
	rdma_rig_start(&side.rig);
	CHECK_OK(doca_rdma_start_listen_to_port(side.rig.rdma, CM_PORT));
	*state = &side;
	return 0;
}

static int teardown(void **state)
{
	struct cm_side *side = *state;

	if (bare.conn != NULL)
		sf_conn_close(bare.conn);
	rdma_rig_fini(&side->rig);
	sf_ep_close(bare.ep);
	close(bare.event_fd);
	sf_domain_close(bare.domain);
	return 0;
}

#define WAIT(condition) RDMA_RIG_WAIT(&side->rig, NULL, (sf_ep_poll(bare.ep, 16), condition))

static void say(struct cm_side *side, const void *data, size_t len)
{
	uint32_t answers = bare.num_answers;

	if (bare.conn != NULL)
		sf_conn_close(bare.conn);
	assert_int_equal(sf_conn_connect(bare.ep, server_name, NULL, data, len, NULL, &bare.conn), DOCA_SUCCESS);
	WAIT(bare.num_answers == answers + 1);
}

static void expect_rejection(enum rdma_cm_reason reason)
{
	enum rdma_cm_reason said;

	assert_int_equal(bare.status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(rdma_cm_refusal_parse(bare.data, bare.len, &said), DOCA_SUCCESS);
	assert_int_equal(said, reason);
}

static void good_call(uint8_t data[RDMA_CM_CALL_SIZE])
{
	rdma_cm_call_pack(&(struct rdma_cm_call){.permissions = DOCA_ACCESS_FLAG_RDMA_READ, .addr = {10, 0, 0, 1}, .port = 99},
			  data);
}

static void private_data_arrives(void **state)
{
	struct cm_side *side = *state;
	uint8_t call[RDMA_CM_CALL_SIZE], secret[RDMA_CM_PRIVATE_MAX];
	struct rdma_cm_answer answer;
	struct doca_rdma_addr *addr;
	enum doca_rdma_addr_type type;
	const char *text;
	uint16_t port;

	for (size_t i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t)(i * 7);
	side->policy = CM_WAIT;
	good_call(call);
	assert_int_equal(sf_conn_connect(bare.ep, server_name, NULL, call, sizeof(call), NULL, &bare.conn), DOCA_SUCCESS);
	WAIT(side->num_requests == 1);
	CHECK_OK(doca_rdma_connection_accept(side->requested, secret, sizeof(secret)));
	WAIT(bare.num_answers == 1 && side->num_established == 1);
	assert_int_equal(bare.status, DOCA_SUCCESS);
	assert_int_equal(rdma_cm_answer_parse(bare.data, bare.len, &answer), DOCA_SUCCESS);
	assert_int_equal(answer.permissions, RIG_ALL);
	assert_int_equal(answer.private_len, sizeof(secret));
	assert_memory_equal(answer.private_data, secret, sizeof(secret));
	CHECK_OK(doca_rdma_connection_get_addr(side->established, &addr));
	CHECK_OK(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_string_equal(text, "10.0.0.1");
	assert_int_equal(port, 99);
	sf_conn_close(bare.conn);
	bare.conn = NULL;
	WAIT(side->num_ended == 1);
}

/* Calls of every length, and with each byte of the head changed. The program is never notified. */
static void invalid_calls_are_rejected(void **state)
{
	struct cm_side *side = *state;
	uint8_t call[64] = {0};

	good_call(call);
	for (size_t len = 0; len <= sizeof(call); len++) {
		if (len == RDMA_CM_CALL_SIZE)
			continue;
		say(side, call, len);
		expect_rejection(RDMA_CM_NONSENSE);
	}
	for (size_t i = 0; i < 8; i++) {
		call[i] ^= 0x20;
		say(side, call, RDMA_CM_CALL_SIZE);
		expect_rejection(RDMA_CM_NONSENSE);
		call[i] ^= 0x20;
	}
	call[12] = 3; /* an unknown type of address */
	say(side, call, RDMA_CM_CALL_SIZE);
	expect_rejection(RDMA_CM_NONSENSE);
	cm_events_are(side, "");
	good_call(call);
	say(side, call, RDMA_CM_CALL_SIZE);
	assert_int_equal(bare.status, DOCA_SUCCESS);
}

static void another_transport_is_rejected(void **state)
{
	struct cm_side *side = *state;
	uint8_t call[RDMA_CM_CALL_SIZE];

	good_call(call);
	call[8] = DOCA_RDMA_TRANSPORT_TYPE_DC;
	say(side, call, sizeof(call));
	expect_rejection(RDMA_CM_TRANSPORT);
	call[8] = 0xff;
	say(side, call, sizeof(call));
	expect_rejection(RDMA_CM_TRANSPORT);
	cm_events_are(side, "");
}

/* A listener whose answers are invalid. */
static void wrong_answers_fail_the_call(void **state)
{
	struct cm_side *side = *state;
	struct sf_listener *listener;
	uint8_t answer[RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX + 8] = {0};
	char own_name[SF_NAME_MAX];
	size_t len;
	uint32_t failed = 0;

	snprintf(own_name, sizeof(own_name), "rdma-cm/dpu0/0000:03:00.0/%u", CM_PORT);
	assert_int_equal(sf_listener_open(bare.ep, own_name, 0, NULL, &listener), DOCA_SUCCESS);
	len = rdma_cm_answer_pack(&(struct rdma_cm_answer){.private_len = 5, .private_data = (const uint8_t *)"12345"}, answer);
	bare.answer = answer;
	for (size_t cut = 0; cut <= len + 1; cut++) {
		for (int reject = 0; reject < 2; reject++) {
			if (cut == len && reject == 0)
				continue;
			bare.reject = reject != 0;
			bare.answer_len = cut;
			CHECK_OK(cm_call(side, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.2", CM_PORT, cut));
			failed++;
			WAIT(side->num_failed == failed && bare.conn == NULL);
			assert_int_equal(side->end_data, cut);
		}
	}
	assert_int_equal(side->num_established, 0);
	bare.reject = false;
	bare.answer_len = len;
	CHECK_OK(cm_call(side, DOCA_RDMA_ADDR_TYPE_IPv4, "192.168.100.2", CM_PORT, 0));
	WAIT(side->num_established == 1);
	sf_listener_close(listener);
}

/* A peer that closes immediately after each of many calls. */
static void callers_that_leave(void **state)
{
	struct cm_side *side = *state;
	uint8_t call[RDMA_CM_CALL_SIZE];

	side->may_be_gone = true;
	good_call(call);
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(sf_conn_connect(bare.ep, server_name, NULL, call, sizeof(call), NULL, &bare.conn), DOCA_SUCCESS);
		if (i % 3 != 0)
			(void)doca_pe_progress(side->rig.pe);
		if (i % 5 == 0)
			(void)sf_ep_poll(bare.ep, 4);
		sf_conn_close(bare.conn);
		bare.conn = NULL;
	}
	/* The end of each established connection is reported; accepting a request whose caller has closed fails. */
	WAIT(side->num_established == side->num_ended);
	say(side, call, sizeof(call));
	assert_int_equal(bare.status, DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(private_data_arrives, setup, teardown),
		cmocka_unit_test_setup_teardown(invalid_calls_are_rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(another_transport_is_rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_answers_fail_the_call, setup, teardown),
		cmocka_unit_test_setup_teardown(callers_that_leave, setup, teardown),
	};

	return cmocka_run_group_tests_name("rdma calls on the wire", tests, NULL, NULL);
}
