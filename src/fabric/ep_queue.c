/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/ep_queue.h"

#include <assert.h>

#include "base/doorbell.h"

void sf_ep_queue_init(struct sf_ep_queue *queue, int event_fd)
{
	queue->event_fd = event_fd;
	queue->recvs_end = &queue->recvs;
	queue->ops_end = &queue->ops;
	assert(queue->recvs == NULL && queue->ops == NULL);
	STAILQ_INIT(&queue->events);
}

void sf_ep_queue_ring(struct sf_ep_queue *queue)
{
	if (!queue->armed)
		return;
	queue->armed = false;
	if (queue->defers)
		queue->ring_due = true;
	else
		sf_doorbell_ring(queue->event_fd);
}

void sf_ep_queue_event(struct sf_ep_queue *queue, struct sf_ep_event *event)
{
	assert(!event->queued);
	event->queued = true;
	event->recvs_before = queue->recvs_queued;
	event->ops_before = queue->ops_queued;
	STAILQ_INSERT_TAIL(&queue->events, event, entry);
	sf_ep_queue_ring(queue);
}

void sf_ep_queue_drop(struct sf_ep_queue *queue, struct sf_ep_event *event)
{
	if (event->queued)
		STAILQ_REMOVE(&queue->events, event, sf_ep_event, entry);
	event->queued = false;
}

void sf_ep_queue_op(struct sf_ep_queue *queue, struct sf_op *op)
{
	op->next = NULL;
	*queue->ops_end = op;
	queue->ops_end = &op->next;
	queue->ops_queued++;
	sf_ep_queue_ring(queue);
}

void sf_ep_queue_recv(struct sf_ep_queue *queue, struct sf_recv *recv)
{
	recv->next = NULL;
	*queue->recvs_end = recv;
	queue->recvs_end = &recv->next;
	queue->recvs_queued++;
	sf_ep_queue_ring(queue);
}

bool sf_ep_queue_is_due(const struct sf_ep_queue *queue)
{
	return queue->recvs != NULL || queue->ops != NULL || !STAILQ_EMPTY(&queue->events);
}

bool sf_ep_queue_arm(struct sf_ep_queue *queue)
{
	queue->armed = !sf_ep_queue_is_due(queue);
	return !queue->armed;
}

static struct sf_ep_event *event_pop(struct sf_ep_queue *queue)
{
	struct sf_ep_event *event = STAILQ_FIRST(&queue->events);

	if (event == NULL || queue->recvs_done < event->recvs_before || queue->ops_done < event->ops_before)
		return NULL;
	STAILQ_REMOVE_HEAD(&queue->events, entry);
	assert(event->queued);
	event->queued = false;
	return event;
}

static struct sf_recv *recv_pop(struct sf_ep_queue *queue)
{
	const struct sf_ep_event *event = STAILQ_FIRST(&queue->events);
	struct sf_recv *recv = queue->recvs;

	if (recv == NULL || (event != NULL && queue->recvs_done == event->recvs_before))
		return NULL;
	queue->recvs = recv->next;
	if (queue->recvs == NULL)
		queue->recvs_end = &queue->recvs;
	assert(queue->recvs_done < queue->recvs_queued);
	queue->recvs_done++;
	return recv;
}

static struct sf_op *op_pop(struct sf_ep_queue *queue)
{
	const struct sf_ep_event *event = STAILQ_FIRST(&queue->events);
	struct sf_op *op = queue->ops;

	if (op == NULL || (event != NULL && queue->ops_done == event->ops_before))
		return NULL;
	queue->ops = op->next;
	if (queue->ops == NULL)
		queue->ops_end = &queue->ops;
	assert(queue->ops_done < queue->ops_queued);
	queue->ops_done++;
	return op;
}

bool sf_ep_queue_pop(struct sf_ep_queue *queue, struct sf_ep_due *due)
{
	*due = (struct sf_ep_due){.event = event_pop(queue)};
	if (due->event == NULL)
		due->recv = recv_pop(queue);
	if (due->event == NULL && due->recv == NULL)
		due->op = op_pop(queue);
	return due->event != NULL || due->recv != NULL || due->op != NULL;
}

void sf_ep_event_run(const struct sf_ep_handler *handler, const struct sf_ep_event *event)
{
	struct sf_conn *conn = event->conn; /* NULL for a request */

	switch (event->kind) {
	case SF_EP_REQUEST:
		if (handler->request != NULL)
			handler->request(event->listener, event->request, event->data, event->len);
		break;
	case SF_EP_ACCEPTED:
		conn->state = SF_CONN_READY;
		if (handler->accepted != NULL)
			handler->accepted(event->listener, conn, event->data, event->len);
		break;
	case SF_EP_CONNECTED:
		conn->state = event->status == DOCA_SUCCESS ? SF_CONN_READY : SF_CONN_CLOSED;
		if (handler->connected != NULL)
			handler->connected(conn, event->status, event->data, event->len);
		break;
	case SF_EP_CLOSED:
		conn->state = SF_CONN_CLOSED;
		if (handler->closed != NULL)
			handler->closed(conn, event->status);
		break;
	}
}

struct sf_conn *sf_ep_queue_unseen(const struct sf_ep_queue *queue, const struct sf_listener *listener)
{
	const struct sf_ep_event *event;

	STAILQ_FOREACH (event, &queue->events, entry) {
		if (event->kind == SF_EP_ACCEPTED && event->listener == listener)
			return event->conn;
	}
	return NULL;
}

void sf_ep_queue_forget(struct sf_ep_queue *queue, const struct sf_conn *conn)
{
	for (struct sf_recv *recv = queue->recvs; recv != NULL; recv = recv->next) {
		if (recv->conn == conn)
			sf_recv_abort(recv);
	}
}
