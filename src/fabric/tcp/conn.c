/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/conn.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/tcp/import.h"
#include "fabric/tcp/waiting.h"

#define RECEIVES_LISTED_MAX 1024
#define CREDIT_LOW 64	 /* credits of a peer: below this, if it uses them, it gets new ones early */
#define CREDIT_MIN 16	 /* and if it does not use them, below this */
#define ACKS_LATE_MAX 64 /* requests that are executed and not acknowledged */
#define ACK_POLLS 3	 /* polls that a bare acknowledgement waits: the program may answer first */

static struct tcp_conn *conn_of(struct tcp_session *session)
{
	return (struct tcp_conn *)((char *)session - offsetof(struct tcp_conn, session));
}

/* ---- what the session needs of the endpoint ---- */

static doca_error_t session_claim_recv(struct tcp_session *session, uint64_t len, struct sf_recv **recv)
{
	struct tcp_conn *conn = conn_of(session);
	struct tcp_ep *far = tcp_conn_ep(conn);
	struct shm_slot *slot;
	doca_error_t error;

	if (conn->is_released)
		return DOCA_ERROR_AGAIN;
	error = sf_shm_recvq_claim_first(&far->ep->recvq, &far->cursor, len, &slot);
	if (error != DOCA_SUCCESS)
		return error;
	conn->slot = (uint32_t)(slot - far->ep->recvq.slots);
	*recv = slot->recv;
	return DOCA_SUCCESS;
}

static bool wait_for_receive(struct tcp_session *session)
{
	struct tcp_conn *conn = conn_of(session);

	if (conn->is_released || session->leaving)
		return false;
	sf_tcp_waiting_add(conn);
	return true;
}

static void session_filled(struct tcp_session *session, struct sf_recv *recv)
{
	struct tcp_conn *conn = conn_of(session);

	recv->conn = &conn->base;
	recv->place = conn->slot;
	sf_ep_queue_recv(&tcp_conn_ep(conn)->queue, recv);
}

static void give_back(struct tcp_session *session, struct sf_recv *recv)
{
	struct tcp_ep *far = tcp_conn_ep(conn_of(session));

	recv->place = conn_of(session)->slot;
	recv->next = far->returned;
	far->returned = recv;
	sf_ep_queue_ring(&far->queue);
}

struct list {
	struct tcp_receives *receives;
	uint32_t num;
};

static bool list_add(uint32_t len, void *user)
{
	struct list *list = user;
	struct tcp_receives *receives = list->receives;
	struct tcp_run *last = &receives->runs[receives->num - (receives->num != 0)];
	const bool is_same = receives->num != 0 && last->len == len;

	if (list->num == RECEIVES_LISTED_MAX || (!is_same && receives->num == TCP_RUNS_MAX)) {
		receives->more = 1;
		return false;
	}
	list->num++;
	if (is_same)
		last->num++;
	else
		receives->runs[receives->num++] = (struct tcp_run){.len = len, .num = 1};
	return true;
}

static void list_receives(struct tcp_session *session, struct tcp_receives *receives)
{
	struct tcp_ep *far = tcp_conn_ep(conn_of(session));
	struct list list = {.receives = receives};

	conn_of(session)->credited_posts = far->posts;
	sf_shm_recvq_each_posted(&far->ep->recvq, &far->cursor, list_add, &list);
}

static void session_done(struct tcp_session *session, struct sf_op *op)
{
	sf_ep_queue_op(&tcp_conn_ep(conn_of(session))->queue, op);
}

static void session_rung(struct tcp_session *session)
{
	sf_ep_queue_ring(&tcp_conn_ep(conn_of(session))->queue);
}

static bool session_probe(struct tcp_session *session)
{
	struct tcp_conn *conn = conn_of(session);
	struct tcp_ep *far = tcp_conn_ep(conn);
	bool sent;

	if (pthread_mutex_trylock(&far->lock) != 0)
		return false; /* its thread reads it already */
	sent = sf_tcp_session_probe(session);
	if (!sent && session->stream.fd >= 0) {
		sf_tcp_conn_watch(conn);
		sf_tcp_conn_busy(conn);
	}
	sf_tcp_ep_unlock(far);
	return sent;
}

static const struct tcp_session_ops session_ops = {
	.claim_recv = session_claim_recv,
	.wait = wait_for_receive,
	.filled = session_filled,
	.give_back = give_back,
	.receives = list_receives,
	.done = session_done,
	.rung = session_rung,
	.probe = session_probe,
};

/* ---- life ---- */

struct tcp_conn *sf_tcp_conn_new(struct tcp_ep *far, void *user)
{
	struct tcp_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL) {
		SF_LOG_ERR_LIMITED("no memory for a connection of an endpoint");
		return NULL;
	}
	conn->base =
		(struct sf_conn){.ops = sf_tcp_fabric_ops(), .ep = &far->ep->base, .user = user, .handshake = &conn->handshake};
	conn->request.far = conn;
	conn->session.stream.fd = -1;
	conn->session.ops = &session_ops;
	conn->opened.base.conn = conn->closed.conn = &conn->base;
	conn->closed.kind = SF_EP_CLOSED;
	LIST_INSERT_HEAD(&far->conns, conn, entry);
	far->conn_num++;
	return conn;
}

void sf_tcp_conn_free(struct tcp_conn *conn)
{
	struct tcp_ep *far = tcp_conn_ep(conn);

	sf_handshake_end(&conn->handshake);
	sf_ep_queue_drop(&far->queue, &conn->opened.base);
	sf_ep_queue_drop(&far->queue, &conn->closed);
	sf_ep_queue_forget(&far->queue, &conn->base);
	sf_tcp_waiting_remove(conn);
	if (conn->is_busy)
		LIST_REMOVE(conn, busy);
	LIST_REMOVE(conn, entry);
	assert(far->conn_num > 0);
	far->conn_num--;
	free(conn);
}

void sf_tcp_conn_busy(struct tcp_conn *conn)
{
	if (!conn->is_busy)
		LIST_INSERT_HEAD(&tcp_conn_ep(conn)->busy, conn, busy);
	conn->is_busy = true;
}

void sf_tcp_conn_send_credits(struct tcp_conn *conn, bool early)
{
	struct tcp_session *session = &conn->session;
	const uint32_t left = tcp_session_credits_left(session);

	if (!conn->is_up || session->stream.fd < 0 || conn->credited_posts == tcp_conn_ep(conn)->posts)
		return;
	if (!TAILQ_EMPTY(&tcp_conn_ep(conn)->waiting)) /* posted receives are for messages that wait already */
		return;
	if (2 * left > session->credited_num &&
	    !(early && (left < CREDIT_MIN || (left < CREDIT_LOW && left < session->credited_num))))
		return;
	session->credits_due = true;
	sf_tcp_conn_busy(conn);
}

void sf_tcp_conn_watch(struct tcp_conn *conn)
{
	struct epoll_event event = {.data.ptr = conn};
	const int how = conn->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (!conn->session.is_waiting)
		sf_tcp_waiting_remove(conn);
	event.events = tcp_session_events(&conn->session) & (conn->is_deaf ? ~(uint32_t)EPOLLIN : ~(uint32_t)0);
	if (conn->session.stream.fd < 0 || (conn->in_epoll && event.events == conn->events))
		return;
	conn->in_epoll = true;
	conn->events = event.events;
	if (epoll_ctl(tcp_conn_ep(conn)->epoll, how, conn->session.stream.fd, &event) == 0)
		return;
	SF_LOG_ERR_LIMITED("cannot wait on one more socket");
	sf_tcp_session_end(&conn->session, DOCA_ERROR_CONNECTION_ABORTED);
}

void sf_tcp_conn_up(struct tcp_conn *conn, struct sf_stream stream)
{
	conn->is_asking = conn->is_request = false;
	conn->is_up = true;
	sf_tcp_session_begin(&conn->session, &session_ops, stream);
	conn->session.credits_due = true; /* receives may have been posted since the side was sent */
	sf_tcp_conn_watch(conn);
	sf_tcp_conn_busy(conn);
	sf_tcp_conn_attend(conn, true);
}

void sf_tcp_conn_check(struct tcp_conn *conn)
{
	struct tcp_ep *far = tcp_conn_ep(conn);

	if (!conn->is_up || conn->is_over || conn->session.stream.fd >= 0)
		return;
	conn->is_over = true;
	far->has_released = far->has_released || conn->is_released;
	if (conn->session.leaving)
		return;
	conn->closed.status = conn->session.ended;
	sf_ep_queue_event(&far->queue, &conn->closed);
}

static void send_due(struct tcp_conn *conn, bool now)
{
	struct tcp_session *session = &conn->session;
	const bool late = now || conn->ack_waited == ACK_POLLS || session->executed - session->acked >= ACKS_LATE_MAX;

	if (!tcp_session_unsent(session) && !(tcp_session_owes_ack(session) && late)) {
		conn->ack_waited = tcp_session_owes_ack(session) ? conn->ack_waited + 1 : 0;
		return;
	}
	sf_tcp_session_send(session);
	conn->ack_waited = 0;
	sf_tcp_conn_watch(conn);
}

/* Returns true if the peer has neither read nor sent anything for too long. */
static bool is_lost(struct tcp_conn *conn)
{
	if (conn->session.num_moved != conn->moved_seen)
		sf_liveness_heard(&conn->answering);
	conn->moved_seen = conn->session.num_moved;
	return sf_liveness_lost(&conn->answering, 0, TCP_END_LIMIT_NS);
}

void sf_tcp_conn_attend(struct tcp_conn *conn, bool at_once)
{
	struct tcp_session *session = &conn->session;

	if (conn->is_up && session->stream.fd >= 0)
		send_due(conn, at_once);
	if (session->stream.fd >= 0 && session->leaving && is_lost(conn)) {
		SF_LOG_WARN_LIMITED("the peer has not taken the end of a connection for %u ms: closed it",
				    (unsigned)(TCP_END_LIMIT_NS / 1000000));
		sf_tcp_session_end(session, DOCA_ERROR_CONNECTION_ABORTED);
	}
	sf_tcp_conn_check(conn);
	if (session->changed_num != 0) /* sleepers must still be woken */
		return;
	if (conn->is_up && session->stream.fd >= 0 &&
	    (session->leaving || tcp_session_unsent(session) || tcp_session_owes_ack(session)))
		return;
	LIST_REMOVE(conn, busy);
	conn->is_busy = false;
}

/* ---- the endpoint's thread ---- */

static bool is_ours(struct tcp_conn *conn)
{
	return tcp_conn_ep(conn)->generation == sf_control_generation();
}

static doca_error_t op_submit(struct tcp_conn *conn, struct sf_op *op, uint64_t len)
{
	doca_error_t error;

	if (!conn->is_up)
		return conn->is_asking ? DOCA_ERROR_AGAIN : DOCA_ERROR_NOT_CONNECTED;
	op->conn = &conn->base;
	if (conn->base.is_stale) {
		conn->base.is_stale = false;
		sf_tcp_session_ask(&conn->session);
	}
	if (tcp_conn_ep(conn)->has_posted)
		sf_tcp_conn_send_credits(conn, true); /* with the request */
	error = sf_tcp_session_submit(&conn->session, op, len);
	sf_tcp_conn_watch(conn); /* it may have received, too */
	if (tcp_session_unsent(&conn->session) || tcp_session_owes_ack(&conn->session) || conn->session.stream.fd < 0 ||
	    conn->session.changed_num != 0)
		sf_tcp_conn_busy(conn);
	/* The agent wakes a thread that sleeps until those bytes change. If the program does not poll, the agent also sends what
	 * this submit has read and left pending, unless an acknowledgement or room will wake it. */
	if (conn->session.changed_num != 0 ||
	    (conn->is_busy && tcp_conn_ep(conn)->is_watched && !conn->session.is_behind && tcp_session_is_quiet(&conn->session)))
		sf_control_wake();
	return error;
}

doca_error_t sf_tcp_conn_submit(struct sf_conn *base, struct sf_op *op)
{
	struct tcp_conn *conn = tcp_conn(base);
	uint64_t len;
	doca_error_t error = sf_op_check(base, op, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (op->kind != SF_OP_SEND && !tcp_is_import(op->region)) {
		SF_LOG_ERR(
			"the memory was imported from a process of this machine, and the connection leads to another: it cannot "
			"access the memory");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!is_ours(conn))
		return DOCA_ERROR_NOT_CONNECTED;
	pthread_mutex_lock(&tcp_conn_ep(conn)->lock);
	error = op_submit(conn, op, len);
	sf_tcp_ep_unlock(tcp_conn_ep(conn));
	return error;
}

void sf_tcp_conn_ring(struct sf_conn *base)
{
	struct tcp_conn *conn = tcp_conn(base);

	if (!is_ours(conn))
		return;
	pthread_mutex_lock(&tcp_conn_ep(conn)->lock);
	if (conn->is_up && conn->session.stream.fd >= 0) {
		conn->session.ring_due = true;
		sf_tcp_session_send(&conn->session);
		if (tcp_session_unsent(&conn->session))
			sf_tcp_conn_busy(conn);
	}
	sf_tcp_ep_unlock(tcp_conn_ep(conn));
}

uint32_t sf_tcp_conn_credits(struct sf_conn *base, uint32_t *len)
{
	struct tcp_conn *conn = tcp_conn(base);
	uint32_t num = 0;

	*len = 0;
	if (!is_ours(conn))
		return 0;
	pthread_mutex_lock(&tcp_conn_ep(conn)->lock);
	if (conn->is_up && conn->session.stream.fd >= 0 && !conn->session.leaving)
		num = sf_tcp_receives_credits(&conn->session.room, conn->session.messages, len);
	sf_tcp_ep_unlock(tcp_conn_ep(conn));
	return num;
}

/* With both locks. */
static void conn_disconnect(struct tcp_conn *conn)
{
	struct tcp_ep *far = tcp_conn_ep(conn);

	conn->base.state = SF_CONN_CLOSED;
	if (conn->is_asking) {
		sf_handshake_end(&conn->handshake);
		conn->is_asking = false;
		conn->opened.base.status = DOCA_ERROR_CONNECTION_ABORTED;
		sf_ep_queue_event(&far->queue, &conn->opened.base);
		return;
	}
	if (!conn->is_up || conn->session.leaving)
		return;
	if (conn->opened.base.queued && conn->opened.base.kind == SF_EP_CONNECTED && conn->opened.base.status == DOCA_SUCCESS) {
		conn->opened.base.status = DOCA_ERROR_CONNECTION_ABORTED;
		conn->opened.base.len = 0;
	}
	sf_ep_queue_drop(&far->queue, &conn->closed);
	conn->session.leaving = true;
	sf_tcp_session_wait_end(&conn->session);
	sf_tcp_conn_watch(conn);
	sf_liveness_begin(&conn->answering);
	sf_tcp_conn_busy(conn);
	sf_tcp_conn_attend(conn, true);
	sf_control_wake(); /* to time it */
}

void sf_tcp_conn_disconnect(struct sf_conn *base)
{
	struct tcp_conn *conn = tcp_conn(base);

	if (!is_ours(conn))
		return;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&tcp_conn_ep(conn)->lock);
	conn_disconnect(conn);
	sf_tcp_ep_unlock(tcp_conn_ep(conn));
	pthread_mutex_unlock(&sf_control_lock);
}

void sf_tcp_conn_close(struct sf_conn *base)
{
	struct tcp_conn *conn = tcp_conn(base);
	struct tcp_ep *far = tcp_conn_ep(conn);

	if (!is_ours(conn))
		return;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&far->lock);
	conn_disconnect(conn);
	conn->is_released = true;
	sf_ep_queue_drop(&far->queue, &conn->opened.base);
	sf_ep_queue_forget(&far->queue, base);
	sf_tcp_session_reject(&conn->session);
	if (conn->session.stream.fd < 0)
		sf_tcp_conn_free(conn); /* else when the peer has read everything */
	sf_tcp_ep_unlock(far);
	pthread_mutex_unlock(&sf_control_lock);
}
