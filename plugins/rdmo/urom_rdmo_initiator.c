/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "rdmo_proto.h"
#include "ucx_watch.h"
#include "urom_rdmo.h"

struct flush {
	TAILQ_ENTRY(flush) next;
	uint64_t number;
	union doca_data cookie;
	urom_rdmo_flush_finished finished;
};

struct urom_rdmo_queue {
	LIST_ENTRY(urom_rdmo_queue) next;
	struct urom_rdmo_initiator *initiator;
	ucp_ep_h ep, watch;
	bool failed;
	uint64_t client, number;
	uint64_t last_request;
	TAILQ_HEAD(, flush) flushes; /* in order of submission */
};

struct urom_rdmo_initiator {
	ucp_worker_h worker;
	LIST_HEAD(, urom_rdmo_queue) queues;
};

/* A request until it is sent. */
struct message {
	struct rdmo_request_head head;
	uint8_t data[];
};

/* ---- flushes ---- */

static void end_flush(struct urom_rdmo_queue *queue, struct flush *flush, doca_error_t result)
{
	TAILQ_REMOVE(&queue->flushes, flush, next);
	flush->finished(result, flush->cookie);
	free(flush);
}

static void end_flushes(struct urom_rdmo_queue *queue)
{
	while (!TAILQ_EMPTY(&queue->flushes))
		end_flush(queue, TAILQ_FIRST(&queue->flushes), DOCA_ERROR_CONNECTION_ABORTED);
}

static void command_answered(struct urom_rdmo_initiator *initiator, const struct rdmo_response_head *head)
{
	struct urom_rdmo_queue *queue;
	struct flush *flush;

	LIST_FOREACH (queue, &initiator->queues, next) {
		if (queue->number != head->queue)
			continue;
		TAILQ_FOREACH (flush, &queue->flushes, next) {
			if (flush->number != head->number)
				continue;
			end_flush(queue, flush,
				  head->status >= 0 && head->status < 64 ? (doca_error_t)head->status : DOCA_ERROR_UNEXPECTED);
			return;
		}
	}
}

static ucs_status_t response_receive(void *arg, const void *header, size_t header_len, void *data, size_t len,
				     const ucp_am_recv_param_t *param)
{
	struct rdmo_response_head head;

	(void)data;
	(void)len;
	(void)param;
	if (header_len == sizeof(head)) { /* any other is not ours */
		memcpy(&head, header, sizeof(head));
		command_answered((struct urom_rdmo_initiator *)arg, &head);
	}
	return UCS_OK;
}

/* ---- initiator and queue ---- */

static ucs_status_t set_handler(ucp_worker_h worker, ucp_am_recv_callback_t handler, void *arg)
{
	const ucp_am_handler_param_t param = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.id = RDMO_AM_RESPONSE,
		.cb = handler,
		.arg = arg,
	};

	return ucp_worker_set_am_recv_handler(worker, &param);
}

doca_error_t urom_rdmo_initiator_create(ucp_worker_h worker, struct urom_rdmo_initiator **initiator)
{
	struct urom_rdmo_initiator *made;

	if (worker == NULL || initiator == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	made = (struct urom_rdmo_initiator *)calloc(1, sizeof(*made));
	if (made == NULL)
		return DOCA_ERROR_NO_MEMORY;
	made->worker = worker;
	LIST_INIT(&made->queues);
	if (set_handler(worker, response_receive, made) != UCS_OK) {
		free(made);
		return DOCA_ERROR_DRIVER;
	}
	*initiator = made;
	return DOCA_SUCCESS;
}

void urom_rdmo_initiator_destroy(struct urom_rdmo_initiator *initiator)
{
	(void)set_handler(initiator->worker, NULL, NULL);
	free(initiator);
}

static void endpoint_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	struct urom_rdmo_queue *queue = (struct urom_rdmo_queue *)arg;

	(void)ep;
	(void)status;
	queue->failed = true;
	end_flushes(queue);
}

doca_error_t urom_rdmo_queue_open(struct urom_rdmo_initiator *initiator, const void *addr, uint64_t id, uint64_t number,
				  struct urom_rdmo_queue **out)
{
	if (initiator == NULL || addr == NULL || out == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	struct urom_rdmo_queue *queue = (struct urom_rdmo_queue *)calloc(1, sizeof(*queue));
	if (queue == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ucp_ep_params_t params = {
		.field_mask =
			UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.address = (const ucp_address_t *)addr,
		.err_mode = UCP_ERR_HANDLING_MODE_PEER,
		.err_handler = {endpoint_failed, queue},
	};
	queue->initiator = initiator;
	queue->client = id;
	queue->number = number;
	TAILQ_INIT(&queue->flushes);
	ucs_status_t status = ucp_ep_create(initiator->worker, &params, &queue->ep);
	if (status == UCS_OK)
		status = ucx_watch_open(initiator->worker, queue->ep, params.address, endpoint_failed, queue, &queue->watch);
	else if (status == UCS_ERR_UNREACHABLE) {
		/* shared memory without MM_ERROR_HANDLING: UCX does not detect the end of the worker */
		params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
		status = ucp_ep_create(initiator->worker, &params, &queue->ep);
	}
	if (status != UCS_OK) {
		ucx_endpoint_close_now(initiator->worker, queue->ep);
		free(queue);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	LIST_INSERT_HEAD(&initiator->queues, queue, next);
	*out = queue;
	return DOCA_SUCCESS;
}

void urom_rdmo_queue_close(struct urom_rdmo_queue *queue)
{
	LIST_REMOVE(queue, next);
	queue->failed = true; /* a flush's callback may send more requests */
	ucx_endpoint_close_now(queue->initiator->worker, queue->watch);
	ucx_endpoint_close_now(queue->initiator->worker, queue->ep);
	end_flushes(queue);
	free(queue);
}

/* ---- requests ---- */

static void message_sent(void *request, ucs_status_t status, void *user_data)
{
	(void)status; /* the next flush reports it */
	free(user_data);
	ucp_request_free(request);
}

static struct message *make_message(struct urom_rdmo_queue *queue, enum rdmo_operation operation, uint32_t flags, size_t len)
{
	struct message *message = (struct message *)calloc(1, sizeof(*message) + len);

	if (message == NULL)
		return NULL;
	message->head.client = queue->client;
	message->head.queue = queue->number;
	message->head.operation = operation;
	message->head.flags = flags;
	return message;
}

/* Sends eagerly, because requests must arrive in order. Frees the message in any case. */
static doca_error_t send_message(struct urom_rdmo_queue *queue, struct message *message, size_t len)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
		.flags = UCP_AM_SEND_FLAG_EAGER | (message->head.operation == RDMO_FLUSH ? UCP_AM_SEND_FLAG_REPLY : 0),
		.cb.send = message_sent,
		.user_data = message,
	};

	message->head.number = queue->last_request + 1;
	ucs_status_ptr_t request =
		ucp_am_send_nbx(queue->ep, RDMO_AM_REQUEST, &message->head, sizeof(message->head), message->data, len, &param);
	if (!UCS_PTR_IS_PTR(request))
		free(message);
	if (UCS_PTR_IS_ERR(request))
		return DOCA_ERROR_CONNECTION_ABORTED;
	queue->last_request++;
	return DOCA_SUCCESS;
}

doca_error_t urom_rdmo_append(struct urom_rdmo_queue *queue, uint32_t flags, uint64_t pointer, uint64_t pointer_region,
			      uint64_t data_region, const void *data, size_t len)
{
	if (queue == NULL || data == NULL || len == 0 || (flags & ~UROM_RDMO_FENCE) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (len > RDMO_DATA_MAX)
		return DOCA_ERROR_TOO_BIG;
	if (queue->failed)
		return DOCA_ERROR_CONNECTION_ABORTED;
	struct message *message = make_message(queue, RDMO_APPEND, flags, len);
	if (message == NULL)
		return DOCA_ERROR_NO_MEMORY;
	message->head.pointer = pointer;
	message->head.pointer_region = pointer_region;
	message->head.data_region = data_region;
	memcpy(message->data, data, len);
	return send_message(queue, message, len);
}

doca_error_t urom_rdmo_scatter(struct urom_rdmo_queue *queue, uint32_t flags, const struct urom_rdmo_piece *pieces,
			       size_t num_pieces)
{
	size_t len = 0;

	if (queue == NULL || pieces == NULL || num_pieces == 0 || (flags & ~UROM_RDMO_FENCE) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < num_pieces; i++) {
		if (pieces[i].len > RDMO_DATA_MAX || (len += sizeof(struct rdmo_piece_head) + pieces[i].len) > RDMO_DATA_MAX)
			return DOCA_ERROR_TOO_BIG;
		if (pieces[i].data == NULL || pieces[i].len == 0)
			return DOCA_ERROR_INVALID_VALUE;
	}
	if (queue->failed)
		return DOCA_ERROR_CONNECTION_ABORTED;
	struct message *message = make_message(queue, RDMO_SCATTER, flags, len);
	if (message == NULL)
		return DOCA_ERROR_NO_MEMORY;
	message->head.num_pieces = num_pieces;
	uint8_t *place = message->data;
	for (size_t i = 0; i < num_pieces; i++) {
		const struct rdmo_piece_head head = {pieces[i].address, pieces[i].region, pieces[i].len};

		memcpy(place, &head, sizeof(head));
		memcpy(place + sizeof(head), pieces[i].data, pieces[i].len);
		place += sizeof(head) + pieces[i].len;
	}
	return send_message(queue, message, len);
}

doca_error_t urom_rdmo_flush(struct urom_rdmo_queue *queue, union doca_data cookie, urom_rdmo_flush_finished finished)
{
	if (queue == NULL || finished == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (queue->failed)
		return DOCA_ERROR_CONNECTION_ABORTED;
	struct message *message = make_message(queue, RDMO_FLUSH, 0, 0);
	struct flush *flush = (struct flush *)calloc(1, sizeof(*flush));
	if (message == NULL || flush == NULL) {
		free(message);
		free(flush);
		return DOCA_ERROR_NO_MEMORY;
	}
	*flush = (struct flush){.number = queue->last_request + 1, .cookie = cookie, .finished = finished};
	TAILQ_INSERT_TAIL(&queue->flushes, flush, next);
	doca_error_t result = send_message(queue, message, 0);
	if (result != DOCA_SUCCESS) {
		TAILQ_REMOVE(&queue->flushes, flush, next);
		free(flush);
	}
	return result;
}
