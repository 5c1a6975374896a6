/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

doca_error_t loop_port_open(struct sf_domain *domain, const struct sf_port_handler *handler, uint32_t recv_max, int event_fd,
			    struct sf_port **base)
{
	struct loop_port *port = calloc(1, sizeof(*port));

	if (port == NULL)
		return DOCA_ERROR_NO_MEMORY;
	port->base.ops = domain->ops;
	port->base.domain = domain;
	port->handler = *handler;
	port->event_fd = event_fd;
	port->recv_max = recv_max;
	port->posted_end = &port->posted;
	port->recvs_end = &port->recvs;
	port->ops_end = &port->ops;
	STAILQ_INIT(&port->events);
	*base = &port->base;
	return DOCA_SUCCESS;
}

void loop_port_close(struct sf_port *port)
{
	free(port);
}

void loop_port_ring(struct loop_port *port)
{
	const uint64_t one = 1;

	if (!port->armed)
		return;
	port->armed = false;
	/* Full means that a wake-up is already waiting there. */
	if (write(port->event_fd, &one, sizeof(one)) < 0)
		return;
}

void loop_port_event_due(struct loop_port *port, struct loop_event *event)
{
	event->queued = true;
	event->recvs_before = port->recvs_queued;
	event->ops_before = port->ops_queued;
	STAILQ_INSERT_TAIL(&port->events, event, entry);
	loop_port_ring(port);
}

void loop_port_event_drop(struct loop_port *port, struct loop_event *event)
{
	if (event->queued)
		STAILQ_REMOVE(&port->events, event, loop_event, entry);
	event->queued = false;
}

void loop_port_op_due(struct loop_port *port, struct sf_op *op)
{
	op->next = NULL;
	*port->ops_end = op;
	port->ops_end = &op->next;
	port->ops_queued++;
	loop_port_ring(port);
}

void loop_port_recv_due(struct loop_port *port)
{
	struct sf_recv *recv = port->posted;

	port->posted = recv->next;
	if (port->posted == NULL)
		port->posted_end = &port->posted;
	port->posted_num--;
	recv->next = NULL;
	*port->recvs_end = recv;
	port->recvs_end = &recv->next;
	port->recvs_queued++;
	loop_port_ring(port);
}

doca_error_t loop_port_post_recv(struct sf_port *base, struct sf_recv *recv)
{
	struct loop_port *port = (struct loop_port *)base;
	doca_error_t result = sf_recv_check(base, recv, &recv->cookie);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&loop_lock);
	if (port->posted_num < port->recv_max) {
		recv->next = NULL;
		*port->posted_end = recv;
		port->posted_end = &recv->next;
		port->posted_num++;
	} else {
		result = DOCA_ERROR_FULL;
	}
	pthread_mutex_unlock(&loop_lock);
	return result;
}

void loop_port_flush_recvs(struct sf_port *base)
{
	struct loop_port *port = (struct loop_port *)base;

	pthread_mutex_lock(&loop_lock);
	while (port->posted != NULL) {
		port->posted->status = DOCA_ERROR_CONNECTION_ABORTED;
		port->posted->link = NULL;
		port->posted->len = 0;
		port->posted->header_len = 0;
		loop_port_recv_due(port);
	}
	pthread_mutex_unlock(&loop_lock);
}

/* An event comes after what was queued before it, and before what was queued after it. */
static struct loop_event *event_pop(struct loop_port *port)
{
	struct loop_event *event = STAILQ_FIRST(&port->events);

	if (event == NULL || port->recvs_done < event->recvs_before || port->ops_done < event->ops_before)
		return NULL;
	STAILQ_REMOVE_HEAD(&port->events, entry);
	event->queued = false;
	return event;
}

static struct sf_recv *recv_pop(struct loop_port *port)
{
	const struct loop_event *event = STAILQ_FIRST(&port->events);
	struct sf_recv *recv = port->recvs;

	if (recv == NULL || (event != NULL && port->recvs_done == event->recvs_before))
		return NULL;
	port->recvs = recv->next;
	if (port->recvs == NULL)
		port->recvs_end = &port->recvs;
	port->recvs_done++;
	return recv;
}

static struct sf_op *op_pop(struct loop_port *port)
{
	const struct loop_event *event = STAILQ_FIRST(&port->events);
	struct sf_op *op = port->ops;

	if (op == NULL || (event != NULL && port->ops_done == event->ops_before))
		return NULL;
	port->ops = op->next;
	if (port->ops == NULL)
		port->ops_end = &port->ops;
	port->ops_done++;
	return op;
}

static void event_run(struct loop_port *port, const struct loop_event *event)
{
	const struct sf_port_handler *handler = &port->handler;
	struct sf_link *link = (struct sf_link *)event->link; /* NULL for a request */

	switch (event->kind) {
	case LOOP_REQUEST:
		if (handler->request != NULL)
			handler->request(&event->listener->base, (struct sf_request *)event->request, event->data, event->len);
		break;
	case LOOP_ACCEPTED:
		link->state = SF_LINK_READY;
		if (handler->accepted != NULL)
			handler->accepted(&event->listener->base, link, event->data, event->len);
		break;
	case LOOP_CONNECTED:
		link->state = event->status == DOCA_SUCCESS ? SF_LINK_READY : SF_LINK_CLOSED;
		if (handler->connected != NULL)
			handler->connected(link, event->status, event->data, event->len);
		break;
	case LOOP_CLOSED:
		link->state = SF_LINK_CLOSED;
		if (handler->closed != NULL)
			handler->closed(link, event->status);
		break;
	}
}

/* Takes the next due thing under the lock and runs it without. */
static bool poll_one(struct loop_port *port)
{
	struct loop_event *event, copy;
	struct sf_recv *recv = NULL;
	struct sf_op *op = NULL;

	pthread_mutex_lock(&loop_lock);
	port->armed = false;
	event = event_pop(port);
	if (event != NULL)
		copy = *event; /* the handler may close the link that holds it */
	else if ((recv = recv_pop(port)) == NULL)
		op = op_pop(port);
	pthread_mutex_unlock(&loop_lock);

	if (event != NULL)
		event_run(port, &copy);
	else if (recv != NULL)
		recv->done(recv);
	else if (op != NULL)
		op->done(op);
	return event != NULL || recv != NULL || op != NULL;
}

uint32_t loop_port_poll(struct sf_port *port, uint32_t budget)
{
	uint32_t ran = 0;

	while (ran < budget && poll_one((struct loop_port *)port))
		ran++;
	return ran;
}

bool loop_port_arm(struct sf_port *base)
{
	struct loop_port *port = (struct loop_port *)base;
	bool due;

	pthread_mutex_lock(&loop_lock);
	due = port->recvs != NULL || port->ops != NULL || !STAILQ_EMPTY(&port->events);
	port->armed = !due;
	pthread_mutex_unlock(&loop_lock);
	return due;
}
