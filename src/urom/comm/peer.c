/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer: one UCP endpoint. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "urom/comm/comm_private.h"

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

static void name_address(struct comm_peer *peer, const struct sockaddr_storage *address)
{
	char host[INET6_ADDRSTRLEN] = "?";
	if (address->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(peer->base.address, sizeof(peer->base.address), "[%s]:%u", host, ntohs(in6->sin6_port));
	} else {
		const struct sockaddr_in *in = (const struct sockaddr_in *)address;
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(peer->base.address, sizeof(peer->base.address), "%s:%u", host, ntohs(in->sin_port));
	}
}

/* ---- the end ---- */

static void peer_failed(void *arg, ucp_ep_h endpoint, ucs_status_t status)
{
	struct comm_peer *peer = (struct comm_peer *)arg;
	(void)endpoint;
	if (peer->state != COMM_PEER_OPEN)
		return;
	peer->state = COMM_PEER_LOST;
	peer->why = comm_error(status);
	TAILQ_REMOVE(&peer->comm->open, peer, in_list);
	TAILQ_INSERT_TAIL(&peer->comm->lost, peer, in_list);
}

static void free_peer(struct comm_peer *peer)
{
	peer->comm->num_peers--;
	free(peer);
}

void comm_peer_end(struct comm_peer *peer, bool flush)
{
	struct sf_comm *comm = peer->comm;
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = flush ? 0 : UCP_EP_CLOSE_FLAG_FORCE,
	};
	TAILQ_REMOVE(peer->state == COMM_PEER_OPEN ? &comm->open : &comm->lost, peer, in_list);
	LIST_REMOVE(peer, in_bucket);
	peer->state = COMM_PEER_CLOSING;
	peer->closing = ucp_ep_close_nbx(peer->endpoint, &param);
	if (UCS_PTR_IS_PTR(peer->closing))
		TAILQ_INSERT_TAIL(&comm->closing, peer, in_list);
	else
		free_peer(peer);
}

bool comm_peers_reap(struct sf_comm *comm)
{
	bool any = false;
	for (struct comm_peer *peer = TAILQ_FIRST(&comm->closing), *next; peer != NULL; peer = next) {
		next = TAILQ_NEXT(peer, in_list);
		if (ucp_request_check_status(peer->closing) == UCS_INPROGRESS)
			continue;
		ucp_request_free(peer->closing);
		TAILQ_REMOVE(&comm->closing, peer, in_list);
		free_peer(peer);
		any = true;
	}
	return any;
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
	if (status != UCS_OK) {
		SF_LOG_ERR("urom: no connection: %s", ucs_status_string(status));
		free(peer);
		return comm_error(status);
	}
	comm->num_peers++;
	TAILQ_INSERT_TAIL(&comm->open, peer, in_list);
	LIST_INSERT_HEAD(&comm->buckets[bucket_of(peer->endpoint)], peer, in_bucket);
	*out = peer;
	return DOCA_SUCCESS;
}

doca_error_t comm_peer_accept(struct sf_comm *comm, ucp_conn_request_h request)
{
	ucp_conn_request_attr_t attr = {.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR};
	ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST, .conn_request = request};
	struct comm_peer *peer;
	if (comm->options.handler->arrived == NULL || ucp_conn_request_query(request, &attr) != UCS_OK)
		return DOCA_ERROR_NOT_PERMITTED;
	doca_error_t result = open_peer(comm, &params, &peer);
	if (result != DOCA_SUCCESS)
		return result;
	name_address(peer, &attr.client_address);
	comm->options.handler->arrived(comm->options.user, &peer->base);
	return DOCA_SUCCESS;
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
	name_address(peer, &copy);
	peer->base.user = user;
	*out = &peer->base;
	return DOCA_SUCCESS;
}

/* ---- sending ---- */

static struct comm_send *take_send(struct sf_comm *comm)
{
	struct comm_send *send = SLIST_FIRST(&comm->free_sends);
	if (send != NULL) {
		SLIST_REMOVE_HEAD(&comm->free_sends, next);
		return send;
	}
	if (comm->num_sends == SF_COMM_SENDS_MAX)
		return NULL;
	send = (struct comm_send *)malloc(sizeof(*send) + comm->options.body_max);
	if (send == NULL)
		return NULL;
	send->comm = comm;
	comm->num_sends++;
	return send;
}

static void send_done(void *request, ucs_status_t status, void *user)
{
	struct comm_send *send = (struct comm_send *)user;
	(void)status; /* a failed peer is told of by its error handler */
	SLIST_INSERT_HEAD(&send->comm->free_sends, send, next);
	ucp_request_free(request);
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
	struct comm_send *send = take_send(comm);
	if (send == NULL)
		return DOCA_ERROR_AGAIN;
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER,
		.cb = {.send = send_done},
		.user_data = send,
	};
	memcpy(send->head, head, head_len);
	if (body_len != 0)
		memcpy(send->body, body, body_len);
	ucs_status_ptr_t request = ucp_am_send_nbx(peer->endpoint, COMM_AM_ID, send->head, head_len, send->body, body_len, &param);
	if (!UCS_PTR_IS_PTR(request))
		SLIST_INSERT_HEAD(&comm->free_sends, send, next);
	if (!UCS_PTR_IS_ERR(request))
		return DOCA_SUCCESS;
	peer_failed(peer, peer->endpoint, UCS_PTR_STATUS(request));
	return DOCA_ERROR_NOT_CONNECTED;
}
