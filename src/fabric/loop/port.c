/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/loop.h"

#include <stdlib.h>

doca_error_t loop_port_open(struct sf_domain *domain, const struct sf_port_handler *handler, uint32_t recv_max, int event_fd,
			    struct sf_port **base)
{
	struct loop_port *port = calloc(1, sizeof(*port));

	if (port == NULL)
		return DOCA_ERROR_NO_MEMORY;
	port->base = (struct sf_port){.ops = domain->ops, .domain = domain};
	port->handler = *handler;
	port->recv_max = recv_max;
	port->posted_end = &port->posted;
	sf_port_queue_init(&port->queue, event_fd);
	*base = &port->base;
	return DOCA_SUCCESS;
}

void loop_port_close(struct sf_port *port)
{
	free(port);
}

void loop_port_recv_due(struct loop_port *port)
{
	struct sf_recv *recv = port->posted;

	port->posted = recv->next;
	if (port->posted == NULL)
		port->posted_end = &port->posted;
	port->posted_num--;
	sf_port_queue_recv(&port->queue, recv);
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
		sf_recv_abort(port->posted);
		loop_port_recv_due(port);
	}
	pthread_mutex_unlock(&loop_lock);
}

/* Takes the next due thing under the lock and runs it without. */
static bool poll_one(struct loop_port *port)
{
	struct loop_event copy; /* the handler may close the connection that holds it */
	struct sf_port_due due;
	bool any;

	pthread_mutex_lock(&loop_lock);
	any = sf_port_queue_take(&port->queue, &due);
	if (due.event != NULL) {
		copy = *(const struct loop_event *)due.event;
		copy.base.data = copy.data;
	}
	pthread_mutex_unlock(&loop_lock);

	if (due.event != NULL)
		sf_port_event_run(&port->handler, &copy.base);
	else if (due.recv != NULL)
		due.recv->done(due.recv);
	else if (due.op != NULL)
		due.op->done(due.op);
	return any;
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
	due = sf_port_queue_arm(&port->queue);
	pthread_mutex_unlock(&loop_lock);
	return due;
}
