/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins' notifications on their way to clients. Each client has a queue of its own: one that takes nothing makes nobody else
 * wait. A queue holds answers to that client's commands, of which a client can have only so many unanswered; what a plugin says
 * beyond that is counted, and one that goes on and on ends its worker.
 */
#include <stdio.h>
#include <stdlib.h>

#include <doca_log.h>

#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::NOTIFY);

/* ---- from plugins ---- */

/* Why nobody can be given it; NULL: somebody can. */
static const char *check(const struct worker *worker, const struct worker_plugin *plugin,
			 const struct urom_worker_notif_desc *desc)
{
	if (desc->worker_notif.type != plugin->id)
		return "of another type than its commands";
	if (desc->dest_id == 0 || desc->dest_id > worker->last_dest_id)
		return "for a dest_id that never was";
	return NULL;
}

static void queue(struct worker *worker, const struct worker_plugin *plugin, struct urom_worker_notif_desc *desc)
{
	const char *wrong = check(worker, plugin, desc);
	struct worker_client *client = wrong == NULL ? clients_find(worker, desc->dest_id) : NULL;

	if (client == NULL) { /* or it has left */
		if (wrong != NULL)
			PROGRAM_LOG_WARN_LIMITED(
				"%s made a notification %s: it must repeat the command's type, urom_context and dest_id",
				plugin->path, wrong);
		free(desc);
		return;
	}
	if (ucs_list_is_empty(&client->notifications))
		TAILQ_INSERT_TAIL(&worker->answered, client, in_answered);
	ucs_list_add_tail(&client->notifications, &desc->entry);
}

void notifications_take(struct worker *worker, struct worker_plugin *plugin)
{
	while (!ucs_list_is_empty(&worker->notifications)) {
		struct urom_worker_notif_desc *desc =
			ucs_list_extract_head(&worker->notifications, struct urom_worker_notif_desc, entry);

		plugin->num_notifications++;
		if (plugin->num_notifications <= plugin->num_commands + WORKER_UNASKED_MAX) {
			queue(worker, plugin, desc);
			continue;
		}
		free(desc);
		if (worker->failure[0] == '\0')
			snprintf(worker->failure, sizeof(worker->failure),
				 "%s made %d notifications more than it was given commands", plugin->path, WORKER_UNASKED_MAX);
	}
}

/* ---- to clients ---- */

static doca_error_t send_one(struct worker *worker, const struct worker_client *client, struct urom_worker_notif_desc *desc)
{
	const struct urom_head head = urom_head_make(UROM_NOTIFY, DOCA_SUCCESS, 0, worker->id);
	struct worker_plugin *plugin = worker_find_plugin(worker, desc->worker_notif.type);
	size_t len = worker->message_max;

	if (plugin == NULL) /* it changed the type meanwhile */
		return DOCA_SUCCESS;
	doca_error_t result = plugin_pack(plugin, &desc->worker_notif, &len, worker->packed);
	if (result == DOCA_SUCCESS && len >= sizeof(struct urom_worker_notify) && len <= worker->message_max)
		return sf_comm_send(worker->comm, client->peer, &head, sizeof(head), worker->packed, len);
	PROGRAM_LOG_WARN_LIMITED(
		"notif_pack of %s: %s, for %llu bytes and a header of %zu in a message that holds %zu: it made %zu", plugin->path,
		doca_error_get_name(result), (unsigned long long)desc->worker_notif.len, sizeof(struct urom_worker_notify),
		worker->message_max, len);
	return client_answer_for_plugin(worker, client, desc->worker_notif.type, desc->worker_notif.urom_context,
					result != DOCA_SUCCESS ? result : DOCA_ERROR_TOO_BIG);
}

/* As much as it takes now. A notification is packed once, and so only when there is room for it. */
static bool send_to(struct worker *worker, struct worker_client *client)
{
	bool any = false;

	while (!ucs_list_is_empty(&client->notifications) && sf_comm_backlog(client->peer) < WORKER_NOTIFY_BACKLOG) {
		struct urom_worker_notif_desc *desc =
			ucs_list_extract_head(&client->notifications, struct urom_worker_notif_desc, entry);
		doca_error_t result = send_one(worker, client, desc);

		free(desc);
		client_answered(worker, client);
		if (result == DOCA_ERROR_AGAIN || result == DOCA_ERROR_NO_MEMORY)
			client->broken = true; /* it would wait for this answer forever */
		any = true;
	}
	return any;
}

bool notifications_send(struct worker *worker)
{
	bool any = false;

	for (struct worker_client *client = TAILQ_FIRST(&worker->answered), *next; client != NULL; client = next) {
		next = TAILQ_NEXT(client, in_answered);
		any |= send_to(worker, client);
		if (ucs_list_is_empty(&client->notifications))
			TAILQ_REMOVE(&worker->answered, client, in_answered);
		if (client->broken)
			client_disconnect(worker, client);
	}
	return any;
}

void notifications_drop(struct worker *worker, struct worker_client *client)
{
	if (ucs_list_is_empty(&client->notifications))
		return;
	TAILQ_REMOVE(&worker->answered, client, in_answered);
	while (!ucs_list_is_empty(&client->notifications))
		free(ucs_list_extract_head(&client->notifications, struct urom_worker_notif_desc, entry));
}
