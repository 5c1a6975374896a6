/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/port.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/verbs/link.h"

#define POLL_BATCH 16
#define SPARE_COMPLETIONS (2 * VB_SELF_DEPTH + 64)

/* ---- what is due ---- */

void sf_verbs_port_ring(struct vb_port *port)
{
	uint64_t one = 1;

	if (!port->armed)
		return;
	port->armed = false;
	if (write(port->event_fd, &one, sizeof(one)) < 0)
		return; /* full: a wake-up is already waiting there */
}

bool sf_verbs_event_set_data(struct vb_event *event, const void *data, size_t len)
{
	free(event->data);
	event->len = len;
	event->data = len != 0 ? malloc(len) : NULL;
	if (event->data != NULL)
		memcpy(event->data, data, len);
	return len == 0 || event->data != NULL;
}

void sf_verbs_port_event_due(struct vb_port *port, struct vb_event *event)
{
	event->queued = true;
	event->recvs_before = port->recvs_queued;
	event->ops_before = port->ops_queued;
	STAILQ_INSERT_TAIL(&port->events, event, entry);
	sf_verbs_port_ring(port);
}

void sf_verbs_port_event_drop(struct vb_port *port, struct vb_event *event)
{
	if (event->queued)
		STAILQ_REMOVE(&port->events, event, vb_event, entry);
	event->queued = false;
}

void sf_verbs_port_op_due(struct vb_port *port, struct sf_op *op)
{
	op->next = NULL;
	*port->ops_end = op;
	port->ops_end = &op->next;
	port->ops_queued++;
	sf_verbs_port_ring(port);
}

void sf_verbs_port_recv_due(struct vb_port *port, struct sf_recv *recv)
{
	recv->next = NULL;
	*port->recvs_end = recv;
	port->recvs_end = &recv->next;
	port->recvs_queued++;
	port->posted--;
	sf_verbs_port_ring(port);
}

static bool is_due(const struct vb_port *port)
{
	return port->recvs != NULL || port->ops != NULL || !STAILQ_EMPTY(&port->events);
}

static struct vb_event *event_pop(struct vb_port *port)
{
	struct vb_event *event = STAILQ_FIRST(&port->events);

	if (event == NULL || port->recvs_done < event->recvs_before || port->ops_done < event->ops_before)
		return NULL;
	STAILQ_REMOVE_HEAD(&port->events, entry);
	event->queued = false;
	return event;
}

static struct sf_recv *recv_pop(struct vb_port *port)
{
	const struct vb_event *event = STAILQ_FIRST(&port->events);
	struct sf_recv *recv = port->recvs;

	if (recv == NULL || (event != NULL && port->recvs_done == event->recvs_before))
		return NULL;
	port->recvs = recv->next;
	if (port->recvs == NULL)
		port->recvs_end = &port->recvs;
	port->recvs_done++;
	return recv;
}

static struct sf_op *op_pop(struct vb_port *port)
{
	const struct vb_event *event = STAILQ_FIRST(&port->events);
	struct sf_op *op = port->ops;

	if (op == NULL || (event != NULL && port->ops_done == event->ops_before))
		return NULL;
	port->ops = op->next;
	if (port->ops == NULL)
		port->ops_end = &port->ops;
	port->ops_done++;
	return op;
}

/* ---- the completion queue ---- */

static void completion(struct vb_port *port, const struct ibv_wc *wc)
{
	struct vb_link *link;

	if ((wc->wr_id & VB_WR_SELF) != 0) {
		sf_verbs_self_sent(port, wc);
		return;
	}
	link = sf_verbs_link_find(port, wc->qp_num);
	if ((wc->wr_id & VB_WR_RECEIVE) != 0)
		sf_verbs_recv_arrived(port, link, wc);
	else if (link != NULL)
		sf_verbs_link_sent(link, wc);
	if (link != NULL)
		sf_verbs_link_touch(link);
}

void sf_verbs_port_settle(struct vb_port *port)
{
	struct vb_link *link;

	do {
		while ((link = port->todo) != NULL) {
			port->todo = link->todo_next;
			link->in_todo = false;
			sf_verbs_link_step(link);
		}
		sf_verbs_recvs_step(port);
		if (port->views_stale && !port->polling) {
			port->views_stale = false;
			LIST_FOREACH (link, &port->links, entry)
				sf_verbs_link_tell(link, false);
		}
	} while (port->todo != NULL);
}

void sf_verbs_port_drain(struct vb_port *port)
{
	struct ibv_wc wc[POLL_BATCH];
	int num;

	do {
		num = ibv_poll_cq(port->cq, POLL_BATCH, wc);
		for (int i = 0; i < num; i++)
			completion(port, &wc[i]);
	} while (num == POLL_BATCH);
	sf_verbs_port_settle(port);
}

/* The agent reads for a port that sleeps. With sf_verbs_lock. */
static void channel_readable(struct vb_conn *conn)
{
	struct vb_port *port = conn->owner;
	struct ibv_cq *cq;
	unsigned int num = 0;
	void *user;

	while (sf_verbs_lib.get_cq_event(port->channel, &cq, &user) == 0)
		num++;
	if (num != 0)
		sf_verbs_lib.ack_cq_events(port->cq, num);
	pthread_mutex_lock(&port->lock);
	if (port->armed) {
		sf_verbs_port_drain(port);
		if (port->armed) { /* nothing came of it: wait on */
			ibv_req_notify_cq(port->cq, 0);
			sf_verbs_port_drain(port);
		}
	}
	pthread_mutex_unlock(&port->lock);
}

bool sf_verbs_port_arm(struct sf_port *base)
{
	struct vb_port *port = vb_port(base);
	bool due;

	if (!vb_port_is_ours(port))
		return false;
	pthread_mutex_lock(&port->lock);
	port->armed = false;
	due = is_due(port);
	if (!due) {
		ibv_req_notify_cq(port->cq, 0);
		sf_verbs_port_drain(port); /* what came before the request makes no event */
		due = is_due(port);
	}
	port->armed = !due;
	pthread_mutex_unlock(&port->lock);
	return due;
}

/* ---- poll ---- */

static void event_run(struct vb_port *port, const struct vb_event *event)
{
	const struct sf_port_handler *handler = &port->handler;
	struct sf_link *link = event->link != NULL ? &event->link->base : NULL;

	switch (event->kind) {
	case VB_EVENT_REQUEST:
		if (handler->request != NULL)
			handler->request((struct sf_listener *)event->listener, (struct sf_request *)event->request, event->data,
					 event->len);
		break;
	case VB_EVENT_ACCEPTED:
		link->state = SF_LINK_READY;
		if (handler->accepted != NULL)
			handler->accepted((struct sf_listener *)event->listener, link, event->data, event->len);
		break;
	case VB_EVENT_CONNECTED:
		link->state = event->status == DOCA_SUCCESS ? SF_LINK_READY : SF_LINK_CLOSED;
		if (handler->connected != NULL)
			handler->connected(link, event->status, event->data, event->len);
		break;
	case VB_EVENT_CLOSED:
		link->state = SF_LINK_CLOSED;
		if (handler->closed != NULL)
			handler->closed(link, event->status);
		break;
	}
}

/* Takes the next due thing under the lock and runs it without. */
static bool poll_one(struct vb_port *port)
{
	struct vb_event *event, copy;
	struct sf_recv *recv = NULL;
	struct sf_op *op = NULL;

	pthread_mutex_lock(&port->lock);
	event = event_pop(port);
	if (event != NULL) {
		copy = *event; /* the handler may close the link that holds it */
		event->data = NULL;
	} else if ((recv = recv_pop(port)) == NULL) {
		op = op_pop(port);
	}
	pthread_mutex_unlock(&port->lock);

	if (event != NULL) {
		event_run(port, &copy);
		free(copy.data);
	} else if (recv != NULL) {
		recv->done(recv);
	} else if (op != NULL) {
		op->done(op);
	}
	return event != NULL || recv != NULL || op != NULL;
}

uint32_t sf_verbs_port_poll(struct sf_port *base, uint32_t budget)
{
	struct vb_port *port = vb_port(base);
	uint32_t ran = 0;

	if (!vb_port_is_ours(port))
		return 0;
	pthread_mutex_lock(&port->lock);
	port->armed = false;
	sf_verbs_port_drain(port);
	port->polling = true;
	pthread_mutex_unlock(&port->lock);
	while (ran < budget && poll_one(port))
		ran++;
	pthread_mutex_lock(&port->lock);
	port->polling = false;
	sf_verbs_port_settle(port);
	pthread_mutex_unlock(&port->lock);
	return ran;
}

/* ---- life ---- */

static void port_free(struct vb_port *port)
{
	sf_verbs_recvs_close(port);
	if (port->cq != NULL)
		sf_verbs_lib.destroy_cq(port->cq);
	if (port->channel != NULL)
		sf_verbs_lib.destroy_comp_channel(port->channel);
	pthread_mutex_destroy(&port->lock);
	free(port);
}

static doca_error_t open_queues(struct vb_port *port)
{
	struct vb_domain *domain = vb_domain(port->base.domain);
	uint32_t num = port->recv_max + VB_SENDS_MAX + SPARE_COMPLETIONS;

	if (port->recv_max + SPARE_COMPLETIONS > domain->srq_max || num > domain->cq_max) {
		SF_LOG_ERR("%u receives are more than RDMA device %s takes (%u, and %u completions)", port->recv_max,
			   domain->device->name, domain->srq_max, domain->cq_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	port->channel = sf_verbs_lib.create_comp_channel(domain->context);
	if (port->channel != NULL && fcntl(port->channel->fd, F_SETFL, O_NONBLOCK) == 0)
		port->cq = sf_verbs_lib.create_cq(domain->context, (int)num, NULL, port->channel, 0);
	if (port->cq == NULL) {
		SF_LOG_ERR("RDMA device %s gives no queue of %u completions: %s", domain->device->name, num, strerror(errno));
		return DOCA_ERROR_DRIVER;
	}
	return sf_verbs_recvs_open(port);
}

static doca_error_t watch_channel(struct vb_port *port)
{
	pthread_mutex_lock(&sf_verbs_lock);
	port->channel_conn = sf_verbs_conn_open(port->channel->fd, port);
	if (port->channel_conn != NULL) {
		port->channel_conn->keep_fd = true;
		port->channel_conn->readable = channel_readable;
	}
	pthread_mutex_unlock(&sf_verbs_lock);
	return port->channel_conn != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t sf_verbs_port_open(struct sf_domain *domain, const struct sf_port_handler *handler, uint32_t recv_max, int event_fd,
				struct sf_port **out)
{
	struct vb_port *port = calloc(1, sizeof(*port));
	doca_error_t error;

	if (port == NULL)
		return DOCA_ERROR_NO_MEMORY;
	port->base = (struct sf_port){.ops = domain->ops, .domain = domain};
	port->handler = *handler;
	port->event_fd = event_fd;
	port->recv_max = recv_max;
	port->recvs_end = &port->recvs;
	port->ops_end = &port->ops;
	port->flushed_end = &port->flushed;
	STAILQ_INIT(&port->events);
	LIST_INIT(&port->links);
	pthread_mutex_init(&port->lock, NULL);
	error = open_queues(port);
	if (error == DOCA_SUCCESS)
		error = watch_channel(port);
	if (error != DOCA_SUCCESS) {
		port_free(port);
		return error;
	}
	*out = &port->base;
	return DOCA_SUCCESS;
}

void sf_verbs_port_close(struct sf_port *base)
{
	struct vb_port *port = vb_port(base);

	if (!vb_port_is_ours(port))
		return;
	/* What was accepted and no poll has shown to anyone. */
	while (!LIST_EMPTY(&port->links))
		sf_verbs_link_close(&LIST_FIRST(&port->links)->base);
	pthread_mutex_lock(&sf_verbs_lock);
	sf_verbs_conn_close(port->channel_conn);
	pthread_mutex_unlock(&sf_verbs_lock);
	port_free(port);
}
