/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins' notifications on their way to clients. Each client has a queue of its own: one that takes nothing makes nobody else
 * wait. A queue holds answers to that client's commands, of which a client can have only so many unanswered; what a plugin says
 * beyond that is counted, and one that goes on and on ends its worker.
 */
#include "notify_queue.h"

#include <stdio.h>
#include <stdlib.h>

#include <doca_log.h>

#include "base/log_rate.h"
#include "client.h"
#include "plugin.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::NOTIFICATIONS);

/* Why nobody can be given it; NULL: somebody can. */
static const char *notification_check(const struct worker *worker, const struct worker_plugin *plugin,
				      const struct urom_worker_notif_desc *desc)
{
	if (desc->worker_notif.type != plugin->id)
		return "of another type than its commands";
	if (desc->dest_id == 0 || desc->dest_id > worker->last_dest_id)
		return "for a dest_id that never was";
	return NULL;
}

static void notification_queue(struct worker *worker, const struct worker_plugin *plugin, struct urom_worker_notif_desc *desc)
{
	const char *wrong = notification_check(worker, plugin, desc);
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

void notifications_queue(struct worker *worker, struct worker_plugin *plugin)
{
	while (!ucs_list_is_empty(&worker->notifications)) {
		struct urom_worker_notif_desc *desc =
			ucs_list_extract_head(&worker->notifications, struct urom_worker_notif_desc, entry);

		plugin->num_notifications++;
		if (plugin->num_notifications <= plugin->num_commands + WORKER_UNASKED_MAX) {
			notification_queue(worker, plugin, desc);
			continue;
		}
		free(desc);
		if (worker->failure[0] == '\0')
			snprintf(worker->failure, sizeof(worker->failure),
				 "%s made %d notifications more than it was given commands", plugin->path, WORKER_UNASKED_MAX);
	}
}

void notifications_drop(struct worker *worker, struct worker_client *client)
{
	if (ucs_list_is_empty(&client->notifications))
		return;
	TAILQ_REMOVE(&worker->answered, client, in_answered);
	while (!ucs_list_is_empty(&client->notifications))
		free(ucs_list_extract_head(&client->notifications, struct urom_worker_notif_desc, entry));
}
