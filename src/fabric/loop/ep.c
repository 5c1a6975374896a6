/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/loop.h"

#include <assert.h>
#include <stdlib.h>

#include "base/thread_safety.h"
#include "base/trace.h"

/* Before others know the endpoint, it needs no lock. */
NO_THREAD_SAFETY_ANALYSIS doca_error_t sf_loop_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler,
						       uint32_t recv_max, int event_fd, struct sf_ep **base)
{
	struct loop_ep *ep = calloc(1, sizeof(*ep));

	if (ep == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ep->base = (struct sf_ep){.ops = domain->ops, .domain = domain};
	ep->handler = *handler;
	ep->recv_max = recv_max;
	ep->posted_end = &ep->posted;
	sf_ep_queue_init(&ep->queue, event_fd);
	*base = &ep->base;
	return DOCA_SUCCESS;
}

void sf_loop_ep_close(struct sf_ep *ep)
{
	free(ep);
}

void sf_loop_ep_recv_due(struct loop_ep *ep)
{
	struct sf_recv *recv = ep->posted;

	assert(recv != NULL);
	ep->posted = recv->next;
	if (ep->posted == NULL)
		ep->posted_end = &ep->posted;
	assert(ep->posted_num > 0);
	ep->posted_num--;
	sf_ep_queue_recv(&ep->queue, recv);
}

doca_error_t sf_loop_ep_post_recv(struct sf_ep *base, struct sf_recv *recv)
{
	struct loop_ep *ep = (struct loop_ep *)base;
	doca_error_t result = sf_recv_check(base, recv, &recv->cookie);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&loop_lock);
	if (ep->posted_num < ep->recv_max) {
		assert(*ep->posted_end == NULL);
		recv->next = NULL;
		*ep->posted_end = recv;
		ep->posted_end = &recv->next;
		ep->posted_num++;
	} else {
		result = DOCA_ERROR_FULL;
	}
	pthread_mutex_unlock(&loop_lock);
	return result;
}

void sf_loop_ep_flush_recvs(struct sf_ep *base)
{
	struct loop_ep *ep = (struct loop_ep *)base;

	pthread_mutex_lock(&loop_lock);
	while (ep->posted != NULL) {
		sf_recv_abort(ep->posted);
		sf_loop_ep_recv_due(ep);
	}
	pthread_mutex_unlock(&loop_lock);
}

static void recv_run(const struct loop_ep *ep, struct sf_recv *recv)
{
	if (recv->conn != NULL)
		SF_TRACE(deliver, SF_TRACE_DELIVER, recv, sf_trace_flow((uintptr_t)ep, recv->place), recv->len,
			 sf_op_name(recv->kind));
	recv->done(recv);
	if (sf_trace_on())
		sf_trace_record(SF_TRACE_DELIVER_END, NULL, 0, 0, NULL);
}

/* Removes the next entry under the lock and runs it without. */
static bool poll_one(struct loop_ep *ep)
{
	struct sf_ep_event_with_data copy; /* the handler may close the connection that holds it */
	struct sf_ep_due due;
	bool any;

	pthread_mutex_lock(&loop_lock);
	any = sf_ep_queue_pop(&ep->queue, &due);
	if (due.event != NULL) {
		copy = *(const struct sf_ep_event_with_data *)due.event;
		copy.base.data = copy.data;
	}
	pthread_mutex_unlock(&loop_lock);

	if (due.event != NULL)
		sf_ep_event_run(&ep->handler, &copy.base);
	else if (due.recv != NULL)
		recv_run(ep, due.recv);
	else if (due.op != NULL)
		due.op->done(due.op);
	return any;
}

uint32_t sf_loop_ep_poll(struct sf_ep *ep, uint32_t budget)
{
	uint32_t ran = 0;

	while (ran < budget && poll_one((struct loop_ep *)ep))
		ran++;
	return ran;
}

bool sf_loop_ep_arm(struct sf_ep *base)
{
	struct loop_ep *ep = (struct loop_ep *)base;
	bool due;

	pthread_mutex_lock(&loop_lock);
	due = sf_ep_queue_arm(&ep->queue);
	pthread_mutex_unlock(&loop_lock);
	return due;
}
