/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/link.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/tcp/import.h"
#include "fabric/tcp/waiting.h"

#define RECEIVES_TOLD_MAX 1024
#define TELL_LEFT 64	 /* receives that a peer knows of: when it has fewer, and uses them, it is told of new ones early */
#define TELL_FEW 16	 /* and if it does not use them, when it has fewer than this */
#define ACKS_LATE_MAX 64 /* requests that are carried out and not acknowledged */
#define ACK_POLLS 3	 /* that an acknowledgement waits, alone: the program's answer goes first, by another link perhaps */

static struct tcp_link *link_of(struct tcp_session *session)
{
	return (struct tcp_link *)((char *)session - offsetof(struct tcp_link, session));
}

/* ---- what the session needs of the port ---- */

static doca_error_t take(struct tcp_session *session, uint64_t len, struct sf_recv **recv)
{
	struct tcp_link *link = link_of(session);
	struct tcp_port *far = tcp_link_port(link);
	struct shm_slot *slot;
	doca_error_t error;

	if (link->is_released)
		return DOCA_ERROR_AGAIN;
	error = sf_shm_recvq_take(&far->port->recvq, &far->cursor, len, &slot);
	if (error != DOCA_SUCCESS)
		return error;
	link->slot = (uint32_t)(slot - far->port->recvq.slots);
	*recv = slot->recv;
	return DOCA_SUCCESS;
}

static bool wait_for_receive(struct tcp_session *session)
{
	struct tcp_link *link = link_of(session);

	if (link->is_released || session->leaving)
		return false;
	sf_tcp_waiting_add(link);
	return true;
}

static void filled(struct tcp_session *session, struct sf_recv *recv)
{
	struct tcp_link *link = link_of(session);

	recv->link = &link->base;
	recv->place = link->slot;
	sf_port_queue_recv(&tcp_link_port(link)->queue, recv);
}

static void give_back(struct tcp_session *session, struct sf_recv *recv)
{
	struct tcp_port *far = tcp_link_port(link_of(session));

	recv->place = link_of(session)->slot;
	recv->next = far->returned;
	far->returned = recv;
	sf_port_queue_ring(&far->queue);
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

	if (list->num == RECEIVES_TOLD_MAX || (!is_same && receives->num == TCP_RUNS_MAX)) {
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
	struct tcp_port *far = tcp_link_port(link_of(session));
	struct list list = {.receives = receives};

	link_of(session)->told_posts = far->posts;
	sf_shm_recvq_each_posted(&far->port->recvq, &far->cursor, list_add, &list);
}

static void done(struct tcp_session *session, struct sf_op *op)
{
	sf_port_queue_op(&tcp_link_port(link_of(session))->queue, op);
}

static void rung(struct tcp_session *session)
{
	sf_port_queue_ring(&tcp_link_port(link_of(session))->queue);
}

static bool probe(struct tcp_session *session)
{
	struct tcp_link *link = link_of(session);
	struct tcp_port *far = tcp_link_port(link);
	bool sent;

	if (pthread_mutex_trylock(&far->lock) != 0)
		return false; /* its thread is at it */
	sent = sf_tcp_session_probe(session);
	if (!sent && session->stream.fd >= 0) {
		sf_tcp_link_watch(link);
		sf_tcp_link_busy(link);
	}
	sf_tcp_port_unlock(far);
	return sent;
}

static const struct tcp_session_ops session_ops = {
	.take = take,
	.wait = wait_for_receive,
	.filled = filled,
	.give_back = give_back,
	.receives = list_receives,
	.done = done,
	.rung = rung,
	.probe = probe,
};

/* ---- life ---- */

struct tcp_link *sf_tcp_link_new(struct tcp_port *far, void *user)
{
	struct tcp_link *link = calloc(1, sizeof(*link));

	if (link == NULL) {
		SF_LOG_ERR_LIMITED("no memory for a link of a port");
		return NULL;
	}
	link->base =
		(struct sf_link){.ops = sf_tcp_table(), .port = &far->port->base, .user = user, .handshake = &link->handshake};
	link->request.far = link;
	link->session.stream.fd = -1;
	link->session.ops = &session_ops;
	link->opened.base.link = link->closed.link = &link->base;
	link->closed.kind = SF_PORT_CLOSED;
	LIST_INSERT_HEAD(&far->links, link, entry);
	far->link_num++;
	return link;
}

void sf_tcp_link_free(struct tcp_link *link)
{
	struct tcp_port *far = tcp_link_port(link);

	sf_handshake_end(&link->handshake);
	sf_port_queue_drop(&far->queue, &link->opened.base);
	sf_port_queue_drop(&far->queue, &link->closed);
	sf_port_queue_forget(&far->queue, &link->base);
	sf_tcp_waiting_remove(link);
	if (link->is_busy)
		LIST_REMOVE(link, busy);
	LIST_REMOVE(link, entry);
	far->link_num--;
	free(link);
}

void sf_tcp_link_busy(struct tcp_link *link)
{
	if (!link->is_busy)
		LIST_INSERT_HEAD(&tcp_link_port(link)->busy, link, busy);
	link->is_busy = true;
}

void sf_tcp_link_tell(struct tcp_link *link, bool early)
{
	struct tcp_session *session = &link->session;
	const uint32_t left = tcp_session_told_left(session);

	if (!link->is_up || session->stream.fd < 0 || link->told_posts == tcp_link_port(link)->posts)
		return;
	if (!TAILQ_EMPTY(&tcp_link_port(link)->waiting)) /* what was posted is for messages that have come */
		return;
	if (2 * left > session->told_num && !(early && (left < TELL_FEW || (left < TELL_LEFT && left < session->told_num))))
		return;
	session->tell_receives = true;
	sf_tcp_link_busy(link);
}

void sf_tcp_link_watch(struct tcp_link *link)
{
	struct epoll_event event = {.data.ptr = link};
	const int how = link->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (!link->session.is_waiting)
		sf_tcp_waiting_remove(link);
	event.events = tcp_session_events(&link->session) & (link->is_deaf ? ~(uint32_t)EPOLLIN : ~(uint32_t)0);
	if (link->session.stream.fd < 0 || (link->in_epoll && event.events == link->events))
		return;
	link->in_epoll = true;
	link->events = event.events;
	if (epoll_ctl(tcp_link_port(link)->epoll, how, link->session.stream.fd, &event) == 0)
		return;
	SF_LOG_ERR_LIMITED("cannot wait on one more socket");
	sf_tcp_session_end(&link->session, DOCA_ERROR_CONNECTION_ABORTED);
}

void sf_tcp_link_up(struct tcp_link *link, struct sf_stream stream)
{
	link->is_asking = link->is_request = false;
	link->is_up = true;
	sf_tcp_session_begin(&link->session, &session_ops, stream);
	link->session.tell_receives = true; /* what was posted since the side was told */
	sf_tcp_link_watch(link);
	sf_tcp_link_busy(link);
	sf_tcp_link_attend(link, sf_now_ns(), true);
}

void sf_tcp_link_check(struct tcp_link *link)
{
	struct tcp_port *far = tcp_link_port(link);

	if (!link->is_up || link->is_over || link->session.stream.fd >= 0)
		return;
	link->is_over = true;
	far->has_released = far->has_released || link->is_released;
	if (link->session.leaving)
		return;
	link->closed.status = link->session.ended;
	sf_port_queue_event(&far->queue, &link->closed);
}

static void send_due(struct tcp_link *link, bool now)
{
	struct tcp_session *session = &link->session;
	const bool late = now || link->ack_waited == ACK_POLLS || session->executed - session->acked >= ACKS_LATE_MAX;

	if (!tcp_session_unsent(session) && !(tcp_session_owes_ack(session) && late)) {
		link->ack_waited = tcp_session_owes_ack(session) ? link->ack_waited + 1 : 0;
		return;
	}
	sf_tcp_session_send(session);
	link->ack_waited = 0;
	sf_tcp_link_watch(link);
}

void sf_tcp_link_attend(struct tcp_link *link, uint64_t now_ns, bool at_once)
{
	struct tcp_session *session = &link->session;

	if (link->is_up && session->stream.fd >= 0)
		send_due(link, at_once);
	if (session->stream.fd >= 0 && session->leaving && now_ns >= link->end_ns)
		sf_tcp_session_end(session, DOCA_ERROR_CONNECTION_ABORTED);
	sf_tcp_link_check(link);
	if (session->changed_num != 0) /* sleepers are still to be woken */
		return;
	if (link->is_up && session->stream.fd >= 0 &&
	    (session->leaving || tcp_session_unsent(session) || tcp_session_owes_ack(session)))
		return;
	LIST_REMOVE(link, busy);
	link->is_busy = false;
}

/* ---- the port's thread ---- */

static bool is_ours(struct tcp_link *link)
{
	return tcp_link_port(link)->generation == sf_control_generation();
}

static doca_error_t submit(struct tcp_link *link, struct sf_op *op, uint64_t len)
{
	doca_error_t error;

	if (!link->is_up)
		return link->is_asking ? DOCA_ERROR_AGAIN : DOCA_ERROR_NOT_CONNECTED;
	op->link = &link->base;
	if (tcp_link_port(link)->has_posted)
		sf_tcp_link_tell(link, true); /* with the request */
	error = sf_tcp_session_submit(&link->session, op, len);
	sf_tcp_link_watch(link); /* it may have received, too */
	if (tcp_session_unsent(&link->session) || tcp_session_owes_ack(&link->session) || link->session.stream.fd < 0 ||
	    link->session.changed_num != 0)
		sf_tcp_link_busy(link);
	if (link->session.changed_num != 0)
		sf_control_wake(); /* to wake who sleeps until those bytes change */
	return error;
}

doca_error_t sf_tcp_link_submit(struct sf_link *base, struct sf_op *op)
{
	struct tcp_link *link = tcp_link(base);
	uint64_t len;
	doca_error_t error = sf_op_check(base, op, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (op->kind != SF_OP_SEND && !tcp_is_import(op->region)) {
		SF_LOG_ERR("the memory was imported from a process of this machine, and the connection is to another: it cannot "
			   "be reached by it");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!is_ours(link))
		return DOCA_ERROR_NOT_CONNECTED;
	pthread_mutex_lock(&tcp_link_port(link)->lock);
	error = submit(link, op, len);
	sf_tcp_port_unlock(tcp_link_port(link));
	return error;
}

void sf_tcp_link_ring(struct sf_link *base)
{
	struct tcp_link *link = tcp_link(base);

	if (!is_ours(link))
		return;
	pthread_mutex_lock(&tcp_link_port(link)->lock);
	if (link->is_up && link->session.stream.fd >= 0) {
		link->session.ring_due = true;
		sf_tcp_session_send(&link->session);
		if (tcp_session_unsent(&link->session))
			sf_tcp_link_busy(link);
	}
	sf_tcp_port_unlock(tcp_link_port(link));
}

uint32_t sf_tcp_link_credits(struct sf_link *base, uint32_t *len)
{
	struct tcp_link *link = tcp_link(base);
	uint32_t num = 0;

	*len = 0;
	if (!is_ours(link))
		return 0;
	pthread_mutex_lock(&tcp_link_port(link)->lock);
	if (link->is_up && link->session.stream.fd >= 0 && !link->session.leaving)
		num = sf_tcp_credits(&link->session.room, link->session.messages, len);
	sf_tcp_port_unlock(tcp_link_port(link));
	return num;
}

/* With both locks. */
static void disconnect(struct tcp_link *link)
{
	struct tcp_port *far = tcp_link_port(link);

	link->base.state = SF_LINK_CLOSED;
	if (link->is_asking) {
		sf_handshake_end(&link->handshake);
		link->is_asking = false;
		link->opened.base.status = DOCA_ERROR_CONNECTION_ABORTED;
		sf_port_queue_event(&far->queue, &link->opened.base);
		return;
	}
	if (!link->is_up || link->session.leaving)
		return;
	if (link->opened.base.queued && link->opened.base.kind == SF_PORT_CONNECTED && link->opened.base.status == DOCA_SUCCESS) {
		link->opened.base.status = DOCA_ERROR_CONNECTION_ABORTED;
		link->opened.base.len = 0;
	}
	sf_port_queue_drop(&far->queue, &link->closed);
	link->session.leaving = true;
	sf_tcp_session_wait_end(&link->session);
	sf_tcp_link_watch(link);
	link->end_ns = sf_now_ns() + TCP_END_LIMIT_NS;
	sf_tcp_link_busy(link);
	sf_tcp_link_attend(link, 0, true);
	sf_control_wake(); /* to time it */
}

void sf_tcp_link_disconnect(struct sf_link *base)
{
	struct tcp_link *link = tcp_link(base);

	if (!is_ours(link))
		return;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&tcp_link_port(link)->lock);
	disconnect(link);
	sf_tcp_port_unlock(tcp_link_port(link));
	pthread_mutex_unlock(&sf_control_lock);
}

void sf_tcp_link_close(struct sf_link *base)
{
	struct tcp_link *link = tcp_link(base);
	struct tcp_port *far = tcp_link_port(link);

	if (!is_ours(link))
		return;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&far->lock);
	disconnect(link);
	link->is_released = true;
	sf_port_queue_drop(&far->queue, &link->opened.base);
	sf_port_queue_forget(&far->queue, base);
	sf_tcp_session_refuse(&link->session);
	if (link->session.stream.fd < 0)
		sf_tcp_link_free(link); /* else when the peer has taken what it was sent */
	sf_tcp_port_unlock(far);
	pthread_mutex_unlock(&sf_control_lock);
}
