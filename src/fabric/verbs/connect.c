/* SPDX-License-Identifier: BSD-3-Clause */
/* How links begin on the side that connects, what their peers' agents say, and how they end. */
#include <stddef.h>

#include "base/clock.h"
#include "fabric/verbs/link.h"

static LIST_HEAD(, vb_link) links = LIST_HEAD_INITIALIZER(links); /* GUARDED_BY(sf_control_lock) */

/* ---- what the agent does for links; with sf_control_lock ---- */

/* With the port's lock. The attempt is over. */
static void connect_ended(struct vb_link *link, doca_error_t status, const void *data, size_t len)
{
	link->opened.status = status;
	if (!sf_verbs_event_set_data(&link->opened, data, len))
		link->opened.len = 0;
	if (status != DOCA_SUCCESS) {
		link->failed = true;
		link->life = VB_LINK_OVER;
	}
	sf_port_queue_event(&vb_link_port(link)->queue, &link->opened);
}

static struct vb_link *link_of(struct sf_handshake *handshake)
{
	return (struct vb_link *)((char *)handshake - offsetof(struct vb_link, handshake));
}

static void tell(struct sf_handshake *handshake, struct sf_msg_side *side, int *fds)
{
	(void)fds;
	sf_verbs_link_side(link_of(handshake), side);
}

static doca_error_t meet(struct sf_handshake *handshake, const struct sf_msg_side *side, int *fds)
{
	struct vb_link *link = link_of(handshake);
	struct vb_port *port = vb_link_port(link);
	doca_error_t error;

	(void)fds;
	pthread_mutex_lock(&port->lock);
	error = sf_verbs_link_meet(link, side);
	pthread_mutex_unlock(&port->lock);
	return error == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}

static void link_up(struct vb_link *link)
{
	link->life = VB_LINK_UP;
	sf_verbs_link_tell(link, false);
}

static void opened(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len)
{
	struct vb_link *link = link_of(handshake);
	struct vb_port *port = vb_link_port(link);
	struct sf_msg ready;

	pthread_mutex_lock(&port->lock);
	connect_ended(link, status, data, len);
	if (status == DOCA_SUCCESS) {
		link_up(link);
		(void)vb_msg_send(handshake->channel, VB_MSG_READY, &ready, sizeof(ready), 0);
	}
	sf_verbs_port_drain(port);
	pthread_mutex_unlock(&port->lock);
}

static bool message(struct sf_handshake *handshake, const struct sf_msg *msg)
{
	struct vb_link *link = link_of(handshake);
	struct vb_port *port = vb_link_port(link);
	bool known = true;

	pthread_mutex_lock(&port->lock);
	if (msg->kind == VB_MSG_READY && link->life == VB_LINK_JOINING) {
		link_up(link);
	} else if (msg->kind == VB_MSG_BYE) {
		sf_verbs_port_drain(port); /* what was on its way, before the queue pair ends */
		sf_verbs_link_lose(link, DOCA_ERROR_CONNECTION_RESET, msg->value);
	} else if (msg->kind == VB_MSG_RING) {
		sf_port_queue_ring(&port->queue);
	} else if (msg->kind == VB_MSG_PULLED) {
		sf_verbs_ops_pulled(link, msg->value);
	} else {
		known = false;
	}
	sf_verbs_port_drain(port);
	pthread_mutex_unlock(&port->lock);
	return known;
}

static void ended(struct sf_handshake *handshake)
{
	struct vb_link *link = link_of(handshake);
	struct vb_port *port = vb_link_port(link);

	pthread_mutex_lock(&port->lock);
	sf_verbs_port_drain(port);
	if (!link->failed)
		sf_verbs_link_lose(link, DOCA_ERROR_CONNECTION_ABORTED, 0);
	sf_verbs_port_drain(port);
	pthread_mutex_unlock(&port->lock);
}

static const struct sf_handshake_ops handshake_ops = {
	.provider = &sf_verbs_control,
	.tell = tell,
	.meet = meet,
	.opened = opened,
	.message = message,
	.ended = ended,
};

/* What a link has to say to its peer, and what is timed. Returns whether anything still is. */
static bool link_tick(struct vb_link *link, uint64_t now)
{
	struct vb_port *port = vb_link_port(link);
	struct sf_msg msg;
	bool timed, bye, pulled, cut;

	pthread_mutex_lock(&port->lock);
	if (link->gone != DOCA_SUCCESS || link->leaving) {
		sf_verbs_link_touch(link);
		sf_verbs_port_drain(port);
	}
	bye = link->leaving && link->ops_head == link->ops_tail && !link->said_bye;
	link->said_bye = link->said_bye || bye;
	pulled = link->pulls_made != link->pulls_told;
	link->pulls_told = link->pulls_made;
	cut = (link->gone == DOCA_ERROR_CONNECTION_ABORTED && !sf_verbs_link_is_suspect(link, now)) || link->failed;
	timed = (link->leaving && !link->said_bye) ||
		(link->gone != DOCA_SUCCESS && !link->leaving && link->closed.status == DOCA_SUCCESS);
	pthread_mutex_unlock(&port->lock);
	if (pulled)
		(void)vb_msg_send(link->handshake.channel, VB_MSG_PULLED, &msg, sizeof(msg), link->pulls_told);
	if (bye)
		(void)vb_msg_send(link->handshake.channel, VB_MSG_BYE, &msg, sizeof(msg), link->sent);
	if (cut)
		sf_handshake_end(&link->handshake);
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

void sf_verbs_link_follow(struct vb_link *link, struct sf_channel *channel)
{
	sf_handshake_follow(&link->handshake, &handshake_ops, channel);
}

void sf_verbs_link_register(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);

	LIST_INSERT_HEAD(&links, link, all);
	pthread_mutex_lock(&port->lock);
	sf_verbs_link_enter(link);
	pthread_mutex_unlock(&port->lock);
}

doca_error_t sf_verbs_link_connect(struct sf_port *base, const char *name, const char *address, const void *data, size_t len,
				   void *user, struct sf_link **out)
{
	struct vb_port *port = vb_port(base);
	doca_error_t error = sf_name_check(name, address, data, len);
	struct vb_link *link;

	if (error != DOCA_SUCCESS)
		return error;
	link = sf_verbs_link_new(port, user);
	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&sf_control_lock);
	sf_verbs_link_register(link);
	error = sf_handshake_ask(&link->handshake, &handshake_ops, name, address, vb_domain(base->domain)->scope, data, len);
	if (error != DOCA_SUCCESS) {
		pthread_mutex_lock(&port->lock);
		connect_ended(link, error, NULL, 0);
		pthread_mutex_unlock(&port->lock);
	}
	pthread_mutex_unlock(&sf_control_lock);
	*out = &link->base;
	return DOCA_SUCCESS;
}

/* ---- ending; on the port's thread ---- */

void sf_verbs_link_disconnect(struct sf_link *base)
{
	struct vb_link *link = vb_link(base);
	struct vb_port *port = vb_link_port(link);

	if (!vb_port_is_ours(port))
		return;
	pthread_mutex_lock(&sf_control_lock);
	pthread_mutex_lock(&port->lock);
	if (link->life == VB_LINK_ASKING) {
		struct sf_msg bye;

		(void)vb_msg_send(link->handshake.channel, VB_MSG_BYE, &bye, sizeof(bye), 0);
		sf_handshake_end(&link->handshake);
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
		sf_control_wake(); /* which goes on with it */
	pthread_mutex_unlock(&sf_control_lock);
}

void sf_verbs_link_close(struct sf_link *base)
{
	struct vb_link *link = vb_link(base);
	struct vb_port *port = vb_link_port(link);

	if (!vb_port_is_ours(port))
		return;
	sf_verbs_link_disconnect(base);
	pthread_mutex_lock(&sf_control_lock);
	sf_handshake_end(&link->handshake);
	LIST_REMOVE(link, all);
	pthread_mutex_lock(&port->lock);
	sf_verbs_link_leave(link);
	pthread_mutex_unlock(&port->lock);
	pthread_mutex_unlock(&sf_control_lock);
	sf_verbs_link_free(link);
}

void sf_verbs_link_ring(struct sf_link *base)
{
	struct sf_msg msg;

	if (!vb_port_is_ours(vb_port(base->port)))
		return;
	pthread_mutex_lock(&sf_control_lock);
	(void)vb_msg_send(vb_link(base)->handshake.channel, VB_MSG_RING, &msg, sizeof(msg), 0);
	pthread_mutex_unlock(&sf_control_lock);
}
