/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UROM's communication component: messages between a host, the service and its workers.
 *
 * A comm belongs to the thread that polls it. It listens, or connects, or both. A peer is a connection, and looks the same from
 * both ends. A message has a head and a body; both are copied when it is sent, and lie in the comm's memory while the receiver's
 * callback runs. Messages of a connection arrive in order. Those that are sent from callbacks of a poll, or between cork and
 * uncork, go out together at its end.
 *
 * A connection is a Unix socket in the user's runtime folder, where the kernel reports the peer's user, or TCP with TLS 1.3 and a
 * shared key. A peer is reported once it is authenticated; until then at most 16 bytes are read here, the rest by OpenSSL. A
 * connection that names a worker is passed to that worker's process: only one socket listens.
 */
#ifndef UROM_COMM_COMM_H
#define UROM_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <doca_error.h>

#include "base/visibility.h"

#define SF_COMM_HEAD_MAX 64 /* bytes of a message's head */
#define SF_COMM_BODY_LIMIT (UINT32_C(1) << 30)
#define SF_COMM_SENDS_MAX 1024 /* batches to one peer that the kernel has not accepted yet */
#define SF_COMM_SENDS_HELD 16  /* after this many, small messages are collected until they fill a batch */
#define SF_COMM_BATCH 16384    /* bytes of messages sent together */
#define SF_COMM_PEERS_MAX 4096
#define SF_COMM_ADDRESS_MAX 64
#define SF_COMM_DEVICES_MAX 256 /* bytes of the names of network devices */
#define SF_COMM_KEY_SIZE 32
#define SF_COMM_LISTENER UINT64_MAX /* target of a connection: the listener itself, not one of its workers */
/* Limits of unauthenticated connections. */
#define SF_COMM_GUESTS_MAX 512
#define SF_COMM_GUESTS_OF_ONE 128		    /* from one address */
#define SF_COMM_GUEST_NS UINT64_C(10000000000)	    /* after which they are closed */
#define SF_COMM_GUEST_GRACE_NS UINT64_C(1000000000) /* if there are too many, the oldest is closed once it is older than this */

struct sf_comm;

struct sf_comm_key {
	uint8_t bytes[SF_COMM_KEY_SIZE];
};

/* The user's part of a connection; the rest belongs to the comm. */
struct sf_comm_peer {
	void *user;
	char address[SF_COMM_ADDRESS_MAX]; /* the other end's, for logs: "10.0.0.1:18515" */
};

/* All callbacks run inside sf_comm_poll. They may send, and close this or another peer, but not poll. */
struct sf_comm_handler {
	/* A peer passed authentication at our listener. peer->user is NULL. NULL: no peer can. */
	void (*arrived)(void *user, struct sf_comm_peer *peer);
	/* A message, at any alignment, valid until the callback returns. */
	void (*message)(void *user, struct sf_comm_peer *peer, const void *head, size_t head_len, const void *body,
			size_t body_len);
	/* The peer is gone, or never existed. NOT_PERMITTED: it has another key. The peer is freed when this returns; do not
	 * close it. */
	void (*lost)(void *user, struct sf_comm_peer *peer, doca_error_t why);
	/* The key for an outgoing TCP connection; its error is logged, and becomes the reason of lost. */
	doca_error_t (*key)(void *user, struct sf_comm_key *key);
	/* A connection at our listener names this worker: pass it on with sf_comm_hand. AGAIN: not yet. NULL: there are no
	 * workers. */
	doca_error_t (*hand)(void *user, uint64_t worker, int fd, const char *address);
};

struct sf_comm_options {
	const struct sf_comm_handler *handler;
	void *user;
	size_t body_max;    /* limit of a message's body, in both directions */
	bool one_a_poll;    /* a poll delivers at most one message; a comm that only connects: for one peer */
	size_t backlog_max; /* limit of bytes waiting for one peer, give or take a message; 0: as many as SF_COMM_SENDS_MAX hold
			     */
};

SF_API doca_error_t sf_comm_open(const struct sf_comm_options *options, struct sf_comm **comm);

/* The network devices that have the address. The result is written to names, of SF_COMM_DEVICES_MAX bytes. NULL, all devices: the
 * address is any (0.0.0.0, ::), or no device has it. */
SF_API const char *sf_comm_devices_of(const struct sockaddr *address, char *names, size_t room);

/* The devices of the list (names separated by commas, or "all") that lead to the address. The unchanged list: none of them does.
 * names as above. */
SF_API const char *sf_comm_devices_to(const struct sockaddr *address, socklen_t len, const char *list, char *names, size_t room);

/* Waits, at most a second, until everything is sent. Then closes all peers; no callback runs. */
SF_API void sf_comm_close(struct sf_comm *comm);

/*
 * Listens; port 0 lets the system choose. bound is filled with the address as it is now. With a key: on TCP, for peers that have
 * it; devices, unless NULL or "all", are those by which they may come. Without: the loopback address is bound so that no other
 * process can bind it, but nothing listens there; a Unix socket in the runtime folder does, for processes of this user.
 * ALREADY_EXIST: the port is in use.
 */
SF_API doca_error_t sf_comm_listen(struct sf_comm *comm, const struct sockaddr *address, socklen_t len,
				   const struct sf_comm_key *key, const char *devices, struct sockaddr_storage *bound);

/* Accepts the connections that another process passes by sf_comm_hand, at the other end of this SOCK_SEQPACKET socket.
 * The comm closes it. */
SF_API doca_error_t sf_comm_listen_behind(struct sf_comm *comm, int fd);

/* Passes a connection to the process at the other end of door. key: for its TLS handshake; NULL: it needs none. AGAIN:
 * that process accepts no more now. */
SF_API doca_error_t sf_comm_hand(int door, int fd, const char *address, const struct sf_comm_key *key);

struct sf_comm_target {
	const struct sockaddr *address;
	socklen_t len;
	uint64_t worker;     /* SF_COMM_LISTENER: none */
	const char *devices; /* network devices that may be used; NULL: all */
};

/* Starts to connect. Messages sent meanwhile are queued in order; handler.lost reports that no process listens there. */
SF_API doca_error_t sf_comm_connect(struct sf_comm *comm, const struct sf_comm_target *target, void *user,
				    struct sf_comm_peer **peer);

/* Sends a message. AGAIN: SF_COMM_SENDS_MAX or backlog_max wait for this peer: poll, and try again; inside a poll only try again.
 * TOO_BIG: more than body_max or SF_COMM_HEAD_MAX. NOT_CONNECTED: the peer is lost, which a callback reports. */
SF_API doca_error_t sf_comm_send(struct sf_comm *comm, struct sf_comm_peer *peer, const void *head, size_t head_len,
				 const void *body, size_t body_len);

/* The process at the other end, for sf_liveness_lost; 0: on another machine, or in a container where it is not visible. */
SF_API pid_t sf_comm_process(const struct sf_comm_peer *peer);

/* Returns true if the peer's kernel has accepted the connection; its program need not have. */
SF_API bool sf_comm_connected(const struct sf_comm_peer *peer);

/* Bytes waiting for the peer, in memory that may be partly unused. */
SF_API size_t sf_comm_backlog(const struct sf_comm_peer *peer);

/* Messages sent in between are written at the uncork. Calls nest. */
SF_API void sf_comm_cork(struct sf_comm *comm);
SF_API void sf_comm_uncork(struct sf_comm *comm);

/* Writes waiting messages, corked or not, as far as the kernel accepts them. Reads nothing, and runs no callback, so it
 * may be called from one. */
SF_API void sf_comm_push(struct sf_comm *comm);

/* Closes a connection after everything is sent. The caller must not use the peer any more; no callback of it runs
 * again. */
SF_API void sf_comm_disconnect(struct sf_comm *comm, struct sf_comm_peer *peer);

/* Closes it immediately: drops waiting messages, which the peer may never read. */
SF_API void sf_comm_drop(struct sf_comm *comm, struct sf_comm_peer *peer);

/* Handles pending events; returns true if there were any. */
SF_API bool sf_comm_poll(struct sf_comm *comm);

/* Arms the comm: the descriptor becomes readable on new events after sf_comm_arm returned false. True: events are pending now. */
SF_API int sf_comm_fd(const struct sf_comm *comm);
SF_API bool sf_comm_arm(struct sf_comm *comm);

#endif
