/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/port.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/verbs/conn.h"

#define POLL_BATCH 16
#define SPARE_COMPLETIONS (2 * VB_SELF_DEPTH + 64)

/* ---- what is due ---- */

bool sf_verbs_event_set_data(struct sf_port_event *event, const void *data, size_t len)
{
	free(event->data);
	event->len = len;
	event->data = len != 0 ? malloc(len) : NULL;
	if (event->data != NULL)
		memcpy(event->data, data, len);
	return len == 0 || event->data != NULL;
}

void sf_verbs_port_recv_due(struct vb_port *port, struct sf_recv *recv)
{
	port->posted--;
	sf_port_queue_recv(&port->queue, recv);
}

/* ---- the completion queue ---- */

static void completion(struct vb_port *port, const struct ibv_wc *wc)
{
	struct vb_conn *conn;

	if ((wc->wr_id & VB_WR_SELF) != 0) {
		sf_verbs_self_sent(port, wc);
		return;
	}
	conn = sf_verbs_conn_find(port, wc->qp_num);
	if ((wc->wr_id & VB_WR_RECEIVE) != 0)
		sf_verbs_recv_arrived(port, conn, wc);
	else if (conn != NULL)
		sf_verbs_conn_sent(conn, wc);
	if (conn != NULL)
		sf_verbs_conn_touch(conn);
}

void sf_verbs_port_settle(struct vb_port *port)
{
	struct vb_conn *conn;

	do {
		while ((conn = port->todo) != NULL) {
			port->todo = conn->todo_next;
			conn->in_todo = false;
			sf_verbs_conn_step(conn);
		}
		sf_verbs_recvs_step(port);
		if (port->views_stale && !port->polling) {
			port->views_stale = false;
			LIST_FOREACH (conn, &port->conns, entry)
				sf_verbs_conn_tell(conn, false);
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

/* The agent reads for a port that sleeps. With sf_control_lock. */
static void channel_readable(struct sf_channel *channel)
{
	struct vb_port *port = channel->owner;
	struct ibv_cq *cq;
	unsigned int num = 0;
	void *user;

	while (sf_verbs_lib.get_cq_event(port->channel, &cq, &user) == 0)
		num++;
	if (num != 0)
		sf_verbs_lib.ack_cq_events(port->cq, num);
	pthread_mutex_lock(&port->lock);
	if (port->queue.armed) {
		sf_verbs_port_drain(port);
		if (port->queue.armed) { /* nothing came of it: wait on */
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
	port->queue.armed = false;
	if (!sf_port_queue_is_due(&port->queue)) {
		ibv_req_notify_cq(port->cq, 0);
		sf_verbs_port_drain(port); /* what came before the request makes no event */
	}
	due = sf_port_queue_arm(&port->queue);
	pthread_mutex_unlock(&port->lock);
	return due;
}

/* ---- poll ---- */

/* Takes the next due thing under the lock and runs it without. */
static bool poll_one(struct vb_port *port)
{
	struct sf_port_event copy; /* the handler may close the connection that holds it */
	struct sf_port_due due;
	bool any;

	pthread_mutex_lock(&port->lock);
	any = sf_port_queue_take(&port->queue, &due);
	if (due.event != NULL) {
		copy = *due.event;
		due.event->data = NULL;
	}
	pthread_mutex_unlock(&port->lock);

	if (due.event != NULL) {
		sf_port_event_run(&port->handler, &copy);
		free(copy.data);
	} else if (due.recv != NULL) {
		due.recv->done(due.recv);
	} else if (due.op != NULL) {
		due.op->done(due.op);
	}
	return any;
}

uint32_t sf_verbs_port_poll(struct sf_port *base, uint32_t budget)
{
	struct vb_port *port = vb_port(base);
	uint32_t ran = 0;

	if (!vb_port_is_ours(port))
		return 0;
	pthread_mutex_lock(&port->lock);
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
	doca_error_t error;

	pthread_mutex_lock(&sf_control_lock);
	error = sf_channel_open(port->channel->fd, port, &port->channel_channel);
	if (error == DOCA_SUCCESS) {
		port->channel_channel->keep_fd = true;
		port->channel_channel->readable = channel_readable;
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
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
	port->recv_max = recv_max;
	port->flushed_end = &port->flushed;
	sf_port_queue_init(&port->queue, event_fd);
	LIST_INIT(&port->conns);
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
	while (!LIST_EMPTY(&port->conns))
		sf_verbs_conn_close(&LIST_FIRST(&port->conns)->base);
	pthread_mutex_lock(&sf_control_lock);
	sf_channel_close(port->channel_channel);
	pthread_mutex_unlock(&sf_control_lock);
	port_free(port);
}
