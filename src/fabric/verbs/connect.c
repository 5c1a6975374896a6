/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections begin on the connecting side, the messages of their peers' agents, and how they end. */
#include "fabric/verbs/connect.h"

#include <assert.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/thread_safety.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/drain.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/flush.h"
#include "fabric/verbs/ops.h"
#include "fabric/verbs/receive.h"
#include "fabric/verbs/view.h"

#define DRAIN_LIMIT_NS UINT64_C(200000000) /* for the device to return work that is posted on a failed queue pair */

static LIST_HEAD(, vb_conn) conns GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(conns);

/* ---- what the agent does for connections; with sf_control_lock ---- */

/* Called with the endpoint's lock when the attempt is over. */
static void connect_ended(struct vb_conn *conn, doca_error_t status, const void *data, size_t len)
{
	conn->opened.status = status;
	if (!sf_verbs_event_set_data(&conn->opened, data, len))
		conn->opened.len = 0;
	if (status != DOCA_SUCCESS) {
		conn->failed = true;
		conn->life = VB_CONN_OVER;
	}
	sf_ep_queue_event(&vb_conn_ep(conn)->queue, &conn->opened);
}

static struct vb_conn *conn_of(struct sf_handshake *handshake)
{
	return (struct vb_conn *)((char *)handshake - offsetof(struct vb_conn, handshake));
}

static void handshake_describe(struct sf_handshake *handshake, struct sf_msg_side *side, int *fds)
{
	(void)fds;
	sf_verbs_conn_side(conn_of(handshake), side);
}

static doca_error_t handshake_set_peer(struct sf_handshake *handshake, const struct sf_msg_side *side, int *fds)
{
	struct vb_conn *conn = conn_of(handshake);
	struct vb_ep *ep = vb_conn_ep(conn);
	doca_error_t error;

	(void)fds;
	pthread_mutex_lock(&ep->lock);
	error = sf_verbs_conn_set_peer(conn, side);
	pthread_mutex_unlock(&ep->lock);
	return error == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}

static void conn_up(struct vb_conn *conn)
{
	conn->life = VB_CONN_UP;
	sf_verbs_conn_send_view(conn, false);
}

static void handshake_opened(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len)
{
	struct vb_conn *conn = conn_of(handshake);
	struct vb_ep *ep = vb_conn_ep(conn);
	struct sf_msg ready;

	pthread_mutex_lock(&ep->lock);
	connect_ended(conn, status, data, len);
	if (status == DOCA_SUCCESS) {
		conn_up(conn);
		(void)vb_msg_send(handshake->channel, VB_MSG_READY, &ready, sizeof(ready), 0);
	}
	sf_verbs_ep_drain(ep);
	pthread_mutex_unlock(&ep->lock);
}

static bool handshake_message(struct sf_handshake *handshake, const struct sf_msg *msg)
{
	struct vb_conn *conn = conn_of(handshake);
	struct vb_ep *ep = vb_conn_ep(conn);
	bool known = true;

	pthread_mutex_lock(&ep->lock);
	if (msg->kind == VB_MSG_READY && conn->life == VB_CONN_JOINING) {
		conn_up(conn);
	} else if (msg->kind == VB_MSG_BYE) {
		sf_verbs_ep_drain(ep); /* handles data in flight before the queue pair ends */
		sf_verbs_conn_lose(conn, DOCA_ERROR_CONNECTION_RESET, msg->value);
	} else if (msg->kind == VB_MSG_RING) {
		sf_ep_queue_ring(&ep->queue);
	} else if (msg->kind == VB_MSG_PULLED) {
		sf_verbs_ops_pulled(conn, msg->value);
	} else {
		known = false;
	}
	sf_verbs_ep_drain(ep);
	pthread_mutex_unlock(&ep->lock);
	return known;
}

static void handshake_ended(struct sf_handshake *handshake)
{
	struct vb_conn *conn = conn_of(handshake);
	struct vb_ep *ep = vb_conn_ep(conn);

	pthread_mutex_lock(&ep->lock);
	sf_verbs_ep_drain(ep);
	if (!conn->failed)
		sf_verbs_conn_lose(conn, DOCA_ERROR_CONNECTION_ABORTED, 0);
	sf_verbs_ep_drain(ep);
	pthread_mutex_unlock(&ep->lock);
}

static const struct sf_handshake_ops handshake_ops = {
	.provider = &sf_verbs_control,
	.describe = handshake_describe,
	.meet = handshake_set_peer,
	.opened = handshake_opened,
	.message = handshake_message,
	.ended = handshake_ended,
};

/* Sends the connection's pending messages, and checks its time limits. Returns whether any remain. */
static bool conn_tick(struct vb_conn *conn, uint64_t now)
{
	struct vb_ep *ep = vb_conn_ep(conn);
	struct sf_msg msg;
	bool timed, bye, pulled, cut;

	pthread_mutex_lock(&ep->lock);
	if (conn->gone != DOCA_SUCCESS || conn->leaving) {
		sf_verbs_conn_touch(conn);
		sf_verbs_ep_drain(ep);
	}
	bye = conn->leaving && conn->ops_head == conn->ops_tail && !conn->said_bye;
	conn->said_bye = conn->said_bye || bye;
	pulled = conn->pulls_made != conn->pulls_reported;
	conn->pulls_reported = conn->pulls_made;
	cut = (conn->gone == DOCA_ERROR_CONNECTION_ABORTED && !sf_verbs_conn_is_suspect(conn, now)) || conn->failed;
	timed = (conn->leaving && !conn->said_bye) ||
		(conn->gone != DOCA_SUCCESS && !conn->leaving && conn->closed.status == DOCA_SUCCESS);
	pthread_mutex_unlock(&ep->lock);
	if (pulled)
		(void)vb_msg_send(conn->handshake.channel, VB_MSG_PULLED, &msg, sizeof(msg), conn->pulls_reported);
	if (bye)
		(void)vb_msg_send(conn->handshake.channel, VB_MSG_BYE, &msg, sizeof(msg), conn->sent);
	if (cut)
		sf_handshake_end(&conn->handshake);
	return timed;
}

bool sf_verbs_conns_tick(uint64_t now)
{
	struct vb_conn *conn;
	bool timed = false;

	LIST_FOREACH (conn, &conns, all)
		timed = conn_tick(conn, now) || timed;
	return timed;
}

void sf_verbs_conns_after_fork(void)
{
	LIST_INIT(&conns);
}

/* ---- connecting ---- */

void sf_verbs_conn_follow(struct vb_conn *conn, struct sf_channel *channel)
{
	sf_handshake_follow(&conn->handshake, &handshake_ops, channel);
}

void sf_verbs_conn_register(struct vb_conn *conn)
{
	struct vb_ep *ep = vb_conn_ep(conn);

	LIST_INSERT_HEAD(&conns, conn, all);
	pthread_mutex_lock(&ep->lock);
	sf_verbs_conn_enter(conn);
	pthread_mutex_unlock(&ep->lock);
}

doca_error_t sf_verbs_conn_connect(struct sf_ep *base, const char *name, const char *address, const void *data, size_t len,
				   void *user, struct sf_conn **out)
{
	struct vb_ep *ep = vb_ep(base);
	doca_error_t error = sf_name_check(name, address, data, len);
	struct vb_conn *conn;

	if (error != DOCA_SUCCESS)
		return error;
	conn = sf_verbs_conn_new(ep, user);
	if (conn == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&sf_control_lock);
	sf_verbs_conn_register(conn);
	error = sf_handshake_ask(&conn->handshake, &handshake_ops, name, address, vb_domain(base->domain)->scope, data, len);
	if (error != DOCA_SUCCESS) {
		pthread_mutex_lock(&ep->lock);
		connect_ended(conn, error, NULL, 0);
		pthread_mutex_unlock(&ep->lock);
	}
	pthread_mutex_unlock(&sf_control_lock);
	*out = &conn->base;
	return DOCA_SUCCESS;
}

/* ---- ending; on the endpoint's thread ---- */

void sf_verbs_conn_disconnect(struct sf_conn *base)
{
	struct vb_conn *conn = vb_conn(base);
	struct vb_ep *ep = vb_conn_ep(conn);

	if (!vb_ep_is_ours(ep))
		return;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&ep->lock);
	if (conn->life == VB_CONN_ASKING) {
		struct sf_msg bye;

		(void)vb_msg_send(conn->handshake.channel, VB_MSG_BYE, &bye, sizeof(bye), 0);
		sf_handshake_end(&conn->handshake);
		connect_ended(conn, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	} else if (!conn->leaving) {
		if (conn->opened.queued && conn->opened.kind == SF_EP_CONNECTED && conn->opened.status == DOCA_SUCCESS) {
			conn->opened.status = DOCA_ERROR_CONNECTION_ABORTED;
			conn->opened.len = 0;
		}
		sf_ep_queue_drop(&ep->queue, &conn->closed);
		conn->leaving = true;
		conn->moved_at = sf_now_ns();
		sf_verbs_conn_touch(conn);
		sf_verbs_ep_drain(ep);
	}
	base->state = SF_CONN_CLOSED;
	pthread_mutex_unlock(&ep->lock);
	if (conn_tick(conn, sf_now_ns()))
		sf_control_wake(); /* which continues it */
	pthread_mutex_unlock(&sf_control_lock);
}

/* Removes it from the endpoint: waits briefly until the device has finished with it. */
static void conn_leave(struct vb_conn *conn)
{
	struct vb_ep *ep = vb_conn_ep(conn);
	uint64_t limit = sf_now_ns() + DRAIN_LIMIT_NS;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	sf_verbs_conn_break(conn);
	/* The last work request is returned last, after a receive that the peer was filling. */
	(void)sf_verbs_conn_post(conn, &wr, VB_SEND_VIEW, 0);
	do {
		sf_verbs_ep_drain(ep);
	} while (conn->sends_head != conn->sends_tail && sf_now_ns() < limit);
	for (; conn->sends_head != conn->sends_tail; conn->sends_head++) {
		assert(ep->sends_out > 0);
		ep->sends_out--;
		if (conn->sends[conn->sends_head % VB_CONN_SENDS].kind == VB_SEND_FLUSH_VIEW)
			sf_verbs_flush_view_seen(ep);
	}
	if (conn->view_owed == 2)
		sf_verbs_flush_view_seen(ep);
	sf_verbs_conn_untouch(conn);
	LIST_REMOVE(conn, entry);
	LIST_REMOVE(conn, hash);
	assert(ep->conns_num > 0);
	ep->conns_num--;
	sf_verbs_recvs_forget(ep, conn);
	sf_ep_queue_drop(&ep->queue, &conn->opened);
	sf_ep_queue_drop(&ep->queue, &conn->closed);
	sf_verbs_ep_settle(ep);
}

void sf_verbs_conn_close(struct sf_conn *base)
{
	struct vb_conn *conn = vb_conn(base);
	struct vb_ep *ep = vb_conn_ep(conn);

	if (!vb_ep_is_ours(ep))
		return;
	sf_verbs_conn_disconnect(base);
	pthread_mutex_lock(&sf_control_lock);
	sf_handshake_end(&conn->handshake);
	LIST_REMOVE(conn, all);
	pthread_mutex_lock(&ep->lock);
	conn_leave(conn);
	pthread_mutex_unlock(&ep->lock);
	pthread_mutex_unlock(&sf_control_lock);
	sf_verbs_conn_free(conn);
}

void sf_verbs_conn_ring(struct sf_conn *base)
{
	struct sf_msg msg;

	if (!vb_ep_is_ours(vb_ep(base->ep)))
		return;
	pthread_mutex_lock(&sf_control_lock);
	(void)vb_msg_send(vb_conn(base)->handshake.channel, VB_MSG_RING, &msg, sizeof(msg), 0);
	pthread_mutex_unlock(&sf_control_lock);
}
