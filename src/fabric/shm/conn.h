/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection: a ring of records to the peer, one from it, and a socket, whose end is the connection's end.
 *
 * Three threads use it: the endpoint's thread (all unmarked fields), the agent (fields guarded by sf_control_lock) and the peer
 * (the rings). The agent notifies the endpoint's thread by events; a connection has at most one of each kind.
 */
#ifndef SF_FABRIC_SHM_CONN_H
#define SF_FABRIC_SHM_CONN_H

#include "base/doorbell.h"
#include "fabric/fabric.h"
#include "fabric/control/handshake.h"
#include "fabric/shm/peer.h"
#include "fabric/shm/peer_ep.h"
#include "fabric/shm/ep.h"
#include "fabric/shm/message.h"
#include "fabric/shm/ring.h"

#define SHM_LENT_MAX 32 /* mapped regions of the peer's receives, cached by a connection */

enum shm_conn_life {
	SHM_LIFE_REQUEST, /* to be accepted or rejected */
	SHM_LIFE_CONNECTING,
	SHM_LIFE_READY,
	SHM_LIFE_ENDING, /* disconnected by us; the peer may still claim receives */
	SHM_LIFE_OVER,
};

enum shm_event {
	SHM_EVENT_REQUEST = 1 << 0,
	SHM_EVENT_ACCEPTED = 1 << 1,
	SHM_EVENT_CONNECTED = 1 << 2,
	SHM_EVENT_HANGUP = 1 << 3,
	SHM_EVENT_JOB = 1 << 4,
	SHM_EVENT_FORGET = 1 << 5,
};

enum shm_conn_busy {
	SHM_BUSY_NOT,
	SHM_BUSY_TRANSFER, /* a message in parts through the ring */
	SHM_BUSY_JOB,	   /* an operation executed by the peer's agent */
};

/* A claimed receive: a local copy of its entry. */
struct shm_claim {
	uint64_t ticket;
	uint64_t region;
	uint32_t slot;
	uint32_t len;
	uint32_t pieces;
	struct {
		uint64_t addr, len;
	} piece[SHM_PIECES_MAX];
};

/* Progress of a message sent in several steps. */
struct shm_transfer {
	struct sf_op *op;
	uint64_t len, at;
	uint32_t piece, iov;	   /* the pieces at the current position */
	uint64_t piece_at, iov_at; /* and the offsets in them */
	struct shm_attach
		*attach; /* of the claimed receive's region, or NULL; a reference from the connection's table of lends */
	struct shm_claim claim;
	bool by_call; /* system calls have written some of it */
};

struct sf_request {
	struct shm_conn *conn;
	struct tcp_conn *far; /* set instead for a network connection */
};

struct shm_conn {
	struct sf_conn base;
	/* Fields that an idle poll reads. */
	struct shm_rx rx;
	bool attention; /* poll has more to do than to read the ring; set by sf_shm_conn_attend */
	bool bye;	/* the peer's last record was read */
	bool hangup;	/* the socket closed */
	bool broken;	/* the peer wrote an invalid record: nothing more is read */
	bool released;	/* closed by the program: freed when the peer can no longer access it */
	enum shm_conn_life life;
	/* due.c's */
	bool added, hot, is_ready, in_attentive;
	uint32_t slot;
	uint32_t streak; /* consecutive messages of the connection announced by a bit */
	uint64_t streak_begin, hit;
	struct shm_conn *next_ready, *next_attentive;
	uint32_t id; /* the peer's senders write it into state words of our receives */
	/* Fields that a send reads. */
	bool sending; /* operations are accepted */
	bool fence;   /* a full barrier is needed before checking whether the peer is armed */
	enum shm_conn_busy busy;
	struct shm_tx tx;
	struct shm_peer_ep *peer_ep;
	uint32_t peer_conn;    /* this connection's number at the peer */
	uint32_t peer_slot;    /* its bit there */
	_Atomic uint32_t rang; /* the last arming that was rung; any thread rings */
	uint32_t in_flight;    /* operations accepted and not yet done */
	int peer_event;
	uint32_t lent_num, lent_last;
	struct shm_attach *lent[SHM_LENT_MAX];
	struct shm_transfer transfer;
	struct shm_job job;
	struct shm_peer *peer; /* written under sf_control_lock; NULL until needed */
	bool peer_unknown;     /* the peer's agent did not answer */
	struct sf_key peer_id, peer_key;
	struct sf_key key; /* of this connection: peers attach lent pages with it */
	bool was_lent;	   /* pages were lent; guarded by sf_control_lock */
	int pid;	   /* of the peer, 0: unknown */
	/* Lifetime. */
	uint64_t end_deadline_ns;
	struct shm_conn_segment *segment; /* followed by the rings */
	uint32_t todo;			  /* pending events */
	bool in_todo;
	struct shm_conn *next_todo;
	struct sf_request request;
	struct sf_listener *listener;
	/* Guarded by sf_control_lock. */
	struct sf_handshake handshake;
	int segment_fd; /* until it is sent to the peer, then -1 */
	uint32_t events;
	bool in_inbox;
	struct shm_conn *next_inbox;
	struct shm_conn *next_all;
	doca_error_t answer; /* for CONNECTED */
	uint32_t data_len;   /* of the peer's private data */
	uint8_t data[SF_PRIVATE_MAX];
};

static inline struct shm_conn *shm_conn(struct sf_conn *conn)
{
	return (struct shm_conn *)conn;
}

/* conn.c: for the endpoint's thread. */
uint32_t sf_shm_conn_poll(struct shm_conn *conn, uint32_t budget, uint64_t *now_ns);
bool sf_shm_conn_due(const struct shm_conn *conn);
void sf_shm_conn_disconnect(struct sf_conn *conn);
void sf_shm_conn_close(struct sf_conn *conn);
void sf_shm_conn_ring(struct sf_conn *conn);

/* Call after a publication and a barrier: wakes the peer if its endpoint is armed, once for each arming. */
static inline void shm_conn_wake(struct shm_conn *conn)
{
	uint32_t armed = atomic_load_explicit(&conn->peer_ep->segment->armed, memory_order_relaxed);

	if (__builtin_expect(armed == 0, 1) || armed == atomic_load_explicit(&conn->rang, memory_order_relaxed))
		return;
	atomic_store_explicit(&conn->rang, armed, memory_order_relaxed);
	sf_doorbell_ring(conn->peer_event);
}
/* Returns true if the peer may have sent something. The rings of a connection without messages have no pages yet, and must not be
 * touched. */
bool sf_shm_conn_used(const struct shm_conn *conn);
/* Calls back for the receive of each unread record of the peer. */
void sf_shm_conn_each_unread(const struct shm_conn *conn,
			     void (*unread)(struct shm_recvq *queue, uint32_t slot, uint64_t ticket));
/* The connection has ended with that reason; reports closed if needed. Returns callbacks run. */
uint32_t sf_shm_conn_end(struct shm_conn *conn, doca_error_t reason);

/* submit.c and transfer.c */
doca_error_t sf_shm_conn_submit(struct sf_conn *conn, struct sf_op *op);
/* Continues the pending long message or job, as far as possible now. */
void sf_shm_conn_progress(struct shm_conn *conn);
/* Ends the pending long message or job with CONNECTION_ABORTED. */
void sf_shm_conn_abort_busy(struct shm_conn *conn);
void sf_shm_conn_forget(struct shm_conn *conn);

/* onesided.c */
doca_error_t sf_shm_conn_submit_one_sided(struct shm_conn *conn, struct sf_op *op, uint64_t len);
void sf_shm_conn_job_progress(struct shm_conn *conn);

/* connect.c: with sf_control_lock held. */
void sf_shm_conns_forget(const struct shm_peer *peer);

/* Returns true if sf_shm_due_poll can find work. */
static inline bool shm_due_worth(const struct shm_ep *ep)
{
	const struct shm_due *due = &ep->due;

	if (due->ready != NULL || due->attentive != NULL ||
	    atomic_load_explicit(&ep->recvq.segment->ready_top, memory_order_relaxed) != 0)
		return true;
	for (uint32_t i = 0; i < due->hot_num; i++) {
		uint32_t mark = shm_rx_mark(&due->hot[i]->rx);

		if (mark != 0) {
			shm_rx_fetch_rest(&due->hot[i]->rx, mark);
			return true;
		}
	}
	return false;
}

static inline void shm_conn_complete(struct shm_conn *conn, struct sf_op *op, doca_error_t status)
{
	shm_ep_done(shm_ep(conn->base.ep), op, status);
}

#endif
