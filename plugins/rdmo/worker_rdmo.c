/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's half of the rdmo plugin: the worker executes initiators' requests in the memory of its host's program. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <softfield/urom_plugin.h>

#include "answer.h"
#include "worker_rdmo.h"

doca_error_t urom_plugin_get_version(uint64_t *version);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

/* ---- objects of a client ---- */

struct rdmo_queue *rdmo_queue_find(const struct rdmo_client *client, uint64_t number)
{
	struct rdmo_queue *queue;

	LIST_FOREACH (queue, &client->queues, next) {
		if (queue->number == number)
			return queue;
	}
	return NULL;
}

struct rdmo_region *rdmo_region_find(const struct rdmo_client *client, uint64_t number)
{
	struct rdmo_region *region;

	LIST_FOREACH (region, &client->regions, next) {
		if (region->number == number && !region->gone)
			return region;
	}
	return NULL;
}

static void free_region(struct rdmo_client *client, struct rdmo_region *region)
{
	LIST_REMOVE(region, next);
	assert(client->num_regions > 0);
	client->num_regions--;
	ucp_rkey_destroy(region->rkey);
	free(region);
}

void rdmo_regions_sweep(struct rdmo_client *client)
{
	struct rdmo_region *region, *next;

	if (client->num_puts != 0 || client->busy)
		return;
	for (region = LIST_FIRST(&client->regions); region != NULL; region = next) {
		next = LIST_NEXT(region, next);
		if (region->gone)
			free_region(client, region);
	}
}

static void free_queue(struct rdmo_client *client, struct rdmo_queue *queue)
{
	LIST_REMOVE(queue, next);
	assert(client->num_queues > 0);
	client->num_queues--;
	free(queue);
}

static struct rdmo_client *client_of(const struct rdmo *rdmo, uint64_t dest_id)
{
	struct rdmo_client *client;

	LIST_FOREACH (client, &rdmo->clients, next) {
		if (client->dest_id == dest_id)
			return client;
	}
	return NULL;
}

/* Called after closing the endpoints: nothing is in flight. */
static void free_client(struct rdmo_client *client)
{
	rdmo_requests_free(client);
	while (!LIST_EMPTY(&client->queues))
		free_queue(client, LIST_FIRST(&client->queues));
	while (!LIST_EMPTY(&client->regions))
		free_region(client, LIST_FIRST(&client->regions));
	while (!LIST_EMPTY(&client->pointers))
		rdmo_pointer_drop(client, LIST_FIRST(&client->pointers));
	LIST_REMOVE(client, next);
	free(client);
}

/* Answers pending flushes; other requests are still executed if their client exists. */
static void end_queue(struct rdmo_client *client, struct rdmo_queue *queue)
{
	const struct rdmo_request *request;

	TAILQ_FOREACH (request, &client->requests, next) {
		if (request->head.queue == queue->number && request->head.operation == RDMO_FLUSH)
			rdmo_respond(queue->endpoint->ep, queue->number, request->head.number, DOCA_ERROR_NOT_FOUND);
	}
	struct ucx_endpoint *endpoint = queue->endpoint;
	free_queue(client, queue);
	ucx_side_release(&client->rdmo->ucx, endpoint); /* this may close it, and requests may arrive meanwhile */
}

static void sweep_left(struct rdmo *rdmo)
{
	struct rdmo_client *client, *next;

	for (client = LIST_FIRST(&rdmo->left); client != NULL; client = next) {
		next = LIST_NEXT(client, next);
		if (client->num_puts == 0 && client->num_removals == 0 && !client->busy)
			free_client(client);
	}
}

/* Frees the id immediately; operations in flight end by themselves or with the endpoint. */
static void remove_client(struct rdmo_client *client)
{
	struct rdmo *rdmo = client->rdmo;

	while (!LIST_EMPTY(&client->queues))
		end_queue(client, LIST_FIRST(&client->queues));
	rdmo_requests_free(client);
	LIST_REMOVE(client, next);
	LIST_INSERT_HEAD(&rdmo->left, client, next);
	assert(rdmo->num_clients > 0);
	rdmo->num_clients--;
	client->has_left = true;
	ucx_side_drop(&rdmo->ucx, client->endpoint);
	sweep_left(rdmo);
}

/* ---- commands ---- */

static doca_error_t init_client(struct rdmo *rdmo, uint64_t dest_id, const struct rdmo_command *command)
{
	struct rdmo_client *client;
	struct ucx_endpoint *endpoint;

	if (client_of(rdmo, dest_id) != NULL)
		return DOCA_ERROR_ALREADY_EXIST;
	LIST_FOREACH (client, &rdmo->clients, next) {
		if (client->id == command->number)
			return DOCA_ERROR_ALREADY_EXIST;
	}
	if (rdmo->num_clients == RDMO_CLIENTS_MAX)
		return DOCA_ERROR_FULL;
	doca_error_t result = ucx_side_endpoint_get_untrusted(&rdmo->ucx, command->blob, command->blob_len, &endpoint);
	if (result != DOCA_SUCCESS)
		return result;
	client = (struct rdmo_client *)calloc(1, sizeof(*client));
	if (client == NULL)
		return DOCA_ERROR_NO_MEMORY;
	client->rdmo = rdmo;
	client->id = command->number;
	client->dest_id = dest_id;
	client->endpoint = endpoint;
	ucx_side_hold(endpoint);
	TAILQ_INIT(&client->requests);
	LIST_INSERT_HEAD(&rdmo->clients, client, next);
	rdmo->num_clients++;
	return DOCA_SUCCESS;
}

static doca_error_t create_queue(struct rdmo_client *client, const struct rdmo_command *command, uint64_t *number)
{
	struct ucx_endpoint *endpoint;

	if (client->num_queues == RDMO_QUEUES_MAX)
		return DOCA_ERROR_FULL;
	doca_error_t result = ucx_side_endpoint_get_untrusted(&client->rdmo->ucx, command->blob, command->blob_len, &endpoint);
	if (result != DOCA_SUCCESS)
		return result;
	struct rdmo_queue *queue = (struct rdmo_queue *)calloc(1, sizeof(*queue));
	if (queue == NULL)
		return DOCA_ERROR_NO_MEMORY;
	do { /* the random number is the permission to use the queue */
		if (getrandom(&queue->number, sizeof(queue->number), 0) != sizeof(queue->number)) {
			free(queue);
			return DOCA_ERROR_OPERATING_SYSTEM;
		}
	} while (queue->number == 0 || rdmo_queue_find(client, queue->number) != NULL);
	queue->endpoint = endpoint;
	ucx_side_hold(endpoint);
	LIST_INSERT_HEAD(&client->queues, queue, next);
	client->num_queues++;
	*number = queue->number;
	return DOCA_SUCCESS;
}

static doca_error_t destroy_queue(struct rdmo_client *client, const struct rdmo_command *command, uint64_t *number)
{
	struct rdmo_queue *queue = rdmo_queue_find(client, command->number);

	if (queue == NULL)
		return DOCA_ERROR_NOT_FOUND;
	*number = queue->number;
	end_queue(client, queue);
	return DOCA_SUCCESS;
}

static doca_error_t register_region(struct rdmo_client *client, const struct rdmo_command *command, uint64_t *number)
{
	if (command->len == 0 || command->va > UINT64_MAX - command->len)
		return DOCA_ERROR_INVALID_VALUE;
	if (client->num_regions == RDMO_REGIONS_MAX)
		return DOCA_ERROR_FULL;
	struct rdmo_region *region = (struct rdmo_region *)calloc(1, sizeof(*region));
	if (region == NULL)
		return DOCA_ERROR_NO_MEMORY;
	doca_error_t result = ucx_side_unpack_said(client->endpoint, command->blob, command->blob_len, &region->rkey);
	if (result != DOCA_SUCCESS) {
		free(region);
		return result;
	}
	region->number = ++client->last_region;
	region->va = command->va;
	region->len = command->len;
	LIST_INSERT_HEAD(&client->regions, region, next);
	client->num_regions++;
	*number = region->number;
	return DOCA_SUCCESS;
}

static void client_removed(void *request, ucs_status_t status, void *user_data)
{
	struct rdmo_removal *removal = (struct rdmo_removal *)user_data;
	struct rdmo_client *client = removal->client;

	ucp_request_free(request);
	assert(client->num_removals > 0);
	client->num_removals--;
	if (client->has_left) {
		free(removal->answer);
	} else {
		removal->answer->worker_notif.status = ucx_side_error(status);
		ucs_list_add_tail(&client->rdmo->answers, &removal->answer->entry);
	}
	free(removal);
}

/* UCX completes a put when it is sent, before it is in memory: a flush precedes the answer. IN_PROGRESS: the answer follows. */
static doca_error_t await_landing(struct rdmo_client *client, struct urom_worker_notif_desc *answer)
{
	if (client->endpoint->failed) /* UCX does not report what arrived */
		return DOCA_ERROR_CONNECTION_ABORTED;
	struct rdmo_removal *removal = (struct rdmo_removal *)malloc(sizeof(*removal));
	if (removal == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*removal = (struct rdmo_removal){client, answer};
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = client_removed,
		.user_data = removal,
	};
	ucs_status_ptr_t request = ucp_ep_flush_nbx(client->endpoint->ep, &param);
	if (!UCS_PTR_IS_PTR(request)) {
		free(removal);
		return ucx_side_error(UCS_PTR_STATUS(request));
	}
	client->num_removals++;
	return DOCA_ERROR_IN_PROGRESS;
}

static doca_error_t deregister_region(struct rdmo_client *client, const struct rdmo_command *command,
				      struct urom_worker_notif_desc *answer, uint64_t *number)
{
	struct rdmo_region *region = rdmo_region_find(client, command->number);

	if (region == NULL)
		return DOCA_ERROR_NOT_FOUND;
	*number = region->number;
	doca_error_t result = region->used ? await_landing(client, answer) : DOCA_SUCCESS;
	if (result == DOCA_ERROR_NO_MEMORY) /* the region still exists */
		return result;
	region->gone = true;
	rdmo_regions_sweep(client);
	return result;
}

/* IN_PROGRESS: the answer follows later. */
static doca_error_t carry_out(struct rdmo *rdmo, uint64_t dest_id, const struct rdmo_command *command,
			      struct urom_worker_notif_desc *answer, uint64_t *number)
{
	struct rdmo_client *client = client_of(rdmo, dest_id);
	bool has_blob = command->type == RDMO_CLIENT_INIT || command->type == RDMO_RQ_CREATE || command->type == RDMO_MR_REGISTER;

	if (command->type < RDMO_CLIENT_INIT || command->type > RDMO_MR_DEREGISTER || (command->blob_len != 0) != has_blob)
		return DOCA_ERROR_INVALID_VALUE;
	if (command->type == RDMO_CLIENT_INIT)
		return init_client(rdmo, dest_id, command);
	if (client == NULL)
		return DOCA_ERROR_BAD_STATE; /* RDMO_CLIENT_INIT is missing */
	switch (command->type) {
	case RDMO_RQ_CREATE:
		return create_queue(client, command, number);
	case RDMO_RQ_DESTROY:
		return destroy_queue(client, command, number);
	case RDMO_MR_REGISTER:
		return register_region(client, command, number);
	default:
		return deregister_region(client, command, answer, number);
	}
}

static doca_error_t command_execute(struct rdmo *rdmo, const struct urom_worker_cmd_desc *desc)
{
	const struct rdmo_command *command = (const struct rdmo_command *)(const void *)desc->worker_cmd.plugin_cmd;
	const bool whole =
		desc->worker_cmd.len >= sizeof(*command) && command->blob_len == desc->worker_cmd.len - sizeof(*command);
	struct urom_worker_notif_desc *answer = answer_create(desc, sizeof(struct rdmo_notification) + rdmo->ucx.address_len);

	if (answer == NULL)
		return DOCA_ERROR_NO_MEMORY;
	struct rdmo_notification *body = (struct rdmo_notification *)(void *)answer->worker_notif.plugin_notif;
	answer->worker_notif.len = sizeof(*body);
	if (whole)
		body->type = command->type;
	doca_error_t result = whole ? carry_out(rdmo, desc->dest_id, command, answer, &body->number) : DOCA_ERROR_INVALID_VALUE;
	if (result == DOCA_ERROR_IN_PROGRESS)
		return DOCA_SUCCESS;
	answer->worker_notif.status = result;
	if (whole && command->type == RDMO_CLIENT_INIT && result == DOCA_SUCCESS) {
		body->blob_len = rdmo->ucx.address_len;
		memcpy(body->blob, rdmo->ucx.address, rdmo->ucx.address_len);
		answer->worker_notif.len += body->blob_len;
	}
	ucs_list_add_tail(&rdmo->answers, &answer->entry);
	return DOCA_SUCCESS;
}

/* ---- plugin interface ---- */

static doca_error_t rdmo_open(struct urom_worker_ctx *ctx)
{
	struct rdmo *rdmo = (struct rdmo *)calloc(1, sizeof(*rdmo));

	if (rdmo == NULL)
		return DOCA_ERROR_NO_MEMORY;
	LIST_INIT(&rdmo->clients);
	LIST_INIT(&rdmo->left);
	ucs_list_head_init(&rdmo->answers);
	/* With the new protocols, UCX's default since 1.16, emulated puts and atomics (over TCP) may never complete. */
	const struct ucx_side_setting setting = {"PROTO_ENABLE", "n"};
	doca_error_t result = ucx_side_open_with(&rdmo->ucx, UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64, &setting, 1);
	if (result != DOCA_SUCCESS) {
		free(rdmo);
		return result;
	}
	const ucp_am_handler_param_t param = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG |
			      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
		.id = RDMO_AM_REQUEST,
		.flags = UCP_AM_FLAG_WHOLE_MSG,
		.cb = rdmo_receive,
		.arg = rdmo,
	};
	ucs_status_t status = ucp_worker_set_am_recv_handler(rdmo->ucx.worker, &param);
	if (status != UCS_OK) {
		ucx_side_close(&rdmo->ucx);
		free(rdmo);
		return ucx_side_error(status);
	}
	ctx->plugin_ctx = rdmo;
	return DOCA_SUCCESS;
}

static void rdmo_close(struct urom_worker_ctx *ctx)
{
	struct rdmo *rdmo = (struct rdmo *)ctx->plugin_ctx;
	struct rdmo_client *client;
	struct rdmo_queue *queue;

	rdmo->closing = true;
	LIST_FOREACH (client, &rdmo->clients, next) {
		ucx_side_release(&rdmo->ucx, client->endpoint);
		LIST_FOREACH (queue, &client->queues, next)
			ucx_side_release(&rdmo->ucx, queue->endpoint);
	}
	ucx_side_close_endpoints(&rdmo->ucx);
	while (!LIST_EMPTY(&rdmo->clients))
		free_client(LIST_FIRST(&rdmo->clients));
	while (!LIST_EMPTY(&rdmo->left))
		free_client(LIST_FIRST(&rdmo->left));
	ucx_side_close(&rdmo->ucx);
	answers_free(&rdmo->answers);
	free(rdmo);
}

void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id)
{
	struct rdmo_client *client = client_of((const struct rdmo *)ctx->plugin_ctx, dest_id);

	if (client != NULL)
		remove_client(client);
}

static doca_error_t rdmo_addr(struct urom_worker_ctx *ctx, void *addr, size_t *addr_len)
{
	return ucx_side_copy_address(&((const struct rdmo *)ctx->plugin_ctx)->ucx, addr, addr_len);
}

static doca_error_t rdmo_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list)
{
	doca_error_t result = DOCA_SUCCESS;

	while (!ucs_list_is_empty(cmd_list)) {
		struct urom_worker_cmd_desc *desc = ucs_list_extract_head(cmd_list, struct urom_worker_cmd_desc, entry);
		doca_error_t one = command_execute((struct rdmo *)ctx->plugin_ctx, desc);

		if (one != DOCA_SUCCESS)
			result = one;
		free(desc);
	}
	return result;
}

static doca_error_t rdmo_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list)
{
	struct rdmo *rdmo = (struct rdmo *)ctx->plugin_ctx;
	bool moved = ucp_worker_progress(rdmo->ucx.worker) != 0;

	if (!LIST_EMPTY(&rdmo->left))
		sweep_left(rdmo);
	return answers_hand_over(&rdmo->answers, notif_list) == DOCA_SUCCESS || moved ? DOCA_SUCCESS : DOCA_ERROR_EMPTY;
}

doca_error_t urom_plugin_get_version(uint64_t *version)
{
	if (version == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*version = RDMO_VERSION;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	if (iface == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	DOCA_STRUCT_CTOR(*iface);
	iface->open = rdmo_open;
	iface->close = rdmo_close;
	iface->addr = rdmo_addr;
	iface->worker_cmd = rdmo_worker_cmd;
	iface->progress = rdmo_progress;
	iface->notif_pack = answer_pack;
	return DOCA_SUCCESS;
}
