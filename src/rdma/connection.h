/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection: its slot, its state, and its end. Functions about all connections of an instance are in
 * connections.h. */
#ifndef RDMA_CONNECTION_H
#define RDMA_CONNECTION_H

#include "rdma/addr.h"
#include "rdma/descriptor.h"
#include "rdma/rdma.h"

/* Ordered: ended states first, then states that may still connect, then connected ones, then failed ones. */
enum rdma_connection_state {
	RDMA_CONNECTION_FREE,
	RDMA_CONNECTION_ENDED,	    /* the slot is free */
	RDMA_CONNECTION_REQUESTED,  /* by address: a peer's request waits for the program */
	RDMA_CONNECTION_ACCEPTED,   /* the answer is sent; the established callback is pending */
	RDMA_CONNECTION_CONNECTING, /* by address: our request is sent */
	RDMA_CONNECTION_EXPORTED,
	RDMA_CONNECTION_CONNECTED, /* accepts tasks, even before the fabric's connection is established */
	RDMA_CONNECTION_FAILING,   /* a task failed, and done will report it: later tasks are held back */
	RDMA_CONNECTION_LOST,	   /* the peer is gone; the next task reports it */
	RDMA_CONNECTION_FAILED,	   /* a task failed, or the program disconnected: the other tasks are flushed */
};

struct doca_rdma_connection {
	/* Fields that each task reads. */
	struct doca_rdma *rdma;
	uint32_t id; /* its slot */
	enum rdma_connection_state state;
	struct sf_conn *out;			  /* to the peer, or NULL */
	struct doca_task *waiting, *waiting_last; /* by next */
	uint32_t num_out;			  /* tasks in flight */
	doca_error_t lost_by;			  /* why the peer is LOST; or SUCCESS */
	struct rdma_descriptor peer;		  /* valid from CONNECTED on */
	union doca_data user_data;
	uint8_t token[RDMA_TOKEN_SIZE];
	uint8_t descriptor[RDMA_DESCRIPTOR_MAX];   /* for the program to read */
	struct sf_conn *in;			   /* from the peer, or NULL */
	uint8_t in_token[RDMA_TOKEN_SIZE];	   /* the token of in */
	bool joins;				   /* `out` is to be closed, and `in` used instead */
	struct doca_rdma_connection *next_waiting; /* of connections with waiting tasks */
	uint64_t not_ready_since;		   /* since when the first waiting task has had no receive, ns; or 0 */
	/* by address */
	bool by_addr;
	bool asked;	  /* the request callback ran */
	bool established; /* its callback ran: the end is reported as a disconnection, else as a failure */
	struct sf_request *request;
	struct sf_listener *listener; /* of the request */
	uint64_t deadline_ns;
	uint64_t give_up_ns, again_ns; /* nobody listens: when to give up; when to retry, or 0 */
	struct doca_rdma_addr addr;    /* the peer's */
	bool changing;		       /* in the instance's list `changing` */
	struct sf_status_conn status;
	struct doca_rdma_connection *next_changing, *next_free;
};

/* Returns a connection in a free slot, zeroed, state ENDED; NULL if there is none. */
struct doca_rdma_connection *rdma_connection_alloc(struct doca_rdma *rdma);
/* Frees the slot. */
void rdma_connection_release(struct doca_rdma_connection *connection);
/* A task ended with that status, or is about to: the connection accepts no more tasks, and flushes the waiting ones. */
void rdma_connection_fail(struct doca_rdma_connection *connection, doca_error_t why);
/* The peer is gone. */
void rdma_connection_lose(struct doca_rdma_connection *connection, doca_error_t why);
/* For the log line of a task on a LOST connection: the reason. */
const char *rdma_connection_loss(const struct doca_rdma_connection *connection);

/* The status of an operation of len bytes that the fabric rejected for good with the code why. Logs the reason, unless the fabric
 * has. sender names the operation if only a send can fail so, operation if any can. */
doca_error_t rdma_connection_send_failure(const struct doca_rdma_connection *connection, const char *sender,
					  const char *operation, uint64_t len, doca_error_t why);
/* Call when both `in` and `out` are there. If acknowledgements can travel with messages, one connection is better than two: the
 * side with the larger token closes its own when nothing is in flight, and sends by the peer's. */
void rdma_connection_join(struct doca_rdma_connection *connection);
/* Returns true if the peer may close `in` for that reason. */
bool rdma_connection_peer_joins(const struct doca_rdma_connection *connection);
/* Makes progress check the connection. */
void rdma_connection_mark_changed(struct doca_rdma_connection *connection);
/* Returns true if it is connecting by address, or connected. For the status page. */
void rdma_connection_show(struct doca_rdma_connection *connection);
/* Closes its fabric connections. They have no operation in flight. */
void rdma_connection_close_conns(struct doca_rdma_connection *connection);

#endif
