/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: the process's one thread that plays the hardware's part. It waits on all sockets, never on a peer.
 *
 * What the control plane shares (regions, ports' inboxes, peers, connections) is guarded by one lock, sf_shm_lock; the agent
 * handles an event with the lock held, other threads take it for connect, accept, export and so on. The data path does not.
 * A child made by fork begins without an agent: the parent's sockets are closed in it, and what it inherited is dead.
 */
#ifndef SF_FABRIC_SHM_AGENT_H
#define SF_FABRIC_SHM_AGENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "base/liveness.h"
#include "fabric/runtime.h"

extern pthread_mutex_t sf_shm_lock;
extern pthread_cond_t sf_shm_changed; /* broadcast when an attach ended; with sf_shm_lock; by CLOCK_MONOTONIC */

/* A socket that the agent waits on. Everything of it is guarded by sf_shm_lock. */
struct shm_conn {
	int fd;
	int pid; /* of the peer, 0 if unknown */
	bool open;
	bool listening;
	/* Called by the agent with the lock held, when there is something to read or the other end is gone. */
	void (*ready)(struct shm_conn *conn);
	void *owner;
	struct shm_conn *next;
};

/* Starts the agent with the first hold, ends it with the last release. May block briefly; the lock must not be held. */
doca_error_t sf_shm_agent_hold(uint32_t *generation);
/* generation is what hold gave; a hold inherited from the parent process counts nothing here. */
void sf_shm_agent_release(uint32_t generation);

/* The process's random id, the name of its agent's socket. Valid while held. */
const struct sf_key *sf_shm_agent_id(void);

/* Counts up in a child made by fork: what was made under another number is the parent's. */
uint32_t sf_shm_generation(void);

/* The process takes part in expedited global memory barriers (see port.h). */
bool sf_shm_agent_has_barriers(void);

/* What other threads and such processes wrote before is seen here after, and the other way round. */
void sf_shm_agent_barrier(void);

/* These three with the lock held. open takes over fd when it succeeds. */
doca_error_t sf_shm_conn_open(int fd, int pid, void (*ready)(struct shm_conn *conn), void *owner, struct shm_conn **conn);
void sf_shm_conn_close(struct shm_conn *conn);

/* Waits for sf_shm_changed, for a moment. Returns false when the peer's agent, at the other end of conn, was silent for limit_ns and is
 * to be given up. With the lock held. */
bool sf_shm_agent_await(const struct shm_conn *conn, struct sf_liveness *answering, uint64_t limit_ns);

/* Asks for sf_shm_agent_tick to run every few milliseconds while there is something to time. With the lock held. */
void sf_shm_agent_wake(void);

/* Provided by those whom it serves; called with the lock held. */
void sf_shm_serve_accepted(int fd, int pid); /* serve.c: somebody connected to the agent or to a listener */
bool sf_shm_link_tick(void);		     /* connect.c: returns whether anything is still timed */
bool sf_shm_serve_tick(void);		     /* serve.c: as well */
void sf_shm_child_after_fork(void);	     /* connect.c */

#endif
