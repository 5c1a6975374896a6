/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: one thread a process that waits on sockets and completion channels, never on a peer. It plays the part of the
 * connection manager, and wakes ports that sleep.
 *
 * What the control plane shares (connections, listeners, regions that others import, the list of links) is guarded by
 * sf_verbs_lock, held while the agent handles an event. Order of locks: sf_verbs_lock, then a port's, then a domain's.
 * A child made by fork begins without an agent, and what it inherited is dead.
 */
#ifndef SF_FABRIC_VERBS_AGENT_H
#define SF_FABRIC_VERBS_AGENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/verbs/wire.h"

extern pthread_mutex_t sf_verbs_lock;
extern pthread_cond_t sf_verbs_changed; /* broadcast when an answer came that a call waits for; with sf_verbs_lock */

/* Something that the agent waits on. Everything of it is guarded by sf_verbs_lock. */
struct vb_conn {
	int fd;
	bool open;
	bool keep_fd; /* the descriptor is somebody else's */
	bool reset;   /* the other side closed with something unread */
	/* One of them. message: a whole, checked message; ended: the other side is gone, or broke a rule; the conn is closed. */
	void (*readable)(struct vb_conn *conn);
	void (*message)(struct vb_conn *conn, const union vb_msg_any *msg);
	void (*ended)(struct vb_conn *conn);
	void *owner;
	struct vb_conn *next, *previous;
	uint8_t *out; /* a message that waits to be sent, or NULL */
	size_t out_len, have;
	uint8_t bytes[VB_MSG_SIZE_MAX];
};

/* Starts the agent with the first hold, ends it with the last release. May block briefly; the lock must not be held. */
doca_error_t sf_verbs_agent_hold(uint32_t *generation);
void sf_verbs_agent_release(uint32_t generation);

/* The name of the agent's socket, and where it is reached from other machines (or empty). Valid while held. */
const struct sf_key *sf_verbs_agent_id(void);
const char *sf_verbs_agent_reach(void);

/* Counts up in a child made by fork: what was made under another number is the parent's, and its device is not to be touched. */
uint32_t sf_verbs_generation(void);

/* These with the lock held. open takes over fd when it succeeds. */
struct vb_conn *sf_verbs_conn_open(int fd, void *owner);
void sf_verbs_conn_close(struct vb_conn *conn);
/* It is a listening socket: whom it takes is asked for a first message. */
void sf_verbs_conn_listen(struct vb_conn *conn);
/* Sends a message. A peer that does not read what it is sent loses the connection: false. Sets the head. */
bool sf_verbs_conn_send(struct vb_conn *conn, enum vb_msg_kind kind, void *msg, size_t size, uint32_t count);

/* To an owner's agent, or a listener: on this machine, or at HOST:PORT. */
doca_error_t sf_verbs_agent_connect(enum sf_socket_kind kind, const struct sf_key *key, const char *reach, int *fd);

/* Asks for the ticks to run every few milliseconds while there is something to time. */
void sf_verbs_agent_wake(void);

uint64_t sf_verbs_now_ns(void);

/* Provided by those whom it serves; called with the lock held. */
void sf_verbs_serve(struct vb_conn *conn, const union vb_msg_any *first); /* serve.c: a stranger's first message */
bool sf_verbs_links_tick(uint64_t now_ns);				   /* connect.c: is anything still timed? */
bool sf_verbs_imports_tick(void);					   /* import.c */
void sf_verbs_links_after_fork(void);					   /* connect.c */

#endif
