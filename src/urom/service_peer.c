/* SPDX-License-Identifier: BSD-3-Clause */
/* A service's connection to the daemon: handshake and answers. */
#include "urom/service_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log_rate.h"
#include "urom/auth.h"
#include "urom/service.h"
#include "urom/service_request.h"
#include "urom/service_task_gid.h"

_Static_assert(sizeof(doca_cpu_set_t) == UROM_CPUSET_SIZE, "a cpuset goes over the wire as it lies in memory");

/* ---- the session ---- */

doca_error_t urom_service_start_error(doca_error_t why)
{
	switch (why) {
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_UNSUPPORTED_VERSION:
	case DOCA_ERROR_TOO_BIG:
	case DOCA_ERROR_NO_MEMORY:
		return why;
	case DOCA_ERROR_AGAIN: /* the queue is empty before the first messages, so memory was missing */
		return DOCA_ERROR_NO_MEMORY;
	default:
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
}

static void end_session(struct doca_urom_service *service, doca_error_t why)
{
	service->session = UROM_SESSION_ENDED;
	service->why = urom_service_start_error(why);
	urom_gid_tasks_fail(service, DOCA_ERROR_CONNECTION_ABORTED);
}

static doca_error_t read_secret(struct urom_secret *secret)
{
	const char *path = secure_getenv("UROM_SECRET_FILE");

	return path != NULL && path[0] != '\0' ? urom_secret_read(path, secret) : urom_secret_of_user(false, secret);
}

static void say_other_secret(const char *address)
{
	SF_LOG_ERR("urom service: %s has a different secret: give both the same UROM_SECRET_FILE", address);
}

static doca_error_t peer_key(void *user, struct sf_comm_key *out)
{
	struct doca_urom_service *service = (struct doca_urom_service *)user;
	struct urom_secret secret;
	doca_error_t result = read_secret(&secret) == DOCA_SUCCESS ? urom_key_make(&secret, out) : DOCA_ERROR_NOT_PERMITTED;

	explicit_bzero(&secret, sizeof(secret));
	service->has_key = result == DOCA_SUCCESS;
	return result;
}

/* The daemon knows the secret; so do we. */
static doca_error_t answer_challenge(struct doca_urom_service *service, const void *body, size_t len)
{
	struct urom_challenge challenge;
	struct urom_secret secret;
	uint8_t proof[UROM_PROOF_SIZE];
	doca_error_t result = urom_challenge_parse(body, len, &challenge);

	if (result == DOCA_SUCCESS && read_secret(&secret) != DOCA_SUCCESS)
		result = DOCA_ERROR_NOT_PERMITTED;
	if (result == DOCA_SUCCESS)
		result = urom_proof_make(&secret, UROM_ROLE_DAEMON, service->nonce, challenge.nonce, proof);
	if (result == DOCA_SUCCESS && !urom_bytes_equal(proof, challenge.proof, sizeof(proof))) {
		say_other_secret(service->peer->address);
		result = DOCA_ERROR_NOT_PERMITTED;
	}
	if (result == DOCA_SUCCESS)
		result = urom_proof_make(&secret, UROM_ROLE_CLIENT, service->nonce, challenge.nonce, proof);
	if (result == DOCA_SUCCESS)
		result = urom_service_send(service, UROM_PROOF, 0, 0, proof, sizeof(proof));
	explicit_bzero(&secret, sizeof(secret));
	service->session = UROM_SESSION_PROOF;
	return result;
}

static doca_error_t handle_welcome(struct doca_urom_service *service, const void *body, size_t len)
{
	struct urom_welcome welcome;
	doca_error_t result = urom_welcome_parse(body, len, &welcome);

	if (result != DOCA_SUCCESS)
		return result;
	if (welcome.message_max < service->message_max) {
		SF_LOG_ERR(
			"urom service: %s accepts messages of %u bytes, %zu are set: start it with a larger --max-msg-size, or "
			"call "
			"doca_urom_service_set_max_comm_msg_size with less",
			service->peer->address, welcome.message_max, service->message_max);
		return DOCA_ERROR_TOO_BIG;
	}
	memcpy(&service->cpuset, welcome.cpuset, sizeof(service->cpuset));
	service->num_plugins = welcome.num_plugins;
	for (uint32_t i = 0; i < welcome.num_plugins; i++) {
		service->plugins[i].id = welcome.plugins[i].id;
		service->plugins[i].version = welcome.plugins[i].version;
		memcpy(service->plugins[i].plugin_name, welcome.plugins[i].name, DOCA_UROM_PLUGIN_NAME_MAX_LEN);
	}
	service->session = UROM_SESSION_OPEN;
	return DOCA_SUCCESS;
}

static void handle_refusal(struct doca_urom_service *service, const struct urom_head *head, const void *body, size_t len)
{
	char text[UROM_TEXT_MAX];

	urom_text_parse(body, len, text);
	SF_LOG_ERR("urom service: %s rejected this program: %s", service->peer->address, text);
	end_session(service, head->status != DOCA_SUCCESS ? (doca_error_t)head->status : DOCA_ERROR_NOT_PERMITTED);
}

/* ---- what arrives ---- */

/* Any unexpected message ends the session. */
static doca_error_t handle_answer(struct doca_urom_service *service, const struct urom_head *head, const void *body, size_t len)
{
	char text[UROM_TEXT_MAX];

	if (service->session == UROM_SESSION_HANDSHAKE && head->kind == UROM_CHALLENGE)
		return answer_challenge(service, body, len);
	if (service->session == UROM_SESSION_PROOF && head->kind == UROM_WELCOME)
		return handle_welcome(service, body, len);
	if (service->session != UROM_SESSION_OPEN)
		return DOCA_ERROR_UNEXPECTED;
	switch (head->kind) {
	case UROM_SPAWNED:
	case UROM_RELEASED:
		return urom_request_answered(service, head, body, len);
	case UROM_GROUP_IS:
		urom_gid_task_answered(service, head, body, len);
		return DOCA_SUCCESS;
	case UROM_WORKER_DIED: /* its own connection ends too; the daemon knows the reason */
		urom_text_parse(body, len, text);
		SF_LOG_WARN_LIMITED("urom service: worker %llu died: %s", (unsigned long long)head->subject, text);
		return DOCA_SUCCESS;
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

static void peer_message(void *user, struct sf_comm_peer *peer, const void *head_data, size_t head_len, const void *body,
			 size_t len)
{
	struct doca_urom_service *service = (struct doca_urom_service *)user;
	struct urom_head head;

	if (service->session == UROM_SESSION_ENDED)
		return;
	doca_error_t result = urom_head_parse(head_data, head_len, &head);
	if (result == DOCA_SUCCESS && head.kind == UROM_REFUSED) {
		handle_refusal(service, &head, body, len);
		return;
	}
	if (result == DOCA_ERROR_UNSUPPORTED_VERSION)
		SF_LOG_ERR("urom service: %s uses protocol version %u, this program %d: use the same release on both sides",
			   peer->address, head.version, UROM_PROTO_VERSION);
	if (result == DOCA_SUCCESS)
		result = handle_answer(service, &head, body, len);
	if (result == DOCA_SUCCESS)
		return;
	if (result == DOCA_ERROR_UNEXPECTED || result == DOCA_ERROR_INVALID_VALUE)
		SF_LOG_ERR("urom service: %s sent an invalid or unexpected message", peer->address);
	end_session(service, result);
}

static void peer_lost(void *user, struct sf_comm_peer *peer, doca_error_t why)
{
	struct doca_urom_service *service = (struct doca_urom_service *)user;

	service->peer = NULL;
	sf_status_conn_close(&service->status_conn);
	if (service->session == UROM_SESSION_OPEN)
		SF_LOG_ERR("urom service: %s is gone: is doca_urom_daemon still running there?", peer->address);
	else if (why == DOCA_ERROR_NOT_PERMITTED && service->has_key)
		say_other_secret(peer->address);
	if (service->session != UROM_SESSION_ENDED) /* before OPEN, the start reports what was tried */
		end_session(service, service->session == UROM_SESSION_OPEN ? DOCA_ERROR_CONNECTION_ABORTED : why);
}

const struct sf_comm_handler urom_service_handler = {.message = peer_message, .lost = peer_lost, .key = peer_key};

void urom_service_disconnect(struct doca_urom_service *service)
{
	urom_requests_fail_all(service);
	sf_status_conn_close(&service->status_conn);
	if (service->comm != NULL)
		sf_comm_close(service->comm);
	service->comm = NULL;
	service->peer = NULL;
	service->num_plugins = 0;
	service->session = UROM_SESSION_NONE;
}
