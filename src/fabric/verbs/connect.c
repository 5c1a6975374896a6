/* SPDX-License-Identifier: BSD-3-Clause */
/* How links begin on the side that connects, what their peers' agents say, and how they end. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/verbs/link.h"
#include "fabric/verbs/reach.h"

#define ANSWER_LIMIT_NS UINT64_C(5000000000) /* for a silent agent of the peer; its program may take its time */

static LIST_HEAD(, vb_link) links = LIST_HEAD_INITIALIZER(links); /* GUARDED_BY(sf_verbs_lock) */

/* ---- what the agent does for links; with sf_verbs_lock ---- */

/* With the port's lock. The attempt is over. */
static void connect_ended(struct vb_link *link, doca_error_t status, const void *data, size_t len)
{
	pthread_cond_broadcast(&sf_verbs_changed);
	link->opened.status = status;
	if (!sf_verbs_event_set_data(&link->opened, data, len))
		link->opened.len = 0;
	if (status != DOCA_SUCCESS) {
		link->failed = true;
		link->life = VB_LINK_OVER;
	}
	sf_port_queue_event(&vb_link_port(link)->queue, &link->opened);
}

static void link_up(struct vb_link *link)
{
	link->life = VB_LINK_UP;
	sf_verbs_link_tell(link, false);
}

static void link_ended(struct vb_conn *conn)
{
	struct vb_link *link = conn->owner;
	struct vb_port *port = vb_link_port(link);

	link->conn = NULL;
	pthread_mutex_lock(&port->lock);
	sf_verbs_port_drain(port);
	if (link->life == VB_LINK_ASKING)
		connect_ended(link, conn->why != DOCA_SUCCESS ? conn->why : DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	else if (!link->failed)
		sf_verbs_link_lose(link, DOCA_ERROR_CONNECTION_ABORTED, 0);
	sf_verbs_port_drain(port);
	pthread_mutex_unlock(&port->lock);
}

static void accepted(struct vb_link *link, const struct vb_msg_accept *answer)
{
	struct vb_domain *domain = vb_domain(link->base.port->domain);
	struct vb_msg ready;

	link->peer = answer->end;
	if (sf_verbs_qp_join(domain, link->qp, link->psn, &link->peer, VB_RNR_FOR_EVER) != DOCA_SUCCESS) {
		connect_ended(link, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
		(void)shutdown(link->conn->fd, SHUT_RDWR);
		return;
	}
	connect_ended(link, DOCA_SUCCESS, answer->data, answer->data_len);
	link_up(link);
	(void)sf_verbs_conn_send(link->conn, VB_MSG_READY, &ready, sizeof(ready), 0);
}

static void refused(struct vb_link *link, const struct vb_msg_refuse *answer)
{
	doca_error_t status = sf_verbs_msg_status(answer->head.count);

	connect_ended(link, status != DOCA_SUCCESS ? status : DOCA_ERROR_CONNECTION_ABORTED, answer->data, answer->data_len);
}

static void link_message(struct vb_conn *conn, const union vb_msg_any *msg)
{
	struct vb_link *link = conn->owner;
	struct vb_port *port = vb_link_port(link);
	const bool asking = link->life == VB_LINK_ASKING;

	pthread_mutex_lock(&port->lock);
	if (msg->head.kind == VB_MSG_PENDING) {
		link->pending = true;
		pthread_cond_broadcast(&sf_verbs_changed);
	} else if (msg->head.kind == VB_MSG_ACCEPT && asking) {
		accepted(link, &msg->accept);
	} else if (msg->head.kind == VB_MSG_REFUSE && asking) {
		refused(link, &msg->refuse);
	} else if (msg->head.kind == VB_MSG_READY && link->life == VB_LINK_JOINING) {
		link_up(link);
	} else if (msg->head.kind == VB_MSG_BYE && !asking) {
		sf_verbs_port_drain(port); /* what was on its way, before the queue pair ends */
		sf_verbs_link_lose(link, DOCA_ERROR_CONNECTION_RESET, msg->head.count);
	} else if (msg->head.kind == VB_MSG_RING && !asking) {
		sf_port_queue_ring(&port->queue);
	} else if (msg->head.kind == VB_MSG_PULLED && !asking) {
		sf_verbs_ops_pulled(link, msg->head.count);
	}
	sf_verbs_port_drain(port);
	pthread_mutex_unlock(&port->lock);
}

/* What a link has to say to its peer, and what is timed. Returns whether anything still is. */
static bool link_tick(struct vb_link *link, uint64_t now)
{
	struct vb_port *port = vb_link_port(link);
	struct vb_msg msg;
	bool timed, bye, pulled, cut;

	pthread_mutex_lock(&port->lock);
	if (link->life == VB_LINK_ASKING && !link->pending &&
	    sf_liveness_lost(&link->answering, link->conn != NULL ? link->conn->pid : 0, ANSWER_LIMIT_NS)) {
		SF_LOG_ERR_LIMITED("the peer's agent does not answer; is its process stopped?");
		connect_ended(link, DOCA_ERROR_TIME_OUT, NULL, 0);
	}
	if (link->gone != DOCA_SUCCESS || link->leaving) {
		sf_verbs_link_touch(link);
		sf_verbs_port_drain(port);
	}
	bye = link->leaving && link->ops_head == link->ops_tail && !link->said_bye;
	link->said_bye = link->said_bye || bye;
	pulled = link->pulls_made != link->pulls_told;
	link->pulls_told = link->pulls_made;
	cut = (link->gone == DOCA_ERROR_CONNECTION_ABORTED && !sf_verbs_link_is_suspect(link, now)) || link->failed;
	timed = (link->life == VB_LINK_ASKING && !link->pending) || (link->leaving && !link->said_bye) ||
		(link->gone != DOCA_SUCCESS && !link->leaving && link->closed.status == DOCA_SUCCESS);
	pthread_mutex_unlock(&port->lock);
	if (pulled)
		(void)sf_verbs_conn_send(link->conn, VB_MSG_PULLED, &msg, sizeof(msg), link->pulls_told);
	if (bye)
		(void)sf_verbs_conn_send(link->conn, VB_MSG_BYE, &msg, sizeof(msg), link->sent);
	if (cut) {
		sf_verbs_conn_close(link->conn);
		link->conn = NULL;
	}
	return timed;
}

bool sf_verbs_links_tick(uint64_t now)
{
	struct vb_link *link;
	bool timed = false;

	LIST_FOREACH (link, &links, all)
		timed = link_tick(link, now) || timed;
	return timed;
}

void sf_verbs_links_after_fork(void)
{
	LIST_INIT(&links);
}

/* ---- connecting ---- */

void sf_verbs_link_follow(struct vb_link *link, struct vb_conn *conn)
{
	link->conn = conn;
	conn->owner = link;
	conn->message = link_message;
	conn->ended = link_ended;
}

void sf_verbs_link_register(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);

	LIST_INSERT_HEAD(&links, link, all);
	pthread_mutex_lock(&port->lock);
	sf_verbs_link_enter(link);
	pthread_mutex_unlock(&port->lock);
}

static doca_error_t link_ask(struct vb_link *link, const char *name, const void *data, size_t len)
{
	struct vb_msg_connect ask = {.data_len = (uint32_t)len};
	struct vb_domain *domain = vb_domain(link->base.port->domain);
	char reach[SF_REACH_MAX];
	struct sf_key key;
	doca_error_t error;

	sf_verbs_name_split(name, ask.name, reach);
	key = sf_key_of_name(ask.name);
	if (len != 0)
		memcpy(ask.data, data, len);
	sf_verbs_domain_end(domain, link->qp, link->psn, &ask.end);
	ask.end.view_addr = (uintptr_t)&link->block->view;
	ask.end.view_rkey = link->block_mr->mr->rkey;
	error = sf_verbs_conn_call(SF_SOCKET_VERBS_LISTENER, &key, reach, domain->scope, link, &link->conn);
	if (error != DOCA_SUCCESS)
		return error == DOCA_ERROR_AGAIN ? DOCA_ERROR_TIME_OUT : error;
	sf_verbs_link_follow(link, link->conn);
	sf_liveness_begin(&link->answering);
	(void)sf_verbs_conn_send(link->conn, VB_MSG_CONNECT, &ask, sizeof(ask), 0);
	sf_verbs_agent_wake(); /* to time the answer */
	return DOCA_SUCCESS;
}

doca_error_t sf_verbs_link_connect(struct sf_port *base, const char *name, const void *data, size_t len, void *user,
				   struct sf_link **out)
{
	struct vb_port *port = vb_port(base);
	doca_error_t error = sf_name_check(name, data, len);
	struct vb_link *link;

	if (error != DOCA_SUCCESS)
		return error;
	link = sf_verbs_link_new(port, user);
	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&sf_verbs_lock);
	sf_verbs_link_register(link);
	error = link_ask(link, name, data, len);
	if (error != DOCA_SUCCESS) {
		pthread_mutex_lock(&port->lock);
		connect_ended(link, error, NULL, 0);
		pthread_mutex_unlock(&port->lock);
	}
	pthread_mutex_unlock(&sf_verbs_lock);
	*out = &link->base;
	return DOCA_SUCCESS;
}

/* With sf_verbs_lock. */
static bool link_is_asking(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);
	bool asking;

	pthread_mutex_lock(&port->lock);
	asking = link->life == VB_LINK_ASKING && !link->pending && !link->failed;
	pthread_mutex_unlock(&port->lock);
	return asking;
}

doca_error_t sf_verbs_link_wait(struct sf_link *base)
{
	struct vb_link *link = vb_link(base);
	struct sf_liveness answering;
	doca_error_t error = DOCA_SUCCESS;

	if (!vb_port_is_ours(vb_port(base->port)))
		return DOCA_SUCCESS;
	sf_liveness_begin(&answering);
	pthread_mutex_lock(&sf_verbs_lock);
	while (error == DOCA_SUCCESS && link_is_asking(link)) {
		if (!sf_verbs_agent_await(link->conn, &answering, SF_SILENCE_LIMIT_NS))
			error = DOCA_ERROR_TIME_OUT;
	}
	pthread_mutex_unlock(&sf_verbs_lock);
	return error;
}

/* ---- ending; on the port's thread ---- */

void sf_verbs_link_disconnect(struct sf_link *base)
{
	struct vb_link *link = vb_link(base);
	struct vb_port *port = vb_link_port(link);

	if (!vb_port_is_ours(port))
		return;
	pthread_mutex_lock(&sf_verbs_lock);
	pthread_mutex_lock(&port->lock);
	if (link->life == VB_LINK_ASKING) {
		struct vb_msg bye;

		(void)sf_verbs_conn_send(link->conn, VB_MSG_BYE, &bye, sizeof(bye), 0);
		sf_verbs_conn_close(link->conn);
		link->conn = NULL;
		connect_ended(link, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	} else if (!link->leaving) {
		if (link->opened.queued && link->opened.kind == SF_PORT_CONNECTED && link->opened.status == DOCA_SUCCESS) {
			link->opened.status = DOCA_ERROR_CONNECTION_ABORTED;
			link->opened.len = 0;
		}
		sf_port_queue_drop(&port->queue, &link->closed);
		link->leaving = true;
		link->moved_at = sf_now_ns();
		sf_verbs_link_touch(link);
		sf_verbs_port_drain(port);
	}
	base->state = SF_LINK_CLOSED;
	pthread_mutex_unlock(&port->lock);
	if (link_tick(link, sf_now_ns()))
		sf_verbs_agent_wake(); /* which goes on with it */
	pthread_mutex_unlock(&sf_verbs_lock);
}

void sf_verbs_link_close(struct sf_link *base)
{
	struct vb_link *link = vb_link(base);
	struct vb_port *port = vb_link_port(link);

	if (!vb_port_is_ours(port))
		return;
	sf_verbs_link_disconnect(base);
	pthread_mutex_lock(&sf_verbs_lock);
	sf_verbs_conn_close(link->conn);
	link->conn = NULL;
	LIST_REMOVE(link, all);
	pthread_mutex_lock(&port->lock);
	sf_verbs_link_leave(link);
	pthread_mutex_unlock(&port->lock);
	pthread_mutex_unlock(&sf_verbs_lock);
	sf_verbs_link_free(link);
}

void sf_verbs_link_ring(struct sf_link *base)
{
	struct vb_msg msg;

	if (!vb_port_is_ours(vb_port(base->port)))
		return;
	pthread_mutex_lock(&sf_verbs_lock);
	(void)sf_verbs_conn_send(vb_link(base)->conn, VB_MSG_RING, &msg, sizeof(msg), 0);
	pthread_mutex_unlock(&sf_verbs_lock);
}

