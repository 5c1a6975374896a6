/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins.h"

#include <stdlib.h>

#include <doca_log.h>

#include "base/log_rate.h"
#include "clients.h"
#include "notify_queue.h"
#include "plugin.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::PLUGINS);

/* Logs an invalid result of an operation, rate limited: a plugin may repeat it. */
static void plugin_warn(const struct worker_plugin *plugin, const char *what, doca_error_t result)
{
	PROGRAM_LOG_WARN_LIMITED("%s of %s: %s", what, plugin->path, doca_error_get_name(result));
}

static void give_commands(struct worker_plugin *plugin)
{
	doca_error_t result = plugin_give_commands(plugin);

	if (result != DOCA_SUCCESS)
		plugin_warn(plugin, "worker_cmd", result);
	if (ucs_list_is_empty(&plugin->commands))
		return;
	plugin_warn(plugin, "commands left in the list by worker_cmd, which are rejected", result);
	while (!ucs_list_is_empty(&plugin->commands)) { /* disconnecting a client shortens the list */
		struct urom_worker_cmd_desc *command =
			ucs_list_extract_head(&plugin->commands, struct urom_worker_cmd_desc, entry);

		clients_reject_command(plugin->worker, command);
		free(command);
	}
}

bool plugins_run(struct worker *worker)
{
	bool any = false;

	for (uint32_t i = 0; i < worker->num_plugins; i++) {
		struct worker_plugin *plugin = &worker->plugins[i];

		if (!ucs_list_is_empty(&plugin->commands)) {
			give_commands(plugin);
			any = true;
		}
		doca_error_t result = plugin_progress(plugin, &worker->notifications);
		any |= result == DOCA_SUCCESS;
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_EMPTY)
			plugin_warn(plugin, "progress", result);
		if (!ucs_list_is_empty(&worker->notifications))
			notifications_queue(worker, plugin);
	}
	return any;
}
