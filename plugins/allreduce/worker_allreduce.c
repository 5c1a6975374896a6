/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_allreduce.h"

#include <stdlib.h>
#include <string.h>

#define PROGRESS_MAX 64 /* rounds of the network before the worker has its turn */

__attribute__((visibility("default"))) doca_error_t urom_plugin_get_version(uint64_t *version);
__attribute__((visibility("default"))) doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

static doca_error_t allreduce_open(struct urom_worker_ctx *ctx)
{
	struct allreduce *allreduce = (struct allreduce *)calloc(1, sizeof(*allreduce));
	if (allreduce == NULL)
		return DOCA_ERROR_NO_MEMORY;
	allreduce->ctx = ctx;
	ucs_list_head_init(&allreduce->notifications);
	TAILQ_INIT(&allreduce->ready);
	doca_error_t result = network_open(allreduce);
	if (result != DOCA_SUCCESS) {
		free(allreduce);
		return result;
	}
	ctx->plugin_ctx = allreduce;
	return DOCA_SUCCESS;
}

static void allreduce_close(struct urom_worker_ctx *ctx)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;
	struct urom_worker_notif_desc *notification, *next;
	network_close(allreduce); /* ends sends, which still know their pieces */
	pieces_free(allreduce);
	ucs_list_for_each_safe(notification, next, &allreduce->notifications, entry)
		free(notification);
	free(allreduce);
}

static doca_error_t allreduce_addr(struct urom_worker_ctx *ctx, void *addr, size_t *addr_len)
{
	const struct network *network = &((struct allreduce *)ctx->plugin_ctx)->network;
	struct allreduce_address address = {.id = network->id, .len = (uint32_t)network->address_len};
	size_t len = sizeof(address) + network->address_len;
	bool fits = *addr_len >= len;
	*addr_len = len;
	if (!fits || network->address_len > ALLREDUCE_ADDRESS_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(addr, &address, sizeof(address));
	memcpy((uint8_t *)addr + offsetof(struct allreduce_address, ucp), network->address, network->address_len);
	return DOCA_SUCCESS;
}

static doca_error_t answer(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc, doca_error_t status)
{
	struct urom_worker_notif_desc *notification = (struct urom_worker_notif_desc *)calloc(1, sizeof(*notification));
	if (notification == NULL)
		return DOCA_ERROR_NO_MEMORY;
	notification->dest_id = desc->dest_id;
	notification->worker_notif.type = desc->worker_cmd.type;
	notification->worker_notif.urom_context = desc->worker_cmd.urom_context;
	notification->worker_notif.status = status;
	ucs_list_add_tail(&allreduce->notifications, &notification->entry);
	return DOCA_SUCCESS;
}

static doca_error_t take(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc)
{
	struct allreduce_command command;
	if (desc->worker_cmd.len < sizeof(command))
		return answer(allreduce, desc, DOCA_ERROR_INVALID_VALUE);
	memcpy(&command, desc->worker_cmd.plugin_cmd, sizeof(command));
	if (command.kind == ALLREDUCE_PIECE) {
		doca_error_t result = piece_start(allreduce, desc);
		return result == DOCA_SUCCESS ? result : answer(allreduce, desc, result);
	}
	if (command.kind == ALLREDUCE_CANCEL)
		pieces_cancel(allreduce, command.tag, command.status);
	return answer(allreduce, desc, command.kind == ALLREDUCE_CANCEL ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
}

static doca_error_t allreduce_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;
	doca_error_t result = DOCA_SUCCESS;
	while (!ucs_list_is_empty(cmd_list)) {
		struct urom_worker_cmd_desc *desc = ucs_list_extract_head(cmd_list, struct urom_worker_cmd_desc, entry);
		doca_error_t one = take(allreduce, desc);
		if (one != DOCA_SUCCESS)
			result = one;
		free(desc);
	}
	return result;
}

/* DOCA_SUCCESS whenever anything moved: the worker looks again soon then. */
static doca_error_t allreduce_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;
	bool any = false;
	for (int i = 0; i < PROGRESS_MAX && ucp_worker_progress(allreduce->network.worker) != 0; i++) {
		pieces_run(allreduce);
		any = true;
	}
	if (allreduce->network.lost) {
		allreduce->network.lost = false;
		pieces_check_peers(allreduce);
		any = true;
	}
	while (!ucs_list_is_empty(&allreduce->notifications)) {
		struct urom_worker_notif_desc *desc =
			ucs_list_extract_head(&allreduce->notifications, struct urom_worker_notif_desc, entry);
		ucs_list_add_tail(notif_list, &desc->entry);
		any = true;
	}
	return any ? DOCA_SUCCESS : DOCA_ERROR_EMPTY;
}

static doca_error_t allreduce_notif_pack(struct urom_worker_notify *notif, size_t *packed_notif_len, void *packed_notif)
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
	*version = ALLREDUCE_VERSION;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	if (iface == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	DOCA_STRUCT_CTOR(*iface);
	iface->open = allreduce_open;
	iface->close = allreduce_close;
	iface->addr = allreduce_addr;
	iface->worker_cmd = allreduce_worker_cmd;
	iface->progress = allreduce_progress;
	iface->notif_pack = allreduce_notif_pack;
	return DOCA_SUCCESS;
}
