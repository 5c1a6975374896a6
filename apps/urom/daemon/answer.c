/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon.h"
#include "output.h"
#include "plugins.h"

void client_answer(struct daemon *daemon, struct daemon_client *client, enum urom_kind kind, doca_error_t status,
		   uint64_t request, uint64_t subject, const void *body, size_t len)
{
	struct urom_head head = urom_head_make(kind, status, request, subject);
	doca_error_t result = sf_comm_send(daemon->comm, client->peer, &head, sizeof(head), body, len);

	client->broken |= result != DOCA_SUCCESS &&
			  result != DOCA_ERROR_NOT_CONNECTED; /* disconnected later, when no caller iterates over its lists */
}

void client_answer_text(struct daemon *daemon, struct daemon_client *client, enum urom_kind kind, doca_error_t status,
			uint64_t request, uint64_t subject, const char *text)
{
	uint8_t body[UROM_TEXT_MAX];

	client_answer(daemon, client, kind, status, request, subject, body, urom_text_pack(text, body, sizeof(body)));
}

static doca_error_t worker_admit_client(const struct daemon_worker *worker, uint8_t token[UROM_TOKEN_SIZE])
{
	const struct urom_head head = urom_head_make(UROM_ADMIT, DOCA_SUCCESS, 0, 0);
	uint8_t packet[UROM_HEAD_SIZE + UROM_TOKEN_SIZE];
	doca_error_t result = urom_random(token, UROM_TOKEN_SIZE);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(packet, &head, sizeof(head));
	memcpy(packet + sizeof(head), token, UROM_TOKEN_SIZE);
	if (send(worker->fd, packet, sizeof(packet), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return DOCA_SUCCESS;
	return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? DOCA_ERROR_AGAIN : DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t client_accept_request(struct daemon *daemon, const struct daemon_worker *worker,
				   const struct daemon_request *request)
{
	struct urom_spawned spawned = {.worker_id = worker->id,
				       .gid = worker->gid,
				       .has_gid = worker->has_gid,
				       .service_process = (uint64_t)getpid(),
				       .process = (uint64_t)worker->pid};
	uint8_t packed[256];
	doca_error_t result = worker_admit_client(worker, spawned.token);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(spawned.key, worker->key.bytes, sizeof(spawned.key));
	client_answer(daemon, request->client, UROM_SPAWNED, DOCA_SUCCESS, request->tag, worker->id, packed,
		      urom_spawned_pack(&spawned, packed, sizeof(packed)));
	return DOCA_SUCCESS;
}

void client_reject_request(struct daemon *daemon, uint64_t worker_id, const struct daemon_request *request, doca_error_t status,
			   const char *reason)
{
	client_answer_text(daemon, request->client, UROM_SPAWNED, status, request->tag, worker_id, reason);
}

void client_notify_died(struct daemon *daemon, struct daemon_client *client, uint64_t worker_id, const char *reason)
{
	client_answer_text(daemon, client, UROM_WORKER_DIED, DOCA_SUCCESS, 0, worker_id, reason);
}
