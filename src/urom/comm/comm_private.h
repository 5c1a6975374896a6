/* SPDX-License-Identifier: BSD-3-Clause */
/* What comm.c and peer.c share. */
#ifndef UROM_COMM_COMM_PRIVATE_H
#define UROM_COMM_COMM_PRIVATE_H

#include <sys/queue.h>

#include <ucp/api/ucp.h>

#include "base/log_rate.h"
#include "urom/comm/comm.h"

#define COMM_BUCKETS 256
#define COMM_AM_ID 1

/* One active message, being filled or under way. */
struct comm_send {
	SLIST_ENTRY(comm_send) next;
	struct comm_peer *peer;
	size_t room, used;
	uint8_t bytes[];
};

enum comm_peer_state {
	COMM_PEER_OPEN,
	COMM_PEER_LOST,	   /* UCX said so, the user is still to be told */
	COMM_PEER_ENDING,  /* the user let go of it inside a poll: UCX is told behind that */
	COMM_PEER_FLUSHING, /* UCX is still sending */
	COMM_PEER_CLOSING, /* UCX lets go of it */
	COMM_PEER_FREE,	   /* as soon as its message has been gone through, and UCX has given back what was sent */
};

struct comm_peer {
	struct sf_comm_peer base;
	struct sf_comm *comm;
	LIST_ENTRY(comm_peer) in_bucket; /* by endpoint */
	TAILQ_ENTRY(comm_peer) in_list;	 /* of its state */
	enum comm_peer_state state;
	doca_error_t why; /* LOST */
	ucp_ep_h endpoint;
	void *closing; /* UCX's request, FLUSHING and CLOSING */
	bool flush;    /* ENDING */
	bool reading;  /* a message of its is being gone through */
	uint32_t num_sends;	 /* batch, and those that UCX has */
	size_t backlog;		 /* their bytes */
	struct comm_send *batch; /* what waits for the uncork, or NULL */
	SLIST_ENTRY(comm_peer) in_batches;
};

TAILQ_HEAD(comm_peers, comm_peer);

struct sf_comm {
	struct sf_comm_options options;
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_listener_h listener;
	int fd;
	LIST_HEAD(, comm_peer) buckets[COMM_BUCKETS];
	struct comm_peers open, lost, ending, closing;
	bool polling; /* inside UCX: what ends there waits */
	uint32_t num_peers;
	SLIST_HEAD(, comm_send) free_sends; /* of SF_COMM_BATCH bytes */
	uint32_t num_free;
	struct sf_log_rate malformed;
	SLIST_HEAD(, comm_peer) batches;    /* peers with one */
	uint32_t corks;
};

doca_error_t comm_error(ucs_status_t status);
/* For logs: "10.0.0.1:18515". */
void comm_address_name(const struct sockaddr *address, char out[SF_COMM_ADDRESS_MAX]);

/* The peer of an endpoint, or NULL. */
struct comm_peer *comm_peer_find(struct sf_comm *comm, ucp_ep_h endpoint);
/* Takes or refuses who wants to connect. */
void comm_peer_accept(struct sf_comm *comm, ucp_conn_request_h request);
/* Tells the user of lost peers. True when there were any. */
bool comm_peers_tell_lost(struct sf_comm *comm);
/* Frees those that UCX has let go. True when there were any. */
bool comm_peers_reap(struct sf_comm *comm);
/* Its message, or its callbacks, have been gone through: frees it if it ended meanwhile. */
void comm_peer_read(struct comm_peer *peer);
/* The other end broke the protocol, or UCX says that it is gone. */
void comm_peer_lose(struct comm_peer *peer, doca_error_t why);
/* Begins the end of a peer's endpoint: behind the poll, if it is called from one, for UCX does not like to lose one under its feet. */
void comm_peer_end(struct comm_peer *peer, bool flush);
/* The ends that waited. */
void comm_peers_end(struct sf_comm *comm);
/* Does not wait for what UCX still sends. */
void comm_peers_force(struct sf_comm *comm);

#endif
