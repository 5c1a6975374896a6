/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a port to peers on the network. They take from the port's receives as the peers of this machine do, but it
 * is this process that takes them.
 *
 * The port's thread drives its sessions while it polls. When it sleeps, or does something else, the agent does. Both hold the
 * port's lock, and whoever does not get it has nothing to do. What is for the program waits in the queue for the poll. Order of
 * locks: sf_control_lock, then this one.
 */
#ifndef SF_FABRIC_TCP_PORT_H
#define SF_FABRIC_TCP_PORT_H

#include <pthread.h>
#include <sys/queue.h>

#include "fabric/port_queue.h"
#include "fabric/shm/port.h"

struct tcp_conn;

struct tcp_port {
	struct shm_port *port;
	pthread_mutex_t lock;
	uint32_t generation;	    /* of the agent */
	int epoll;		    /* the connections' sockets */
	struct sf_channel *channel; /* the same, in the agent's set. GUARDED_BY(sf_control_lock) */
	_Atomic bool is_due;	    /* the queue is not empty */
	_Atomic uint64_t polls;
	uint64_t polls_seen; /* the agent's */
	/* GUARDED_BY(lock) */
	struct sf_port_queue queue;
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
	struct sf_recv *returned;   /* to be posted again */
	LIST_ENTRY(tcp_port) entry; /* of all. GUARDED_BY(sf_control_lock) */
};

/* The port's, made when it is needed first. From the port's thread. NO_MEMORY, OPERATING_SYSTEM; logged. */
doca_error_t sf_tcp_port_get(struct shm_port *port, struct tcp_port **far);
void sf_tcp_port_close(struct tcp_port *far);

uint32_t sf_tcp_port_poll(struct tcp_port *far, uint32_t budget);
/* As sf_port_arm. */
bool sf_tcp_port_arm(struct tcp_port *far);

/* Frees the lock, and wakes the port if something has become due. */
void sf_tcp_port_unlock(struct tcp_port *far);

/* Around a change of the posted receives: the second ends what the first began, and tells the peers. */
void sf_tcp_port_lock(struct tcp_port *far);
void sf_tcp_port_posted(struct tcp_port *far);

/* The port has taken its receives back. */
void sf_tcp_port_flushed(struct tcp_port *far);

/* Marks the receives that connections have as held. With sf_control_lock. */
void sf_tcp_port_hold(struct tcp_port *far);
/* A connection has held a receive for too long: it ends. False: no connection has it. */
bool sf_tcp_port_drop(struct tcp_port *far, const struct shm_slot *slot);

bool sf_tcp_ports_tick(uint64_t now_ns);
void sf_tcp_ports_after_fork(void);

#endif
