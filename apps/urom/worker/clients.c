/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "urom/auth.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::CLIENTS);

void clients_admit(struct worker *worker, const uint8_t token[UROM_TOKEN_SIZE])
{
	if (worker->num_tokens == WORKER_TOKENS_MAX) { /* the oldest never came */
		memmove(worker->tokens[0], worker->tokens[1], sizeof(worker->tokens[0]) * (WORKER_TOKENS_MAX - 1));
		worker->num_tokens--;
	}
	memcpy(worker->tokens[worker->num_tokens++], token, UROM_TOKEN_SIZE);
}

/* A token is good for one. */
static bool use_token(struct worker *worker, const void *token, size_t len)
{
	for (uint32_t i = 0; i < worker->num_tokens && len == UROM_TOKEN_SIZE; i++) {
		if (!urom_bytes_equal(worker->tokens[i], token, UROM_TOKEN_SIZE))
			continue;
		memcpy(worker->tokens[i], worker->tokens[--worker->num_tokens], UROM_TOKEN_SIZE);
		return true;
	}
	return false;
}

/* ---- arrivals ---- */

static void arrived(void *user, struct sf_comm_peer *peer)
{
	struct worker *worker = (struct worker *)user;
	struct worker_client *client = (struct worker_client *)calloc(1, sizeof(*client));
	if (client == NULL) {
		DOCA_LOG_ERR("no memory for a client");
		sf_comm_disconnect(worker->comm, peer);
		return;
	}
	client->peer = peer;
	client->dest_id = ++worker->last_dest_id;
	peer->user = client;
	TAILQ_INSERT_TAIL(&worker->clients, client, next);
}

static void drop(struct worker *worker, struct worker_client *client)
{
	TAILQ_REMOVE(&worker->clients, client, next);
	worker->num_outstanding -= client->num_outstanding;
	domains_forget(worker, client->dest_id);
	if (client->joined)
		plugins_client_left(worker, client->dest_id);
	free(client);
}

static void lost(void *user, struct sf_comm_peer *peer, doca_error_t why)
{
	(void)why;
	drop((struct worker *)user, (struct worker_client *)peer->user);
}

static void join(struct worker *worker, struct worker_client *client, const struct urom_head *head, const void *body, size_t len)
{
	static const char refusal[] = "the worker expects no such client: its token is another, or used";
	while (parent_read(worker)) /* the daemon has sent the token before it told the client */
		;
	bool may = !client->joined && use_token(worker, body, len);
	struct urom_head answer =
		urom_head_make(UROM_JOINED, may ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED, head->request, worker->id);
	(void)sf_comm_send(worker->comm, client->peer, &answer, sizeof(answer), may ? (const void *)worker->addresses : refusal,
			   may ? worker->addresses_len : sizeof(refusal) - 1);
	client->joined |= may;
	if (may)
		return;
	DOCA_LOG_WARN("%s was turned away: no such token", client->peer->address);
	sf_comm_disconnect(worker->comm, client->peer);
	drop(worker, client);
}

/* A command that no plugin will answer: its host's task ends with status. */
static doca_error_t answer_for_plugin(struct worker *worker, const struct worker_client *client, uint64_t type, uint64_t urom_context,
				      doca_error_t status)
{
	const struct urom_head head = urom_head_make(UROM_NOTIFY, DOCA_SUCCESS, 0, worker->id);
	const struct urom_worker_notify notify = {.type = type, .urom_context = urom_context, .status = status};
	return sf_comm_send(worker->comm, client->peer, &head, sizeof(head), &notify, sizeof(notify));
}

static doca_error_t give_command(struct worker *worker, struct worker_client *client, const struct urom_worker_cmd *command,
				 const void *body, size_t len)
{
	struct worker_plugin *plugin = NULL;
	for (uint32_t i = 0; i < worker->num_plugins && plugin == NULL; i++) {
		if (worker->plugins[i].id == command->type)
			plugin = &worker->plugins[i];
	}
	if (plugin == NULL || command->len != len - sizeof(*command)) {
		DOCA_LOG_WARN("%s sent a command for plugin 0x%llx of %llu bytes: %s", client->peer->address,
			      (unsigned long long)command->type, (unsigned long long)command->len,
			      plugin == NULL ? "it is not loaded here" : "the message holds another number");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct urom_worker_cmd_desc *desc = (struct urom_worker_cmd_desc *)malloc(sizeof(*desc) + command->len);
	if (desc == NULL) {
		DOCA_LOG_ERR("no memory for a command of %llu bytes", (unsigned long long)command->len);
		return DOCA_ERROR_NO_MEMORY;
	}
	desc->dest_id = client->dest_id;
	memcpy(&desc->worker_cmd, body, len);
	ucs_list_add_tail(&plugin->commands, &desc->entry);
	worker->num_outstanding++;
	client->num_outstanding++;
	return DOCA_SUCCESS;
}

static void take_command(struct worker *worker, struct worker_client *client, const void *body, size_t len)
{
	struct urom_worker_cmd command;
	if (len < sizeof(command) || len > worker->message_max) {
		DOCA_LOG_WARN("%s sent a command of %zu bytes, possible are %zu to %zu", client->peer->address, len, sizeof(command),
			      worker->message_max);
		return;
	}
	memcpy(&command, body, sizeof(command));
	doca_error_t result = give_command(worker, client, &command, body, len);
	if (result != DOCA_SUCCESS)
		(void)answer_for_plugin(worker, client, command.type, command.urom_context, result);
}

static void take_part(struct worker *worker, const struct worker_client *client, const struct urom_head *head, const void *body,
		      size_t len)
{
	const char *reason = "";
	doca_error_t result = domains_take_part(worker, client->dest_id, head, body, len, &reason);
	struct urom_head answer = urom_head_make(UROM_DOMAIN_READY, result, head->request, head->subject);
	if (result == DOCA_ERROR_IN_PROGRESS)
		return;
	if (result != DOCA_SUCCESS)
		DOCA_LOG_WARN("%s sent a domain that cannot be used: %s", client->peer->address, reason);
	(void)sf_comm_send(worker->comm, client->peer, &answer, sizeof(answer), reason, result != DOCA_SUCCESS ? strlen(reason) : 0);
}

static doca_error_t take(struct worker *worker, struct worker_client *client, const struct urom_head *head, const void *body, size_t len)
{
	switch (head->kind) {
	case UROM_COMMAND:
		take_command(worker, client, body, len);
		return DOCA_SUCCESS;
	case UROM_DOMAIN_PART:
		take_part(worker, client, head, body, len);
		return DOCA_SUCCESS;
	case UROM_DOMAIN_LEAVE:
		domains_leave(worker, client->dest_id, head->subject);
		return DOCA_SUCCESS;
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

static void message(void *user, struct sf_comm_peer *peer, const void *head_data, size_t head_len, const void *body, size_t len)
{
	struct worker *worker = (struct worker *)user;
	struct worker_client *client = (struct worker_client *)peer->user;
	struct urom_head head;
	doca_error_t result = urom_head_parse(head_data, head_len, &head);
	if (result == DOCA_SUCCESS && head.kind == UROM_JOIN) {
		join(worker, client, &head, body, len);
		return;
	}
	if (result == DOCA_SUCCESS && client->joined && take(worker, client, &head, body, len) == DOCA_SUCCESS)
		return;
	DOCA_LOG_WARN("%s sent what is no message of UROM's, or not yet: it is disconnected", peer->address);
	sf_comm_disconnect(worker->comm, peer);
	drop(worker, client);
}

const struct sf_comm_handler clients_handler = {.arrived = arrived, .message = message, .lost = lost};

/* ---- notifications ---- */

static struct worker_client *find_client(struct worker *worker, uint64_t dest_id)
{
	struct worker_client *client;
	TAILQ_FOREACH(client, &worker->clients, next) {
		if (client->dest_id == dest_id)
			return client;
	}
	return NULL;
}

static struct worker_plugin *plugin_of(struct worker *worker, const struct urom_worker_notif_desc *notification)
{
	for (uint32_t i = 0; i < worker->num_plugins; i++) {
		if (worker->plugins[i].id == notification->worker_notif.type)
			return &worker->plugins[i];
	}
	return NULL;
}

static doca_error_t send_notification(struct worker *worker, const struct worker_client *client, struct urom_worker_notif_desc *notification)
{
	const struct urom_head head = urom_head_make(UROM_NOTIFY, DOCA_SUCCESS, 0, worker->id);
	struct worker_plugin *plugin = plugin_of(worker, notification);
	size_t len = worker->message_max;
	if (plugin == NULL) {
		DOCA_LOG_WARN("a plugin answered with type 0x%llx, which is none of those loaded: it must repeat the command's",
			      (unsigned long long)notification->worker_notif.type);
		return DOCA_SUCCESS;
	}
	doca_error_t result = plugin_pack(plugin, &notification->worker_notif, &len, worker->packed);
	if (result != DOCA_SUCCESS || len < sizeof(struct urom_worker_notify) || len > worker->message_max) {
		DOCA_LOG_WARN("notif_pack of %s: %s, %zu bytes: the largest message holds %zu", plugin->path, doca_error_get_name(result),
			      len, worker->message_max);
		return answer_for_plugin(worker, client, notification->worker_notif.type, notification->worker_notif.urom_context,
					 result != DOCA_SUCCESS ? result : DOCA_ERROR_TOO_BIG);
	}
	return sf_comm_send(worker->comm, client->peer, &head, sizeof(head), worker->packed, len);
}

bool clients_notify(struct worker *worker)
{
	struct urom_worker_notif_desc *notification, *next;
	bool any = false;
	ucs_list_for_each_safe(notification, next, &worker->notifications, entry) {
		struct worker_client *client = find_client(worker, notification->dest_id); /* NULL: it has left */
		if (client != NULL && send_notification(worker, client, notification) == DOCA_ERROR_AGAIN)
			break;
		ucs_list_del(&notification->entry);
		free(notification);
		if (client != NULL && client->num_outstanding != 0) {
			client->num_outstanding--;
			worker->num_outstanding--;
		}
		any = true;
	}
	return any;
}
