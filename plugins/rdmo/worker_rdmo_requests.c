/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "worker_rdmo.h"

DOCA_LOG_REGISTER(UROM_WORKER::RDMO::REQUESTS);

/* ---- responses ---- */

static void response_sent(void *request, ucs_status_t status, void *user_data)
{
	(void)status; /* if it fails, the initiator has ended */
	free(user_data);
	ucp_request_free(request);
}

void rdmo_respond(ucp_ep_h ep, uint64_t queue, uint64_t number, doca_error_t status)
{
	struct rdmo_response_head *head = (struct rdmo_response_head *)malloc(sizeof(*head));

	if (head == NULL) {
		DOCA_LOG_ERR("no memory for the answer to a flush");
		return;
	}
	*head = (struct rdmo_response_head){queue, number, status};
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = response_sent,
		.user_data = head,
	};
	ucs_status_ptr_t request = ucp_am_send_nbx(ep, RDMO_AM_RESPONSE, head, sizeof(*head), NULL, 0, &param);
	if (!UCS_PTR_IS_PTR(request))
		free(head);
}

/* ---- arrivals ---- */

static struct rdmo_client *find_client(const struct rdmo *rdmo, uint64_t id)
{
	struct rdmo_client *client;

	LIST_FOREACH (client, &rdmo->clients, next) {
		if (client->id == id)
			return client;
	}
	return NULL;
}

static bool well_formed(const struct rdmo_request_head *head, size_t len)
{
	if ((head->flags & ~RDMO_FLAG_FENCE) != 0 || len > RDMO_DATA_MAX)
		return false;
	switch (head->operation) {
	case RDMO_FLUSH:
		return len == 0;
	case RDMO_APPEND:
		return len != 0 && head->pointer % sizeof(uint64_t) == 0;
	case RDMO_SCATTER:
		return head->num_pieces != 0 && head->num_pieces <= len / sizeof(struct rdmo_piece_head);
	default:
		return false;
	}
}

/* Accepts a request to an existing queue. */
static doca_error_t request_accept(struct rdmo *rdmo, struct rdmo_client *client, struct rdmo_queue *queue,
				   const struct rdmo_request_head *head, const void *data, size_t len)
{
	bool in_order = head->number == queue->last_request + 1;

	queue->last_request = head->number;
	if (!in_order)
		return DOCA_ERROR_UNEXPECTED;
	if (!well_formed(head, len))
		return DOCA_ERROR_INVALID_VALUE;
	if (rdmo->num_requests == RDMO_REQUESTS_MAX || len > RDMO_BYTES_MAX - rdmo->num_bytes)
		return DOCA_ERROR_FULL;
	struct rdmo_request *request = (struct rdmo_request *)malloc(sizeof(*request) + len);
	if (request == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*request = (struct rdmo_request){.client = client, .head = *head, .len = len};
	if (len != 0)
		memcpy(request->data, data, len);
	rdmo->num_requests++;
	rdmo->num_bytes += len;
	TAILQ_INSERT_TAIL(&client->requests, request, next);
	return DOCA_SUCCESS;
}

/* Any process can send anything, so the number of lines is limited. */
static void request_complain(struct rdmo *rdmo, const char *what)
{
	if (rdmo->num_complaints < RDMO_COMPLAINTS_MAX)
		DOCA_LOG_WARN("rejected a request: %s%s", what,
			      rdmo->num_complaints + 1 < RDMO_COMPLAINTS_MAX ? "" : "; further ones are not logged");
	rdmo->num_complaints++;
}

/* A rejected flush gets an answer, because its initiator waits. */
static void request_reject(struct rdmo *rdmo, const struct rdmo_request_head *head, ucp_ep_h reply, doca_error_t status)
{
	request_complain(rdmo, status == DOCA_ERROR_NOT_FOUND ? "no client has such a queue" : doca_error_get_descr(status));
	if (head->operation == RDMO_FLUSH && reply != NULL)
		rdmo_respond(reply, head->queue, head->number, status);
}

ucs_status_t rdmo_receive(void *arg, const void *header, size_t header_len, void *data, size_t len,
			  const ucp_am_recv_param_t *param)
{
	struct rdmo *rdmo = (struct rdmo *)arg;
	struct rdmo_request_head head;

	if (rdmo->closing)
		return UCS_OK;
	if (header_len != sizeof(head)) {
		request_complain(rdmo, "its header has the wrong size");
		return UCS_OK;
	}
	memcpy(&head, header, sizeof(head));
	ucp_ep_h reply = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0 ? param->reply_ep : NULL;
	struct rdmo_client *client = find_client(rdmo, head.client);
	struct rdmo_queue *queue = client != NULL ? rdmo_queue_find(client, head.queue) : NULL;
	if (queue == NULL) {
		request_reject(rdmo, &head, reply, DOCA_ERROR_NOT_FOUND);
		return UCS_OK;
	}
	/* With rendezvous the data would arrive later and out of order, so initiators send eagerly. */
	doca_error_t result = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0
				      ? DOCA_ERROR_NOT_SUPPORTED
				      : request_accept(rdmo, client, queue, &head, data, len);
	if (result != DOCA_SUCCESS) {
		if (queue->status == DOCA_SUCCESS)
			queue->status = result;
		request_reject(rdmo, &head, queue->endpoint->ep, result);
	}
	rdmo_run(client);
	return UCS_OK;
}

/* ---- execution order ---- */

void rdmo_note(const struct rdmo_request *request, doca_error_t status)
{
	struct rdmo_queue *queue = rdmo_queue_find(request->client, request->head.queue);

	if (queue != NULL && queue->status == DOCA_SUCCESS)
		queue->status = status;
}

void rdmo_run(struct rdmo_client *client)
{
	struct rdmo_request *request;

	while (!client->busy && !client->rdmo->closing && (request = TAILQ_FIRST(&client->requests)) != NULL) {
		if (!rdmo_step(client, request))
			continue;
		TAILQ_REMOVE(&client->requests, request, next);
		client->stage = RDMO_BEGIN;
		request->done = true;
		if (request->num_puts == 0)
			rdmo_request_free(request);
	}
	rdmo_regions_sweep(client);
}

void rdmo_requests_free(struct rdmo_client *client)
{
	struct rdmo_request *request;

	while ((request = TAILQ_FIRST(&client->requests)) != NULL) {
		TAILQ_REMOVE(&client->requests, request, next);
		rdmo_request_free(request);
	}
}
