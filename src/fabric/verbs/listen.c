/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections begin on the accepting side. */
#include "fabric/verbs/listen.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread_safety.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/connect.h"
#include "fabric/verbs/ep.h"

/* Guarded by sf_control_lock */
struct vb_request {
	LIST_ENTRY(vb_request) entry;
	struct sf_control_listener *listener;
	struct sf_channel *channel; /* NULL once the peer went away */
	struct sf_msg_side side;
	struct sf_ep_event event; /* guarded by the endpoint's lock */
};

/* Unanswered, of all listeners. */
static LIST_HEAD(, vb_request) requests GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(requests);

void sf_verbs_requests_after_fork(void)
{
	LIST_INIT(&requests);
}

/* ---- accepting; with sf_control_lock ---- */

/* The peer's queue pair is known: from here on the connection accepts its messages. */
static doca_error_t conn_join(struct vb_conn *conn, const struct sf_msg_side *side)
{
	conn->life = VB_CONN_JOINING;
	return sf_verbs_conn_set_peer(conn, side);
}

static void conn_answer(struct vb_conn *conn, struct sf_channel *channel, const void *data, size_t len)
{
	struct sf_msg_side side = {{0}};

	sf_verbs_conn_side(conn, &side);
	sf_verbs_conn_follow(conn, channel);
	sf_verbs_conn_register(conn);
	(void)sf_control_accept_answer(channel, &sf_verbs_control, &side, NULL, data,
				       len); /* if not, the agent detects the end */
}

static doca_error_t accept_auto(struct sf_control_listener *listener, struct sf_channel *channel,
				const struct sf_msg_connect *ask)
{
	struct vb_ep *ep = vb_ep(listener->base.ep);
	struct vb_conn *conn = sf_verbs_conn_new(ep, NULL);
	doca_error_t error = conn != NULL ? conn_join(conn, &ask->side) : DOCA_ERROR_NO_MEMORY;

	if (error == DOCA_SUCCESS && !sf_verbs_event_set_data(&conn->opened, ask->data, ask->data_len))
		error = DOCA_ERROR_NO_MEMORY;
	if (error != DOCA_SUCCESS) {
		if (conn != NULL)
			sf_verbs_conn_free(conn);
		return error;
	}
	/* Made due before the answer is sent: nothing of the connection can arrive earlier. */
	conn->opened.kind = SF_EP_ACCEPTED;
	conn->opened.listener = &listener->base;
	pthread_mutex_lock(&ep->lock);
	sf_ep_queue_event(&ep->queue, &conn->opened);
	pthread_mutex_unlock(&ep->lock);
	conn_answer(conn, channel, NULL, 0);
	return DOCA_SUCCESS;
}

static void request_ended(struct sf_channel *channel)
{
	((struct vb_request *)channel->owner)->channel = NULL;
}

/* Nothing is sent before the answer. */
static bool request_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	(void)msg;
	(void)fds;
	sf_channel_close(channel);
	request_ended(channel);
	return true;
}

static doca_error_t ask_program(struct sf_control_listener *listener, struct sf_channel *channel,
				const struct sf_msg_connect *ask)
{
	struct vb_ep *ep = vb_ep(listener->base.ep);
	struct vb_request *request = calloc(1, sizeof(*request));

	if (request == NULL || !sf_verbs_event_set_data(&request->event, ask->data, ask->data_len)) {
		free(request);
		return DOCA_ERROR_NO_MEMORY;
	}
	request->listener = listener;
	request->side = ask->side;
	request->channel = channel;
	request->event.kind = SF_EP_REQUEST;
	request->event.listener = &listener->base;
	request->event.request = (struct sf_request *)request;
	channel->owner = request;
	channel->ended = request_ended;
	channel->message = request_message;
	LIST_INSERT_HEAD(&requests, request, entry);
	pthread_mutex_lock(&ep->lock);
	sf_ep_queue_event(&ep->queue, &request->event);
	pthread_mutex_unlock(&ep->lock);
	return DOCA_SUCCESS;
}

doca_error_t sf_verbs_connect_requested(struct sf_control_listener *listener, struct sf_channel *channel,
					const struct sf_msg_connect *ask, int *fds)
{
	(void)fds;
	return (listener->flags & SF_LISTEN_AUTO) != 0 ? accept_auto(listener, channel, ask)
						       : ask_program(listener, channel, ask);
}

static void request_free(struct vb_request *request)
{
	struct vb_ep *ep = vb_ep(request->listener->base.ep);

	pthread_mutex_lock(&ep->lock);
	sf_ep_queue_drop(&ep->queue, &request->event);
	pthread_mutex_unlock(&ep->lock);
	LIST_REMOVE(request, entry);
	assert(request->listener->num_requests > 0);
	request->listener->num_requests--;
	free(request->event.data);
	free(request);
}

static doca_error_t request_accept(struct vb_request *request, const void *data, size_t len, void *user, struct sf_conn **out)
{
	struct vb_conn *conn;
	doca_error_t error = DOCA_SUCCESS;

	conn = sf_verbs_conn_new(vb_ep(request->listener->base.ep), user);
	if (conn == NULL)
		return DOCA_ERROR_NO_MEMORY;
	conn->base.state = SF_CONN_READY;
	pthread_mutex_lock(&sf_control_lock);
	error = request->channel == NULL ? DOCA_ERROR_NOT_CONNECTED : conn_join(conn, &request->side);
	if (error == DOCA_SUCCESS)
		conn_answer(conn, request->channel, data, len);
	else if (request->channel != NULL)
		sf_control_reject(request->channel, error, NULL, 0);
	request_free(request);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS) {
		sf_verbs_conn_free(conn);
		return error;
	}
	*out = &conn->base;
	return DOCA_SUCCESS;
}

static void request_reject(struct vb_request *request, const void *data, size_t len)
{
	if (request->channel != NULL)
		sf_control_reject(request->channel, DOCA_ERROR_CONNECTION_ABORTED, data, len);
	request_free(request);
}

doca_error_t sf_verbs_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn)
{
	if (conn != NULL)
		return len <= SF_PRIVATE_MAX ? request_accept((struct vb_request *)request, data, len, user, conn)
					     : DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sf_control_lock);
	request_reject((struct vb_request *)request, data, len < SF_PRIVATE_MAX ? len : SF_PRIVATE_MAX);
	pthread_mutex_unlock(&sf_control_lock);
	return DOCA_SUCCESS;
}

/* ---- listeners ---- */

doca_error_t sf_verbs_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user, struct sf_listener **out)
{
	const struct sf_net_device device = vb_net_device(vb_domain(ep->domain));
	struct sf_control_listener *listener;
	doca_error_t error = sf_control_listener_open(&sf_verbs_control, &device, ep, name, flags, user, &listener);

	if (error == DOCA_SUCCESS)
		*out = &listener->base;
	return error;
}

static struct sf_conn *unseen_conn(struct sf_listener *listener)
{
	struct vb_ep *ep = vb_ep(listener->ep);
	struct sf_conn *conn;

	pthread_mutex_lock(&ep->lock);
	conn = sf_ep_queue_unseen(&ep->queue, listener);
	pthread_mutex_unlock(&ep->lock);
	return conn;
}

void sf_verbs_listener_close(struct sf_listener *base)
{
	struct sf_control_listener *listener = (struct sf_control_listener *)base;
	struct vb_request *request, *next;
	struct sf_conn *conn;

	if (!vb_ep_is_ours(vb_ep(base->ep)))
		return;
	pthread_mutex_lock(&sf_control_lock);
	(void)sf_control_listener_close(listener);
	for (request = LIST_FIRST(&requests); request != NULL; request = next) {
		next = LIST_NEXT(request, entry);
		if (request->listener == listener)
			request_reject(request, NULL, 0);
	}
	pthread_mutex_unlock(&sf_control_lock);
	while ((conn = unseen_conn(base)) != NULL)
		sf_verbs_conn_close(conn);
	free(listener);
}
