/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint: its receives, its connections, its pending work.
 *
 * Waking: the owner stores the number of its arming in the shared segment, then checks again for work. A peer publishes, then
 * reads that word, and rings once for each number. So the owner never resets the number: a poll leaves the endpoint armed, and a
 * peer that has rung pays nothing more. Between the two steps each side needs a full barrier. The peer's would cost on every
 * message, so if both processes are registered for it, the owner's membarrier system call replaces both.
 */
#ifndef SF_FABRIC_SHM_EP_H
#define SF_FABRIC_SHM_EP_H

#include "fabric/fabric.h"
#include "fabric/shm/due.h"
#include "fabric/shm/lend.h"
#include "fabric/shm/recvq.h"
#include "fabric/shm/region.h"
#include "fabric/control/net.h"

struct shm_conn;
struct tcp_ep;

struct shm_ep {
	struct sf_ep base;
	struct sf_ep_handler handler;
	struct shm_recvq recvq;
	struct shm_conn **conns; /* open ones, and those that are ending */
	uint32_t conn_num, conn_room;
	struct shm_due due; /* those that a poll reads */
	uint32_t quiet;	    /* consecutive empty polls, BUSY_LOOKS at most */
	struct sf_op *done, **done_end;
	struct sf_recv *flushed, **flushed_end;
	struct shm_conn *todo, **todo_end; /* events moved from the inbox */
	uint64_t flush_deadline_ns;	   /* when to check the holders of receives, */
	uint64_t flush_last_ns;		   /* and when to stop waiting for them */
	_Atomic uint32_t arming;	   /* when to stop waiting for them */
	bool polling;
	bool suspect;	 /* a connection has ended: check everything that it could write */
	bool reap;	 /* connections to free at the end of the poll */
	bool has_met;	 /* has had a peer, */
	bool has_rivals; /* has had a peer in another process: one may claim the other's receives */
	int pid_met;	 /* the last one */
	int event_fd, segment_fd;
	bool holds; /* holds the agent, from the first listener or connect on */
	uint32_t hold;
	struct tcp_ep *far;		     /* its network peers; NULL: none. Locked around changes of the receives */
	struct shm_lends lends;		     /* pages of its receives that peers may map */
	_Atomic bool news;		     /* the inbox is not empty */
	struct shm_conn *inbox, **inbox_end; /* the following are guarded by sf_control_lock */
	uint32_t conn_ids;
	struct shm_ep *next;
};

/* Of a software device. */
struct shm_domain {
	struct sf_domain base;
	struct sf_net_device device; /* its network device; without a name: none */
	bool by_network;	     /* its peers connect by network only */
};

static inline struct shm_domain *shm_domain(struct sf_domain *domain)
{
	return (struct shm_domain *)domain;
}

static inline struct shm_ep *shm_ep(struct sf_ep *ep)
{
	return (struct shm_ep *)ep;
}

doca_error_t sf_shm_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			    struct sf_ep **ep);
void sf_shm_ep_close(struct sf_ep *ep);
uint32_t sf_shm_ep_poll(struct sf_ep *ep, uint32_t budget);
bool sf_shm_ep_arm(struct sf_ep *ep);
doca_error_t sf_shm_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv);
void sf_shm_ep_flush_recvs(struct sf_ep *ep);

/* Keeps the agent running as long as the endpoint lives. */
doca_error_t sf_shm_ep_hold_agent(struct shm_ep *ep);

/* Adds a connection to those that poll reads. */
/* A connection with a peer begins. */
void sf_shm_ep_meet(struct shm_ep *ep, const struct shm_conn *conn);
doca_error_t sf_shm_ep_add_conn(struct shm_ep *ep, struct shm_conn *conn);

/* Call between a store that senders must see and a load of what they may have written: see the head of this file. */
void sf_shm_ep_barrier(const struct shm_ep *ep);

/* Frees released connections that have ended; removes a connection from the lists of events (the latter with
 * sf_control_lock). */
void sf_shm_ep_reap(struct shm_ep *ep);
void sf_shm_ep_forget_conn(struct shm_ep *ep, struct shm_conn *conn);

/* A receive to be done with CONNECTION_ABORTED from the next poll. */
void sf_shm_ep_abort_recv(struct shm_ep *ep, struct sf_recv *recv);
/* While receives are flushed: ends connections whose sender holds one for too long. *now_ns: 0, or the time. */
void sf_shm_ep_check_flushing(struct shm_ep *ep, uint64_t *now_ns);

/* An operation to be done from the next poll. */
static inline void shm_ep_done(struct shm_ep *ep, struct sf_op *op, doca_error_t status)
{
	op->status = status;
	op->next = NULL;
	*ep->done_end = op;
	ep->done_end = &op->next;
}

#endif
