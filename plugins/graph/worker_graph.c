/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's half of the graph plugin: a minimal plugin that returns what it receives. */
#include <stdlib.h>
#include <string.h>

#include <doca_urom_plugin.h>

#include "graph_proto.h"

doca_error_t urom_plugin_get_version(uint64_t *version);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

struct graph {
	ucs_list_link_t notifications; /* to be returned by progress */
};

static doca_error_t graph_open(struct urom_worker_ctx *ctx)
{
	struct graph *graph = (struct graph *)malloc(sizeof(*graph));

	if (graph == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ucs_list_head_init(&graph->notifications);
	ctx->plugin_ctx = graph;
	return DOCA_SUCCESS;
}

static void graph_close(struct urom_worker_ctx *ctx)
{
	struct graph *graph = (struct graph *)ctx->plugin_ctx;
	struct urom_worker_notif_desc *notification, *next;

	ucs_list_for_each_safe(notification, next, &graph->notifications, entry) free(notification);
	free(graph);
}

static doca_error_t loop_back(struct graph *graph, const struct urom_worker_cmd_desc *desc)
{
	struct graph_command command;
	struct graph_notification out;
	struct urom_worker_notif_desc *notification =
		(struct urom_worker_notif_desc *)calloc(1, sizeof(*notification) + sizeof(out));

	if (notification == NULL)
		return DOCA_ERROR_NO_MEMORY;
	notification->dest_id = desc->dest_id;
	notification->worker_notif.type = desc->worker_cmd.type;
	notification->worker_notif.urom_context = desc->worker_cmd.urom_context;
	notification->worker_notif.status = DOCA_ERROR_INVALID_VALUE;
	if (desc->worker_cmd.len >= sizeof(command)) { /* further bytes are ignored */
		memcpy(&command, desc->worker_cmd.plugin_cmd, sizeof(command));
		if (command.type == GRAPH_LOOPBACK) {
			out = (struct graph_notification){GRAPH_LOOPBACK, command.value};
			memcpy(notification->worker_notif.plugin_notif, &out, sizeof(out));
			notification->worker_notif.len = sizeof(out);
			notification->worker_notif.status = DOCA_SUCCESS;
		}
	}
	ucs_list_add_tail(&graph->notifications, &notification->entry);
	return DOCA_SUCCESS;
}

static doca_error_t graph_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list)
{
	struct graph *graph = (struct graph *)ctx->plugin_ctx;
	doca_error_t result = DOCA_SUCCESS;

	while (!ucs_list_is_empty(cmd_list)) {
		struct urom_worker_cmd_desc *desc = ucs_list_extract_head(cmd_list, struct urom_worker_cmd_desc, entry);
		doca_error_t one = loop_back(graph, desc);

		if (one != DOCA_SUCCESS)
			result = one;
		free(desc);
	}
	return result;
}

static doca_error_t graph_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list)
{
	struct graph *graph = (struct graph *)ctx->plugin_ctx;

	if (ucs_list_is_empty(&graph->notifications))
		return DOCA_ERROR_EMPTY;
	while (!ucs_list_is_empty(&graph->notifications)) {
		struct urom_worker_notif_desc *desc =
			ucs_list_extract_head(&graph->notifications, struct urom_worker_notif_desc, entry);

		ucs_list_add_tail(notif_list, &desc->entry);
	}
	return DOCA_SUCCESS;
}

static doca_error_t graph_notif_pack(struct urom_worker_notify *notif, size_t *packed_notif_len, void *packed_notif)
{
	size_t len = sizeof(*notif) + notif->len;

	if (len > *packed_notif_len)
		return DOCA_ERROR_TOO_BIG;
	memcpy(packed_notif, notif, len);
	*packed_notif_len = len;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_version(uint64_t *version)
{
	if (version == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*version = GRAPH_VERSION;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	if (iface == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	DOCA_STRUCT_CTOR(*iface);
	iface->open = graph_open;
	iface->close = graph_close;
	iface->addr = NULL;
	iface->worker_cmd = graph_worker_cmd;
	iface->progress = graph_progress;
	iface->notif_pack = graph_notif_pack;
	return DOCA_SUCCESS;
}
