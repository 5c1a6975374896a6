/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program of Comch and RDMA sees of the fabric's faults, as documented in docs/faults.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doca_log.h>

#include "support/comch_side.h"
#include "support/fault_cases.h"
#include "support/rdma_pair.h"

#define LEN 64

static char log_text[1024];
static uint32_t num_faults; /* faults that were logged */

static void log_line(char *line)
{
	num_faults += strstr(line, "fault conn.") != NULL;
}

static void faults_count(void)
{
	struct doca_log_backend *backend;

	assert_int_equal(doca_log_backend_create_with_buf_sdk(log_text, sizeof(log_text), log_line, &backend), DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_INFO), DOCA_SUCCESS);
}

/* ---- RDMA ---- */

static struct pair pair;

static void pair_begin(uint8_t retries)
{
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_rnr_retry_count(pair.a.rdma, retries));
	pair_start(&pair, 1);
}

/* Sends one message to a posted receive; returns the status of its task. */
static doca_error_t message(void)
{
	struct doca_buf *source = rig_source(&pair.a, 0, LEN), *room = rig_room(&pair.b, 0, LEN);
	uint32_t ended = pair.a.num_ended;

	CHECK_OK(rig_receive(&pair.b, room, 1));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], source, 0));
	PAIR_WAIT(&pair, pair.a.num_ended == ended + 1);
	rig_put(source);
	rig_put(room);
	return pair.a.statuses[ended];
}

static doca_error_t write_once(void)
{
	struct doca_buf *source = rig_source(&pair.a, 0, LEN), *there = rig_remote_room(&pair.a, 0, LEN);
	uint32_t ended = pair.a.num_ended;

	CHECK_OK(rig_write(&pair.a, pair.ab[0], source, there, 0));
	PAIR_WAIT(&pair, pair.a.num_ended == ended + 1);
	rig_put(source);
	rig_put(there);
	return pair.a.statuses[ended];
}

static void rdma_rnr_is_retried(void **state)
{
	(void)state;
	faults_count();
	pair_begin(7);
	assert_int_equal(message(), DOCA_SUCCESS);
	assert_int_equal(num_faults, 0);
	assert_int_equal(message(), DOCA_SUCCESS);
	assert_int_equal(num_faults, 1);
	pair_fini(&pair);
}

static void rdma_rnr_without_retries(void **state)
{
	(void)state;
	pair_begin(0);
	assert_int_equal(message(), DOCA_SUCCESS);
	assert_int_equal(message(), DOCA_ERROR_IO_FAILED);
	pair_fini(&pair);
}

static void rdma_peer_ends(doca_error_t reason)
{
	pair_begin(7);
	assert_int_equal(message(), DOCA_SUCCESS);
	assert_int_equal(message(), reason);
	pair_fini(&pair);
}

static void rdma_reset(void **state)
{
	(void)state;
	rdma_peer_ends(DOCA_ERROR_CONNECTION_RESET);
}

static void rdma_dead(void **state)
{
	(void)state;
	rdma_peer_ends(DOCA_ERROR_CONNECTION_ABORTED);
}

/* The first task reports that the connection was not made. */
static void rdma_connect_is_rejected(void **state)
{
	(void)state;
	pair_begin(7);
	assert_int_equal(message(), DOCA_ERROR_CONNECTION_ABORTED);
	pair_fini(&pair);
}

static void rdma_write_fails(void **state)
{
	(void)state;
	pair_begin(7);
	assert_int_equal(write_once(), DOCA_SUCCESS);
	memset(pair.b.memory, 0x77, LEN);
	assert_int_equal(write_once(), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(pair.b.memory[0], 0x77);
	pair_fini(&pair);
}

static void rdma_device_is_removed(void **state)
{
	(void)state;
	pair_begin(7);
	assert_int_equal(message(), DOCA_SUCCESS);
	(void)message(); /* it may have been sent before the device was removed */
	PAIR_WAIT(&pair, pair.a.state == DOCA_CTX_STATE_IDLE);
	pair_fini(&pair);
}

static void rdma_export_without_memory(void **state)
{
	static struct rdma_rig rig;
	const void *descriptor;
	size_t len;

	(void)state;
	rdma_rig_prepare(&rig, 0, 4096, RIG_ALL, RIG_ALL);
	assert_int_equal(doca_mmap_export_rdma(rig.mmap, rig.dev, &descriptor, &len), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_export_rdma(rig.mmap, rig.dev, &descriptor, &len), DOCA_SUCCESS);
	rdma_rig_fini(&rig);
}

/* ---- Comch ---- */

static struct comch_side server, client;

static void comch_begin(void)
{
	side_init_server(&server, "faults");
	side_init_client(&client, "faults");
	side_connect(&server, &client);
}

static void comch_end(void)
{
	side_fini(&client, &server);
	side_fini(&server, NULL);
}

static void send_arrives(void)
{
	uint32_t msgs = server.num_msgs;

	assert_int_equal(side_send(&client, "hello", 5), DOCA_SUCCESS);
	SIDE_WAIT(server.num_msgs == msgs + 1, server.pe, client.pe, NULL, NULL);
}

static void comch_peer_ends(doca_error_t reason)
{
	comch_begin();
	send_arrives();
	assert_int_equal(side_send(&client, "hello", 5), DOCA_SUCCESS);
	SIDE_WAIT(client.num_send_errors == 1 && server.num_disconnects == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(client.send_status, reason);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe, client.pe, NULL, NULL);
	assert_int_equal(server.num_msgs, 1);
	comch_end();
}

static void comch_reset(void **state)
{
	(void)state;
	comch_peer_ends(DOCA_ERROR_CONNECTION_RESET);
}

static void comch_dead(void **state)
{
	(void)state;
	comch_peer_ends(DOCA_ERROR_CONNECTION_ABORTED);
}

static void comch_again_clears(void **state)
{
	(void)state;
	faults_count();
	comch_begin();
	for (int i = 0; i < 200; i++)
		send_arrives();
	assert_int_equal(client.num_send_errors, 0);
	assert_true(num_faults > 20);
	comch_end();
}

static void comch_client_is_rejected(void **state)
{
	(void)state;
	side_init_server(&server, "faults");
	side_init_client(&client, "faults");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe, client.pe, NULL, NULL);
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_RUNNING, server.pe, client.pe, NULL, NULL);
	comch_end();
}

static const struct fault_case cases[] = {
	{"rdma_rnr_is_retried", "conn.rnr nth=2 count=1", rdma_rnr_is_retried},
	{"rdma_rnr_without_retries", "conn.rnr after=1", rdma_rnr_without_retries},
	{"rdma_reset", "conn.reset nth=2", rdma_reset},
	{"rdma_dead", "peer.dead nth=2", rdma_dead},
	{"rdma_refused", "conn.refuse rate=1", rdma_connect_is_rejected},
	{"rdma_write_fails", "op.fail nth=2", rdma_write_fails},
	{"rdma_device_is_removed", "device.remove nth=2 on=dpu0", rdma_device_is_removed},
	{"rdma_export_without_memory", "region.memory nth=1", rdma_export_without_memory},
	{"comch_reset", "conn.reset nth=2 peer=faults", comch_reset},
	{"comch_dead", "peer.dead nth=2 peer=faults", comch_dead},
	{"comch_again", "seed=1; conn.again rate=0.3; submit.again rate=0.3; poll.pause rate=0.1", comch_again_clears},
	{"comch_refused", "conn.refuse nth=1", comch_client_is_rejected},
};

#define NUM_CASES (sizeof(cases) / sizeof(cases[0]))

static void each_fault_shows_as_documented(void **state)
{
	(void)state;
	fault_cases_expect(cases, NUM_CASES);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_fault_shows_as_documented)};

	return argc == 2 ? fault_case_run(cases, NUM_CASES, argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
