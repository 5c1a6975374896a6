/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection, however it was made: its slot, its state, and its end. What concerns all of an instance is in connections.h. */
#ifndef RDMA_CONNECTION_H
#define RDMA_CONNECTION_H

#include "rdma/addr.h"
#include "rdma/descriptor.h"
#include "rdma/rdma.h"

/* In this order: what has ended, what may still be connected, what is, what was. */
enum rdma_connection_state {
	RDMA_CONNECTION_FREE,
	RDMA_CONNECTION_ENDED,	    /* of a slot that will be used again */
	RDMA_CONNECTION_REQUESTED,  /* by address: a peer asks, the program is to answer */
	RDMA_CONNECTION_ACCEPTED,   /* the peer has the answer; the established callback is due */
	RDMA_CONNECTION_CONNECTING, /* by address: we ask */
	RDMA_CONNECTION_EXPORTED,
	RDMA_CONNECTION_CONNECTED, /* tasks are taken, whether or not the connection is there yet */
	RDMA_CONNECTION_FAILING,   /* a task failed, which its done will report: later tasks are held back */
	RDMA_CONNECTION_LOST,	   /* the peer is gone, which the next task will report */
	RDMA_CONNECTION_FAILED,	   /* a task failed, or the program disconnected: the others are flushed */
};

struct doca_rdma_connection {
	/* What each task looks at. */
	struct doca_rdma *rdma;
	uint32_t id; /* its slot */
	enum rdma_connection_state state;
	struct sf_conn *out;			  /* ours to the peer, or NULL */
	struct doca_task *waiting, *waiting_last; /* by next */
	uint32_t num_out;			  /* tasks that the connection has */
	doca_error_t lost_by;			  /* what became of the peer, once LOST; or SUCCESS */
	struct rdma_descriptor peer;		  /* CONNECTED and later */
	union doca_data user_data;
	uint8_t token[RDMA_TOKEN_SIZE];
	uint8_t descriptor[RDMA_DESCRIPTOR_MAX];   /* the program's to read */
	struct sf_conn *in;			   /* the peer's to us, or NULL */
	uint8_t in_token[RDMA_TOKEN_SIZE];	   /* whose connection in is */
	struct doca_rdma_connection *next_waiting; /* of those with tasks that wait */
	uint64_t not_ready_since;		   /* the first waiting task has no receive since then, ns; or 0 */
	/* by address */
	bool by_addr;
	bool asked;	  /* the request callback ran */
	bool established; /* its callback ran: the end is a disconnection, else a failure */
	struct sf_request *request;
	struct sf_listener *listener; /* of the request */
	uint64_t deadline_ns;
	uint64_t give_up_ns, again_ns; /* nobody listens: until when that is not believed; when to ask again, or 0 */
	struct doca_rdma_addr addr;    /* the peer's */
	bool changing;		       /* on the instance's list of that name */
	struct sf_status_conn status;
	struct doca_rdma_connection *next_changing, *next_free;
};

/* A connection in a slot that nothing uses, all fields anew, state ENDED; NULL when there is none. */
struct doca_rdma_connection *rdma_connection_alloc(struct doca_rdma *rdma);
/* The slot may be used again. */
void rdma_connection_release(struct doca_rdma_connection *connection);
/* A task ended with that status, or is about to: the connection takes no more, and those that wait are flushed. */
void rdma_connection_fail(struct doca_rdma_connection *connection, doca_error_t why);
/* The peer is gone. */
void rdma_connection_lose(struct doca_rdma_connection *connection, doca_error_t why);
/* For the log of a task on a connection that is LOST: what became of the peer. */
const char *rdma_connection_loss(const struct doca_rdma_connection *connection);
/* Progress has to look at it. */
void rdma_connection_mark_changed(struct doca_rdma_connection *connection);
/* It is being made by address, or is connected: for the status page. */
void rdma_connection_show(struct doca_rdma_connection *connection);
/* Closes what connections there are. No operation of theirs is in flight. */
void rdma_connection_close_conns(struct doca_rdma_connection *connection);

#endif
