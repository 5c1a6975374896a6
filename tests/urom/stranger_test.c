/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that send invalid or too many messages: the daemon rejects them and keeps working. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "raw_client.h"
#include "support/sanitizers.h"
#include "support/stop.h"
#include "support/wait.h"

static struct urom_rig rig;

/* A regular program is still served. */
static void assert_service_goes_on(void)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, "worker_graph");

	assert_non_null(worker);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(urom_rig_loopback(&rig, worker, 77), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static int open_rig(void **state)
{
	const char *const few_workers[] = {"--max-workers", "4", NULL};

	(void)state;
	return urom_rig_open(&rig, few_workers) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return 0;
}

/* ---- the tests ---- */

static void garbage_is_refused(void **state)
{
	uint8_t bytes[200];

	(void)state;
	srand(1);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)rand();
		client_open(rig.port);
		client_send(bytes, 1 + (size_t)rand() % SF_COMM_HEAD_MAX, bytes + SF_COMM_HEAD_MAX, (size_t)rand() % 100);
		assert_true(client_await(&client.lost, NULL, 0));
		client_close();
	}
	assert_service_goes_on();
}

static void half_messages_are_refused(void **state)
{
	struct urom_handshake handshake = {.message_max = UROM_MESSAGE_DEFAULT};
	uint8_t body[128];
	size_t len = urom_handshake_pack(&handshake, body, sizeof(body));

	(void)state;
	for (size_t taken = 0; taken < len; taken += 7) {
		client_open(rig.port);
		client_say(UROM_HANDSHAKE, 0, body, taken);
		assert_true(client_await(&client.lost, NULL, 0));
		assert_int_equal(client.last.kind, UROM_REFUSED);
		client_close();
	}
	assert_service_goes_on();
}

static void another_version_is_reported_with_ours(void **state)
{
	struct urom_head head = urom_head_make(UROM_HANDSHAKE, DOCA_SUCCESS, 0, 0);
	char own[32];

	(void)state;
	snprintf(own, sizeof(own), "service %d", UROM_PROTO_VERSION);
	client_open(rig.port);
	head.version = 9;
	client_send(&head, sizeof(head), NULL, 0);
	assert_true(client_await(&client.lost, NULL, 0));
	assert_int_equal(client.last.kind, UROM_REFUSED);
	assert_int_equal(client.last.status, DOCA_ERROR_UNSUPPORTED_VERSION);
	assert_non_null(strstr(client.text, "version 9"));
	assert_non_null(strstr(client.text, own));
	client_close();
}

static void nothing_is_served_before_the_proof(void **state)
{
	static const enum urom_kind early[] = {UROM_SPAWN, UROM_GROUP, UROM_RELEASE, UROM_PROOF};

	(void)state;
	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		client_open(rig.port);
		client_say(early[i], 1, NULL, 0);
		assert_true(client_await(&client.lost, NULL, 0));
		assert_int_equal(client.last.kind, UROM_REFUSED);
		client_close();
	}
}

static void a_wrong_proof_is_refused(void **state)
{
	struct urom_handshake handshake = {.message_max = UROM_MESSAGE_DEFAULT};
	uint8_t body[128], proof[UROM_PROOF_SIZE] = {0};

	(void)state;
	client_open(rig.port);
	client_say(UROM_HANDSHAKE, 0, body, urom_handshake_pack(&handshake, body, sizeof(body)));
	assert_true(client_await(&client.lost, &client.num_answers, 1));
	client_say(UROM_PROOF, 0, proof, sizeof(proof));
	assert_true(client_await(&client.lost, NULL, 0));
	assert_int_equal(client.last.kind, UROM_REFUSED);
	assert_int_equal(client.last.status, DOCA_ERROR_NOT_PERMITTED);
	client_close();
}

static void a_silent_client_is_disconnected(void **state)
{
	(void)state;
	client_open(rig.port);
	assert_true(client_await(&client.lost, NULL, 0));
	assert_int_equal(client.last.status, DOCA_ERROR_TIME_OUT);
	client_close();
}

#define REQUESTS_UNANSWERED 2000

static void ten_thousand_requests_make_four_workers(void **state)
{
	uint8_t body[512];

	(void)state;
	client_open(rig.port);
	client_authenticate();
	size_t len = client_spawn_body(urom_rig_plugin(&rig, "worker_graph"), body, sizeof(body));
	for (uint32_t i = 0; i < 10000; i++) {
		client_say(UROM_SPAWN, i, body, len);
		if (i >
		    REQUESTS_UNANSWERED) /* with more, a client without processor time would count as one that reads no answers */
			assert_true(client_await(&client.lost, &client.num_answers, i - REQUESTS_UNANSWERED));
	}
	assert_true(client_await(&client.lost, &client.num_answers, 10002));
	assert_false(client.lost);
	assert_int_equal(client.num_spawned, 4);
	assert_int_equal(client.num_full, 9996);
	client_close();
	for (int i = 0; i < 4; i++) { /* they end with their client, and their places are free again */
		char ended[64];

		snprintf(ended, sizeof(ended), "worker %d has ended", i + 1);
		assert_true(program_await(&rig.daemon, ended));
	}
	assert_service_goes_on();
}

/* With a sanitizer the daemon answers so slowly that the client cannot fall behind. */
#define GROUP 5
#define SLOWNESS_NS 5000000
#define QUESTIONS 1000 /* between two polls, each of which reads only a few answers */

static void a_client_that_takes_no_answers_is_disconnected(void **state)
{
	const struct urom_head question = {UROM_PROTO_VERSION, UROM_GROUP, DOCA_SUCCESS, 1, GROUP, 0};
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	struct doca_urom_worker *workers[3]; /* several, so that an answer is longer than its question */

	(void)state;
	if (HAS_ASAN)
		skip();
	for (int i = 0; i < 3; i++) {
		workers[i] = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, "worker_graph");
		assert_int_equal(doca_urom_worker_set_gid(workers[i], GROUP), DOCA_SUCCESS);
		assert_true(urom_rig_start_worker(&rig, workers[i]));
	}
	client_open(rig.port);
	client_authenticate();
	while (!client.lost && sf_now_ns() < until) {
		doca_error_t result = DOCA_SUCCESS;

		sf_comm_cork(client.comm);
		for (int i = 0; i < QUESTIONS && result == DOCA_SUCCESS; i++)
			result = sf_comm_send(client.comm, client.peer, &question, sizeof(question), NULL, 0);
		sf_comm_uncork(client.comm);
		if (result != DOCA_SUCCESS ||
		    sf_comm_backlog(client.peer) != 0) /* otherwise its questions would not be sent, either */
			(void)sf_comm_poll(client.comm);
		time_pass_ns(
			SLOWNESS_NS); /* in this time a daemon answers far more than one poll reads, even on a busy machine */
	}
	assert_true(client.lost);
	client_close();
	assert_true(program_await(&rig.daemon, "bytes of answers are unread"));
	for (int i = 0; i < 3; i++)
		assert_true(urom_rig_stop_worker(&rig, workers[i]));
	assert_service_goes_on();
}

/* ---- a worker's client ---- */

/* Starts a worker with one client, which has joined it. */
static struct raw_client join_worker(void)
{
	uint8_t body[512];

	client_open(rig.port);
	client_authenticate();
	client_say(UROM_SPAWN, 1, body, client_spawn_body(urom_rig_plugin(&rig, "worker_graph"), body, sizeof(body)));
	assert_true(client_await(&client.lost, &client.num_spawned, 1));
	struct raw_client service = client;
	client_open_worker(rig.port, &service.spawned);
	client_say(UROM_JOIN, 1, service.spawned.token, UROM_TOKEN_SIZE);
	assert_true(client_await(&client.lost, &client.num_answers, 1));
	assert_int_equal(client.last.kind, UROM_JOINED);
	assert_int_equal(client.last.status, DOCA_SUCCESS);
	return service;
}

static uint32_t count(const char *text, const char *in)
{
	uint32_t num = 0;

	while ((in = strstr(in, text)) != NULL) {
		in += strlen(text);
		num++;
	}
	return num;
}

static void leave_worker(struct raw_client service)
{
	client_close();
	client = service;
	client_close();
	assert_true(program_await(&rig.daemon, "worker 1 has ended"));
}

static void bad_commands_are_answered_and_logged_ten_times(void **state)
{
	const struct urom_worker_cmd stranger = {.type = UINT64_C(1) << 61, .urom_context = 7};
	struct raw_client service = join_worker();

	(void)state;
	for (int i = 0; i < 1000; i++)
		client_say(UROM_COMMAND, 0, &stranger, sizeof(stranger));
	assert_true(client_await(&client.lost, &client.num_answers, 1001));
	assert_false(client.lost);
	leave_worker(service);
	assert_int_equal(count("sent a command for plugin", rig.daemon.output), 10);
	assert_non_null(strstr(rig.daemon.output, " 990 more of this kind suppressed in the last "));
	assert_service_goes_on();
}

static void commands_too_short_are_logged_ten_times(void **state)
{
	struct raw_client service = join_worker();

	(void)state;
	for (int i = 0; i < 1000; i++)
		client_say(UROM_COMMAND, 0, "half", 4);
	client_say(UROM_PROOF, 0, NULL, 0); /* an invalid message, which ends the connection after all others */
	assert_true(client_await(&client.lost, NULL, 0));
	leave_worker(service);
	assert_int_equal(count("sent a command of 4 bytes", rig.daemon.output), 10);
	assert_service_goes_on();
}

static void a_client_learns_why_its_worker_died(void **state)
{
	struct raw_client service = join_worker(), joined = client;
	int pid = 0;

	(void)state;
	assert_true(program_await(&rig.daemon, "worker 1 runs, process "));
	assert_true(program_await(&rig.daemon, "\n"));
	assert_int_equal(sscanf(strstr(rig.daemon.output, "1 runs, process "), "1 runs, process %d", &pid), 1);
	client = service;
	uint32_t answers = client.num_answers;
	kill(pid, SIGKILL);
	assert_true(client_await(&client.lost, &client.num_answers, answers + 1));
	assert_int_equal(client.last.kind, UROM_WORKER_DIED);
	assert_int_equal(client.last.subject, 1);
	assert_non_null(strstr(client.text, "was ended by signal 9 (Killed)"));
	client_close();
	client = joined;
	client_close();
	assert_service_goes_on();
}

static void a_stranger_that_does_not_join_a_worker_is_disconnected(void **state)
{
	struct raw_client service = join_worker(), joined = client;

	(void)state;
	client_open_worker(rig.port, &service.spawned);
	assert_true(client_await(&client.lost, NULL, 0));
	client_close();
	client = joined;
	assert_true(program_await(&rig.daemon, "did not join within two seconds"));
	leave_worker(service);
	assert_service_goes_on();
}

/* Stops the worker's process, so that it reads no socket. Restores the service's client. */
static int stop_worker(struct raw_client service)
{
	int pid = 0;

	client_close();
	client = service;
	assert_true(program_await(&rig.daemon, "worker 1 runs, process "));
	assert_true(program_await(&rig.daemon, "\n"));
	assert_int_equal(sscanf(strstr(rig.daemon.output, "1 runs, process "), "1 runs, process %d", &pid), 1);
	process_stop(pid);
	return pid;
}

static void request_for_worker_1(uint32_t times)
{
	const uint64_t id = 1;
	uint8_t body[512];
	size_t len = client_spawn_body(urom_rig_plugin(&rig, "worker_graph"), body, sizeof(body));

	memcpy(body, &id, sizeof(id)); /* its first field */
	for (uint32_t i = 0; i < times; i++)
		client_say(UROM_SPAWN, i + 2, body, len);
}

/* More requests than the worker's socket probably holds: they wait for the worker, and each client may join. */
static void a_thousand_requests_for_a_worker_that_is_busy(void **state)
{
	int pid = stop_worker(join_worker());

	(void)state;
	request_for_worker_1(1);
	assert_true(client_await(&client.lost, &client.num_spawned, 2));
	const struct urom_spawned first = client.spawned;
	request_for_worker_1(999);
	for (int i = 0; i < 1000; i++)
		(void)sf_comm_poll(client.comm);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_true(client_await(&client.lost, &client.num_answers, 3 + 1000));
	assert_int_equal(client.num_spawned, 1 + 1000);
	struct raw_client service = client;
	client_open_worker(rig.port, &first);
	client_say(UROM_JOIN, 1, first.token, UROM_TOKEN_SIZE);
	assert_true(client_await(&client.lost, &client.num_answers, 1));
	assert_int_equal(client.last.kind, UROM_JOINED);
	assert_int_equal(client.last.status, DOCA_SUCCESS);
	leave_worker(service);
	assert_service_goes_on();
}

/* All requests are answered in the end, and a rejected one does not keep the worker running. */
static void requests_for_a_worker_that_stays_busy(void **state)
{
	struct urom_head release = urom_head_make(UROM_RELEASE, DOCA_SUCCESS, 1, 1);

	(void)state;
	(void)stop_worker(join_worker());
	request_for_worker_1(6000);
	assert_true(client_await(&client.lost, &client.num_answers, 3 + 6000));
	uint32_t spawned = client.num_spawned;
	print_message("%u were spawned; of %u it was said that too many wait\n", spawned - 1, client.num_full);
	for (uint32_t i = 0; i < spawned; i++)
		client_send(&release, sizeof(release), NULL, 0);
	assert_true(client_await(&client.lost, &client.num_answers, 3 + 6000 + spawned));
	assert_true(program_await(&rig.daemon, "worker 1 with worker_graph died"));
	client_close();
	assert_service_goes_on();
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(garbage_is_refused),
		WITH_RIG(half_messages_are_refused),
		WITH_RIG(another_version_is_reported_with_ours),
		WITH_RIG(nothing_is_served_before_the_proof),
		WITH_RIG(a_wrong_proof_is_refused),
		WITH_RIG(a_silent_client_is_disconnected),
		WITH_RIG(ten_thousand_requests_make_four_workers),
		WITH_RIG(a_client_that_takes_no_answers_is_disconnected),
		WITH_RIG(bad_commands_are_answered_and_logged_ten_times),
		WITH_RIG(a_client_learns_why_its_worker_died),
		WITH_RIG(a_stranger_that_does_not_join_a_worker_is_disconnected),
		WITH_RIG(commands_too_short_are_logged_ten_times),
		WITH_RIG(a_thousand_requests_for_a_worker_that_is_busy),
		WITH_RIG(requests_for_a_worker_that_stays_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
