/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of an endpoint to peers on the network. They take from the endpoint's receives as the peers of this machine do,
 * but it is this process that takes them.
 *
 * The endpoint's thread drives its sessions while it polls. When it sleeps, or does something else, the agent does. Both hold the
 * endpoint's lock, and whoever does not get it has nothing to do. What is for the program waits in the queue for the poll. Order
 * of locks: sf_control_lock, then this one.
 */
#ifndef SF_FABRIC_TCP_EP_H
#define SF_FABRIC_TCP_EP_H

#include <pthread.h>
#include <sys/queue.h>

#include "base/thread_safety.h"
#include "fabric/ep_queue.h"
#include "fabric/shm/ep.h"

struct tcp_conn;

struct tcp_ep {
	struct shm_ep *ep;
	pthread_mutex_t lock;
	uint32_t generation;	    /* of the agent */
	int epoll;		    /* the connections' sockets */
	struct sf_channel *channel; /* the same, in the agent's set. Guarded by sf_control_lock */
	_Atomic bool is_due;	    /* the queue is not empty */
	_Atomic uint64_t polls;
	uint64_t polls_seen; /* the agent's */
	/* guarded by lock */
	struct sf_ep_queue queue;
	bool is_watched; /* by the agent: it drives the sessions */
	bool is_polling;
	bool has_released; /* connections to free */
	bool has_posted;   /* and not every peer has been looked at since */
	uint64_t posts;
	uint64_t cursor; /* of the receives */
	uint32_t conn_num;
	LIST_HEAD(, tcp_conn) conns;
	LIST_HEAD(, tcp_conn) busy; /* that have something to send, or to end */
	/* Those with a message that waits for a receive, in the order of coming. The time that they wait is counted where
	 * somebody drives them. */
	TAILQ_HEAD(, tcp_conn) waiting;
	uint64_t waiting_posts, waiting_ns, waiting_seen_ns;
	struct sf_recv *returned; /* to be posted again */
	LIST_ENTRY(tcp_ep) entry; /* of all. Guarded by sf_control_lock */
};

/* The endpoint's, made when it is needed first. From the endpoint's thread. NO_MEMORY, OPERATING_SYSTEM; logged. */
doca_error_t sf_tcp_ep_get(struct shm_ep *ep, struct tcp_ep **far);
void sf_tcp_ep_close(struct tcp_ep *far);

uint32_t sf_tcp_ep_poll(struct tcp_ep *far, uint32_t budget);
/* As sf_ep_arm. */
bool sf_tcp_ep_arm(struct tcp_ep *far);

/* Frees the lock, and wakes the endpoint if something has become due. */
void sf_tcp_ep_unlock(struct tcp_ep *far) RELEASE(far->lock);

/* Around a change of the posted receives: the second ends what the first began, and sends the peers credits. */
void sf_tcp_ep_lock(struct tcp_ep *far);
void sf_tcp_ep_posted(struct tcp_ep *far);

/* The endpoint has flushed its receives. */
void sf_tcp_ep_flushed(struct tcp_ep *far);

/* Marks the receives that connections have as held. With sf_control_lock. */
void sf_tcp_ep_hold(struct tcp_ep *far);
/* A connection has held a receive for too long: it ends. False: no connection has it. */
bool sf_tcp_ep_drop(struct tcp_ep *far, const struct shm_slot *slot);

bool sf_tcp_eps_tick(uint64_t now_ns);
void sf_tcp_eps_after_fork(void);

#endif
