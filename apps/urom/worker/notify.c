/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify.h"

#include <stdlib.h>

#include <doca_log.h>

#include "base/log_rate.h"
#include "client.h"
#include "clients.h"
#include "plugin.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::NOTIFY);

static doca_error_t send_one(struct worker *worker, const struct worker_client *client, struct urom_worker_notif_desc *desc)
{
	const struct urom_head head = urom_head_make(UROM_NOTIFY, DOCA_SUCCESS, 0, worker->id);
	struct worker_plugin *plugin = plugin_find(worker, desc->worker_notif.type);
	size_t len = worker->message_max;

	if (plugin == NULL) /* the plugin changed the type meanwhile */
		return DOCA_SUCCESS;
	doca_error_t result = plugin_pack(plugin, &desc->worker_notif, &len, worker->packed);
	if (result == DOCA_SUCCESS && len >= sizeof(struct urom_worker_notify) && len <= worker->message_max)
		return sf_comm_send(worker->comm, client->peer, &head, sizeof(head), worker->packed, len);
	PROGRAM_LOG_WARN_LIMITED("notif_pack of %s: %s, for %llu bytes and a header of %zu in a message of %zu: it returned %zu",
				 plugin->path, doca_error_get_name(result), (unsigned long long)desc->worker_notif.len,
				 sizeof(struct urom_worker_notify), worker->message_max, len);
	return client_answer_for_plugin(worker, client, desc->worker_notif.type, desc->worker_notif.urom_context,
					result != DOCA_SUCCESS ? result : DOCA_ERROR_TOO_BIG);
}

/* Sends until the client's connection is full. A notification is packed only once, so only if there is room for it. */
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
			client->broken = true; /* the client would wait for this answer forever */
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
