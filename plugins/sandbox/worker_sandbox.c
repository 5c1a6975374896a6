/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's half of the sandbox plugin: tagged messages by UCX between the workers of a domain. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <doca_log.h>
#include <softfield/urom_plugin.h>

#include "answer.h"
#include "sandbox_proto.h"
#include "ucx_side.h"

DOCA_LOG_REGISTER(UROM_WORKER::SANDBOX);

#define PENDING_MAX 4096 /* sends and receives in flight */

doca_error_t urom_plugin_get_version(uint64_t *version);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

struct sandbox {
	struct ucx_side ucx;
	TAILQ_HEAD(, operation) pending;
	uint32_t num_pending;
	ucs_list_link_t answers; /* to be returned by progress */
};

/* A send or receive. A send's data stays in its command, a receive's data goes to its answer. */
struct operation {
	TAILQ_ENTRY(operation) next;
	struct sandbox *sandbox;
	struct urom_worker_cmd_desc *command;
	struct urom_worker_notif_desc *answer;
	void *request; /* of UCX */
};

static struct sandbox_notification *answer_body(struct urom_worker_notif_desc *answer)
{
	return (struct sandbox_notification *)(void *)answer->worker_notif.plugin_notif;
}

/* ---- completion of an operation ---- */

static void operation_finish(struct operation *operation, doca_error_t status, size_t data_len)
{
	struct sandbox *sandbox = operation->sandbox;
	struct urom_worker_notif_desc *answer = operation->answer;

	answer_body(answer)->len = data_len;
	answer->worker_notif.status = status;
	answer->worker_notif.len = sizeof(struct sandbox_notification) + data_len;
	ucs_list_add_tail(&sandbox->answers, &answer->entry);
	TAILQ_REMOVE(&sandbox->pending, operation, next);
	assert(sandbox->num_pending > 0);
	sandbox->num_pending--;
	free(operation->command);
	free(operation);
}

static void tag_sent(void *request, ucs_status_t status, void *user_data)
{
	ucp_request_free(request);
	operation_finish((struct operation *)user_data, ucx_side_error(status), 0);
}

static void tag_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *user_data)
{
	struct operation *operation = (struct operation *)user_data;
	size_t len = status == UCS_OK ? info->length : 0;

	answer_body(operation->answer)->tag = status == UCS_OK ? info->sender_tag : 0;
	ucp_request_free(request); /* info lies in it */
	operation_finish(operation, ucx_side_error(status), len);
}

/* ---- start of an operation ---- */

static doca_error_t start_send(struct urom_worker_ctx *ctx, struct operation *operation, const struct sandbox_command *command)
{
	struct sandbox *sandbox = operation->sandbox;
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = tag_sent,
		.user_data = operation,
	};
	struct ucx_endpoint *endpoint;
	void *address;
	doca_error_t result = doca_urom_worker_domain_addr_lookup(ctx, command->peer, &address);

	if (result == DOCA_SUCCESS)
		result = ucx_side_endpoint_get(&sandbox->ucx, address, &endpoint);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_WARN("a message to worker %llu of the domain cannot be sent: %s", (unsigned long long)command->peer,
			      result == DOCA_ERROR_NOT_FOUND ? "no domain of this worker has that worker"
							     : doca_error_get_descr(result));
		return result;
	}
	operation->request = ucp_tag_send_nbx(endpoint->ep, command->data, command->len, command->tag, &param);
	return DOCA_SUCCESS;
}

/* info is set if the message had arrived before. */
static void start_receive(struct operation *operation, const struct sandbox_command *command, ucp_tag_recv_info_t *info)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.recv = tag_received,
		.user_data = operation,
	};

	/* A receive that completes inline gets the message found here. UCX 1.13 does not set recv_info then. */
	(void)ucp_tag_probe_nb(operation->sandbox->ucx.worker, command->tag, command->tag_mask, 0, info);
	operation->request = ucp_tag_recv_nbx(operation->sandbox->ucx.worker, answer_body(operation->answer)->data, command->len,
					      command->tag, command->tag_mask, &param);
}

static void operation_start(struct urom_worker_ctx *ctx, struct operation *operation, const struct sandbox_command *command)
{
	ucp_tag_recv_info_t info = {0};
	doca_error_t result = DOCA_SUCCESS;

	if (command->type == SANDBOX_SEND)
		result = start_send(ctx, operation, command);
	else
		start_receive(operation, command, &info);
	if (result == DOCA_SUCCESS && UCS_PTR_IS_PTR(operation->request))
		return;
	/* Completed or failed inline: there is no callback. */
	if (result == DOCA_SUCCESS)
		result = ucx_side_error(UCS_PTR_STATUS(operation->request));
	answer_body(operation->answer)->tag = info.sender_tag;
	operation_finish(operation, result, result == DOCA_SUCCESS ? info.length : 0);
}

/* Returns the size of the answer's body; 0: not a valid command. */
static size_t answer_size(const struct urom_worker_cmd *cmd, const struct sandbox_command *command)
{
	if (cmd->len < sizeof(*command))
		return 0;
	if (command->type == SANDBOX_SEND && command->len == cmd->len - sizeof(*command))
		return sizeof(struct sandbox_notification);
	if (command->type == SANDBOX_RECEIVE && cmd->len == sizeof(*command) && command->len <= SANDBOX_LEN_MAX)
		return sizeof(struct sandbox_notification) + command->len;
	return 0;
}

static doca_error_t command_reject(struct sandbox *sandbox, struct urom_worker_cmd_desc *desc, doca_error_t status)
{
	struct urom_worker_notif_desc *answer = answer_create(desc, 0);

	free(desc);
	if (answer == NULL)
		return DOCA_ERROR_NO_MEMORY;
	answer->worker_notif.status = status;
	ucs_list_add_tail(&sandbox->answers, &answer->entry);
	return DOCA_SUCCESS;
}

static doca_error_t command_execute(struct urom_worker_ctx *ctx, struct sandbox *sandbox, struct urom_worker_cmd_desc *desc)
{
	const struct sandbox_command *command = (const struct sandbox_command *)(const void *)desc->worker_cmd.plugin_cmd;
	size_t size = answer_size(&desc->worker_cmd, command);

	if (size == 0)
		return command_reject(sandbox, desc, DOCA_ERROR_INVALID_VALUE);
	if (sandbox->num_pending == PENDING_MAX)
		return command_reject(sandbox, desc, DOCA_ERROR_FULL);
	struct operation *operation = (struct operation *)calloc(1, sizeof(*operation));
	struct urom_worker_notif_desc *answer = answer_create(desc, size);
	if (operation == NULL || answer == NULL) {
		free(operation);
		free(answer);
		return command_reject(sandbox, desc, DOCA_ERROR_NO_MEMORY);
	}
	*operation = (struct operation){.sandbox = sandbox, .command = desc, .answer = answer};
	answer_body(answer)->type = command->type;
	TAILQ_INSERT_TAIL(&sandbox->pending, operation, next);
	sandbox->num_pending++;
	operation_start(ctx, operation, command);
	return DOCA_SUCCESS;
}

/* ---- plugin interface ---- */

static doca_error_t sandbox_open(struct urom_worker_ctx *ctx)
{
	struct sandbox *sandbox = (struct sandbox *)calloc(1, sizeof(*sandbox));

	if (sandbox == NULL)
		return DOCA_ERROR_NO_MEMORY;
	TAILQ_INIT(&sandbox->pending);
	ucs_list_head_init(&sandbox->answers);
	doca_error_t result = ucx_side_open(&sandbox->ucx, UCP_FEATURE_TAG);
	if (result != DOCA_SUCCESS)
		free(sandbox);
	else
		ctx->plugin_ctx = sandbox;
	return result;
}

/* Cancels the client's receives, so that they consume no other client's message. Its sends continue. */
void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id)
{
	struct sandbox *sandbox = (struct sandbox *)ctx->plugin_ctx;
	struct operation *operation, *next;

	for (operation = TAILQ_FIRST(&sandbox->pending); operation != NULL; operation = next) {
		next = TAILQ_NEXT(operation, next); /* a receive ends within the call */
		if (operation->command->dest_id == dest_id)
			ucp_request_cancel(sandbox->ucx.worker, operation->request);
	}
}

static void sandbox_close(struct urom_worker_ctx *ctx)
{
	struct sandbox *sandbox = (struct sandbox *)ctx->plugin_ctx;
	struct operation *operation, *next;

	for (operation = TAILQ_FIRST(&sandbox->pending); operation != NULL; operation = next) {
		next = TAILQ_NEXT(operation, next); /* a receive may end within the call */
		ucp_request_cancel(sandbox->ucx.worker, operation->request);
	}
	ucx_side_close(&sandbox->ucx);
	while ((operation = TAILQ_FIRST(&sandbox->pending)) != NULL)
		operation_finish(operation, DOCA_ERROR_CONNECTION_ABORTED, 0);
	answers_free(&sandbox->answers);
	free(sandbox);
}

static doca_error_t sandbox_addr(struct urom_worker_ctx *ctx, void *addr, size_t *addr_len)
{
	return ucx_side_copy_address(&((const struct sandbox *)ctx->plugin_ctx)->ucx, addr, addr_len);
}

static doca_error_t sandbox_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list)
{
	doca_error_t result = DOCA_SUCCESS;

	while (!ucs_list_is_empty(cmd_list)) {
		struct urom_worker_cmd_desc *desc = ucs_list_extract_head(cmd_list, struct urom_worker_cmd_desc, entry);
		doca_error_t one = command_execute(ctx, (struct sandbox *)ctx->plugin_ctx, desc);

		if (one != DOCA_SUCCESS)
			result = one;
	}
	return result;
}

static doca_error_t sandbox_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list)
{
	struct sandbox *sandbox = (struct sandbox *)ctx->plugin_ctx;
	bool moved = ucx_side_progress(&sandbox->ucx) != 0;

	return answers_hand_over(&sandbox->answers, notif_list) == DOCA_SUCCESS || moved ? DOCA_SUCCESS : DOCA_ERROR_EMPTY;
}

doca_error_t urom_plugin_get_version(uint64_t *version)
{
	if (version == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*version = SANDBOX_VERSION;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	if (iface == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	DOCA_STRUCT_CTOR(*iface);
	iface->open = sandbox_open;
	iface->close = sandbox_close;
	iface->addr = sandbox_addr;
	iface->worker_cmd = sandbox_worker_cmd;
	iface->progress = sandbox_progress;
	iface->notif_pack = answer_pack;
	return DOCA_SUCCESS;
}
