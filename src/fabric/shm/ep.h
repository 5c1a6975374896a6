/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint: its receives, its connections, what is due on it.
 *
 * Waking: the owner stores the number of its arming in the shared segment, then looks once more whether something is due;
 * a peer publishes, then looks at that word, and rings for a number for which it has not rung yet. So the owner never takes the
 * number back: a poll leaves the endpoint armed, and costs a peer that has rung nothing. Between the two steps each side needs a
 * full barrier. The peer's would cost on every message, so where both processes have registered for it, the owner's membarrier
 * system call stands for both.
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
	struct shm_conn **conns; /* open ones, and those that end */
	uint32_t conn_num, conn_room;
	struct shm_due due; /* which of them a poll looks at */
	uint32_t quiet;	    /* polls in a row that found nothing, BUSY_LOOKS at most */
	struct sf_op *done, **done_end;
	struct sf_recv *flushed, **flushed_end;
	struct shm_conn *todo, **todo_end; /* events taken from the inbox */
	uint64_t flush_deadline_ns;	   /* when to look at those who hold a receive, */
	uint64_t flush_last_ns;		   /* and when they are waited for no longer */
	_Atomic uint32_t arming;	   /* number of the last one */
	bool polling;
	bool suspect;	 /* a connection has ended: is what it could write still intact? */
	bool reap;	 /* connections to free at the end of the poll */
	bool has_met;	 /* a peer, */
	bool has_rivals; /* and another process than that: one may claim what the other has */
	int pid_met;	 /* the last one */
	int event_fd, segment_fd;
	bool holds; /* the agent, from the first listener or connect on */
	uint32_t hold;
	struct tcp_ep *far;	/* its peers on the network; or NULL, and it has none. Locked where the receives change */
	struct shm_lends lends; /* what of its receives' memory peers may map */
	_Atomic bool news;	/* the inbox is not empty */
	struct shm_conn *inbox, **inbox_end; /* from here on guarded by sf_control_lock */
	uint32_t conn_ids;
	struct shm_ep *next;
};

/* Of a device that has no wire. */
struct shm_domain {
	struct sf_domain base;
	struct sf_net_device device; /* where it is on a network; no name: nowhere */
	bool by_network;	     /* its peers are reached that way only */
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
void sf_shm_ep_push(struct sf_ep *ep);
doca_error_t sf_shm_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv);
void sf_shm_ep_flush_recvs(struct sf_ep *ep);

/* Has the agent run as long as the endpoint lives. */
doca_error_t sf_shm_ep_hold_agent(struct shm_ep *ep);

/* Counts a connection among those that poll looks at. */
/* A connection with a peer begins. */
void sf_shm_ep_meet(struct shm_ep *ep, const struct shm_conn *conn);
doca_error_t sf_shm_ep_add_conn(struct shm_ep *ep, struct shm_conn *conn);

/* After a store that senders must see, before a look at what they may have written: see the beginning. */
void sf_shm_ep_barrier(const struct shm_ep *ep);

/* Frees what was released and is over; takes a connection out of the lists of events (the latter with sf_control_lock). */
void sf_shm_ep_reap(struct shm_ep *ep);
void sf_shm_ep_forget_conn(struct shm_ep *ep, struct shm_conn *conn);

/* A receive to be done with CONNECTION_ABORTED from the next poll. */
void sf_shm_ep_abort_recv(struct shm_ep *ep, struct sf_recv *recv);

/* An operation to be done from the next poll. */
static inline void shm_ep_done(struct shm_ep *ep, struct sf_op *op, doca_error_t status)
{
	op->status = status;
	op->next = NULL;
	*ep->done_end = op;
	ep->done_end = &op->next;
}

#endif
