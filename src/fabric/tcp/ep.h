/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of an endpoint to peers on the network. They use the endpoint's receives as local peers do, but this process
 * claims the receives.
 *
 * The endpoint's thread drives its sessions while it polls. When it sleeps, or does something else, the agent does. Both need the
 * endpoint's lock; if one holds it, the other has nothing to do. Results for the program wait in the queue for the poll. Order of
 * locks: sf_control_lock, then this one.
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
	/* the agent's */
	uint64_t polls_seen, polls_seen_ns;  /* so many at that time */
	uint64_t left_ns;		     /* since when it has left the sessions to the program */
	uint64_t doubt_ns, doubted_until_ns; /* until then it does not, and for how long it last did not */
	/* guarded by lock */
	struct sf_ep_queue queue;
	bool is_watched; /* set by the agent: it drives the sessions */
	bool is_polling;
	bool has_released; /* connections to free */
	bool has_posted;   /* and not every peer has been checked since */
	uint64_t posts;
	uint64_t cursor; /* of the receives */
	uint32_t conn_num;
	LIST_HEAD(, tcp_conn) conns;
	LIST_HEAD(, tcp_conn) busy; /* connections that have something to send, or to end */
	/* Connections with a message that waits for a receive, in the order of arrival. Their waiting time counts while a thread
	 * drives them. */
	TAILQ_HEAD(, tcp_conn) waiting;
	uint64_t waiting_posts, waiting_ns, waiting_seen_ns;
	struct sf_recv *returned; /* receives to be posted again */
	LIST_ENTRY(tcp_ep) entry; /* of all. Guarded by sf_control_lock */
};

/* The endpoint's network part, created when first needed. From the endpoint's thread. NO_MEMORY, OPERATING_SYSTEM; logged. */
doca_error_t sf_tcp_ep_get(struct shm_ep *ep, struct tcp_ep **far);
void sf_tcp_ep_close(struct tcp_ep *far);

uint32_t sf_tcp_ep_poll(struct tcp_ep *far, uint32_t budget);
/* As sf_ep_arm. */
bool sf_tcp_ep_arm(struct tcp_ep *far);

/* Releases the lock, and wakes the endpoint if something has become due. */
void sf_tcp_ep_unlock(struct tcp_ep *far) RELEASE(far->lock);

/* Call around a change of the posted receives. The second one ends the first, and sends the peers credits. */
void sf_tcp_ep_lock(struct tcp_ep *far);
void sf_tcp_ep_posted(struct tcp_ep *far);

/* The endpoint has flushed its receives. */
void sf_tcp_ep_flushed(struct tcp_ep *far);

/* Marks the receives that connections have as held. With sf_control_lock. */
void sf_tcp_ep_hold(struct tcp_ep *far);
/* Ends the connection that has held a receive for too long. Returns false if no connection holds it. */
bool sf_tcp_ep_drop(struct tcp_ep *far, const struct shm_slot *slot);

bool sf_tcp_eps_tick(uint64_t now_ns);
void sf_tcp_eps_after_fork(void);

#endif
