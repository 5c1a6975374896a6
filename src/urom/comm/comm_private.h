/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The private part of the comm.
 *
 *   comm.c    open, close and poll      stream.c  the bytes of a connection: connect, read, write
 *   peer.c    sending, and the end      local.c   the Unix socket in the runtime folder
 *   door.c    listening: which guests may pass
 */
#ifndef UROM_COMM_COMM_PRIVATE_H
#define UROM_COMM_COMM_PRIVATE_H

#include <sys/queue.h>
#include <sys/types.h>

#include "base/liveness.h"
#include "base/log_rate.h"
#include "base/tls.h"
#include "urom/comm/comm.h"

#define COMM_LOCAL_NAME 128
/* bytes read per poll from a peer: everything that TLS has, because the socket does not report it */
#define COMM_READ_MAX SF_TLS_RECORD
#define COMM_IDENTITY "softfield urom"	 /* of the key */
#define COMM_END_NS UINT64_C(2000000000) /* time limit for unsent data at an end, and for the other end to close */

/* A connection begins with this, in the sender's byte order, which is little-endian. */
#define COMM_MAGIC UINT64_C(0x31204d4f52550016)
struct comm_preamble {
	uint64_t magic;
	uint64_t worker; /* the target worker, or SF_COMM_LISTENER */
};

/* A batch of messages, being filled or sent. */
struct comm_send {
	union {
		SLIST_ENTRY(comm_send) free;
		STAILQ_ENTRY(comm_send) next;
	};
	size_t room, used, sent;
	uint8_t bytes[];
};

enum comm_stage {
	COMM_CONNECTING,
	COMM_ENTERING, /* accepted: waits for its preamble */
	COMM_WAITING,  /* waits until the target worker accepts it */
	COMM_SECURING, /* TLS handshake */
	COMM_READY,
};

enum comm_peer_state {
	COMM_PEER_GUEST, /* not authenticated: unknown to the user */
	COMM_PEER_OPEN,
	COMM_PEER_LOST,	     /* not yet reported to the user */
	COMM_PEER_ENDING,    /* ended inside a poll: closed after it */
	COMM_PEER_FLUSHING,  /* until everything is sent */
	COMM_PEER_LINGERING, /* until the other end has closed too, so that it reads the last messages */
};

struct comm_peer {
	struct sf_comm_peer base;
	struct sf_comm *comm;
	TAILQ_ENTRY(comm_peer) in_list; /* of its state */
	enum comm_peer_state state;
	enum comm_stage stage;
	doca_error_t why;	 /* LOST */
	struct sf_liveness life; /* GUEST */
	uint64_t since;		 /* GUEST, FLUSHING, LINGERING: ns */
	int fd;
	uint32_t events;      /* that epoll polls for */
	bool flush, is_guest; /* ENDING */
	bool mute;	      /* the other end reads no more: its earlier messages are still read */
	struct comm_preamble preamble;
	size_t preamble_len;
	/* TLS */
	struct sf_tls *tls; /* NULL: none */
	/* a message of which only a part has arrived */
	uint8_t *part;
	size_t part_len, part_room;
	/* complete messages in the comm's bytes that the last poll must not deliver (one_a_poll) */
	const uint8_t *held;
	size_t held_len;
	/* batches to be sent */
	STAILQ_HEAD(, comm_send) queue;
	uint32_t num_sends;	 /* batch and queue */
	size_t backlog;		 /* their bytes */
	struct comm_send *batch; /* the batch that waits for the uncork, or NULL */
	SLIST_ENTRY(comm_peer) in_batches;
};

TAILQ_HEAD(comm_peers, comm_peer);

struct comm_door {
	int fd;	     /* -1: none */
	bool behind; /* another process passes connections */
	bool paused; /* no descriptors were left */
	bool has_key;
	struct sf_comm_key key;
	char devices[SF_COMM_DEVICES_MAX]; /* "": all */
	char name[COMM_LOCAL_NAME];	   /* in the runtime folder; "": TCP */
	int reserved;			   /* the socket that holds the TCP port of a local one, or -1 */
};

struct sf_comm {
	struct sf_comm_options options;
	int epoll_fd, timer_fd;
	bool ticks; /* the timer runs */
	struct comm_door door;
	struct comm_peers guests, open, lost, ending, closing;
	uint32_t num_guests, num_peers;	    /* num_peers: without guests */
	bool polling;			    /* ends are deferred while set */
	bool delivered;			    /* this poll delivers no more (one_a_poll) */
	SLIST_HEAD(, comm_send) free_sends; /* of SF_COMM_BATCH bytes */
	uint32_t num_free;
	SLIST_HEAD(, comm_peer) batches; /* peers with one */
	uint32_t corks;
	uint8_t bytes[COMM_READ_MAX]; /* the last bytes read */
};

/* For logs: "10.0.0.1:18515". */
void comm_address_name(const struct sockaddr *address, char out[SF_COMM_ADDRESS_MAX]);

/* ---- comm.c ---- */

bool comm_timer_open(struct sf_comm *comm);
/* Runs the timer while a time limit is active. */
void comm_timer_update(struct sf_comm *comm);

/* ---- peer.c ---- */

/* Creates a peer that owns the socket, in no list; closes the socket on failure. */
doca_error_t comm_peer_make(struct sf_comm *comm, int fd, enum comm_stage stage, struct comm_peer **out);
/* Registers it as the user's. FULL: there are too many. */
doca_error_t comm_peer_open(struct comm_peer *peer);
/* The other end is gone, or violated the protocol. */
void comm_peer_lose(struct comm_peer *peer, doca_error_t why);
/* Begins its end, after the poll if called from one. */
void comm_peer_end(struct comm_peer *peer, bool flush);
/* Executes deferred ends. */
void comm_peers_end(struct sf_comm *comm);
/* Reports lost peers to the user. Returns true if there were any. */
bool comm_peers_report_lost(struct sf_comm *comm);
/* Handles an ending peer. */
void comm_peer_close(struct comm_peer *peer);
/* Closes those whose time is over, or all of them. */
void comm_peers_close(struct sf_comm *comm, uint64_t now, bool all);
/* Data was sent: FLUSHING may be over. */
void comm_peer_flushed(struct comm_peer *peer);
void comm_send_free(struct comm_peer *peer, struct comm_send *send);

/* ---- stream.c ---- */

/* Handles a ready descriptor. Returns true if anything was done. */
bool comm_stream_ready(struct comm_peer *peer);
/* Sends as much as the kernel accepts. */
void comm_stream_write(struct comm_peer *peer);
/* Continues the handshake of a peer that is SECURING. */
void comm_stream_secure(struct comm_peer *peer);
/* Updates the events that epoll waits for. */
void comm_stream_watch(struct comm_peer *peer);
/* Reads and drops data; returns false once the other end has closed. */
bool comm_stream_discard(struct comm_peer *peer);
void comm_stream_close(struct comm_peer *peer);

/* ---- door.c ---- */

void comm_door_accept(struct sf_comm *comm);
/* A guest's descriptor is readable, or the guest was deferred before. */
void comm_guest_ready(struct comm_peer *peer);
/* The handshake is over. */
void comm_guest_accept(struct comm_peer *peer);
/* Closes a guest; why is logged, or NULL. */
void comm_guest_leave(struct comm_peer *peer, const char *why);
/* Closes guests whose time is over, and retries waiting ones. */
void comm_door_tick(struct sf_comm *comm, uint64_t now);
bool comm_door_waits(const struct sf_comm *comm);
void comm_door_close(struct sf_comm *comm);

/* Negative results of reading and writing. */
#define COMM_AGAIN SF_TLS_AGAIN
#define COMM_CLOSED SF_TLS_CLOSED

/* ---- local.c ---- */

/* Returns true for a loopback address, which a service without a key may use. */
bool comm_local_address(const struct sockaddr *address);
/* Returns the descriptor, or -1 with errno. Not logged. */
int comm_local_connect(const struct sockaddr *address);
/* Logged. name is filled. */
doca_error_t comm_local_listen(const struct sockaddr *address, char name[COMM_LOCAL_NAME], int *fd);
void comm_local_remove(const char *name);
/* Returns true if the process at the other end belongs to this user. */
bool comm_local_is_own(int fd, pid_t *pid);

#endif
