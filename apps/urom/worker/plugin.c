/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_version.h>

#include "../heartbeat.h"
#include "domains.h"
#include "worker.h"

/* Records the current call, in case it does not return. */
static void plugin_call_note(const struct worker_plugin *plugin, enum heartbeat_call call)
{
	if (__builtin_expect(plugin->worker != NULL, 1)) /* NULL while probing */
		heartbeat_say(plugin->worker->heartbeat, plugin->index, call);
}

/* ---- load ---- */

static void *plugin_symbol(struct worker_plugin *plugin, const char *name, char reason[UROM_TEXT_MAX])
{
	void *found = dlsym(plugin->object, name);

	if (found == NULL)
		snprintf(reason, UROM_TEXT_MAX, "%s has no %s", plugin->path, name);
	return found;
}

static doca_error_t read_version(struct worker_plugin *plugin, char reason[UROM_TEXT_MAX])
{
	doca_error_t (*get_version)(uint64_t *) =
		(doca_error_t(*)(uint64_t *))plugin_symbol(plugin, "urom_plugin_get_version", reason);

	if (get_version == NULL)
		return DOCA_ERROR_NOT_FOUND;
	doca_error_t result = get_version(&plugin->version);
	if (result != DOCA_SUCCESS)
		snprintf(reason, UROM_TEXT_MAX, "urom_plugin_get_version of %s: %s", plugin->path, doca_error_get_name(result));
	return result;
}

static doca_error_t check_iface(const struct worker_plugin *plugin, char reason[UROM_TEXT_MAX])
{
	const struct urom_plugin_iface *iface = &plugin->ctx.iface;
	size_t version = DOCA_STRUCT_GET_VERSION(iface);

	if (version >> 24 != DOCA_VERSION_MAJOR) {
		snprintf(reason, UROM_TEXT_MAX, "%s was built for release %zu of the plugin interface, this is %d: rebuild it",
			 plugin->path, version >> 24, DOCA_VERSION_MAJOR);
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	}
	if (iface->open == NULL || iface->close == NULL || iface->worker_cmd == NULL || iface->progress == NULL ||
	    iface->notif_pack == NULL) {
		snprintf(reason, UROM_TEXT_MAX, "%s lacks one of open, close, worker_cmd, progress and notif_pack", plugin->path);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t read_iface(struct worker_plugin *plugin, char reason[UROM_TEXT_MAX])
{
	doca_error_t (*get_iface)(struct urom_plugin_iface *) =
		(doca_error_t(*)(struct urom_plugin_iface *))plugin_symbol(plugin, "urom_plugin_get_iface", reason);

	if (get_iface == NULL)
		return DOCA_ERROR_NOT_FOUND;
	memset(&plugin->ctx, 0, sizeof(plugin->ctx));
	doca_error_t result = get_iface(&plugin->ctx.iface);
	if (result != DOCA_SUCCESS)
		snprintf(reason, UROM_TEXT_MAX, "urom_plugin_get_iface of %s: %s", plugin->path, doca_error_get_name(result));
	else
		result = check_iface(plugin, reason);
	return result;
}

static doca_error_t object_load(struct worker_plugin *plugin, char reason[UROM_TEXT_MAX])
{
	plugin->object = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
	if (plugin->object == NULL) {
		snprintf(reason, UROM_TEXT_MAX, "%s", dlerror());
		return DOCA_ERROR_NOT_FOUND;
	}
	plugin->client_left =
		(void (*)(struct urom_worker_ctx *, uint64_t))dlsym(plugin->object, "softfield_urom_plugin_client_left");
	plugin->arm = (doca_error_t(*)(struct urom_worker_ctx *, int *))dlsym(plugin->object, "softfield_urom_plugin_arm");
	doca_error_t result = read_version(plugin, reason);
	return result == DOCA_SUCCESS ? read_iface(plugin, reason) : result;
}

doca_error_t plugin_load(struct worker_plugin *plugin, char reason[UROM_TEXT_MAX])
{
	plugin_call_note(plugin, HEARTBEAT_LOAD);
	doca_error_t result = object_load(plugin, reason);
	plugin_call_note(plugin, HEARTBEAT_OWN);
	return result;
}

static doca_error_t add_address(struct worker *worker, struct worker_plugin *plugin, char reason[UROM_TEXT_MAX])
{
	size_t len = UROM_CONTROL_MAX / 2;
	uint8_t *address = plugin->ctx.iface.addr != NULL ? (uint8_t *)malloc(len) : NULL;

	if (plugin->ctx.iface.addr == NULL)
		return DOCA_SUCCESS;
	plugin_call_note(plugin, HEARTBEAT_ADDR);
	doca_error_t result = address != NULL ? plugin->ctx.iface.addr(&plugin->ctx, address, &len) : DOCA_ERROR_NO_MEMORY;
	plugin_call_note(plugin, HEARTBEAT_OWN);
	if (result == DOCA_SUCCESS && len <= UROM_CONTROL_MAX / 2) {
		size_t end = urom_addresses_append(worker->addresses, sizeof(worker->addresses), worker->addresses_len,
						   plugin->id, address, len);

		result = end != 0 ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG;
		worker->addresses_len = end;
	}
	if (result != DOCA_SUCCESS)
		snprintf(reason, UROM_TEXT_MAX, "addr of %s: %s, %zu bytes", plugin->path, doca_error_get_name(result), len);
	free(address);
	return result;
}

doca_error_t plugin_open(struct worker *worker, struct worker_plugin *plugin, char reason[UROM_TEXT_MAX])
{
	ucs_list_head_init(&plugin->commands);
	plugin->ctx.domain_iface = domain_lookups;
	plugin_call_note(plugin, HEARTBEAT_OPEN);
	doca_error_t result = plugin->ctx.iface.open(&plugin->ctx);
	plugin_call_note(plugin, HEARTBEAT_OWN);
	plugin->open = result == DOCA_SUCCESS;
	if (plugin->open)
		return add_address(worker, plugin, reason);
	snprintf(reason, UROM_TEXT_MAX, "open of %s: %s", plugin->path, doca_error_get_name(result));
	return result;
}

doca_error_t plugin_pack(struct worker_plugin *plugin, struct urom_worker_notify *notify, size_t *len, void *out)
{
	plugin_call_note(plugin, HEARTBEAT_NOTIF_PACK);
	doca_error_t result = plugin->ctx.iface.notif_pack(notify, len, out);
	plugin_call_note(plugin, HEARTBEAT_OWN);
	return result;
}

void plugin_close(struct worker_plugin *plugin)
{
	if (plugin->open) {
		plugin_call_note(plugin, HEARTBEAT_CLOSE);
		plugin->ctx.iface.close(&plugin->ctx);
		plugin_call_note(plugin, HEARTBEAT_OWN);
	}
	plugin->open = false;
	/* No dlclose: plugins load UCX, which cannot be unloaded safely. */
}

/* ---- run ---- */

doca_error_t plugin_give_commands(struct worker_plugin *plugin)
{
	plugin_call_note(plugin, HEARTBEAT_WORKER_CMD);
	doca_error_t result = plugin->ctx.iface.worker_cmd(&plugin->ctx, &plugin->commands);
	plugin_call_note(plugin, HEARTBEAT_OWN);
	return result;
}

doca_error_t plugin_progress(struct worker_plugin *plugin, ucs_list_link_t *notifications)
{
	plugin_call_note(plugin, HEARTBEAT_PROGRESS);
	doca_error_t result = plugin->ctx.iface.progress(&plugin->ctx, notifications);
	plugin_call_note(plugin, HEARTBEAT_OWN);
	return result;
}

struct worker_plugin *plugin_find(struct worker *worker, uint64_t id)
{
	for (uint32_t i = 0; i < worker->num_plugins; i++) {
		if (worker->plugins[i].id == id)
			return &worker->plugins[i];
	}
	return NULL;
}

/* ---- sleep ---- */

bool plugins_all_arm(const struct worker *worker)
{
	for (uint32_t i = 0; i < worker->num_plugins; i++) {
		if (worker->plugins[i].arm == NULL)
			return false;
	}
	return true;
}

bool plugins_arm(struct worker *worker, struct pollfd *fds, nfds_t *num)
{
	for (uint32_t i = 0; i < worker->num_plugins; i++) {
		struct worker_plugin *plugin = &worker->plugins[i];
		int fd = -1;

		if (plugin->arm == NULL)
			continue;
		plugin_call_note(plugin, HEARTBEAT_PROGRESS);
		doca_error_t result = plugin->arm(&plugin->ctx, &fd);
		plugin_call_note(plugin, HEARTBEAT_OWN);
		if (result != DOCA_SUCCESS)
			return true;
		fds[(*num)++] = (struct pollfd){fd, POLLIN, 0};
	}
	return false;
}

/* ---- clients that leave ---- */

void plugins_client_left(struct worker *worker, uint64_t dest_id)
{
	for (uint32_t i = 0; i < worker->num_plugins; i++) {
		struct worker_plugin *plugin = &worker->plugins[i];
		struct urom_worker_cmd_desc *command, *next;

		ucs_list_for_each_safe(command, next, &plugin->commands, entry)
		{
			if (command->dest_id != dest_id)
				continue;
			ucs_list_del(&command->entry);
			free(command);
		}
		if (plugin->client_left == NULL)
			continue;
		plugin_call_note(plugin, HEARTBEAT_CLIENT_LEFT);
		plugin->client_left(&plugin->ctx, dest_id);
		plugin_call_note(plugin, HEARTBEAT_OWN);
	}
}
