/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to a peer on the network: a session, and how it begins and ends. Call with the endpoint's lock. */
#ifndef SF_FABRIC_TCP_CONN_H
#define SF_FABRIC_TCP_CONN_H

#include "base/liveness.h"
#include "fabric/control/handshake.h"
#include "fabric/control/listener.h"
#include "fabric/shm/conn.h"
#include "fabric/tcp/ep.h"
#include "fabric/tcp/session.h"

/* The end of a connection does not wait for a peer that is silent for this time, times SF_LIVENESS_UNSEEN. */
#define TCP_END_LIMIT_NS UINT64_C(200000000)

struct tcp_conn {
	struct sf_conn base;
	struct sf_handshake handshake; /* guarded by sf_control_lock */
	struct sf_request request;     /* of a connection request without an answer */
	bool is_request;	       /* it waits for the program's answer */
	bool is_asking;		       /* for the peer's */
	bool is_up;		       /* the session has begun */
	bool is_over;		       /* and has ended, which is reported */
	bool is_busy;		       /* in the endpoint's list */
	bool is_released;	       /* the program has closed it: freed when it has ended */
	bool is_waiting;	       /* in the endpoint's list */
	bool in_epoll;		       /* its socket is in the endpoint's set */
	bool is_deaf;		       /* its socket is not polled for input: it waits for a receive, and more data has come */
	uint64_t wait_ns;	       /* the endpoint's time when it began to wait */
	uint32_t ack_waited;
	uint32_t events;	      /* events that its socket is polled for */
	uint64_t credited_posts;      /* the endpoint's number of postings when credits were last sent */
	struct sf_liveness answering; /* silence of the peer, at the end of the connection */
	uint64_t moved_seen;	      /* session.num_moved at the last check */
	uint32_t slot;		      /* of the receive that is being filled */
	struct sf_ep_event_with_data opened;
	struct sf_ep_event closed;
	LIST_ENTRY(tcp_conn) entry, busy;
	TAILQ_ENTRY(tcp_conn) waiting;
	struct tcp_session session;
};

static inline struct tcp_conn *tcp_conn(struct sf_conn *conn)
{
	return (struct tcp_conn *)conn;
}
static inline struct tcp_ep *tcp_conn_ep(struct tcp_conn *conn)
{
	return shm_ep(conn->base.ep)->far;
}

/* conn.c */
struct tcp_conn *sf_tcp_conn_new(struct tcp_ep *far, void *user);
void sf_tcp_conn_free(struct tcp_conn *conn);
/* The session owns the connection from here on. */
void sf_tcp_conn_up(struct tcp_conn *conn, struct sf_stream stream);
/* Polls its socket for the events that the session needs. */
void sf_tcp_conn_watch(struct tcp_conn *conn);
/* Sends credits for receives posted since the last ones: if the peer has used half of its credits, or early. */
void sf_tcp_conn_send_credits(struct tcp_conn *conn, bool early);
/* Sends pending data and handles the end. */
void sf_tcp_conn_attend(struct tcp_conn *conn, bool by_agent);
void sf_tcp_conn_busy(struct tcp_conn *conn);
/* The session has ended: reports it to the program. */
void sf_tcp_conn_check(struct tcp_conn *conn);

doca_error_t sf_tcp_conn_submit(struct sf_conn *conn, struct sf_op *op);
void sf_tcp_conn_ring(struct sf_conn *conn);
uint32_t sf_tcp_conn_credits(struct sf_conn *conn, uint32_t *len);
void sf_tcp_conn_disconnect(struct sf_conn *conn);
void sf_tcp_conn_close(struct sf_conn *conn);

/* connect.c */
doca_error_t sf_tcp_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				 void *user, struct sf_conn **conn);
doca_error_t sf_tcp_connect_requested(struct sf_control_listener *listener, struct sf_channel *channel,
				      const struct sf_msg_connect *ask, int *fds);
doca_error_t sf_tcp_conn_accept(struct tcp_conn *conn, const void *data, size_t len, void *user, struct sf_conn **out);
void sf_tcp_conn_reject(struct tcp_conn *conn, const void *data, size_t len);
/* Unanswered requests of the listener are rejected, unreported connections are closed. With sf_control_lock. */
void sf_tcp_conns_orphan(struct tcp_ep *far, const struct sf_listener *listener);

extern struct sf_control_provider sf_tcp_control;

#endif
