/* SPDX-License-Identifier: BSD-3-Clause */
/* One plugin: its shared object, and calls of its operations. */
#ifndef UROM_WORKER_PLUGIN_H
#define UROM_WORKER_PLUGIN_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_urom_plugin.h>

#include "urom/proto.h"

struct worker;

struct worker_plugin {
	struct worker *worker;
	const char *path;
	uint32_t index; /* in the worker */
	uint64_t id;
	void *object;
	uint64_t version;
	bool open;
	void (*client_left)(struct urom_worker_ctx *ctx, uint64_t dest_id); /* softfield/urom_plugin.h; NULL: not defined */
	doca_error_t (*arm)(struct urom_worker_ctx *ctx, int *fd);	    /* likewise */
	struct urom_worker_ctx ctx;
	ucs_list_link_t commands;
	uint64_t num_commands, num_notifications; /* so far */
};

/* Loads the object and reads its version; sets reason if it fails. */
doca_error_t plugin_load(struct worker_plugin *plugin, char reason[UROM_TEXT_MAX]);
/* Opens the plugin and gets its address. */
doca_error_t plugin_open(struct worker *worker, struct worker_plugin *plugin, char reason[UROM_TEXT_MAX]);
/* Calls its notif_pack: *len is the room, then the bytes. */
doca_error_t plugin_pack(struct worker_plugin *plugin, struct urom_worker_notify *notify, size_t *len, void *out);
void plugin_close(struct worker_plugin *plugin);
/* NULL: no such plugin is loaded here. */
struct worker_plugin *plugin_find(struct worker *worker, uint64_t id);
bool plugins_all_arm(const struct worker *worker);
/* Adds the plugins' descriptors to fds, which has room for all. True: a plugin has work. */
bool plugins_arm(struct worker *worker, struct pollfd *fds, nfds_t *num);
/* Drops the client's commands that plugins have not received, and notifies the plugins. */
void plugins_client_left(struct worker *worker, uint64_t dest_id);
/* Calls its worker_cmd with the pending commands; those that it leaves in the list are rejected. */
doca_error_t plugin_give_commands(struct worker_plugin *plugin);
/* Calls its progress, which adds notifications to the list. */
doca_error_t plugin_progress(struct worker_plugin *plugin, ucs_list_link_t *notifications);

#endif
