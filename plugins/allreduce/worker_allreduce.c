/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_allreduce.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softfield/urom_plugin.h>

#include "answer.h"

#define PROGRESS_MAX 64 /* calls of UCX's progress before the plugin returns to the worker */
#define REST_MAX 65536	/* of them for the last messages of a peer that has ended */

#define EXPORT __attribute__((visibility("default")))
EXPORT doca_error_t urom_plugin_get_version(uint64_t *version);
EXPORT doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);
EXPORT void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);
EXPORT doca_error_t softfield_urom_plugin_arm(struct urom_worker_ctx *ctx, int *fd);

/* ---- failures ---- */

static uint32_t set_of(uint64_t tag)
{
	return (uint32_t)((tag * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % ALLREDUCE_FAILED_SETS;
}

doca_error_t allreduce_failed(const struct allreduce *allreduce, uint64_t tag)
{
	const struct failed *set = allreduce->failed[set_of(tag)];

	for (int i = 0; i < ALLREDUCE_FAILED_WAYS; i++) {
		if (set[i].status != DOCA_SUCCESS && set[i].tag == tag)
			return set[i].status;
	}
	return DOCA_SUCCESS;
}

/* Replaces the oldest entry of its set. */
static void failure_record(struct allreduce *allreduce, uint64_t tag, doca_error_t status)
{
	struct failed *set = allreduce->failed[set_of(tag)];

	if (allreduce_failed(allreduce, tag) != DOCA_SUCCESS)
		return;
	memmove(&set[1], &set[0], (ALLREDUCE_FAILED_WAYS - 1) * sizeof(set[0]));
	set[0] = (struct failed){tag, status};
}

void allreduce_send_abort(struct allreduce *allreduce, uint32_t rank, uint64_t tag, doca_error_t status)
{
	const struct allreduce_message message = {.kind = ALLREDUCE_ABORT, .tag = tag, .number = (uint32_t)status};

	if (!network_is_self(allreduce, rank) && network_connect(allreduce, rank) == DOCA_SUCCESS)
		(void)network_send(allreduce, rank, &message, NULL, 0, NULL);
}

/* *num_ranks grows to that of each failed operation. */
static void fail_here(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t *num_ranks)
{
	failure_record(allreduce, tag, status);
	pieces_fail(allreduce, tag, status, num_ranks);
	vectors_fail(allreduce, tag, status, num_ranks);
}

void allreduce_fail_among(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t num_ranks)
{
	bool notify = num_ranks != 0;

	fail_here(allreduce, tag, status, &num_ranks);
	for (uint32_t rank = 0; notify && rank < num_ranks; rank++)
		allreduce_send_abort(allreduce, rank, tag, status);
}

void allreduce_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, bool notify)
{
	allreduce_fail_among(allreduce, tag, status, notify ? 1 : 0);
}

void inbound_free(struct allreduce *allreduce, struct inbound *inbound)
{
	allreduce->kept_bytes -= inbound->len + sizeof(*inbound);
	free(inbound);
}

/* ---- open and close ---- */

static doca_error_t allreduce_open(struct urom_worker_ctx *ctx)
{
	struct allreduce *allreduce = (struct allreduce *)calloc(1, sizeof(*allreduce));

	if (allreduce == NULL)
		return DOCA_ERROR_NO_MEMORY;
	allreduce->ctx = ctx;
	allreduce->chunks = (uint8_t *)aligned_alloc(4096, 2 * ALLREDUCE_CHUNK);
	ucs_list_head_init(&allreduce->notifications);
	STAILQ_INIT(&allreduce->inbox);
	TAILQ_INIT(&allreduce->ready);
	TAILQ_INIT(&allreduce->working);
	doca_error_t result = allreduce->chunks != NULL ? network_open(allreduce) : DOCA_ERROR_NO_MEMORY;
	if (result != DOCA_SUCCESS) {
		free(allreduce->chunks);
		free(allreduce);
		return result;
	}
	ctx->plugin_ctx = allreduce;
	return DOCA_SUCCESS;
}

static void allreduce_close(struct urom_worker_ctx *ctx)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;

	vectors_free(allreduce);  /* first: leaves the other ranks' memories */
	network_close(allreduce); /* ends sends, which still refer to their pieces */
	pieces_free(allreduce);
	for (struct inbound *inbound; (inbound = STAILQ_FIRST(&allreduce->inbox)) != NULL;) {
		STAILQ_REMOVE_HEAD(&allreduce->inbox, in_inbox);
		inbound_free(allreduce, inbound);
	}
	while (!LIST_EMPTY(&allreduce->hosts))
		hosts_forget(allreduce, LIST_FIRST(&allreduce->hosts)->client);
	processes_close(allreduce);
	answers_free(&allreduce->notifications);
	free(allreduce->chunks);
	free(allreduce);
}

static doca_error_t allreduce_addr(struct urom_worker_ctx *ctx, void *addr, size_t *addr_len)
{
	const struct network *network = &((struct allreduce *)ctx->plugin_ctx)->network;
	struct allreduce_address address = {.id = network->id, .len = (uint32_t)network->side.address_len};
	size_t len = sizeof(address) + network->side.address_len;
	bool fits = *addr_len >= len;

	*addr_len = len;
	if (!fits || network->side.address_len > ALLREDUCE_ADDRESS_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(addr, &address, sizeof(address));
	memcpy((uint8_t *)addr + offsetof(struct allreduce_address, ucp), network->side.address, network->side.address_len);
	return DOCA_SUCCESS;
}

/* ---- commands ---- */

static doca_error_t command_answer(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc, doca_error_t status,
				   const void *data, size_t len)
{
	struct urom_worker_notif_desc *notification = answer_create(desc, len);

	if (notification == NULL)
		return DOCA_ERROR_NO_MEMORY;
	notification->worker_notif.status = status;
	notification->worker_notif.len = len;
	if (len != 0)
		memcpy(notification->worker_notif.plugin_notif, data, len);
	ucs_list_add_tail(&allreduce->notifications, &notification->entry);
	return DOCA_SUCCESS;
}

static doca_error_t host_attach_command(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc, const void *body,
					size_t len)
{
	struct allreduce_attach wanted;
	struct allreduce_attached attached = {.worker = (uint64_t)getpid(), .daemon = (uint64_t)getppid()};
	doca_error_t result = allreduce_attach_parse(body, len, &wanted);

	if (result == DOCA_SUCCESS)
		result = hosts_attach(allreduce, desc->dest_id, &wanted, &attached);
	return command_answer(allreduce, desc, result, &attached, result == DOCA_SUCCESS ? sizeof(attached) : 0);
}

static doca_error_t operation_begin(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
				    const struct allreduce_command *command, const void *body, size_t len)
{
	doca_error_t result = DOCA_ERROR_INVALID_VALUE; /* the ranks are unknown, so none is notified */

	if (network_is_self(allreduce, command->rank))
		result = allreduce_failed(allreduce, command->tag);
	if (result == DOCA_SUCCESS && command->kind == ALLREDUCE_VECTOR)
		result = vector_start(allreduce, desc, command, body, len);
	else if (result == DOCA_SUCCESS && piece_exists(allreduce, command->tag, command->offset))
		result = DOCA_ERROR_INVALID_VALUE;
	else if (result == DOCA_SUCCESS)
		result = piece_start(allreduce, desc, command, body, len);
	return result == DOCA_SUCCESS ? result : command_answer(allreduce, desc, result, NULL, 0);
}

static doca_error_t command_run(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc)
{
	struct allreduce_command command;
	const void *body;
	size_t len;
	doca_error_t result = allreduce_command_parse(desc->worker_cmd.plugin_cmd, desc->worker_cmd.len, &command, &body, &len);

	if (result != DOCA_SUCCESS)
		return command_answer(allreduce, desc, result, NULL, 0);
	switch (command.kind) {
	case ALLREDUCE_PIECE:
	case ALLREDUCE_VECTOR:
		return operation_begin(allreduce, desc, &command, body, len);
	case ALLREDUCE_ATTACH:
		return host_attach_command(allreduce, desc, body, len);
	case ALLREDUCE_PROVE:
		return command_answer(allreduce, desc, hosts_prove(allreduce, desc->dest_id, command.tag), NULL, 0);
	case ALLREDUCE_DETACH:
		return command_answer(allreduce, desc, hosts_detach(allreduce, desc->dest_id, command.tag), NULL, 0);
	default:
		allreduce_fail_among(allreduce, command.tag, allreduce_known_error(command.status), command.shape.num_ranks);
		return command_answer(allreduce, desc, DOCA_SUCCESS, NULL, 0);
	}
}

static doca_error_t allreduce_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;
	doca_error_t result = DOCA_SUCCESS;

	while (!ucs_list_is_empty(cmd_list)) {
		struct urom_worker_cmd_desc *desc = ucs_list_extract_head(cmd_list, struct urom_worker_cmd_desc, entry);
		doca_error_t one = command_run(allreduce, desc);

		if (one != DOCA_SUCCESS)
			result = one;
		free(desc);
	}
	return result;
}

void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;
	uint64_t tag;

	while (pieces_find_of_client(allreduce, dest_id, &tag) || vectors_find_of_client(allreduce, dest_id, &tag))
		allreduce_fail(allreduce, tag, DOCA_ERROR_CONNECTION_ABORTED, true);
	hosts_forget(allreduce, dest_id);
}

/* ---- progress ---- */

/* The sender may die before it has notified all, so up to ALLREDUCE_DIRECT_RANKS_MAX ranks forward it. With more, each is
 * notified when it sends a message. */
static void abort_receive(struct allreduce *allreduce, const struct allreduce_message *message)
{
	doca_error_t status = allreduce_known_error(message->number);
	bool is_new = allreduce_failed(allreduce, message->tag) == DOCA_SUCCESS;
	uint32_t num_ranks = 0;

	fail_here(allreduce, message->tag, status, &num_ranks);
	for (uint32_t rank = 0; is_new && num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX && rank < num_ranks; rank++)
		allreduce_send_abort(allreduce, rank, message->tag, status);
}

static void messages_handle(struct allreduce *allreduce)
{
	for (struct inbound *inbound; (inbound = STAILQ_FIRST(&allreduce->inbox)) != NULL;) {
		STAILQ_REMOVE_HEAD(&allreduce->inbox, in_inbox);
		if (inbound->message.kind == ALLREDUCE_DATA) {
			pieces_handle_message(allreduce, inbound);
			continue;
		}
		if (inbound->message.kind == ALLREDUCE_ABORT)
			abort_receive(allreduce, &inbound->message);
		else
			vectors_handle_message(allreduce, inbound);
		inbound_free(allreduce, inbound);
	}
	pieces_run(allreduce);
}

static void check_peers(struct allreduce *allreduce)
{
	uint64_t tag;

	while (pieces_find_bereaved(allreduce, &tag) || vectors_find_bereaved(allreduce, &tag))
		allreduce_fail(allreduce, tag, DOCA_ERROR_CONNECTION_ABORTED, true);
}

/* A worker that has done its part may end while its last messages are still unread here, and UCX reports the end first. */
static void receive_rest(struct allreduce *allreduce)
{
	for (int i = 0; i < REST_MAX && ucx_side_progress(&allreduce->network.side) != 0; i++)
		;
	messages_handle(allreduce);
}

/* DOCA_SUCCESS if anything moved: then the worker polls again soon. */
static doca_error_t allreduce_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;
	bool any = false;

	for (int i = 0; i < PROGRESS_MAX && ucx_side_progress(&allreduce->network.side) != 0; i++)
		any = true;
	messages_handle(allreduce);
	if (network_lost_any(allreduce)) {
		receive_rest(allreduce);
		check_peers(allreduce);
		any = true;
	}
	any |= vectors_run(allreduce);
	any |= answers_hand_over(&allreduce->notifications, notif_list) == DOCA_SUCCESS;
	return any ? DOCA_SUCCESS : DOCA_ERROR_EMPTY;
}

doca_error_t softfield_urom_plugin_arm(struct urom_worker_ctx *ctx, int *fd)
{
	struct allreduce *allreduce = (struct allreduce *)ctx->plugin_ctx;
	ucp_worker_h worker = allreduce->network.side.worker;

	if (!TAILQ_EMPTY(&allreduce->working) || !ucs_list_is_empty(&allreduce->notifications) ||
	    ucp_worker_arm(worker) != UCS_OK)
		return DOCA_ERROR_AGAIN;
	return ucp_worker_get_efd(worker, fd) == UCS_OK ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
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
	iface->notif_pack = answer_pack;
	return DOCA_SUCCESS;
}
