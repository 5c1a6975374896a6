/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "worker_rdmo.h"

void rdmo_request_free(struct rdmo_request *request)
{
	struct rdmo *rdmo = request->client->rdmo;

	rdmo->num_requests--;
	assert(request->len <= rdmo->num_bytes);
	rdmo->num_bytes -= request->len;
	free(request);
}

static bool region_holds(const struct rdmo_region *region, uint64_t address, uint64_t len)
{
	return address >= region->va && len <= region->len && address - region->va <= region->len - len;
}

/* ---- steps: one at a time for each client ---- */

static void step_done(void *request, ucs_status_t status, void *user_data)
{
	struct rdmo_client *client = (struct rdmo_client *)user_data;

	ucp_request_free(request);
	client->busy = false;
	client->step_status = status;
	rdmo_run(client);
}

static const ucp_request_param_t *step_param(struct rdmo_client *client, ucp_request_param_t *param)
{
	*param = (ucp_request_param_t){
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = step_done,
		.user_data = client,
	};
	return param;
}

static void step_begun(struct rdmo_client *client, ucs_status_ptr_t request, enum rdmo_stage then)
{
	client->stage = then;
	client->busy = UCS_PTR_IS_PTR(request);
	if (!client->busy)
		client->step_status = UCS_PTR_STATUS(request);
}

static void begin_fence(struct rdmo_client *client)
{
	ucp_request_param_t param;

	step_begun(client, ucp_ep_flush_nbx(client->endpoint->ep, step_param(client, &param)), RDMO_FENCED);
}

/* Sets word to the old value in memory. For CSWAP, operand is the expected value and word the new one. */
static void begin_atomic(struct rdmo_client *client, ucp_atomic_op_t operation, struct rdmo_region *region,
			 struct rdmo_pointer *pointer, enum rdmo_stage then)
{
	ucp_request_param_t param;

	(void)step_param(client, &param);
	param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
	param.datatype = ucp_dt_make_contig(sizeof(client->word));
	param.reply_buffer = &client->word;
	client->step_pointer = pointer;
	region->used = true;
	step_begun(
		client,
		ucp_atomic_op_nbx(client->endpoint->ep, operation, &client->operand, 1, pointer->address, region->rkey, &param),
		then);
}

/* ---- puts ---- */

static void put_done(void *ucx_request, ucs_status_t status, void *user_data)
{
	struct rdmo_request *request = (struct rdmo_request *)user_data;
	struct rdmo_client *client = request->client;

	ucp_request_free(ucx_request);
	if (status != UCS_OK)
		rdmo_note(request, ucx_side_error(status));
	assert(client->num_puts > 0);
	client->num_puts--;
	assert(request->num_puts > 0);
	request->num_puts--;
	if (request->num_puts == 0 && request->done)
		rdmo_request_free(request);
	rdmo_regions_sweep(client);
}

/* data is part of the request. */
static doca_error_t data_put(struct rdmo_request *request, struct rdmo_region *region, uint64_t address, const void *data,
			     size_t len)
{
	struct rdmo_client *client = request->client;
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = put_done,
		.user_data = request,
	};

	if (!region_holds(region, address, len))
		return DOCA_ERROR_INVALID_VALUE;
	region->used = true;
	ucs_status_ptr_t status = ucp_put_nbx(client->endpoint->ep, data, len, address, region->rkey, &param);
	if (!UCS_PTR_IS_PTR(status))
		return ucx_side_error(UCS_PTR_STATUS(status));
	client->num_puts++;
	request->num_puts++;
	return DOCA_SUCCESS;
}

/* ---- append ---- */

void rdmo_pointer_drop(struct rdmo_client *client, struct rdmo_pointer *pointer)
{
	LIST_REMOVE(pointer, next);
	assert(client->num_pointers > 0);
	client->num_pointers--;
	free(pointer);
}

static struct rdmo_pointer *find_pointer(const struct rdmo_client *client, const struct rdmo_request_head *head)
{
	struct rdmo_pointer *pointer;

	LIST_FOREACH (pointer, &client->pointers, next) {
		if (pointer->address == head->pointer && pointer->region == head->pointer_region)
			return pointer;
	}
	return NULL;
}

static doca_error_t read_pointer(struct rdmo_client *client, const struct rdmo_request_head *head)
{
	struct rdmo_region *region = rdmo_region_find(client, head->pointer_region);

	if (region == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if (!region_holds(region, head->pointer, sizeof(uint64_t)))
		return DOCA_ERROR_INVALID_VALUE;
	if (client->num_pointers == RDMO_POINTERS_MAX)
		return DOCA_ERROR_FULL;
	struct rdmo_pointer *pointer = (struct rdmo_pointer *)calloc(1, sizeof(*pointer));
	if (pointer == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pointer->address = head->pointer;
	pointer->region = head->pointer_region;
	LIST_INSERT_HEAD(&client->pointers, pointer, next);
	client->num_pointers++;
	client->operand = 0; /* adding 0 is an atomic read */
	begin_atomic(client, UCP_ATOMIC_OP_ADD, region, pointer, RDMO_READ);
	return DOCA_SUCCESS;
}

static doca_error_t data_append(struct rdmo_request *request, struct rdmo_pointer *pointer)
{
	struct rdmo_region *region = rdmo_region_find(request->client, request->head.data_region);

	if (region == NULL)
		return DOCA_ERROR_NOT_FOUND;
	doca_error_t result = data_put(request, region, pointer->base + pointer->moved, request->data, request->len);
	if (result == DOCA_SUCCESS)
		pointer->moved += request->len;
	return result;
}

/* Returns true if it is done or failed. */
static bool step_append(struct rdmo_client *client, struct rdmo_request *request)
{
	struct rdmo_pointer *pointer = find_pointer(client, &request->head);
	doca_error_t result = pointer == NULL ? read_pointer(client, &request->head) : data_append(request, pointer);

	if (result != DOCA_SUCCESS)
		rdmo_note(request, result);
	return pointer != NULL || result != DOCA_SUCCESS;
}

/* ---- scatter ---- */

static doca_error_t pieces_scatter(struct rdmo_request *request)
{
	const uint8_t *place = request->data;
	size_t left = request->len;

	for (uint64_t i = 0; i < request->head.num_pieces; i++) {
		struct rdmo_piece_head piece;

		if (left < sizeof(piece))
			return DOCA_ERROR_INVALID_VALUE;
		memcpy(&piece, place, sizeof(piece));
		left -= sizeof(piece);
		if (piece.len == 0 || piece.len > left)
			return DOCA_ERROR_INVALID_VALUE;
		struct rdmo_region *region = rdmo_region_find(request->client, piece.region);
		doca_error_t result = region != NULL ? data_put(request, region, piece.address, place + sizeof(piece), piece.len)
						     : DOCA_ERROR_NOT_FOUND;
		if (result != DOCA_SUCCESS)
			return result;
		place += sizeof(piece) + piece.len;
		left -= piece.len;
	}
	return left == 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* ---- flush ---- */

static void response_send(const struct rdmo_request *request)
{
	struct rdmo_queue *queue = rdmo_queue_find(request->client, request->head.queue);

	if (queue == NULL) /* destroyed meanwhile: its flushes were answered */
		return;
	rdmo_respond(queue->endpoint->ep, queue->number, request->head.number, queue->status);
	queue->status = DOCA_SUCCESS;
}

/* Called when all data are in memory: writes the next pointer. Returns true if none is left. */
static bool step_flush(struct rdmo_client *client, struct rdmo_request *request)
{
	struct rdmo_pointer *pointer;

	while ((pointer = LIST_FIRST(&client->pointers)) != NULL) {
		struct rdmo_region *region = rdmo_region_find(client, pointer->region);

		if (region != NULL && pointer->moved != 0) {
			client->operand = pointer->base;
			client->word = pointer->base + pointer->moved;
			begin_atomic(client, UCP_ATOMIC_OP_CSWAP, region, pointer, RDMO_WRITTEN);
			return false;
		}
		if (region == NULL)
			rdmo_note(request, DOCA_ERROR_NOT_FOUND);
		rdmo_pointer_drop(client, pointer);
	}
	response_send(request);
	return true;
}

/* ---- one step ---- */

static bool step_ready(struct rdmo_client *client, struct rdmo_request *request)
{
	doca_error_t result;

	switch (request->head.operation) {
	case RDMO_APPEND:
		return step_append(client, request);
	case RDMO_SCATTER:
		result = pieces_scatter(request);
		if (result != DOCA_SUCCESS)
			rdmo_note(request, result);
		return true;
	default:
		return step_flush(client, request);
	}
}

/* Continues or fails an append after its pointer was read. */
static bool step_read(struct rdmo_client *client, struct rdmo_request *request)
{
	client->stage = RDMO_READY;
	if (client->step_status == UCS_OK) {
		client->step_pointer->base = client->word;
		return false;
	}
	rdmo_note(request, ucx_side_error(client->step_status));
	rdmo_pointer_drop(client, client->step_pointer);
	return true;
}

static bool step_written(struct rdmo_client *client, struct rdmo_request *request)
{
	client->stage = RDMO_READY;
	if (client->step_status != UCS_OK)
		rdmo_note(request, ucx_side_error(client->step_status));
	else if (client->word != client->step_pointer->base) /* another writer changed it: appended data may be lost */
		rdmo_note(request, DOCA_ERROR_IN_USE);
	rdmo_pointer_drop(client, client->step_pointer);
	return false;
}

bool rdmo_step(struct rdmo_client *client, struct rdmo_request *request)
{
	switch (client->stage) {
	case RDMO_BEGIN:
		if (request->head.operation == RDMO_FLUSH || (request->head.flags & RDMO_FLAG_FENCE) != 0)
			begin_fence(client);
		else
			client->stage = RDMO_READY;
		return false;
	case RDMO_FENCED:
		if (client->step_status != UCS_OK)
			rdmo_note(request, ucx_side_error(client->step_status));
		else if (client->endpoint->failed) /* UCX has nothing to flush, and puts may be lost */
			rdmo_note(request, DOCA_ERROR_CONNECTION_ABORTED);
		client->stage = RDMO_READY;
		return false;
	case RDMO_READ:
		return step_read(client, request);
	case RDMO_WRITTEN:
		return step_written(client, request);
	default:
		return step_ready(client, request);
	}
}
