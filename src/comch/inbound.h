/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How messages come into a consumer on the CPU.
 *
 * Two kinds of producer connect to its listener, as the private data of the connect says (struct comch_attach):
 *   COMCH_PATH_CONN     sends on the connection; the fabric takes a posted receive and fills it
 *   COMCH_PATH_GPU_QUEUE  a GPU's producer: messages appear in a GPU queue that the attach's descriptor names; the connection
 * shows whether the producer lives, and carries its rings. Such a producer is an inbound source: comch_inbound_open makes one.
 *
 * Receives: while there are no inbound sources every receive is the endpoint's. With sources, receives are held here as well,
 * where a source takes them (comch_consumer_pop_recv) and ends them (comch_task_post_recv_arrived). When none is held,
 * comch_consumer_pop_recv asks the endpoint to return its receives, so a source never starves behind connections.
 */
#ifndef COMCH_INBOUND_H
#define COMCH_INBOUND_H

#include <assert.h>

#include "comch/consumer.h"
#include "comch/control.h"
#include "comch/task_post_recv.h"

struct comch_inbound;

struct comch_inbound_ops {
	const char *name;
	/* Receives up to budget messages; returns how many. */
	uint32_t (*poll)(struct comch_inbound *inbound, uint32_t budget);
	/* Returns true if a message is there; otherwise the producer will ring the connection. NULL: always polled. */
	bool (*arm)(struct comch_inbound *inbound);
	/*
	 * Gives the producer credits for the receives that are held now. May run in a callback of the program. NULL: not needed.
	 */
	void (*send_credits)(struct comch_inbound *inbound);
	/* Frees it. Its connection is closed after. */
	void (*close)(struct comch_inbound *inbound);
};

struct comch_inbound {
	const struct comch_inbound_ops *ops;
	struct doca_comch_consumer *consumer;
	struct sf_conn *conn;
	uint32_t producer_id;
	struct comch_inbound *next;
};

/* A producer connected. */
struct comch_inbound_conn {
	struct comch_inbound_conn *next;
	struct doca_comch_consumer *consumer;
	struct sf_conn *conn;
	struct comch_inbound *inbound; /* NULL for a plain connection */
	uint32_t producer_id;
};

/* Opens the source that a GPU queue producer's attach asks for. NOT_SUPPORTED where there is no such path. */
doca_error_t comch_inbound_open(struct doca_comch_consumer *consumer, struct sf_conn *conn, const struct comch_attach *attach,
				struct comch_inbound **inbound);

/* The first held receive that takes len bytes, removed from its queue; or NULL: then try again at a later poll. */
struct doca_comch_consumer_task_post_recv *comch_consumer_pop_recv(struct doca_comch_consumer *consumer, size_t len);

/* Removes the first held receive. There is one. */
static inline struct doca_comch_consumer_task_post_recv *consumer_unhold(struct doca_comch_consumer *consumer)
{
	struct doca_task *task = consumer->held_first;

	assert(consumer->num_held > 0);
	consumer->held_first = task->next;
	if (task->next == NULL)
		consumer->held_last = NULL;
	consumer->num_held--;
	return (struct doca_comch_consumer_task_post_recv *)task;
}

/* The same as pop where that is simple: all held receives have one size and consist of one buffer, as far as the message needs;
 * else NULL. */
static inline struct doca_comch_consumer_task_post_recv *consumer_pop_alike(struct doca_comch_consumer *consumer, size_t len)
{
	const struct doca_comch_consumer_task_post_recv *first =
		(const struct doca_comch_consumer_task_post_recv *)consumer->held_first;

	return first != NULL && !consumer->held_mixed && len <= first->iov[0].len ? consumer_unhold(consumer) : NULL;
}

/* Asks the endpoint to return its receives, because a source has room for messages and no receive is held. */
void comch_consumer_want_recvs(struct doca_comch_consumer *consumer);

/* Returns how many held receives, from the first on, have the size of the first. *room is that size. */
uint32_t comch_consumer_held_alike(const struct doca_comch_consumer *consumer, size_t *room);

/* Holds a receive of room bytes for sources. */
static inline void consumer_hold(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *task,
				 size_t room)
{
	assert((consumer->held_first == NULL) == (consumer->num_held == 0));
	task->base.next = NULL;
	if (__builtin_expect(consumer->held_last == NULL, 0)) {
		consumer->held_room = room;
		consumer->held_mixed = false;
		consumer->held_first = &task->base;
	} else {
		if (__builtin_expect(room != consumer->held_room, 0))
			consumer->held_mixed = true;
		consumer->held_last->next = &task->base;
	}
	consumer->held_last = &task->base;
	consumer->num_held++;
}

/* Returns whether the next receive is held: with sources, connections get as many receives as sources; without plain connections,
 * sources get all. */
static inline bool consumer_is_to_hold(const struct doca_comch_consumer *consumer)
{
	return consumer->inbound != NULL && (consumer->num_inbound == consumer->num_conns || consumer->reclaiming ||
					     consumer->num_posted > consumer->num_held);
}

/* The task's side: prepare once, queue at every submit. AGAIN never; FULL is our own mistake. */
void comch_consumer_prepare_recv(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *task);
doca_error_t comch_consumer_queue_recv(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *task);

#endif
