/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer: one UCP endpoint. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "urom/comm/comm_private.h"
#include "urom/comm/frame.h"

static uint32_t bucket_of(ucp_ep_h endpoint)
{
	return (uint32_t)(((uintptr_t)endpoint >> 6) ^ ((uintptr_t)endpoint >> 14)) % COMM_BUCKETS;
}

struct comm_peer *comm_peer_find(struct sf_comm *comm, ucp_ep_h endpoint)
{
	struct comm_peer *peer;
	LIST_FOREACH(peer, &comm->buckets[bucket_of(endpoint)], in_bucket) {
		if (peer->endpoint == endpoint)
			return peer;
	}
	return NULL;
}

void comm_address_name(const struct sockaddr *address, char out[SF_COMM_ADDRESS_MAX])
{
	char host[INET6_ADDRSTRLEN] = "?";
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)address;
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(out, SF_COMM_ADDRESS_MAX, "[%s]:%u", host, ntohs(in6->sin6_port));
	} else {
		const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(out, SF_COMM_ADDRESS_MAX, "%s:%u", host, ntohs(in->sin_port));
	}
}

static void free_peer(struct comm_peer *peer)
{
	if (peer->reading || peer->num_sends != 0) {
		peer->state = COMM_PEER_FREE;
		return;
	}
	peer->comm->num_peers--;
	free(peer);
}

/* ---- sending ---- */

size_t sf_comm_backlog(const struct sf_comm_peer *base) { return ((const struct comm_peer *)base)->backlog; }

static bool has_room(const struct comm_peer *peer)
{
	size_t backlog_max = peer->comm->options.backlog_max;
	return peer->num_sends < SF_COMM_SENDS_MAX && (backlog_max == 0 || peer->backlog < backlog_max);
}

static struct comm_send *build_send(struct sf_comm *comm, size_t room)
{
	struct comm_send *send = room <= SF_COMM_BATCH ? SLIST_FIRST(&comm->free_sends) : NULL;
	if (send != NULL) {
		SLIST_REMOVE_HEAD(&comm->free_sends, next);
		comm->num_free--;
		return send;
	}
	room = room > SF_COMM_BATCH ? room : SF_COMM_BATCH;
	send = (struct comm_send *)malloc(sizeof(*send) + room);
	if (send != NULL)
		send->room = room;
	return send;
}

static struct comm_send *take_send(struct comm_peer *peer, size_t room)
{
	struct comm_send *send = has_room(peer) ? build_send(peer->comm, room) : NULL;
	if (send == NULL)
		return NULL;
	send->peer = peer;
	send->used = 0;
	peer->num_sends++;
	peer->backlog += send->room;
	return send;
}

static void give_send_back(struct comm_send *send)
{
	struct comm_peer *peer = send->peer;
	struct sf_comm *comm = peer->comm;
	peer->num_sends--;
	peer->backlog -= send->room;
	if (peer->state == COMM_PEER_FREE)
		free_peer(peer);
	if (send->room != SF_COMM_BATCH || comm->num_free == SF_COMM_SENDS_MAX) {
		free(send);
		return;
	}
	SLIST_INSERT_HEAD(&comm->free_sends, send, next);
	comm->num_free++;
}

static void send_done(void *request, ucs_status_t status, void *user)
{
	(void)status; /* a failed peer is told of by its error handler */
	give_send_back((struct comm_send *)user);
	ucp_request_free(request);
}

static void send_out(struct comm_peer *peer, struct comm_send *send)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER,
		.cb = {.send = send_done},
		.user_data = send,
	};
	ucs_status_ptr_t request = ucp_am_send_nbx(peer->endpoint, COMM_AM_ID, NULL, 0, send->bytes, send->used, &param);
	if (!UCS_PTR_IS_PTR(request))
		give_send_back(send);
	if (UCS_PTR_IS_ERR(request))
		comm_peer_lose(peer, comm_error(UCS_PTR_STATUS(request)));
}

/* Sends what was collected, or drops it. */
static void end_batch(struct comm_peer *peer, bool out)
{
	struct comm_send *batch = peer->batch;
	SLIST_REMOVE(&peer->comm->batches, peer, comm_peer, in_batches);
	peer->batch = NULL;
	if (out && (peer->state == COMM_PEER_OPEN || (peer->state == COMM_PEER_ENDING && peer->flush)))
		send_out(peer, batch);
	else
		give_send_back(batch);
}

void sf_comm_cork(struct sf_comm *comm) { comm->corks++; }

void sf_comm_uncork(struct sf_comm *comm)
{
	if (--comm->corks != 0)
		return;
	for (struct comm_peer *peer = SLIST_FIRST(&comm->batches), *next; peer != NULL; peer = next) {
		next = SLIST_NEXT(peer, in_batches);
		if (peer->num_sends <= SF_COMM_SENDS_HELD) /* else one that is given back brings us here again */
			end_batch(peer, true);
	}
}

static doca_error_t collect(struct comm_peer *peer, const struct comm_frame *frame)
{
	size_t size = comm_frame_size(frame->head_len, frame->body_len);
	if (peer->batch != NULL && peer->batch->used + size > peer->batch->room)
		end_batch(peer, true);
	if (peer->batch == NULL) {
		peer->batch = take_send(peer, size);
		if (peer->batch == NULL)
			return DOCA_ERROR_AGAIN;
		SLIST_INSERT_HEAD(&peer->comm->batches, peer, in_batches);
	}
	comm_frame_write(peer->batch->bytes + peer->batch->used, frame);
	peer->batch->used += size;
	return DOCA_SUCCESS;
}

doca_error_t sf_comm_send(struct sf_comm *comm, struct sf_comm_peer *base, const void *head, size_t head_len, const void *body,
			  size_t body_len)
{
	struct comm_peer *peer = (struct comm_peer *)base;
	if (peer->state != COMM_PEER_OPEN)
		return DOCA_ERROR_NOT_CONNECTED;
	if (head_len > SF_COMM_HEAD_MAX || body_len > comm->options.body_max) {
		SF_LOG_ERR("urom: a message of %zu bytes, at most %zu are possible", body_len, comm->options.body_max);
		return DOCA_ERROR_TOO_BIG;
	}
	const struct comm_frame frame = {(const uint8_t *)head, (const uint8_t *)body, (uint32_t)head_len, (uint32_t)body_len};
	sf_comm_cork(comm);
	doca_error_t result = collect(peer, &frame);
	sf_comm_uncork(comm);
	return result;
}

/* ---- the end ---- */

void comm_peer_lose(struct comm_peer *peer, doca_error_t why)
{
	if (peer->state != COMM_PEER_OPEN)
		return;
	peer->state = COMM_PEER_LOST;
	peer->why = why;
	TAILQ_REMOVE(&peer->comm->open, peer, in_list);
	TAILQ_INSERT_TAIL(&peer->comm->lost, peer, in_list);
}

static void peer_failed(void *arg, ucp_ep_h endpoint, ucs_status_t status)
{
	(void)endpoint;
	comm_peer_lose((struct comm_peer *)arg, comm_error(status));
}

void comm_peer_read(struct comm_peer *peer)
{
	peer->reading = false;
	if (peer->state == COMM_PEER_FREE)
		free_peer(peer);
}

/* UCX's request, or NULL: it is done. */
static void *close_endpoint(struct comm_peer *peer)
{
	const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
	void *request = ucp_ep_close_nbx(peer->endpoint, &param);
	peer->state = COMM_PEER_CLOSING;
	return UCS_PTR_IS_PTR(request) ? request : NULL;
}

/* The same. Flushed by hand, and then closed by force: an endpoint whose close still flushes cannot be ended otherwise. */
static void *flush_endpoint(struct comm_peer *peer)
{
	const ucp_request_param_t param = {.op_attr_mask = 0};
	void *request = ucp_ep_flush_nbx(peer->endpoint, &param);
	peer->state = COMM_PEER_FLUSHING;
	return UCS_PTR_IS_PTR(request) ? request : close_endpoint(peer);
}

static void end_now(struct comm_peer *peer)
{
	if (peer->batch != NULL)
		end_batch(peer, peer->flush);
	peer->closing = peer->flush ? flush_endpoint(peer) : close_endpoint(peer);
	if (peer->closing != NULL)
		TAILQ_INSERT_TAIL(&peer->comm->closing, peer, in_list);
	else
		free_peer(peer);
}

void comm_peer_end(struct comm_peer *peer, bool flush)
{
	struct sf_comm *comm = peer->comm;
	peer->flush = flush && peer->state == COMM_PEER_OPEN;
	TAILQ_REMOVE(peer->state == COMM_PEER_OPEN ? &comm->open : &comm->lost, peer, in_list);
	LIST_REMOVE(peer, in_bucket);
	peer->state = COMM_PEER_ENDING;
	if (comm->polling)
		TAILQ_INSERT_TAIL(&comm->ending, peer, in_list);
	else
		end_now(peer);
}

void comm_peers_end(struct sf_comm *comm)
{
	for (struct comm_peer *peer; (peer = TAILQ_FIRST(&comm->ending)) != NULL;) {
		TAILQ_REMOVE(&comm->ending, peer, in_list);
		end_now(peer);
	}
}

bool comm_peers_reap(struct sf_comm *comm)
{
	bool any = false;
	for (struct comm_peer *peer = TAILQ_FIRST(&comm->closing), *next; peer != NULL; peer = next) {
		next = TAILQ_NEXT(peer, in_list);
		if (ucp_request_check_status(peer->closing) == UCS_INPROGRESS)
			continue;
		ucp_request_free(peer->closing);
		peer->closing = peer->state == COMM_PEER_FLUSHING ? close_endpoint(peer) : NULL;
		any = true;
		if (peer->closing != NULL)
			continue;
		TAILQ_REMOVE(&comm->closing, peer, in_list);
		free_peer(peer);
	}
	return any;
}

void comm_peers_force(struct sf_comm *comm)
{
	for (struct comm_peer *peer = TAILQ_FIRST(&comm->closing), *next; peer != NULL; peer = next) {
		next = TAILQ_NEXT(peer, in_list);
		if (peer->state != COMM_PEER_FLUSHING)
			continue;
		void *flush = peer->closing;
		peer->closing = close_endpoint(peer);
		ucp_request_free(flush); /* which the close ends */
		if (peer->closing != NULL)
			continue;
		TAILQ_REMOVE(&comm->closing, peer, in_list);
		free_peer(peer);
	}
}

bool comm_peers_tell_lost(struct sf_comm *comm)
{
	struct comm_peer *peer = TAILQ_FIRST(&comm->lost);
	if (peer == NULL)
		return false;
	/* Any that a callback adds waits for the next poll. */
	for (struct comm_peer *last = TAILQ_LAST(&comm->lost, comm_peers); peer != NULL;) {
		bool was_last = peer == last;
		comm->options.handler->lost(comm->options.user, &peer->base, peer->why);
		comm_peer_end(peer, false);
		peer = was_last ? NULL : TAILQ_FIRST(&comm->lost);
	}
	return true;
}

void sf_comm_disconnect(struct sf_comm *comm, struct sf_comm_peer *base)
{
	struct comm_peer *peer = (struct comm_peer *)base;
	(void)comm;
	comm_peer_end(peer, peer->state == COMM_PEER_OPEN);
}

void sf_comm_drop(struct sf_comm *comm, struct sf_comm_peer *base)
{
	(void)comm;
	comm_peer_end((struct comm_peer *)base, false);
}

/* ---- the beginning ---- */

static doca_error_t open_peer(struct sf_comm *comm, ucp_ep_params_t *params, struct comm_peer **out)
{
	if (comm->num_peers == SF_COMM_PEERS_MAX) {
		SF_LOG_WARN("urom: there are %d connections already, no more are taken", SF_COMM_PEERS_MAX);
		return DOCA_ERROR_FULL;
	}
	struct comm_peer *peer = (struct comm_peer *)calloc(1, sizeof(*peer));
	if (peer == NULL) {
		SF_LOG_ERR("urom: no memory for a connection");
		return DOCA_ERROR_NO_MEMORY;
	}
	params->field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
	params->err_mode = UCP_ERR_HANDLING_MODE_PEER;
	params->err_handler.cb = peer_failed;
	params->err_handler.arg = peer;
	peer->comm = comm;
	ucs_status_t status = ucp_ep_create(comm->worker, params, &peer->endpoint);
	params->conn_request = NULL; /* UCX has taken it, and freed it if there is no endpoint */
	if (status != UCS_OK) {
		SF_LOG_WARN("urom: no connection: %s", ucs_status_string(status)); /* there may be another address */
		free(peer);
		return comm_error(status);
	}
	comm->num_peers++;
	TAILQ_INSERT_TAIL(&comm->open, peer, in_list);
	LIST_INSERT_HEAD(&comm->buckets[bucket_of(peer->endpoint)], peer, in_bucket);
	*out = peer;
	return DOCA_SUCCESS;
}

/* A client that cannot be reached, over none of our networks, is let go by UCX itself. */
void comm_peer_accept(struct sf_comm *comm, ucp_conn_request_h request)
{
	ucp_conn_request_attr_t attr = {.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR};
	ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST, .conn_request = request};
	struct comm_peer *peer;
	if (comm->options.handler->arrived != NULL && ucp_conn_request_query(request, &attr) == UCS_OK &&
	    open_peer(comm, &params, &peer) == DOCA_SUCCESS) {
		comm_address_name((const struct sockaddr *)&attr.client_address, peer->base.address);
		comm->options.handler->arrived(comm->options.user, &peer->base);
	} else if (params.conn_request != NULL) {
		(void)ucp_listener_reject(comm->listener, request);
	}
}

doca_error_t sf_comm_connect(struct sf_comm *comm, const struct sockaddr *address, socklen_t len, void *user, struct sf_comm_peer **out)
{
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR,
		.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
		.sockaddr = {.addr = address, .addrlen = len},
	};
	struct sockaddr_storage copy = {0};
	struct comm_peer *peer;
	doca_error_t result = open_peer(comm, &params, &peer);
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(&copy, address, len < sizeof(copy) ? len : sizeof(copy));
	comm_address_name((const struct sockaddr *)&copy, peer->base.address);
	peer->base.user = user;
	*out = &peer->base;
	return DOCA_SUCCESS;
}
