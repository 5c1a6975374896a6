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
	void (*client_left)(struct urom_worker_ctx *ctx, uint64_t dest_id); /* softfield/urom_plugin.h; NULL: it has none */
	doca_error_t (*arm)(struct urom_worker_ctx *ctx, int *fd);	    /* the same */
	struct urom_worker_ctx ctx;
	ucs_list_link_t commands;
	uint64_t num_commands, num_notifications; /* so far */
};

/* Loads the object and reads its version; reason says what is wrong with it. */
doca_error_t plugin_load(struct worker_plugin *plugin, char reason[UROM_TEXT_MAX]);
/* Opens it and takes its address. */
doca_error_t plugin_open(struct worker *worker, struct worker_plugin *plugin, char reason[UROM_TEXT_MAX]);
/* Its notif_pack: *len is the room, then the bytes. */
doca_error_t plugin_pack(struct worker_plugin *plugin, struct urom_worker_notify *notify, size_t *len, void *out);
void plugin_close(struct worker_plugin *plugin);
/* NULL: no such plugin is loaded here. */
struct worker_plugin *plugin_find(struct worker *worker, uint64_t id);
bool plugins_all_arm(const struct worker *worker);
/* Adds the descriptors that plugins give to fds, which has room for all. True: one has something to do. */
bool plugins_arm(struct worker *worker, struct pollfd *fds, nfds_t *num);
/* Drops the client's commands that plugins have not been given, and notifies them. */
void plugins_client_left(struct worker *worker, uint64_t dest_id);
/* Its worker_cmd on the commands that wait: what it leaves in the list it has not taken. */
doca_error_t plugin_give_commands(struct worker_plugin *plugin);
/* Its progress: notifications are added to the list. */
doca_error_t plugin_progress(struct worker_plugin *plugin, ucs_list_link_t *notifications);

#endif
