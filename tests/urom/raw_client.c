/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_client.h"

struct raw_client client;

static void message(void *user, struct sf_comm_peer *peer, const void *head, size_t head_len, const void *body, size_t len)
{
	(void)user;
	(void)peer;
	assert_int_equal(urom_head_parse(head, head_len, &client.last), DOCA_SUCCESS);
	urom_text_parse(body, len, client.text);
	client.num_answers++;
	if (client.last.kind == UROM_CHALLENGE)
		assert_int_equal(urom_challenge_parse(body, len, &client.challenge), DOCA_SUCCESS);
	if (client.last.kind == UROM_SPAWNED && client.last.status == DOCA_SUCCESS) {
		client.num_spawned++;
		assert_int_equal(urom_spawned_parse(body, len, &client.spawned), DOCA_SUCCESS);
	}
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

static void open_to(unsigned port, uint64_t worker)
{
	const struct sf_comm_options options = {.handler = &handler, .body_max = UROM_CONTROL_MAX};
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	const struct sf_comm_target target = {(const struct sockaddr *)&address, sizeof(address), worker, "lo"};

	memset(&client, 0, sizeof(client));
	assert_int_equal(sf_comm_open(&options, &client.comm), DOCA_SUCCESS);
	assert_int_equal(sf_comm_connect(client.comm, &target, NULL, &client.peer), DOCA_SUCCESS);
}

void client_open(unsigned port)
{
	open_to(port, SF_COMM_LISTENER);
}

void client_open_worker(unsigned port, const struct urom_spawned *spawned)
{
	open_to(port, spawned->worker_id);
}

void client_send(const void *head, size_t head_len, const void *body, size_t len)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	while (client.peer != NULL && sf_now_ns() < until &&
	       sf_comm_send(client.comm, client.peer, head, head_len, body, len) == DOCA_ERROR_AGAIN)
		(void)sf_comm_poll(client.comm);
}

void client_say(enum urom_kind kind, uint64_t request, const void *body, size_t len)
{
	struct urom_head head = urom_head_make(kind, DOCA_SUCCESS, request, 0);

	client_send(&head, sizeof(head), body, len);
}

bool client_await(const int *flag, const uint32_t *count, uint32_t wanted)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	while ((flag == NULL || !*flag) && (count == NULL || *count < wanted)) {
		if (!sf_comm_poll(client.comm) && sf_now_ns() > until)
			return false;
	}
	return true;
}

void client_authenticate(void)
{
	struct urom_handshake handshake = {.message_max = UROM_MESSAGE_DEFAULT};
	struct urom_secret secret;
	uint8_t body[128], proof[UROM_PROOF_SIZE];

	assert_int_equal(urom_random(handshake.nonce, sizeof(handshake.nonce)), DOCA_SUCCESS);
	client_say(UROM_HANDSHAKE, 0, body, urom_handshake_pack(&handshake, body, sizeof(body)));
	assert_true(client_await(&client.lost, &client.num_answers, 1));
	assert_int_equal(client.last.kind, UROM_CHALLENGE);
	assert_int_equal(urom_secret_of_user(false, &secret), DOCA_SUCCESS);
	assert_int_equal(urom_proof_make(&secret, UROM_ROLE_CLIENT, handshake.nonce, client.challenge.nonce, proof),
			 DOCA_SUCCESS);
	client_say(UROM_PROOF, 0, proof, sizeof(proof));
	assert_true(client_await(&client.lost, &client.num_answers, 2));
	assert_int_equal(client.last.kind, UROM_WELCOME);
}

size_t client_spawn_body(uint64_t plugins, uint8_t *body, size_t room)
{
	struct urom_spawn *spawn = (struct urom_spawn *)calloc(1, sizeof(*spawn));

	assert_non_null(spawn);
	spawn->worker_id = UINT64_MAX;
	spawn->plugins = plugins;
	size_t len = urom_spawn_pack(spawn, body, room);
	free(spawn);
	return len;
}

void client_close(void)
{
	sf_comm_close(client.comm);
}
