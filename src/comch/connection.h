/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One client and one server, joined by the control connection.
 *
 * The connection, the user data and the counters belong to the control thread. Producers and consumers live on other threads;
 * what they share with the control thread is atomic or guarded by lock. None of it is touched per message.
 *
 * Life: made READY by the endpoint; lost when the peer goes, or disconnected; its fabric connection is closed by the endpoint's
 * progress; the object goes when the endpoint and the last producer and consumer have let go of it.
 */
#ifndef COMCH_CONNECTION_H
#define COMCH_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>

#include "comch/endpoint.h"
#include "comch/remote_consumer.h"

struct comch_child;

struct comch_traffic {
	uint64_t sent_messages, sent_bytes, recv_messages, recv_bytes;
};

/* The validation layer's count of control messages. */
struct comch_pace {
	uint64_t begin_ns; /* of the first one counted */
	uint32_t num_messages;
	bool is_reported;
};

struct comch_out; /* an internal message on its way */

struct doca_comch_connection {
	struct comch_endpoint *endpoint;    /* outlives the connection: it cannot be destroyed while num_children counts ours */
	struct doca_comch_connection *next; /* the endpoint's list */
	struct sf_conn *conn;		    /* NULL once closed */
	union doca_data user_data;
	uint32_t max_msg_size; /* the lower one of both sides */
	uint32_t num_ops;      /* operations in flight: the connection is closed only after they end */
	bool established;      /* on the client: the server has accepted */
	bool maps;	       /* either side can map what the other exports: then a GPU's GPU queues need no proxy */
	bool ending;	       /* disconnected by us, or lost */
	bool lost;	       /* by the peer */
	struct doca_task *waiting_first, *waiting_last; /* messages in flight for which the fabric's queue has no room yet */
	bool peer_is_full;				/* why the last flush ended: the peer lacks receives */
	struct comch_traffic traffic, snapshot;
	struct comch_pace pace;
	struct sf_status_conn status;

	atomic_bool dead; /* no longer usable by producers and consumers; set once by the control thread */
	atomic_uint refs; /* one for the endpoint, and one for each child */

	pthread_mutex_t lock;
	/* guarded by lock */
	struct comch_remote_consumers remote;
	struct comch_child *children;
	uint32_t num_consumers, num_producers;
	uint32_t last_consumer_id, last_producer_id;
	struct comch_out *out_first, *out_last;
	uint32_t num_out;
};

/* A producer or consumer, as its connection sees it. It is the beginning of both objects. */
struct comch_child {
	struct doca_ctx ctx;
	struct doca_comch_connection *connection;
	struct comch_child *next; /* guarded by connection->lock */
	uint32_t id;
	bool is_consumer;
	atomic_uint ack; /* consumer: 0 until the peer answered the advertisement, then 1 + its doca_error_t */
	struct sf_status_conn status;
};

/* Makes a connection of the endpoint; NULL without memory. */
struct doca_comch_connection *comch_connection_create(struct comch_endpoint *endpoint);
void comch_connection_unref(struct doca_comch_connection *connection);

/* Begins to disconnect. Messages that were submitted are still sent. */
void comch_connection_disconnect(struct doca_comch_connection *connection);
/* Returns true while it connects or is connected. For the status page. */
void comch_connection_show(struct doca_comch_connection *connection);
/* The peer has gone: reports its consumers as expired, and notifies the children. */
void comch_connection_lost(struct doca_comch_connection *connection);
/* Adds a message behind those that the fabric's queue has no room for. comch_connection_flush submits it. */
void comch_connection_wait(struct doca_comch_connection *connection, struct doca_task *task);
/* Ends the messages that still wait on a connection that ends: BAD_STATE, or CONNECTION_ABORTED if it is lost. From the context's
 * progress only: runs the program's callbacks. Returns how many. */
uint32_t comch_connection_fail_waiting(struct doca_comch_connection *connection);
/* Closes the connection if nothing is in flight on it, and returns true when it is closed. Not from a callback. */
bool comch_connection_close(struct doca_comch_connection *connection);

/* Handles a message of the peer. On an error the peer has violated the protocol: end the connection. */
doca_error_t comch_connection_receive(struct doca_comch_connection *connection, const struct sf_recv *recv, uint8_t *payload);

/* Adds and removes a child. join assigns the next id of its kind. BAD_STATE: the connection has ended. NO_MEMORY: too many
 * children. Both logged. Any thread. */
doca_error_t comch_connection_join(struct doca_comch_connection *connection, struct comch_child *child, bool is_consumer);
void comch_connection_leave(struct comch_child *child);
bool comch_connection_has_children(struct doca_comch_connection *connection);

/* Queues an internal message and wakes the control thread, which sends it in order with the user's. Any thread. NOT_CONNECTED
 * when the connection is dead, NO_MEMORY. */
doca_error_t comch_connection_post(struct doca_comch_connection *connection, const struct comch_control *control,
				   const void *payload, size_t len);
/* Sends queued messages as far as the peer accepts them. Returns true when none is left. *sent counts them. Control thread. */
bool comch_connection_flush(struct doca_comch_connection *connection, uint32_t *sent);

#endif
