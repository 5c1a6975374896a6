/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The completion queue of an endpoint: receives, operations, and events for the endpoint's handler, in order. For providers whose
 * endpoints have one such queue; the provider's lock guards the queue and its events.
 */
#ifndef SF_FABRIC_EP_QUEUE_H
#define SF_FABRIC_EP_QUEUE_H

#include <sys/queue.h>

#include "fabric/fabric.h"

enum sf_ep_event_kind { SF_EP_REQUEST, SF_EP_ACCEPTED, SF_EP_CONNECTED, SF_EP_CLOSED };

/* An event for an endpoint's handler. Embedded in its connection or request. */
struct sf_ep_event {
	STAILQ_ENTRY(sf_ep_event) entry;
	enum sf_ep_event_kind kind;
	bool queued;
	doca_error_t status;
	struct sf_conn *conn;
	struct sf_listener *listener;
	struct sf_request *request;
	uint64_t recvs_before, ops_before;
	size_t len;
	uint8_t *data;
};

/* An event with space for its data. */
struct sf_ep_event_with_data {
	struct sf_ep_event base;
	uint8_t data[SF_PRIVATE_MAX];
};

static inline void sf_ep_event_set_data(struct sf_ep_event_with_data *event, const void *data, size_t len)
{
	event->base.len = len;
	if (len != 0)
		memcpy(event->data, data, len);
}

struct sf_ep_queue {
	int event_fd;
	bool armed;
	bool defers; /* the provider rings after it unlocks, so that the woken thread does not wait for the lock */
	bool ring_due;
	struct sf_recv *recvs, **recvs_end;
	struct sf_op *ops, **ops_end;
	STAILQ_HEAD(, sf_ep_event) events;
	uint64_t recvs_queued, recvs_done, ops_queued, ops_done;
};

/* One entry, or none. */
struct sf_ep_due {
	struct sf_ep_event *event;
	struct sf_recv *recv;
	struct sf_op *op;
};

void sf_ep_queue_init(struct sf_ep_queue *queue, int event_fd);

/* Wakes the endpoint if it is armed. */
void sf_ep_queue_ring(struct sf_ep_queue *queue);

void sf_ep_queue_event(struct sf_ep_queue *queue, struct sf_ep_event *event);
void sf_ep_queue_drop(struct sf_ep_queue *queue, struct sf_ep_event *event);
void sf_ep_queue_op(struct sf_ep_queue *queue, struct sf_op *op);
void sf_ep_queue_recv(struct sf_ep_queue *queue, struct sf_recv *recv);

bool sf_ep_queue_is_due(const struct sf_ep_queue *queue);

/* Arms it unless entries are queued; returns true if so. */
bool sf_ep_queue_arm(struct sf_ep_queue *queue);

/* Removes the next entry. Returns false if there is none. */
bool sf_ep_queue_pop(struct sf_ep_queue *queue, struct sf_ep_due *due);

/* Called without the lock. The event is a copy: the handler may close its connection. */
void sf_ep_event_run(const struct sf_ep_handler *handler, const struct sf_ep_event *event);

/* The listener's accepted connection that no poll has reported yet, or NULL. */
struct sf_conn *sf_ep_queue_unseen(const struct sf_ep_queue *queue, const struct sf_listener *listener);

/* The connection is about to be freed: flushes its unreported messages. */
void sf_ep_queue_forget(struct sf_ep_queue *queue, const struct sf_conn *conn);

/* Completes it without a message. */
static inline void sf_recv_abort(struct sf_recv *recv)
{
	recv->status = DOCA_ERROR_CONNECTION_ABORTED;
	recv->conn = NULL;
	recv->len = 0;
	recv->header_len = 0;
}

#endif
