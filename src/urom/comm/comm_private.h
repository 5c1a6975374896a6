/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the comm.
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
/* Bytes that one poll takes of a peer: all that TLS has, for the socket does not tell of it */
#define COMM_READ_MAX SF_TLS_RECORD
#define COMM_IDENTITY "softfield urom"	 /* of the key */
#define COMM_END_NS UINT64_C(2000000000) /* for what was sent before an end to go out, and for the other end to close too */

/* What a connection begins with, in the sender's order of bytes, which is little-endian. */
#define COMM_MAGIC UINT64_C(0x31204d4f52550016)
struct comm_preamble {
	uint64_t magic;
	uint64_t worker; /* that it is for, or SF_COMM_LISTENER */
};

/* A batch of messages, being filled or on its way. */
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
	COMM_ENTERING, /* accepted: its preamble is awaited */
	COMM_WAITING,  /* for the worker that it is for to take it */
	COMM_SECURING, /* TLS' handshake */
	COMM_READY,
};

enum comm_peer_state {
	COMM_PEER_GUEST, /* has not passed: the user does not know it */
	COMM_PEER_OPEN,
	COMM_PEER_LOST,	     /* not yet reported to the user */
	COMM_PEER_ENDING,    /* it ended inside a poll: it is closed behind that */
	COMM_PEER_FLUSHING,  /* until all is sent */
	COMM_PEER_LINGERING, /* until the other end has closed too, so that it reads what was sent last */
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
	uint32_t events;      /* that epoll looks for */
	bool flush, is_guest; /* ENDING */
	bool mute;	      /* the other end takes no more: what it sent before is still read */
	struct comm_preamble preamble;
	size_t preamble_len;
	/* TLS */
	struct sf_tls *tls; /* NULL: none */
	/* a message of which the rest is still to come */
	uint8_t *part;
	size_t part_len, part_room;
	/* what is to be sent */
	STAILQ_HEAD(, comm_send) queue;
	uint32_t num_sends;	 /* batch and queue */
	size_t backlog;		 /* their bytes */
	struct comm_send *batch; /* what waits for the uncork, or NULL */
	SLIST_ENTRY(comm_peer) in_batches;
};

TAILQ_HEAD(comm_peers, comm_peer);

struct comm_door {
	int fd;	     /* -1: none */
	bool behind; /* another process hands connections over */
	bool paused; /* there were no descriptors left */
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
	uint32_t num_guests, num_peers;	    /* num_peers: all but guests */
	bool polling;			    /* what ends there waits */
	SLIST_HEAD(, comm_send) free_sends; /* of SF_COMM_BATCH bytes */
	uint32_t num_free;
	SLIST_HEAD(, comm_peer) batches; /* peers with one */
	uint32_t corks;
	uint8_t bytes[COMM_READ_MAX]; /* what was read last */
};

/* For logs: "10.0.0.1:18515". */
void comm_address_name(const struct sockaddr *address, char out[SF_COMM_ADDRESS_MAX]);

/* ---- comm.c ---- */

bool comm_timer_open(struct sf_comm *comm);
/* The timer runs while somebody waits for a time to be over. */
void comm_timer_update(struct sf_comm *comm);

/* ---- peer.c ---- */

/* Of a socket, which is the peer's from now on; closed if there is none. In no list. */
doca_error_t comm_peer_make(struct sf_comm *comm, int fd, enum comm_stage stage, struct comm_peer **out);
/* The user's from now on. FULL: there are too many. */
doca_error_t comm_peer_open(struct comm_peer *peer);
/* The other end is gone, or broke the protocol. */
void comm_peer_lose(struct comm_peer *peer, doca_error_t why);
/* Begins its end: behind the poll, if it is called from one. */
void comm_peer_end(struct comm_peer *peer, bool flush);
/* The ends that waited. */
void comm_peers_end(struct sf_comm *comm);
/* Tells the user of lost peers. True when there were any. */
bool comm_peers_report_lost(struct sf_comm *comm);
/* One of those that end. */
void comm_peer_close(struct comm_peer *peer);
/* Those whose time is over, or all of them. */
void comm_peers_close(struct sf_comm *comm, uint64_t now, bool all);
/* Something was sent: what FLUSHING waits for, perhaps. */
void comm_peer_flushed(struct comm_peer *peer);
void comm_send_free(struct comm_peer *peer, struct comm_send *send);

/* ---- stream.c ---- */

/* Does what the descriptor is ready for. True: anything was. */
bool comm_stream_ready(struct comm_peer *peer);
/* Sends what the kernel takes. */
void comm_stream_write(struct comm_peer *peer);
/* Goes on with the handshake of a peer that is SECURING. */
void comm_stream_secure(struct comm_peer *peer);
/* Tells epoll what the peer waits for. */
void comm_stream_watch(struct comm_peer *peer);
/* Reads and forgets; false: the other end has closed. */
bool comm_stream_discard(struct comm_peer *peer);
void comm_stream_close(struct comm_peer *peer);

/* ---- door.c ---- */

void comm_door_accept(struct sf_comm *comm);
/* A guest's descriptor is readable, or it was not let in before. */
void comm_guest_ready(struct comm_peer *peer);
/* The handshake is over. */
void comm_guest_accept(struct comm_peer *peer);
/* It is closed; what is logged of it, or NULL. */
void comm_guest_leave(struct comm_peer *peer, const char *why);
/* Those whose time is over, and those that wait. */
void comm_door_tick(struct sf_comm *comm, uint64_t now);
bool comm_door_waits(const struct sf_comm *comm);
void comm_door_close(struct sf_comm *comm);

/* Results of reading and writing that are no numbers of bytes. */
#define COMM_AGAIN SF_TLS_AGAIN
#define COMM_CLOSED SF_TLS_CLOSED

/* ---- local.c ---- */

/* Is the address loopback's, so that a service without a key may have it? */
bool comm_local_address(const struct sockaddr *address);
/* The descriptor; else -1, with errno. Nothing is logged. */
int comm_local_connect(const struct sockaddr *address);
/* Logged. name is filled. */
doca_error_t comm_local_listen(const struct sockaddr *address, char name[COMM_LOCAL_NAME], int *fd);
void comm_local_remove(const char *name);
/* Whose process is at the other end? False: another user's. */
bool comm_local_is_own(int fd, pid_t *pid);

#endif
