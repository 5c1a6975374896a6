/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sockets that the agent waits on, and the messages that come by them. Everything here is guarded by sf_verbs_lock.
 *
 * A socket of the runtime folder is a process of our user's. By the network anybody may come: until it has brought the agent's
 * token, in a HELLO, nothing else of it is looked at. At a port that a program listens to (SF_LISTEN_PORT) anybody may call, as
 * with RDMA's connection manager; there one can do nothing but call that listener.
 */
#ifndef SF_FABRIC_VERBS_CONN_H
#define SF_FABRIC_VERBS_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/liveness.h"
#include "fabric/verbs/reach.h"
#include "fabric/verbs/wire.h"

#define VB_STRANGERS_MAX 64			 /* that came by the network and have said nothing yet; then the oldest goes */
#define VB_NEAR_OF_PROCESS_MAX 16		 /* of a process of the runtime folder, that have said nothing yet */
#define VB_STRANGER_LIMIT_NS UINT64_C(3000000000) /* for one to say it */

struct vb_listener;

enum vb_trust {
	VB_TRUST_PEER,	   /* whatever it says is heard */
	VB_TRUST_STRANGER, /* has to bring the token */
	VB_TRUST_CALLER,   /* may call `called` */
};

/* Where a connection may yet be made to. */
struct vb_dial {
	struct vb_reach reach;
	uint32_t at;	/* the address that is tried */
	uint32_t scope; /* the interface by which link-local addresses are reached */
	uint64_t since_ns;
};

struct vb_conn {
	int fd;
	int pid; /* of a peer of the runtime folder, 0 if unknown */
	bool open;
	bool keep_fd; /* the descriptor is somebody else's */
	bool reset;   /* the other side closed with something unread */
	uint8_t trust; /* enum vb_trust */
	struct vb_listener *called; /* of a port's socket, and of those whom it took */
	uint64_t since_ns;	    /* STRANGER, and CALLER that has said nothing */
	bool waited_for;	    /* is it one of those? */
	bool is_silent;		    /* a peer of the runtime folder that has said nothing, */
	struct sf_liveness handshaking; /* for so long */
	struct vb_dial *dial;	    /* while there is no connection yet */
	doca_error_t why;	    /* there came none: NOT_FOUND, nobody listens there; TIME_OUT, no way there. Else SUCCESS */
	/* One of them. message: a whole, checked message; ended: the other side is gone, or broke a rule; the conn is closed. */
	void (*readable)(struct vb_conn *conn);
	void (*message)(struct vb_conn *conn, const union vb_msg_any *msg);
	void (*ended)(struct vb_conn *conn);
	void *owner;
	struct vb_conn *next, *previous;
	uint8_t *out; /* messages that wait to be sent, or NULL */
	size_t out_len, have;
	uint8_t bytes[VB_MSG_SIZE_MAX];
};

/* Takes over fd when it succeeds. NULL: logged. */
struct vb_conn *sf_verbs_conn_open(int fd, void *owner);
void sf_verbs_conn_close(struct vb_conn *conn);
/* Closes the sockets of a listener's port, and whoever came by them and has not called yet. */
void sf_verbs_conns_forget(const struct vb_listener *listener);
/* It is a listening socket: whom it takes is asked for a first message. */
void sf_verbs_conn_listen(struct vb_conn *conn);
/* Sends a message. A peer that does not read what it is sent loses the connection: false. Sets the head. */
bool sf_verbs_conn_send(struct vb_conn *conn, enum vb_msg_kind kind, void *msg, size_t size, uint32_t count);

/* To an owner's agent, or a listener. reach is where it is by the network, or empty. What is sent waits until there is a
 * connection; if none comes about, `ended` is called, with `why`. NOT_FOUND: nobody is there. */
doca_error_t sf_verbs_conn_call(enum sf_socket_kind kind, const struct sf_key *key, const char *reach, uint32_t scope, void *owner,
				struct vb_conn **conn);

/* Provided by listen.c: somebody calls at a listener's own port. */
void sf_verbs_listener_called(struct vb_listener *listener, struct vb_conn *conn, const struct vb_msg_connect *ask);

/* ---- between conn.c and dial.c ---- */

/* It is among the open ones. */
void sf_verbs_conn_enter(struct vb_conn *conn, void *owner);
/* For reading, and what is asked for besides. False, and errno. */
bool sf_verbs_conn_watch(struct vb_conn *conn, int how, uint32_t events);
void sf_verbs_conn_send_kept(struct vb_conn *conn);
/* Closes it and tells its owner. */
void sf_verbs_conn_end(struct vb_conn *conn);
void sf_verbs_dial_event(struct vb_conn *conn, uint32_t events);
/* This address leads nowhere, for that errno: another, or the end. */
void sf_verbs_dial_next(struct vb_conn *conn, int error);
/* There is a connection, or there will be none. */
void sf_verbs_dial_end(struct vb_conn *conn);

/* ---- for the agent ---- */

void sf_verbs_conn_event(struct vb_conn *conn, uint32_t events);
/* Frees what was closed, gives up what takes too long. Is anything still timed? */
bool sf_verbs_conns_tick(uint64_t now_ns);
void sf_verbs_conns_close(void);
/* Waits on the listening sockets, or does not. */
void sf_verbs_conns_listen(bool on);
void sf_verbs_conns_after_fork(void);

#endif
