/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that misbehaves as its commands request; see hostile.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <doca_urom_plugin.h>

#include "hostile.h"

#define LATE_TURNS 200
#define UNASKED 5

doca_error_t urom_plugin_get_version(uint64_t *version);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

struct hostile {
	ucs_list_link_t ready, late;
	uint32_t turns;
};

static doca_error_t hostile_open(struct urom_worker_ctx *ctx)
{
	struct hostile *hostile = (struct hostile *)calloc(1, sizeof(*hostile));

	if (hostile == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ucs_list_head_init(&hostile->ready);
	ucs_list_head_init(&hostile->late);
	ctx->plugin_ctx = hostile;
	return DOCA_SUCCESS;
}

static void free_list(ucs_list_link_t *list)
{
	struct urom_worker_notif_desc *desc, *next;

	ucs_list_for_each_safe(desc, next, list, entry) free(desc);
}

static void hostile_close(struct urom_worker_ctx *ctx)
{
	struct hostile *hostile = (struct hostile *)ctx->plugin_ctx;

	free_list(&hostile->ready);
	free_list(&hostile->late);
	free(hostile);
}

static struct urom_worker_notif_desc *answer(ucs_list_link_t *list, const struct urom_worker_cmd_desc *command)
{
	size_t len = command->worker_cmd.len;
	struct urom_worker_notif_desc *desc = (struct urom_worker_notif_desc *)calloc(1, sizeof(*desc) + len);

	if (desc == NULL)
		abort();
	desc->dest_id = command->dest_id;
	desc->worker_notif.type = command->worker_cmd.type;
	desc->worker_notif.urom_context = command->worker_cmd.urom_context;
	desc->worker_notif.len = len;
	memcpy(desc->worker_notif.plugin_notif, command->worker_cmd.plugin_cmd, len);
	ucs_list_add_tail(list, &desc->entry);
	return desc;
}

static void answer_nothing(struct hostile *hostile, const struct urom_worker_cmd_desc *command)
{
	for (uint64_t i = 0; i < UNASKED; i++)
		answer(&hostile->ready, command)->worker_notif.urom_context = i << 33 | (command->worker_cmd.urom_context ^ i);
}

static void act_on(struct hostile *hostile, const struct urom_worker_cmd_desc *command, enum hostile_act act)
{
	if (act == HOSTILE_NEVER)
		return;
	struct urom_worker_notif_desc *desc = answer(act == HOSTILE_LATE ? &hostile->late : &hostile->ready, command);
	switch (act) {
	case HOSTILE_OTHER_CONTEXT:
		desc->worker_notif.urom_context += UINT64_C(1) << 32;
		break;
	case HOSTILE_TWICE:
		(void)answer(&hostile->ready, command);
		break;
	case HOSTILE_OTHER_TYPE:
		desc->worker_notif.type <<= 1;
		break;
	case HOSTILE_OTHER_CLIENT:
		desc->dest_id++;
		break;
	case HOSTILE_STATUS:
		desc->worker_notif.status = (doca_error_t)0x7abcdef1;
		break;
	case HOSTILE_UNASKED:
		answer_nothing(hostile, command);
		break;
	case HOSTILE_CRASH:
		abort();
	default:
		break;
	}
}

static doca_error_t hostile_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list)
{
	struct hostile *hostile = (struct hostile *)ctx->plugin_ctx;
	struct urom_worker_cmd_desc *command, *next;
	doca_error_t result = DOCA_SUCCESS;

	ucs_list_for_each_safe(command, next, cmd_list, entry)
	{
		uint8_t act = command->worker_cmd.len != 0 ? command->worker_cmd.plugin_cmd[0] : HOSTILE_ANSWER;

		if (act == HOSTILE_LEAVE) {
			result = DOCA_ERROR_UNEXPECTED;
			continue;
		}
		ucs_list_del(&command->entry);
		act_on(hostile, command, (enum hostile_act)act);
		free(command);
	}
	return result;
}

static bool give(ucs_list_link_t *from, ucs_list_link_t *to)
{
	bool any = !ucs_list_is_empty(from);

	while (!ucs_list_is_empty(from)) {
		struct urom_worker_notif_desc *desc = ucs_list_extract_head(from, struct urom_worker_notif_desc, entry);

		ucs_list_add_tail(to, &desc->entry);
	}
	return any;
}

static doca_error_t hostile_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list)
{
	struct hostile *hostile = (struct hostile *)ctx->plugin_ctx;
	bool any = give(&hostile->ready, notif_list);

	if (++hostile->turns % LATE_TURNS == 0)
		any |= give(&hostile->late, notif_list);
	return any ? DOCA_SUCCESS : DOCA_ERROR_EMPTY;
}

static doca_error_t hostile_notif_pack(struct urom_worker_notify *notif, size_t *packed_notif_len, void *packed_notif)
{
	size_t len = sizeof(*notif) + notif->len;
	enum hostile_act act = notif->len != 0 ? (enum hostile_act)notif->plugin_notif[0] : HOSTILE_ANSWER;

	if (act == HOSTILE_UNPACKABLE || len > *packed_notif_len)
		return DOCA_ERROR_TOO_BIG;
	memcpy(packed_notif, notif, len);
	if (act == HOSTILE_LONGER)
		((struct urom_worker_notify *)packed_notif)->len = UINT64_MAX - 3;
	if (act == HOSTILE_LARGE || act == HOSTILE_TOO_LARGE) {
		memset((char *)packed_notif + len, 7, *packed_notif_len - len);
		len = *packed_notif_len;
		((struct urom_worker_notify *)packed_notif)->len = len - sizeof(*notif);
	}
	*packed_notif_len = act == HOSTILE_SHORTER ? 3 : act == HOSTILE_TOO_LARGE ? len + 1 : len;
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
	iface->open = hostile_open;
	iface->close = hostile_close;
	iface->addr = NULL;
	iface->worker_cmd = hostile_worker_cmd;
	iface->progress = hostile_progress;
	iface->notif_pack = hostile_notif_pack;
	return DOCA_SUCCESS;
}
