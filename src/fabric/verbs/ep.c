/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/ep.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/verbs/connect.h"
#include "fabric/verbs/drain.h"
#include "fabric/verbs/flush.h"
#include "fabric/verbs/receive.h"
#include "fabric/verbs/region.h"
#include "fabric/verbs/trace.h"

#define HELD_LIMIT_NS UINT64_C(1000000000) /* for a sender to finish a message that it has begun */
#define SPARE_COMPLETIONS (2 * VB_SELF_DEPTH + 64)

/* ---- the completion queue ---- */

/* The agent reads for an endpoint that sleeps. With sf_control_lock. */
static void channel_readable(struct sf_channel *channel)
{
	struct vb_ep *ep = channel->owner;
	struct ibv_cq *cq;
	unsigned int num = 0;
	void *user;

	while (sf_verbs_lib.get_cq_event(ep->channel, &cq, &user) == 0)
		num++;
	if (num != 0)
		sf_verbs_lib.ack_cq_events(ep->cq, num);
	pthread_mutex_lock(&ep->lock);
	if (ep->queue.armed) {
		sf_verbs_ep_drain(ep);
		if (ep->queue.armed) { /* nothing became due: continues to wait */
			ibv_req_notify_cq(ep->cq, 0);
			sf_verbs_ep_drain(ep);
		}
	}
	pthread_mutex_unlock(&ep->lock);
}

bool sf_verbs_ep_arm(struct sf_ep *base)
{
	struct vb_ep *ep = vb_ep(base);
	bool due;

	if (!vb_ep_is_ours(ep))
		return false;
	pthread_mutex_lock(&ep->lock);
	ep->queue.armed = false;
	if (!sf_ep_queue_is_due(&ep->queue)) {
		ibv_req_notify_cq(ep->cq, 0);
		sf_verbs_ep_drain(ep); /* earlier completions cause no event */
	}
	due = sf_ep_queue_arm(&ep->queue);
	pthread_mutex_unlock(&ep->lock);
	return due;
}

/* ---- poll ---- */

/* A flushed receive has no connection, and is no delivery. */
static void recv_report(struct sf_recv *recv)
{
	const bool is_traced = recv->conn != NULL && sf_trace_on();

	if (recv->conn != NULL)
		SF_PROBE(deliver, recv, recv->place, recv->len);
	if (is_traced)
		sf_verbs_trace_delivered(recv);
	recv->done(recv);
	if (is_traced)
		sf_trace_record(SF_TRACE_DELIVER_END, NULL, 0, 0, NULL);
}

/* Removes the next entry under the lock and runs it without. */
static bool poll_one(struct vb_ep *ep)
{
	struct sf_ep_event copy; /* the handler may close the connection that holds it */
	struct sf_ep_due due;
	bool any;

	pthread_mutex_lock(&ep->lock);
	any = sf_ep_queue_pop(&ep->queue, &due);
	if (due.event != NULL) {
		copy = *due.event;
		due.event->data = NULL;
	}
	pthread_mutex_unlock(&ep->lock);

	if (due.event != NULL) {
		sf_ep_event_run(&ep->handler, &copy);
		free(copy.data);
	} else if (due.recv != NULL) {
		recv_report(due.recv);
	} else if (due.op != NULL) {
		due.op->done(due.op);
	}
	return any;
}

uint32_t sf_verbs_ep_poll(struct sf_ep *base, uint32_t budget)
{
	struct vb_ep *ep = vb_ep(base);
	uint32_t ran = 0;

	if (!vb_ep_is_ours(ep) || budget == 0) /* sf_ep_push: the device continues by itself */
		return 0;
	pthread_mutex_lock(&ep->lock);
	sf_verbs_ep_drain(ep);
	ep->polling = true;
	pthread_mutex_unlock(&ep->lock);
	while (ran < budget && poll_one(ep))
		ran++;
	pthread_mutex_lock(&ep->lock);
	ep->polling = false;
	sf_verbs_ep_settle(ep);
	pthread_mutex_unlock(&ep->lock);
	return ran;
}

/* ---- receives ---- */

doca_error_t sf_verbs_ep_post_recv(struct sf_ep *base, struct sf_recv *recv)
{
	struct vb_ep *ep = vb_ep(base);
	struct vb_mr *mr = NULL;
	uint64_t len;
	doca_error_t error = sf_recv_check(base, recv, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (!vb_ep_is_ours(ep))
		return DOCA_ERROR_FULL;
	if (recv->iov_num != 0) {
		mr = sf_verbs_region_mr((struct vb_region *)recv->region);
		if (mr == NULL)
			return DOCA_ERROR_OPERATING_SYSTEM;
	}
	pthread_mutex_lock(&ep->lock);
	error = sf_verbs_recv_post(ep, recv, mr, (uint32_t)len);
	if (error == DOCA_SUCCESS && !ep->polling)
		sf_verbs_ep_settle(ep);
	pthread_mutex_unlock(&ep->lock);
	return error;
}

void sf_verbs_ep_flush_recvs(struct sf_ep *base)
{
	struct vb_ep *ep = vb_ep(base);

	if (!vb_ep_is_ours(ep))
		return;
	pthread_mutex_lock(&ep->lock);
	sf_verbs_ep_drain(ep);
	if (ep->posted != 0) {
		ep->flushing = true;
		ep->flush_end = ep->order.tail;
		ep->flush_limit_ns = sf_now_ns() + HELD_LIMIT_NS;
		sf_verbs_ep_settle(ep);
	}
	pthread_mutex_unlock(&ep->lock);
}

/* ---- life ---- */

static void ep_free(struct vb_ep *ep)
{
	sf_verbs_recvs_close(ep);
	if (ep->cq != NULL)
		sf_verbs_lib.destroy_cq(ep->cq);
	if (ep->channel != NULL)
		sf_verbs_lib.destroy_comp_channel(ep->channel);
	pthread_mutex_destroy(&ep->lock);
	free(ep);
}

static doca_error_t open_queues(struct vb_ep *ep)
{
	struct vb_domain *domain = vb_domain(ep->base.domain);
	uint32_t num = ep->recv_max + VB_SENDS_MAX + SPARE_COMPLETIONS;

	if (ep->recv_max + SPARE_COMPLETIONS > domain->srq_max || num > domain->cq_max) {
		SF_LOG_ERR("%u receives exceed the limits of RDMA device %s (%u, and %u completions)", ep->recv_max,
			   domain->device->name, domain->srq_max, domain->cq_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	ep->channel = sf_verbs_lib.create_comp_channel(domain->context);
	if (ep->channel != NULL && fcntl(ep->channel->fd, F_SETFL, O_NONBLOCK) == 0)
		ep->cq = sf_verbs_lib.create_cq(domain->context, (int)num, NULL, ep->channel, 0);
	if (ep->cq == NULL) {
		SF_LOG_ERR("RDMA device %s: cannot create a queue of %u completions: %s", domain->device->name, num,
			   strerror(errno));
		return DOCA_ERROR_DRIVER;
	}
	doca_error_t error = sf_verbs_recvs_open(ep);
	return error == DOCA_SUCCESS ? sf_verbs_self_join(ep) : error;
}

static doca_error_t watch_channel(struct vb_ep *ep)
{
	doca_error_t error;

	pthread_mutex_lock(&sf_control_lock);
	error = sf_channel_open(ep->channel->fd, ep, &ep->channel_channel);
	if (error == DOCA_SUCCESS) {
		ep->channel_channel->keep_fd = true;
		ep->channel_channel->readable = channel_readable;
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

doca_error_t sf_verbs_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			      struct sf_ep **out)
{
	struct vb_ep *ep = calloc(1, sizeof(*ep));
	doca_error_t error;

	if (ep == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ep->base = (struct sf_ep){.ops = domain->ops, .domain = domain};
	ep->handler = *handler;
	ep->recv_max = recv_max;
	ep->flushed_end = &ep->flushed;
	sf_ep_queue_init(&ep->queue, event_fd);
	LIST_INIT(&ep->conns);
	pthread_mutex_init(&ep->lock, NULL);
	error = open_queues(ep);
	if (error == DOCA_SUCCESS)
		error = watch_channel(ep);
	if (error != DOCA_SUCCESS) {
		ep_free(ep);
		return error;
	}
	*out = &ep->base;
	return DOCA_SUCCESS;
}

void sf_verbs_ep_close(struct sf_ep *base)
{
	struct vb_ep *ep = vb_ep(base);

	if (!vb_ep_is_ours(ep))
		return;
	/* An accepted connection that no poll has reported. */
	while (!LIST_EMPTY(&ep->conns))
		sf_verbs_conn_close(&LIST_FIRST(&ep->conns)->base);
	pthread_mutex_lock(&sf_control_lock);
	sf_channel_close(ep->channel_channel);
	pthread_mutex_unlock(&sf_control_lock);
	ep_free(ep);
}
