/* SPDX-License-Identifier: BSD-3-Clause */
#include "clients.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>

#include "answer.h"
#include "base/log_rate.h"
#include "clock.h"
#include "cpus.h"
#include "daemon.h"
#include "workers.h"

DOCA_LOG_REGISTER(UROM_DAEMON::CLIENTS);

/* ---- disconnecting ---- */

static void client_drop(struct daemon *daemon, struct daemon_client *client)
{
	workers_forget(daemon, client);
	TAILQ_REMOVE(&daemon->clients, client, next);
	free(client);
}

static void client_reject(struct daemon *daemon, struct daemon_client *client, doca_error_t status, const char *text)
{
	PROGRAM_LOG_WARN_LIMITED("rejected %s: %s", client->peer->address, text);
	client_answer_text(daemon, client, UROM_REFUSED, status, 0, 0, text);
	sf_comm_disconnect(daemon->comm, client->peer);
	client_drop(daemon, client);
}

/* For a client that does not read its answers: no answer would reach it, so none is sent. */
static void client_disconnect(struct daemon *daemon, struct daemon_client *client)
{
	PROGRAM_LOG_WARN_LIMITED("disconnected %s: %zu bytes of answers are unread, or there is no memory for one",
				 client->peer->address, sf_comm_backlog(client->peer));
	sf_comm_drop(daemon->comm, client->peer);
	client_drop(daemon, client);
}

uint64_t clients_expire(struct daemon *daemon, uint64_t now)
{
	uint64_t next_time = UINT64_MAX;

	for (struct daemon_client *client = TAILQ_FIRST(&daemon->clients), *next; client != NULL; client = next) {
		next = TAILQ_NEXT(client, next);
		if (client->broken) {
			client_disconnect(daemon, client);
			continue;
		}
		if (client->state == CLIENT_KNOWN)
			continue;
		uint64_t again =
			own_time_left(&client->time, client->process, now, own_time_limit(client->process, DAEMON_HANDSHAKE_NS));
		if (again == 0)
			client_reject(daemon, client, DOCA_ERROR_TIME_OUT, "no proof of the secret in time");
		else if (again < next_time)
			next_time = again;
	}
	return next_time;
}

/* ---- handshake ---- */

static doca_error_t client_challenge(struct daemon *daemon, struct daemon_client *client, const void *body, size_t len)
{
	struct urom_challenge out;
	struct urom_handshake handshake;
	uint8_t packed[128];
	char text[UROM_TEXT_MAX];
	doca_error_t result = urom_handshake_parse(body, len, &handshake);

	if (result != DOCA_SUCCESS)
		return result;
	if (handshake.message_max > daemon->config.message_max) {
		snprintf(text, sizeof(text), "it requests messages of %u bytes, --max-msg-size is %u", handshake.message_max,
			 daemon->config.message_max);
		client_reject(daemon, client, DOCA_ERROR_TOO_BIG, text);
		return DOCA_SUCCESS;
	}
	memcpy(client->nonce, handshake.nonce, sizeof(client->nonce));
	result = urom_random(client->own_nonce, sizeof(client->own_nonce));
	memcpy(out.nonce, client->own_nonce, sizeof(out.nonce));
	if (result == DOCA_SUCCESS)
		result = urom_proof_make(&daemon->secret, UROM_ROLE_DAEMON, client->nonce, client->own_nonce, out.proof);
	if (result != DOCA_SUCCESS)
		return result;
	client->state = CLIENT_CHALLENGED;
	client_answer(daemon, client, UROM_CHALLENGE, DOCA_SUCCESS, 0, 0, packed,
		      urom_challenge_pack(&out, packed, sizeof(packed)));
	return DOCA_SUCCESS;
}

static void client_welcome(struct daemon *daemon, struct daemon_client *client)
{
	struct urom_welcome out = {.message_max = daemon->config.message_max, .num_plugins = daemon->num_plugins};
	uint8_t packed[UROM_CONTROL_MAX / 4];

	cpus_offer(daemon->cpus, out.cpuset);
	for (uint32_t i = 0; i < daemon->num_plugins; i++)
		out.plugins[i] = daemon->plugins[i].info;
	client_answer(daemon, client, UROM_WELCOME, DOCA_SUCCESS, 0, 0, packed, urom_welcome_pack(&out, packed, sizeof(packed)));
}

static doca_error_t check_proof(struct daemon *daemon, struct daemon_client *client, const void *body, size_t len)
{
	uint8_t proof[UROM_PROOF_SIZE];
	doca_error_t result = urom_proof_make(&daemon->secret, UROM_ROLE_CLIENT, client->nonce, client->own_nonce, proof);

	if (result != DOCA_SUCCESS)
		return result;
	if (len != sizeof(proof) || !urom_bytes_equal(proof, body, sizeof(proof))) {
		client_reject(daemon, client, DOCA_ERROR_NOT_PERMITTED,
			      "its secret is not this service's: use the same secret file");
		return DOCA_SUCCESS;
	}
	client->state = CLIENT_KNOWN;
	PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_INFO, DAEMON_LINES, "%s connected", client->peer->address);
	client_welcome(daemon, client);
	return DOCA_SUCCESS;
}

/* ---- requests ---- */

static doca_error_t spawn_request(struct daemon *daemon, struct daemon_client *client, const struct urom_head *head,
				  const void *body, size_t len)
{
	struct urom_spawn *wanted = (struct urom_spawn *)malloc(sizeof(*wanted));
	doca_error_t result = wanted != NULL ? urom_spawn_parse(body, len, wanted) : DOCA_ERROR_NO_MEMORY;

	if (result == DOCA_SUCCESS)
		workers_want(daemon, client, head->request, wanted);
	free(wanted);
	return result;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Lists the workers in the order of their ids. */
static void list_group(struct daemon *daemon, struct daemon_client *client, const struct urom_head *head)
{
	static struct urom_group group;
	static uint8_t packed[sizeof(group)];
	const struct daemon_worker *worker;

	group.num = 0;
	TAILQ_FOREACH (worker, &daemon->workers, next) {
		if (worker->state == WORKER_READY && worker->has_gid && worker->gid == head->subject &&
		    group.num < UROM_GROUP_MAX)
			group.ids[group.num++] = worker->id;
	}
	qsort(group.ids, group.num, sizeof(group.ids[0]), by_id);
	client_answer(daemon, client, UROM_GROUP_IS, DOCA_SUCCESS, head->request, head->subject, packed,
		      urom_group_pack(&group, packed, sizeof(packed)));
}

static doca_error_t take_request(struct daemon *daemon, struct daemon_client *client, const struct urom_head *head,
				 const void *body, size_t len)
{
	switch (head->kind) {
	case UROM_SPAWN:
		return spawn_request(daemon, client, head, body, len);
	case UROM_RELEASE:
		workers_release(daemon, client, head->subject);
		client_answer(daemon, client, UROM_RELEASED, DOCA_SUCCESS, head->request, head->subject, NULL, 0);
		return DOCA_SUCCESS;
	case UROM_GROUP:
		list_group(daemon, client, head);
		return DOCA_SUCCESS;
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

static doca_error_t client_message(struct daemon *daemon, struct daemon_client *client, const struct urom_head *head,
				   const void *body, size_t len)
{
	if (client->state == CLIENT_NEW && head->kind == UROM_HANDSHAKE)
		return client_challenge(daemon, client, body, len);
	if (client->state == CLIENT_CHALLENGED && head->kind == UROM_PROOF)
		return check_proof(daemon, client, body, len);
	return client->state == CLIENT_KNOWN ? take_request(daemon, client, head, body, len) : DOCA_ERROR_UNEXPECTED;
}

/* ---- callbacks of the comm ---- */

static void peer_arrived(void *user, struct sf_comm_peer *peer)
{
	struct daemon *daemon = (struct daemon *)user;
	struct daemon_client *client = (struct daemon_client *)calloc(1, sizeof(*client));

	if (client == NULL) {
		PROGRAM_LOG_ERR_LIMITED("no memory for a client");
		sf_comm_disconnect(daemon->comm, peer);
		return;
	}
	client->peer = peer;
	client->process = sf_comm_process(peer);
	own_time_begin(&client->time, client->process, true, daemon_now_ns());
	peer->user = client;
	LIST_INIT(&client->refs);
	TAILQ_INSERT_TAIL(&daemon->clients, client, next);
	if (daemon->draining)
		client_reject(daemon, client, DOCA_ERROR_SHUTDOWN, "the service is shutting down");
}

static void peer_message(void *user, struct sf_comm_peer *peer, const void *head_data, size_t head_len, const void *body,
			 size_t len)
{
	struct daemon *daemon = (struct daemon *)user;
	struct daemon_client *client = (struct daemon_client *)peer->user;
	struct urom_head head;
	char text[UROM_TEXT_MAX];
	doca_error_t result = urom_head_parse(head_data, head_len, &head);

	if (result == DOCA_SUCCESS)
		result = client_message(daemon, client, &head, body, len);
	if (result == DOCA_SUCCESS)
		return;
	if (result == DOCA_ERROR_UNSUPPORTED_VERSION)
		snprintf(text, sizeof(text), "it uses protocol version %u, this service %d: use the same release on both sides",
			 head.version, UROM_PROTO_VERSION);
	else
		snprintf(text, sizeof(text), "it sent an invalid or unexpected message");
	client_reject(daemon, client, result, text);
}

static void peer_lost(void *user, struct sf_comm_peer *peer, doca_error_t why)
{
	struct daemon_client *client = (struct daemon_client *)peer->user;

	(void)why;
	if (client->state == CLIENT_KNOWN)
		PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_INFO, DAEMON_LINES, "%s has left", peer->address);
	client_drop((struct daemon *)user, client);
}

/* Passes a connection to a worker, whose process handles TLS and the token. */
static doca_error_t connection_hand_over(void *user, uint64_t id, int fd, const char *address)
{
	struct daemon *daemon = (struct daemon *)user;
	const struct daemon_worker *worker = workers_find(daemon, id);

	if (worker == NULL || worker->state != WORKER_READY)
		return DOCA_ERROR_NOT_FOUND;
	return sf_comm_hand(worker->door, fd, address, daemon->local ? NULL : &worker->key);
}

const struct sf_comm_handler daemon_handler = {
	.arrived = peer_arrived, .message = peer_message, .lost = peer_lost, .hand = connection_hand_over};
