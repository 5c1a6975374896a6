/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: one thread a process that waits on sockets and completion channels, never on a peer. It plays the part of the
 * connection manager, and wakes ports that sleep. Here: the thread; its sockets are conn.h's.
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

#include "fabric/runtime.h"
#include "fabric/verbs/conn.h"

extern pthread_mutex_t sf_verbs_lock;
extern pthread_cond_t sf_verbs_changed; /* broadcast when an answer came that a call waits for; with sf_verbs_lock */

/* Starts the agent with the first hold, ends it with the last release. May block briefly; the lock must not be held. */
doca_error_t sf_verbs_agent_hold(uint32_t *generation);
void sf_verbs_agent_release(uint32_t generation);

/* The name of the agent's socket in the runtime folder, and what who comes by network has to bring. Valid while held. */
const struct sf_key *sf_verbs_agent_id(void);
const struct sf_key *sf_verbs_agent_token(void);

/* Counts up in a child made by fork: what was made under another number is the parent's, and its device is not to be touched. */
uint32_t sf_verbs_generation(void);

/* Asks for the ticks to run every few milliseconds while there is something to time. */
void sf_verbs_agent_wake(void);

/* Waits for sf_verbs_changed, for a moment. Returns false when the peer's agent, at the other end of conn, was silent for limit_ns and
 * is to be given up. With the lock held. */
bool sf_verbs_agent_await(const struct vb_conn *conn, struct sf_liveness *answering, uint64_t limit_ns);

/* Of the agent's epoll set. */
int sf_verbs_epoll(void);
/* Of a listening socket, as sf_agent_accept. */
int sf_verbs_accept(int listening);

/* Provided by those whom it serves; called with the lock held. */
void sf_verbs_serve(struct vb_conn *conn, const union vb_msg_any *first); /* listen.c: a peer's first message */
bool sf_verbs_links_tick(uint64_t now_ns);				   /* connect.c: is anything still timed? */
bool sf_verbs_imports_tick(void);					   /* import.c */
void sf_verbs_links_after_fork(void);					   /* connect.c */
void sf_verbs_listeners_after_fork(void);				   /* listen.c */

#endif
