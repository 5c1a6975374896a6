/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin whose answers have as many bytes as the command's first word says; its notif_pack writes what fits. */
#include <stdlib.h>
#include <string.h>

#include <doca_urom_plugin.h>

doca_error_t urom_plugin_get_version(uint64_t *version);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

struct sized {
	ucs_list_link_t answers;
};

static doca_error_t sized_open(struct urom_worker_ctx *ctx)
{
	struct sized *sized = (struct sized *)malloc(sizeof(*sized));

	if (sized == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ucs_list_head_init(&sized->answers);
	ctx->plugin_ctx = sized;
	return DOCA_SUCCESS;
}

static void sized_close(struct urom_worker_ctx *ctx)
{
	struct sized *sized = (struct sized *)ctx->plugin_ctx;

	while (!ucs_list_is_empty(&sized->answers))
		free(ucs_list_extract_head(&sized->answers, struct urom_worker_notif_desc, entry));
	free(sized);
}

static void answer(struct sized *sized, const struct urom_worker_cmd_desc *desc)
{
	uint64_t size = 0;

	if (desc->worker_cmd.len >= sizeof(size))
		memcpy(&size, desc->worker_cmd.plugin_cmd, sizeof(size));
	struct urom_worker_notif_desc *notification = (struct urom_worker_notif_desc *)malloc(sizeof(*notification) + size);
	if (notification == NULL)
		return;
	notification->dest_id = desc->dest_id;
	notification->worker_notif = (struct urom_worker_notify){.type = desc->worker_cmd.type,
								 .urom_context = desc->worker_cmd.urom_context,
								 .len = size,
								 .status = DOCA_SUCCESS};
	for (uint64_t i = 0; i < size; i++)
		notification->worker_notif.plugin_notif[i] = (uint8_t)(i % 251);
	ucs_list_add_tail(&sized->answers, &notification->entry);
}

static doca_error_t sized_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *commands)
{
	while (!ucs_list_is_empty(commands)) {
		struct urom_worker_cmd_desc *desc = ucs_list_extract_head(commands, struct urom_worker_cmd_desc, entry);

		answer((struct sized *)ctx->plugin_ctx, desc);
		free(desc);
	}
	return DOCA_SUCCESS;
}

static doca_error_t sized_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notifications)
{
	struct sized *sized = (struct sized *)ctx->plugin_ctx;

	if (ucs_list_is_empty(&sized->answers))
		return DOCA_ERROR_EMPTY;
	ucs_list_splice_tail(notifications, &sized->answers);
	ucs_list_head_init(&sized->answers);
	return DOCA_SUCCESS;
}

static doca_error_t sized_pack(struct urom_worker_notify *notification, size_t *len, void *out)
{
	if (*len < sizeof(*notification) || notification->len > *len - sizeof(*notification))
		return DOCA_ERROR_TOO_BIG;
	*len = sizeof(*notification) + notification->len;
	memcpy(out, notification, *len);
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_version(uint64_t *version)
{
	*version = 1;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	DOCA_STRUCT_CTOR(*iface);
	iface->open = sized_open;
	iface->close = sized_close;
	iface->worker_cmd = sized_worker_cmd;
	iface->progress = sized_progress;
	iface->notif_pack = sized_pack;
	return DOCA_SUCCESS;
}
