/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of plugins' notifications. Each client has its own queue, so one that reads nothing delays no other. A queue holds
 * answers to that client's commands, whose number is limited; notifications beyond that are counted, and at
 * WORKER_UNASKED_MAX the worker ends.
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

/* Returns why the notification is invalid; NULL: it is valid. */
static const char *notification_check(const struct worker *worker, const struct worker_plugin *plugin,
				      const struct urom_worker_notif_desc *desc)
{
	if (desc->worker_notif.type != plugin->id)
		return "of another type than its commands";
	if (desc->dest_id == 0 || desc->dest_id > worker->last_dest_id)
		return "for a dest_id that never existed";
	return NULL;
}

static void notification_queue(struct worker *worker, const struct worker_plugin *plugin, struct urom_worker_notif_desc *desc)
{
	const char *wrong = notification_check(worker, plugin, desc);
	struct worker_client *client = wrong == NULL ? clients_find(worker, desc->dest_id) : NULL;

	if (client == NULL) { /* NULL also if the client has left */
		if (wrong != NULL)
			PROGRAM_LOG_WARN_LIMITED(
				"%s created a notification %s: it must repeat the command's type, urom_context and dest_id",
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
				 "%s created %d notifications more than it received commands", plugin->path, WORKER_UNASKED_MAX);
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
