/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections to peers on the network begin. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/tcp/conn.h"

static struct tcp_conn *conn_of(struct sf_handshake *handshake)
{
	return (struct tcp_conn *)((char *)handshake - offsetof(struct tcp_conn, handshake));
}

/* With the endpoint's lock. */
static struct sf_msg_side side_of(struct tcp_conn *conn)
{
	struct tcp_side ours = {.version = TCP_VERSION};
	struct tcp_receives receives = {0};
	struct sf_msg_side side = {{0}};

	sf_tcp_session_receives(&conn->session, &receives, TCP_SIDE_RUNS_MAX);
	ours.num = receives.num;
	ours.more = receives.more;
	memcpy(ours.runs, receives.runs, receives.num * sizeof(ours.runs[0]));
	memcpy(side.bytes, &ours, sizeof(ours));
	return side;
}

static void side_meet(struct tcp_conn *conn, const struct sf_msg_side *side)
{
	sf_tcp_side_receives((const struct tcp_side *)side, &conn->session.room);
}

/* ---- the side that asks; by the agent, with sf_control_lock ---- */

static void handshake_describe(struct sf_handshake *handshake, struct sf_msg_side *side, int *fds)
{
	struct tcp_ep *far = tcp_conn_ep(conn_of(handshake));

	(void)fds;
	pthread_mutex_lock(&far->lock);
	*side = side_of(conn_of(handshake));
	sf_tcp_ep_unlock(far);
}

static doca_error_t handshake_set_peer(struct sf_handshake *handshake, const struct sf_msg_side *side, int *fds)
{
	(void)fds;
	side_meet(conn_of(handshake), side);
	return DOCA_SUCCESS;
}

static void connect_ended(struct tcp_conn *conn, doca_error_t status, const void *data, size_t len)
{
	conn->opened.base.status = status;
	sf_ep_event_set_data(&conn->opened, data, len);
	conn->is_asking = false;
	sf_ep_queue_event(&tcp_conn_ep(conn)->queue, &conn->opened.base);
}

static void handshake_opened(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len)
{
	struct tcp_conn *conn = conn_of(handshake);
	struct tcp_ep *far = tcp_conn_ep(conn);

	assert(sf_is_locked(&sf_control_lock));
	pthread_mutex_lock(&far->lock);
	connect_ended(conn, status, data, len);
	if (status == DOCA_SUCCESS) {
		sf_tcp_conn_up(conn, sf_channel_leave(handshake->channel));
		handshake->channel = NULL;
	}
	sf_tcp_ep_unlock(far);
}

/* For a peer that waits for our program's answer. */
static void handshake_ended(struct sf_handshake *handshake)
{
	(void)handshake;
}

static const struct sf_handshake_ops handshake_ops = {
	.provider = &sf_tcp_control,
	.describe = handshake_describe,
	.meet = handshake_set_peer,
	.opened = handshake_opened,
	.ended = handshake_ended,
};

doca_error_t sf_tcp_conn_connect(struct sf_ep *base, const char *name, const char *address, const void *data, size_t len,
				 void *user, struct sf_conn **out)
{
	struct shm_ep *ep = shm_ep(base);
	doca_error_t error = sf_name_check(name, address, data, len);
	struct tcp_ep *far;
	struct tcp_conn *conn;

	if (error == DOCA_SUCCESS)
		error = sf_shm_ep_hold_agent(ep);
	if (error == DOCA_SUCCESS)
		error = sf_tcp_ep_get(ep, &far);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&far->lock);
	conn = sf_tcp_conn_new(far, user);
	if (conn != NULL) {
		conn->opened.base.kind = SF_EP_CONNECTED;
		conn->is_asking = true;
	}
	sf_tcp_ep_unlock(far);
	if (conn == NULL)
		error = DOCA_ERROR_NO_MEMORY;
	if (error == DOCA_SUCCESS) {
		error = sf_handshake_ask(&conn->handshake, &handshake_ops, name, address, shm_domain(base->domain)->device.scope,
					 data, len);
		pthread_mutex_lock(&far->lock);
		if (error != DOCA_SUCCESS)
			sf_tcp_conn_free(conn);
		else
			*out = &conn->base;
		sf_tcp_ep_unlock(far);
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

/* ---- the side that is asked ---- */

/* Joins the connection and its session. With both locks. */
static doca_error_t say_accept(struct tcp_conn *conn, struct sf_channel *channel, const void *data, size_t len)
{
	const struct sf_msg_side side = side_of(conn);

	if (channel == NULL || !sf_control_accept_answer(channel, &sf_tcp_control, &side, NULL, data, len) ||
	    channel->out != NULL)
		return DOCA_ERROR_NOT_CONNECTED;
	conn->handshake.channel = NULL;
	conn->session.in_len = (uint32_t)sf_channel_rest(channel, conn->session.in);
	sf_tcp_conn_up(conn, sf_channel_leave(channel));
	return DOCA_SUCCESS;
}

doca_error_t sf_tcp_connect_requested(struct sf_control_listener *listener, struct sf_channel *channel,
				      const struct sf_msg_connect *ask, int *fds)
{
	struct tcp_ep *far = shm_ep(listener->base.ep)->far;
	const bool is_auto = (listener->flags & SF_LISTEN_AUTO) != 0;
	struct tcp_conn *conn;
	doca_error_t error = DOCA_SUCCESS;

	assert(sf_is_locked(&sf_control_lock));
	(void)fds;
	if (far == NULL || !channel->is_stream)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&far->lock);
	conn = sf_tcp_conn_new(far, NULL);
	if (conn == NULL) {
		sf_tcp_ep_unlock(far);
		return DOCA_ERROR_NO_MEMORY;
	}
	conn->opened.base.kind = is_auto ? SF_EP_ACCEPTED : SF_EP_REQUEST;
	conn->opened.base.listener = &listener->base;
	sf_ep_event_set_data(&conn->opened, ask->data, ask->data_len);
	side_meet(conn, &ask->side);
	if (is_auto) {
		sf_ep_queue_event(&far->queue, &conn->opened.base); /* before anything that the session may bring */
		error = say_accept(conn, channel, NULL, 0);
	} else {
		conn->is_request = true;
		conn->opened.base.conn = NULL;
		conn->opened.base.request = &conn->request;
		sf_handshake_follow(&conn->handshake, &handshake_ops, channel);
		sf_ep_queue_event(&far->queue, &conn->opened.base);
	}
	if (error != DOCA_SUCCESS)
		sf_tcp_conn_free(conn);
	sf_tcp_ep_unlock(far);
	return error;
}

doca_error_t sf_tcp_conn_accept(struct tcp_conn *conn, const void *data, size_t len, void *user, struct sf_conn **out)
{
	struct tcp_ep *far = tcp_conn_ep(conn);
	doca_error_t error;

	if (len > SF_PRIVATE_MAX || (len != 0 && data == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&far->lock);
	assert(((struct sf_control_listener *)conn->opened.base.listener)->num_requests > 0);
	((struct sf_control_listener *)conn->opened.base.listener)->num_requests--;
	conn->base.user = user;
	conn->base.state = SF_CONN_READY;
	error = say_accept(conn, conn->handshake.channel, data, len);
	if (error == DOCA_SUCCESS)
		*out = &conn->base;
	else
		sf_tcp_conn_free(conn);
	sf_tcp_ep_unlock(far);
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

static void request_reject(struct tcp_conn *conn, const void *data, size_t len)
{
	if (conn->handshake.channel != NULL)
		sf_control_reject(conn->handshake.channel, DOCA_ERROR_CONNECTION_ABORTED, data,
				  len < SF_PRIVATE_MAX ? len : SF_PRIVATE_MAX);
	conn->handshake.channel = NULL;
	sf_tcp_conn_free(conn);
}

void sf_tcp_conn_reject(struct tcp_conn *conn, const void *data, size_t len)
{
	struct tcp_ep *far = tcp_conn_ep(conn);

	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&far->lock);
	assert(((struct sf_control_listener *)conn->opened.base.listener)->num_requests > 0);
	((struct sf_control_listener *)conn->opened.base.listener)->num_requests--;
	request_reject(conn, data, len);
	sf_tcp_ep_unlock(far);
	pthread_mutex_unlock(&sf_control_lock);
}

void sf_tcp_conns_orphan(struct tcp_ep *far, const struct sf_listener *listener)
{
	struct tcp_conn *conn, *next;

	pthread_mutex_lock(&far->lock);
	for (conn = LIST_FIRST(&far->conns); conn != NULL; conn = next) {
		next = LIST_NEXT(conn, entry);
		if (conn->opened.base.listener != listener)
			continue;
		if (conn->is_request) {
			request_reject(conn, NULL, 0);
		} else if (conn->opened.base.queued) {
			sf_tcp_session_end(&conn->session, DOCA_ERROR_CONNECTION_ABORTED);
			sf_tcp_conn_free(conn);
		}
	}
	sf_tcp_ep_unlock(far);
}
