/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that speak the protocol badly, or too much: the daemon refuses them and goes on. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/urom_rig.h"
#include "urom/auth.h"
#include "urom/comm/comm.h"

static struct urom_rig rig;

/* ---- a client of our own ---- */

static struct {
	struct sf_comm *comm;
	struct sf_comm_peer *peer;
	struct urom_head last;
	char text[UROM_TEXT_MAX]; /* of the last, if it is one */
	struct urom_challenge challenge;
	uint32_t num_answers, num_spawned, num_full;
	int lost;
} client;

static void message(void *user, struct sf_comm_peer *peer, const void *head, size_t head_len, const void *body, size_t len)
{
	(void)user;
	(void)peer;
	assert_int_equal(urom_head_parse(head, head_len, &client.last), DOCA_SUCCESS);
	urom_text_parse(body, len, client.text);
	client.num_answers++;
	if (client.last.kind == UROM_CHALLENGE)
		assert_int_equal(urom_challenge_parse(body, len, &client.challenge), DOCA_SUCCESS);
	if (client.last.kind == UROM_SPAWNED && client.last.status == DOCA_SUCCESS)
		client.num_spawned++;
	if (client.last.kind == UROM_SPAWNED && client.last.status == DOCA_ERROR_FULL)
		client.num_full++;
}

static void lost(void *user, struct sf_comm_peer *peer, doca_error_t why)
{
	(void)user;
	(void)peer;
	(void)why;
	client.peer = NULL;
	client.lost = 1;
}

static const struct sf_comm_handler handler = {.message = message, .lost = lost};

static void client_open(void)
{
	const struct sf_comm_options options = {.handler = &handler, .body_max = UROM_CONTROL_MAX, .net_devices = "lo"};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)rig.port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	memset(&client, 0, sizeof(client));
	assert_int_equal(sf_comm_open(&options, &client.comm), DOCA_SUCCESS);
	assert_int_equal(sf_comm_connect(client.comm, (const struct sockaddr *)&address, sizeof(address), NULL, &client.peer), DOCA_SUCCESS);
}

static void client_send(const void *head, size_t head_len, const void *body, size_t len)
{
	uint64_t until = urom_rig_now_ns() + UROM_RIG_WAIT_NS;
	while (client.peer != NULL && urom_rig_now_ns() < until &&
	       sf_comm_send(client.comm, client.peer, head, head_len, body, len) == DOCA_ERROR_AGAIN)
		(void)sf_comm_poll(client.comm);
}

static void client_say(enum urom_kind kind, uint64_t request, const void *body, size_t len)
{
	struct urom_head head = urom_head_make(kind, DOCA_SUCCESS, request, 0);
	client_send(&head, sizeof(head), body, len);
}

static bool client_await(const int *flag, const uint32_t *count, uint32_t wanted)
{
	uint64_t until = urom_rig_now_ns() + UROM_RIG_WAIT_NS;
	while ((flag == NULL || !*flag) && (count == NULL || *count < wanted)) {
		if (!sf_comm_poll(client.comm) && urom_rig_now_ns() > until)
			return false;
	}
	return true;
}

/* Authenticates as a program of this user does. */
static void client_authenticate(void)
{
	struct urom_hello hello = {.message_max = UROM_MESSAGE_DEFAULT};
	struct urom_secret secret;
	uint8_t body[128], proof[UROM_PROOF_SIZE];
	assert_int_equal(urom_random(hello.nonce, sizeof(hello.nonce)), DOCA_SUCCESS);
	client_say(UROM_HELLO, 0, body, urom_hello_pack(&hello, body, sizeof(body)));
	assert_true(client_await(&client.lost, &client.num_answers, 1));
	assert_int_equal(client.last.kind, UROM_CHALLENGE);
	assert_int_equal(urom_secret_of_user(false, &secret), DOCA_SUCCESS);
	assert_int_equal(urom_proof_make(&secret, UROM_ROLE_CLIENT, hello.nonce, client.challenge.nonce, proof), DOCA_SUCCESS);
	client_say(UROM_PROOF, 0, proof, sizeof(proof));
	assert_true(client_await(&client.lost, &client.num_answers, 2));
	assert_int_equal(client.last.kind, UROM_WELCOME);
}

static void client_close(void) { sf_comm_close(client.comm); }

/* An honest program is still served. */
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
		client_open();
		client_send(bytes, 1 + (size_t)rand() % SF_COMM_HEAD_MAX, bytes + SF_COMM_HEAD_MAX, (size_t)rand() % 100);
		assert_true(client_await(&client.lost, NULL, 0));
		client_close();
	}
	assert_service_goes_on();
}

static void half_messages_are_refused(void **state)
{
	struct urom_hello hello = {.message_max = UROM_MESSAGE_DEFAULT};
	uint8_t body[128];
	size_t len = urom_hello_pack(&hello, body, sizeof(body));
	(void)state;
	for (size_t taken = 0; taken < len; taken += 7) {
		client_open();
		client_say(UROM_HELLO, 0, body, taken);
		assert_true(client_await(&client.lost, NULL, 0));
		assert_int_equal(client.last.kind, UROM_REFUSED);
		client_close();
	}
	assert_service_goes_on();
}

static void another_version_is_told_both(void **state)
{
	struct urom_head head = urom_head_make(UROM_HELLO, DOCA_SUCCESS, 0, 0);
	(void)state;
	client_open();
	head.version = 9;
	client_send(&head, sizeof(head), NULL, 0);
	assert_true(client_await(&client.lost, NULL, 0));
	assert_int_equal(client.last.kind, UROM_REFUSED);
	assert_int_equal(client.last.status, DOCA_ERROR_UNSUPPORTED_VERSION);
	assert_non_null(strstr(client.text, "version 9"));
	assert_non_null(strstr(client.text, "service 1"));
	client_close();
}

static void nothing_is_served_before_the_proof(void **state)
{
	static const enum urom_kind early[] = {UROM_SPAWN, UROM_GROUP, UROM_RELEASE, UROM_PROOF};
	(void)state;
	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		client_open();
		client_say(early[i], 1, NULL, 0);
		assert_true(client_await(&client.lost, NULL, 0));
		assert_int_equal(client.last.kind, UROM_REFUSED);
		client_close();
	}
}

static void a_wrong_proof_is_refused(void **state)
{
	struct urom_hello hello = {.message_max = UROM_MESSAGE_DEFAULT};
	uint8_t body[128], proof[UROM_PROOF_SIZE] = {0};
	(void)state;
	client_open();
	client_say(UROM_HELLO, 0, body, urom_hello_pack(&hello, body, sizeof(body)));
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
	client_open();
	assert_true(client_await(&client.lost, NULL, 0));
	assert_int_equal(client.last.status, DOCA_ERROR_TIME_OUT);
	client_close();
}

static void ten_thousand_wishes_make_four_workers(void **state)
{
	struct urom_spawn *spawn = (struct urom_spawn *)calloc(1, sizeof(*spawn));
	uint8_t body[512];
	(void)state;
	client_open();
	client_authenticate();
	spawn->worker_id = UINT64_MAX;
	spawn->plugins = urom_rig_plugin(&rig, "worker_graph");
	size_t len = urom_spawn_pack(spawn, body, sizeof(body));
	free(spawn);
	for (uint64_t i = 0; i < 10000; i++)
		client_say(UROM_SPAWN, i, body, len);
	assert_true(client_await(&client.lost, &client.num_answers, 10002));
	assert_false(client.lost);
	assert_int_equal(client.num_spawned, 4);
	assert_int_equal(client.num_full, 9996);
	client_close();
	for (int i = 0; i < 4; i++) { /* they end with it, and their places are free again */
		char ended[64];
		snprintf(ended, sizeof(ended), "worker %d has ended", i + 1);
		assert_true(program_await(&rig.daemon, ended));
	}
	assert_service_goes_on();
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(garbage_is_refused),
		WITH_RIG(half_messages_are_refused),
		WITH_RIG(another_version_is_told_both),
		WITH_RIG(nothing_is_served_before_the_proof),
		WITH_RIG(a_wrong_proof_is_refused),
		WITH_RIG(a_silent_client_is_disconnected),
		WITH_RIG(ten_thousand_wishes_make_four_workers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
