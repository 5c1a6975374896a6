/* SPDX-License-Identifier: BSD-3-Clause */
#include "clients.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "base/log_rate.h"
#include "client.h"
#include "clock.h"
#include "domains.h"
#include "notify_queue.h"
#include "parent.h"
#include "plugin.h"
#include "tokens.h"
#include "urom/auth.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::CLIENTS);

/* ---- arrivals ---- */

static void peer_arrived(void *user, struct sf_comm_peer *peer)
{
	struct worker *worker = (struct worker *)user;
	struct worker_client *client = (struct worker_client *)calloc(1, sizeof(*client));

	if (client == NULL) {
		PROGRAM_LOG_ERR_LIMITED("no memory for a client");
		sf_comm_disconnect(worker->comm, peer);
		return;
	}
	client->peer = peer;
	client->dest_id = ++worker->last_dest_id;
	client->process = sf_comm_process(peer);
	own_time_begin(&client->time, client->process, true, worker_now_ns());
	worker->num_strangers++;
	peer->user = client;
	ucs_list_head_init(&client->notifications);
	TAILQ_INSERT_TAIL(&worker->clients, client, next);
}

static void free_client(struct worker_client *client)
{
	free(client);
}

static void client_drop(struct worker *worker, struct worker_client *client)
{
	TAILQ_REMOVE(&worker->clients, client, next);
	notifications_drop(worker, client);
	assert(client->num_outstanding <= worker->num_outstanding);
	worker->num_outstanding -= client->num_outstanding;
	worker->num_strangers -= !client->joined;
	domains_forget(worker, client->dest_id);
	if (client->joined)
		plugins_client_left(worker, client->dest_id);
	free_client(client);
}

void client_disconnect(struct worker *worker, struct worker_client *client)
{
	PROGRAM_LOG_WARN_LIMITED("disconnected %s: it has more unread answers than commands, or there is no memory for one",
				 client->peer->address);
	sf_comm_drop(worker->comm, client->peer);
	client_drop(worker, client);
}

void clients_drop_all(struct worker *worker)
{
	for (struct worker_client *client; (client = TAILQ_FIRST(&worker->clients)) != NULL;) {
		TAILQ_REMOVE(&worker->clients, client, next);
		notifications_drop(worker, client);
		domains_forget(worker, client->dest_id);
		free_client(client);
	}
}

static void peer_lost(void *user, struct sf_comm_peer *peer, doca_error_t why)
{
	(void)why;
	client_drop((struct worker *)user, (struct worker_client *)peer->user);
}

static void client_join(struct worker *worker, struct worker_client *client, const struct urom_head *head, const void *body,
			size_t len)
{
	static const char refusal[] = "the worker does not expect this client: its token is wrong, or was used already";

	while (parent_read(worker)) /* the daemon sent the token before it answered the client */
		;
	bool may = !client->joined && tokens_use(worker, body, len);
	struct urom_head answer =
		urom_head_make(UROM_JOINED, may ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED, head->request, worker->id);
	doca_error_t result =
		sf_comm_send(worker->comm, client->peer, &answer, sizeof(answer), may ? (const void *)worker->addresses : refusal,
			     may ? worker->addresses_len : sizeof(refusal) - 1);
	if (may) {
		client->joined = true;
		assert(worker->num_strangers > 0);
		worker->num_strangers--;
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_CONNECTED)
			client_disconnect(worker, client);
		return;
	}
	PROGRAM_LOG_WARN_LIMITED("rejected %s: unknown token", client->peer->address);
	sf_comm_disconnect(worker->comm, client->peer);
	client_drop(worker, client);
}

void clients_expire(struct worker *worker)
{
	uint64_t now = worker->num_strangers != 0 ? worker_now_ns() : 0;

	for (struct worker_client *client = TAILQ_FIRST(&worker->clients), *next; now != 0 && client != NULL; client = next) {
		next = TAILQ_NEXT(client, next);
		if (client->joined ||
		    own_time_left(&client->time, client->process, now, own_time_limit(client->process, WORKER_JOIN_NS)) != 0)
			continue;
		PROGRAM_LOG_WARN_LIMITED("disconnected %s: it did not join within two seconds", client->peer->address);
		sf_comm_disconnect(worker->comm, client->peer);
		client_drop(worker, client);
	}
}

/* ---- commands ---- */

void clients_reject_command(struct worker *worker, const struct urom_worker_cmd_desc *desc)
{
	struct worker_client *client = clients_find(worker, desc->dest_id);

	if (client == NULL)
		return;
	client_answered(worker, client);
	doca_error_t result = client_answer_for_plugin(worker, client, desc->worker_cmd.type, desc->worker_cmd.urom_context,
						       DOCA_ERROR_UNEXPECTED);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_CONNECTED)
		client_disconnect(worker, client);
}

static doca_error_t keep_command(struct worker *worker, struct worker_client *client, struct worker_plugin *plugin,
				 const void *body, size_t len)
{
	struct urom_worker_cmd_desc *desc =
		(struct urom_worker_cmd_desc *)malloc(offsetof(struct urom_worker_cmd_desc, worker_cmd) + len);

	if (desc == NULL) {
		PROGRAM_LOG_ERR_LIMITED("no memory for a command of %zu bytes: the service's --max-worker-memory, or the "
					"machine's memory, is used up",
					len);
		return DOCA_ERROR_NO_MEMORY;
	}
	desc->dest_id = client->dest_id;
	memcpy(&desc->worker_cmd, body, len);
	ucs_list_add_tail(&plugin->commands, &desc->entry);
	plugin->num_commands++;
	worker->num_outstanding++;
	client->num_outstanding++;
	return DOCA_SUCCESS;
}

static doca_error_t give_command(struct worker *worker, struct worker_client *client, const struct urom_worker_cmd *command,
				 const void *body, size_t len)
{
	struct worker_plugin *plugin = plugin_find(worker, command->type);

	if (worker->ending)
		return DOCA_ERROR_SHUTDOWN;
	if (plugin != NULL && command->len == len - sizeof(*command))
		return keep_command(worker, client, plugin, body, len);
	PROGRAM_LOG_WARN_LIMITED("%s sent a command for plugin 0x%llx of %llu bytes: %s", client->peer->address,
				 (unsigned long long)command->type, (unsigned long long)command->len,
				 plugin == NULL ? "that plugin is not loaded here" : "the message has another length");
	return DOCA_ERROR_INVALID_VALUE;
}

static void take_command(struct worker *worker, struct worker_client *client, const void *body, size_t len)
{
	struct urom_worker_cmd command;

	if (len < sizeof(command) || len > worker->message_max) {
		PROGRAM_LOG_WARN_LIMITED("%s sent a command of %zu bytes: it can have %zu to %zu", client->peer->address, len,
					 sizeof(command), worker->message_max);
		return;
	}
	memcpy(&command, body, sizeof(command));
	doca_error_t result = client->num_outstanding < WORKER_COMMANDS_MAX ? give_command(worker, client, &command, body, len)
									    : DOCA_ERROR_FULL;
	if (result != DOCA_SUCCESS)
		result = client_answer_for_plugin(worker, client, command.type, command.urom_context, result);
	client->broken |= result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_CONNECTED;
}

/* Handles an offer of a directory or a piece of one. */
static void take_domain(struct worker *worker, struct worker_client *client, const struct urom_head *head, const void *body,
			size_t len)
{
	const char *reason = "";
	doca_error_t result = head->kind == UROM_DOMAIN_OFFER
				      ? domains_add_offer(worker, client->dest_id, head, body, len, &reason)
				      : domains_add_part(worker, client->dest_id, head, body, len, &reason);
	struct urom_head answer = urom_head_make(UROM_DOMAIN_READY, result, 0, head->subject);

	if (result == DOCA_SUCCESS)
		return;
	PROGRAM_LOG_WARN_LIMITED("rejected a domain of %s: %s", client->peer->address, reason);
	result = sf_comm_send(worker->comm, client->peer, &answer, sizeof(answer), reason, strlen(reason));
	client->broken |= result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_CONNECTED;
}

static doca_error_t client_message(struct worker *worker, struct worker_client *client, const struct urom_head *head,
				   const void *body, size_t len)
{
	switch (head->kind) {
	case UROM_COMMAND:
		take_command(worker, client, body, len);
		return DOCA_SUCCESS;
	case UROM_DOMAIN_OFFER:
	case UROM_DOMAIN_PART:
		take_domain(worker, client, head, body, len);
		return DOCA_SUCCESS;
	case UROM_DOMAIN_LEAVE:
		domains_leave(worker, client->dest_id, head->subject);
		return DOCA_SUCCESS;
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

static void peer_message(void *user, struct sf_comm_peer *peer, const void *head_data, size_t head_len, const void *body,
			 size_t len)
{
	struct worker *worker = (struct worker *)user;
	struct worker_client *client = (struct worker_client *)peer->user;
	struct urom_head head;
	doca_error_t result = urom_head_parse(head_data, head_len, &head);

	if (result == DOCA_SUCCESS && head.kind == UROM_JOIN) {
		client_join(worker, client, &head, body, len);
		return;
	}
	if (result == DOCA_SUCCESS && client->joined && client_message(worker, client, &head, body, len) == DOCA_SUCCESS) {
		if (client->broken)
			client_disconnect(worker, client);
		return;
	}
	PROGRAM_LOG_WARN_LIMITED("disconnected %s: it sent an invalid or unexpected message", peer->address);
	sf_comm_disconnect(worker->comm, peer);
	client_drop(worker, client);
}

const struct sf_comm_handler clients_handler = {.arrived = peer_arrived, .message = peer_message, .lost = peer_lost};
