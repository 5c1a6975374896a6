/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint: one completion queue, one shared receive queue of all its connections, and lists of due work.
 *
 * The endpoint's lock guards everything here and in its connections, unless stated otherwise. The endpoint's thread takes it for
 * each call. The agent takes it when a message of a peer arrives, and while the endpoint sleeps: then the agent reads the
 * completion queue in its place, and writes the event only if something became due. Callbacks run without the lock.
 *
 * A sender must know whether there is a receive before it sends. So an endpoint writes to each of its peers, through the device,
 * a view of what it has posted (wire.h), after every change. Before the peer sees the change, it may send a message for which
 * there is no receive any more. That message waits in the device until one is posted.
 */
#ifndef SF_FABRIC_VERBS_EP_H
#define SF_FABRIC_VERBS_EP_H

#include "fabric/ep_queue.h"
#include "fabric/control/agent.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/region.h"

struct vb_conn;

#define VB_SENDS_MAX 2048 /* work requests of all connections of an endpoint at a time */
#define VB_HASH_SIZE 256
#define VB_SELF_DEPTH 32 /* receives that a flush consumes at a time */

/* A completion's wr_id identifies its subject. */
#define VB_WR_RECEIVE (UINT64_C(1) << 63) /* and a slot */
#define VB_WR_SELF (UINT64_C(1) << 62)

enum vb_slot_state {
	VB_SLOT_FREE,
	VB_SLOT_POSTED,
	VB_SLOT_WAITS_PULL, /* arrived; its bytes are to be fetched */
	VB_SLOT_PULLING,
	VB_SLOT_READY, /* arrived, to be reported in its turn */
};

/* A posted receive. */
struct vb_slot {
	struct sf_recv *recv;
	struct vb_mr *mr;
	uint32_t len;
	uint8_t state;	/* enum vb_slot_state */
	uint32_t place; /* in order */
	struct vb_conn *conn;
	uint64_t pull_addr, pulled, pull_posted; /* bytes */
	uint32_t pull_rkey, pull_len, pull_out;
};

struct vb_run {
	uint32_t num, len;
};

/* A ring of numbers; its size is a power of two. */
struct vb_ring {
	uint32_t *at;
	uint32_t head, tail, mask;
};

struct vb_ep {
	struct sf_ep base;
	struct sf_ep_handler handler;
	uint32_t recv_max;
	pthread_mutex_t lock;
	struct sf_ep_queue queue; /* pending work; its events have their data from malloc */
	bool polling;		  /* in sf_ep_poll: views are written at its end */
	bool views_stale;

	struct ibv_comp_channel *channel;
	struct sf_channel *channel_channel; /* guarded by sf_control_lock */
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint32_t sends_out;

	struct vb_slot *slots;
	struct vb_record *records; /* one a slot */
	struct vb_mr *records_mr;
	struct vb_ring free_slots;
	struct vb_ring order;	/* slots + 1 in the order of posting; 0: taken, while one before it is not */
	struct vb_ring arrived; /* slots in the order of arrival, until reported */
	struct vb_run *runs;	/* numbers of receives in order: a ring of its size */
	uint32_t runs_head, runs_num;
	uint32_t posted; /* and not done */

	LIST_HEAD(, vb_conn) conns;
	uint32_t conns_num;
	struct vb_conn *todo;			 /* connections to be stepped; by todo_next */
	LIST_HEAD(, vb_conn) hash[VB_HASH_SIZE]; /* by the number of the queue pair */

	/* Receives are cancelled by messages of our own, over a queue pair connected to itself. */
	struct ibv_qp *self;
	uint32_t self_out; /* such messages */
	bool self_broken;  /* it found no receive, and must be set up again */
	bool flushing;
	uint32_t flush_end;			/* of order.tail */
	uint64_t flush_limit_ns;		/* for receives that a sender holds */
	struct sf_recv *flushed, **flushed_end; /* receives due once every peer has seen the views without them */
	uint32_t flush_views;			/* on their way */
};

static inline struct vb_ep *vb_ep(struct sf_ep *ep)
{
	return (struct vb_ep *)ep;
}

/* Returns false in a child of the process that opened it. */
static inline bool vb_ep_is_ours(const struct vb_ep *ep)
{
	return vb_domain(ep->base.domain)->generation == sf_control_generation();
}

doca_error_t sf_verbs_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			      struct sf_ep **ep);
void sf_verbs_ep_close(struct sf_ep *ep);
uint32_t sf_verbs_ep_poll(struct sf_ep *ep, uint32_t budget);
bool sf_verbs_ep_arm(struct sf_ep *ep);
doca_error_t sf_verbs_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv);
void sf_verbs_ep_flush_recvs(struct sf_ep *ep);

#endif
