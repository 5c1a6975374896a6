/* SPDX-License-Identifier: BSD-3-Clause */
/* How links begin on the side that is asked. */
#include <stdlib.h>
#include <string.h>

#include "fabric/verbs/link.h"

/* GUARDED_BY(sf_control_lock) */
struct vb_request {
	LIST_ENTRY(vb_request) entry;
	struct sf_control_listener *listener;
	struct sf_channel *channel; /* NULL once the peer went away */
	struct sf_msg_side side;
	struct sf_port_event event; /* GUARDED_BY(the port's lock) */
};

static LIST_HEAD(, vb_request) requests =
	LIST_HEAD_INITIALIZER(requests); /* unanswered, of all listeners. GUARDED_BY(sf_control_lock) */

void sf_verbs_requests_after_fork(void)
{
	LIST_INIT(&requests);
}

/* ---- accepting; with sf_control_lock ---- */

/* The peer's queue pair is known: from here on the link takes what it sends. */
static doca_error_t link_join(struct vb_link *link, const struct sf_msg_side *side)
{
	link->life = VB_LINK_JOINING;
	return sf_verbs_link_meet(link, side);
}

static void link_answer(struct vb_link *link, struct sf_channel *channel, const void *data, size_t len)
{
	struct sf_msg_side side = {{0}};

	sf_verbs_link_side(link, &side);
	sf_verbs_link_follow(link, channel);
	sf_verbs_link_register(link);
	(void)sf_control_accept_answer(channel, &sf_verbs_control, &side, NULL, data, len); /* if not, the agent finds the end */
}

static doca_error_t accept_auto(struct sf_control_listener *listener, struct sf_channel *channel,
				const struct sf_msg_connect *ask)
{
	struct vb_port *port = vb_port(listener->base.port);
	struct vb_link *link = sf_verbs_link_new(port, NULL);
	doca_error_t error = link != NULL ? link_join(link, &ask->side) : DOCA_ERROR_NO_MEMORY;

	if (error == DOCA_SUCCESS && !sf_verbs_event_set_data(&link->opened, ask->data, ask->data_len))
		error = DOCA_ERROR_NO_MEMORY;
	if (error != DOCA_SUCCESS) {
		if (link != NULL)
			sf_verbs_link_free(link);
		return error;
	}
	/* Due before the answer leaves: nothing of the link can come before it. */
	link->opened.kind = SF_PORT_ACCEPTED;
	link->opened.listener = &listener->base;
	pthread_mutex_lock(&port->lock);
	sf_port_queue_event(&port->queue, &link->opened);
	pthread_mutex_unlock(&port->lock);
	link_answer(link, channel, NULL, 0);
	return DOCA_SUCCESS;
}

static void request_ended(struct sf_channel *channel)
{
	((struct vb_request *)channel->owner)->channel = NULL;
}

/* Nothing is to be said before the answer. */
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
	struct vb_port *port = vb_port(listener->base.port);
	struct vb_request *request = calloc(1, sizeof(*request));

	if (request == NULL || !sf_verbs_event_set_data(&request->event, ask->data, ask->data_len)) {
		free(request);
		return DOCA_ERROR_NO_MEMORY;
	}
	request->listener = listener;
	request->side = ask->side;
	request->channel = channel;
	request->event.kind = SF_PORT_REQUEST;
	request->event.listener = &listener->base;
	request->event.request = (struct sf_request *)request;
	channel->owner = request;
	channel->ended = request_ended;
	channel->message = request_message;
	LIST_INSERT_HEAD(&requests, request, entry);
	pthread_mutex_lock(&port->lock);
	sf_port_queue_event(&port->queue, &request->event);
	pthread_mutex_unlock(&port->lock);
	return DOCA_SUCCESS;
}

doca_error_t sf_verbs_asked(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask,
			    int *fds)
{
	(void)fds;
	return (listener->flags & SF_LISTEN_AUTO) != 0 ? accept_auto(listener, channel, ask)
						       : ask_program(listener, channel, ask);
}

static void request_free(struct vb_request *request)
{
	struct vb_port *port = vb_port(request->listener->base.port);

	pthread_mutex_lock(&port->lock);
	sf_port_queue_drop(&port->queue, &request->event);
	pthread_mutex_unlock(&port->lock);
	LIST_REMOVE(request, entry);
	request->listener->num_requests--;
	free(request->event.data);
	free(request);
}

doca_error_t sf_verbs_link_accept(struct sf_request *base, const void *data, size_t len, void *user, struct sf_link **out)
{
	struct vb_request *request = (struct vb_request *)base;
	struct vb_link *link;
	doca_error_t error = DOCA_SUCCESS;

	if (len > SF_PRIVATE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	link = sf_verbs_link_new(vb_port(request->listener->base.port), user);
	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	link->base.state = SF_LINK_READY;
	pthread_mutex_lock(&sf_control_lock);
	error = request->channel == NULL ? DOCA_ERROR_NOT_CONNECTED : link_join(link, &request->side);
	if (error == DOCA_SUCCESS)
		link_answer(link, request->channel, data, len);
	else if (request->channel != NULL)
		sf_control_refuse(request->channel, error, NULL, 0);
	request_free(request);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS) {
		sf_verbs_link_free(link);
		return error;
	}
	*out = &link->base;
	return DOCA_SUCCESS;
}

static void request_refuse(struct vb_request *request, const void *data, size_t len)
{
	if (request->channel != NULL)
		sf_control_refuse(request->channel, DOCA_ERROR_CONNECTION_ABORTED, data, len);
	request_free(request);
}

void sf_verbs_link_reject(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	(void)listener;
	pthread_mutex_lock(&sf_control_lock);
	request_refuse((struct vb_request *)request, data, len < SF_PRIVATE_MAX ? len : SF_PRIVATE_MAX);
	pthread_mutex_unlock(&sf_control_lock);
}

/* ---- listeners ---- */

doca_error_t sf_verbs_listener_open(struct sf_port *port, const char *name, uint32_t flags, void *user, struct sf_listener **out)
{
	const struct sf_net_device device = vb_net_device(vb_domain(port->domain));
	struct sf_control_listener *listener;
	doca_error_t error = sf_control_listener_open(&sf_verbs_control, &device, port, name, flags, user, &listener);

	if (error == DOCA_SUCCESS)
		*out = &listener->base;
	return error;
}

static struct sf_link *unseen_link(struct sf_listener *listener)
{
	struct vb_port *port = vb_port(listener->port);
	struct sf_link *link;

	pthread_mutex_lock(&port->lock);
	link = sf_port_queue_unseen(&port->queue, listener);
	pthread_mutex_unlock(&port->lock);
	return link;
}

void sf_verbs_listener_close(struct sf_listener *base)
{
	struct sf_control_listener *listener = (struct sf_control_listener *)base;
	struct vb_request *request, *next;
	struct sf_link *link;

	if (!vb_port_is_ours(vb_port(base->port)))
		return;
	pthread_mutex_lock(&sf_control_lock);
	(void)sf_control_listener_close(listener);
	for (request = LIST_FIRST(&requests); request != NULL; request = next) {
		next = LIST_NEXT(request, entry);
		if (request->listener == listener)
			request_refuse(request, NULL, 0);
	}
	pthread_mutex_unlock(&sf_control_lock);
	while ((link = unseen_link(base)) != NULL)
		sf_verbs_link_close(link);
	free(listener);
}
