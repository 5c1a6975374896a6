/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of an RDMA instance.
 *
 *   rdma.c         the instance and its context       properties.c   what can be set and asked
 *   connection.c   connections: slots and ends             caps.c         what a device can do
 *   export.c       connecting by descriptors          descriptor.c   what travels out of band
 *   gpu*.c         the data path on a GPU (gpu.h)
 *   cm.c           connecting by address              cm_listen.c    ports that are listened to, and who calls there
 *   cm_wire.c      what travels with a call           addr.c         addresses
 *   request.c      tasks that go out by a connection  operands.c     what they name
 *   submit.c       how they go out                    inline_completion.c      those that end inside their submit
 *   receive.c      receives
 *   task_X.c       the public face of one task type   bridge.c       connecting by a program's own rdma_cm_id
 *   one_connection.c  an instance as DOCA 2.5 has it
 *
 * An instance has one endpoint and one listener for its exports. A connection has two of the fabric's: its own, by which it
 * sends, reads and writes (out), and the peer's, by which it receives (in). So each side connects without waiting for the other,
 * and the descriptors may be exchanged in either order and at any time: the peer's listener is there since its export. A
 * connection by address is one connection, which is both.
 *
 * Tasks of a connection go out in order. What the fabric does not take now (no receive there, the connection not there yet, a
 * queue full) waits in the connection, with all that comes after it, and is tried from progress.
 */
#ifndef RDMA_RDMA_H
#define RDMA_RDMA_H

#include <doca_rdma.h>

#include "core/ctx.h"
#include "fabric/fabric.h"
#include "mem/reg_cache.h"
#include "rdma/addr.h"
#include "rdma/cm_wire.h"
#include "rdma/descriptor.h"
#include "rdma/limits.h"

#define RDMA_NAME_MAX 48 /* a listener's name inside the machine, with its NUL */

_Static_assert(RDMA_NAME_MAX <= SF_NAME_MAX, "a name of an instance is a name");

/* What goes with an immediate: its four bytes as they are, and the receive's opcode. */
#define RDMA_HEADER_SIZE 5

enum rdma_pool {
	RDMA_POOL_RECEIVE,
	RDMA_POOL_SEND,
	RDMA_POOL_SEND_IMM,
	RDMA_POOL_READ,
	RDMA_POOL_WRITE,
	RDMA_POOL_WRITE_IMM,
	RDMA_POOL_CMP_SWP,
	RDMA_POOL_FETCH_ADD,
	RDMA_POOL_EVENT_GET,
	RDMA_POOL_EVENT_SET,
	RDMA_POOL_EVENT_ADD,
	RDMA_POOLS,
};

/* In this order: what has ended, what may still be connected, what is, what was. */
enum rdma_connection_state {
	RDMA_CONNECTION_FREE,
	RDMA_CONNECTION_ENDED,	    /* of a slot that will be used again */
	RDMA_CONNECTION_REQUESTED,  /* by address: a peer asks, the program is to answer */
	RDMA_CONNECTION_ACCEPTED,   /* the peer has the answer; the established callback is due */
	RDMA_CONNECTION_CONNECTING, /* by address: we ask */
	RDMA_CONNECTION_EXPORTED,
	RDMA_CONNECTION_CONNECTED, /* tasks are taken, whether or not the connection is there yet */
	RDMA_CONNECTION_FAILING,   /* a task failed, as its done will tell: what is behind it is held back */
	RDMA_CONNECTION_LOST,	   /* the peer is gone, which the next task will tell */
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

/* A further peer of an exported DC connection. */
struct rdma_guest {
	struct sf_conn *conn;
	struct rdma_guest *next;
};

struct rdma_connection_list {
	struct doca_rdma_connection *first, *last;
};

/* Of an instance that starts by being connected (one_connection.h). */
struct rdma_one {
	bool wanted;
	bool due;				 /* connected while STARTING: the next progress makes it run */
	struct doca_rdma_connection *connection; /* of this run, or NULL */
	const void *details;			 /* what its export gave */
	size_t size;
};

struct doca_rdma {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	struct sf_task_pool pools[RDMA_POOLS];
	/* properties */
	uint32_t send_queue_size, list_len, recv_list_len, permissions, gid_index, sl;
	enum doca_mtu_size mtu;
	uint16_t max_num_connections;
	uint8_t rnr_retry_count;
	enum doca_rdma_transport_type transport;
	uint64_t len_max; /* bytes of a task: RDMA_MESSAGE_MAX, or less as the profile has it */
	uint16_t request_timeout_ms;
	doca_rdma_connection_request_cb_t request_cb;
	doca_rdma_connection_established_cb_t established_cb;
	doca_rdma_connection_failure_cb_t failure_cb;
	doca_rdma_connection_disconnection_cb_t disconnection_cb;
	/* from start on */
	struct sf_reg_cache reg_cache;
	struct sf_ep *ep;
	struct sf_listener *listener;
	char name[RDMA_NAME_MAX]; /* of the listener */
	int retry_fd;		  /* a timerfd: event-driven, while tasks wait */
	bool retry_set;
	struct doca_rdma_connection *connections; /* kept until the next start, or destroy */
	uint32_t num_connections;		  /* slots that were used */
	struct rdma_connection_list ended_slots;  /* by next_free: the one that ended first is used again first */
	struct rdma_connection_list changing;	  /* by next_changing: what rdma_cm_progress has to look at */
	struct rdma_listener *listeners;
	struct rdma_call *calls, *calls_last; /* of peers that are to get a connection */
	uint32_t num_calls;
	struct rdma_guest *guests;
	uint32_t num_guests;
	uint32_t not_polled; /* progress calls in a row that left the endpoint alone */
	struct doca_task *completed_inline,
		*completed_inline_last;			     /* succeeded inside their submits, to be told by progress; by next */
	struct doca_rdma_connection *waiting, **waiting_end; /* connections with tasks that wait; by next_waiting */
	struct doca_task *ended, *ended_last;		     /* decided outside a poll, told by progress */
	bool fatal;					     /* no connection is left that works */
	struct rdma_one one;
	uint32_t recv_queue_size; /* with a data path on a GPU */
	struct rdma_gpu *gpu;	  /* that data path (gpu.h), kept until the next start, or destroy; or NULL */
};

/* A task that goes out by a connection: the beginning of every type but the receive. */
struct rdma_request {
	struct doca_task base;
	struct doca_rdma_connection *connection;
	const struct doca_buf *src;
	struct doca_buf *dst; /* an atomic's remote operand too */
	struct doca_buf *result;
	const struct sf_reg *local_reg, *remote_reg;	/* for sf_reg_known_by */
	const struct doca_sync_event_remote_net *event; /* the remote operand of tasks of sync events */
	doca_be32_t immediate;
	uint64_t compare, value;
	uint32_t result_len;
	uint64_t len;
	bool mapped;	      /* the local operand is another process's memory, mapped here or bounced */
	doca_error_t verdict; /* not SUCCESS: it will end so, once those before it have */
	uint8_t header[RDMA_HEADER_SIZE];
	struct sf_op op;
	struct sf_iov iov[RDMA_LIST_MAX];
};

struct doca_rdma_task_receive {
	struct doca_task base;
	struct doca_buf *dst;
	const struct doca_rdma_connection *connection;
	enum doca_rdma_opcode opcode;
	uint32_t result_len;
	bool mapped; /* dst is another process's memory, mapped here or bounced */
	doca_be32_t immediate;
	uint64_t region_of; /* sf_mmap_id of the memory map whose region is known, or 0 */
	struct sf_region *region;
	struct sf_recv recv;
	struct sf_iov iov[RDMA_RECV_LIST_MAX];
};

/* ---- connection.c ---- */

extern const struct sf_ep_handler rdma_ep_handler;

/* A connection in a slot that nothing uses, all fields anew, state ENDED; NULL when there is none. */
struct doca_rdma_connection *rdma_connection_take(struct doca_rdma *rdma);
/* The slot may be used again. */
void rdma_connection_release(struct doca_rdma_connection *connection);
/* A task ended with that status, or is about to: the connection takes no more, and those that wait are flushed. */
void rdma_connection_fail(struct doca_rdma_connection *connection, doca_error_t why);
/* The peer is gone. */
void rdma_connection_lose(struct doca_rdma_connection *connection, doca_error_t why);
/* For the log of a task on a connection that is LOST: what became of the peer. */
const char *rdma_loss(const struct doca_rdma_connection *connection);
/* Progress has to look at it. */
void rdma_connection_changes(struct doca_rdma_connection *connection);
/* It is being made by address, or is connected: for the status page. */
void rdma_connection_note(struct doca_rdma_connection *connection);
/* Closes what connections there are. No operation of theirs is in flight. */
void rdma_connection_close_conns(struct doca_rdma_connection *connection);
/* Begins the end of all connections. */
void rdma_connections_cancel(struct doca_rdma *rdma);
/* Closes their connections. Nothing is in flight. */
void rdma_connections_close(struct doca_rdma *rdma);
/* BAD_STATE, logged, where connections cannot be made now. */
doca_error_t rdma_check_started(const struct doca_rdma *rdma, const char *what);

/* ---- export.c ---- */

/* A peer's connection arrived for an export. */
void rdma_export_accepted(struct doca_rdma *rdma, struct sf_conn *conn, const void *data, size_t len);
/* A further peer's connection was closed. */
void rdma_guest_forget(struct doca_rdma *rdma, const struct sf_conn *conn);
/* Closes the connections of a connection's further peers. */
void rdma_guests_close(struct doca_rdma *rdma, const struct doca_rdma_connection *connection);

/* ---- cm.c ---- */

void rdma_cm_connected(struct doca_rdma_connection *connection, doca_error_t status, const void *data, size_t len);
/* In a poll: the established callback of a connection that was accepted, if it has not run yet. Before its first message and its
 * end. A GPU's thread runs no callbacks: there the next progress call does. */
void rdma_cm_tell_accepted(struct doca_rdma_connection *connection);
/* Runs the callbacks that are due, outside of a poll; true when any was. */
bool rdma_cm_progress(struct doca_rdma *rdma);
/* Is one due? If not, *wait_ns is when one may be: nanoseconds from now, or 0. */
bool rdma_cm_is_due(const struct doca_rdma *rdma, uint64_t *wait_ns);

/* ---- cm_name.c ---- */

/* Is the instance on a device whose addresses are those of a network? Then peers on other machines call it, and it them. */
bool rdma_is_on_network(const struct doca_rdma *rdma);
/* The name under which the instance listens to a port, and the flags of the listener. */
uint32_t rdma_cm_listen_name(const struct doca_rdma *rdma, uint16_t port, char name[SF_NAME_MAX]);
/* The name under which a peer is called. CONNECTION_ABORTED, logged: no device of ours has the address, and it is none of a
 * network for this instance. */
doca_error_t rdma_cm_peer_name(const struct doca_rdma *rdma, const struct doca_rdma_addr *addr, char name[SF_NAME_MAX],
			       char address[SF_ADDRESS_MAX]);

/* ---- cm_listen.c ---- */

void rdma_cm_requested(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len);
/* Is there one to be given or refused? If not, and one waits, *wait_ns is how long yet. */
bool rdma_cm_calls_due(const struct doca_rdma *rdma, uint64_t now_ns, uint64_t *wait_ns);
/* Gives callers their connections. */
bool rdma_cm_take_calls(struct doca_rdma *rdma);
/* Turns down the request that a connection has. */
void rdma_cm_refuse(struct doca_rdma_connection *connection, enum rdma_cm_reason reason);
/* Closes all ports that are listened to. Calls to them are rejected. */
void rdma_cm_close_listeners(struct doca_rdma *rdma);

/* ---- request.c ---- */

struct rdma_verb {
	struct sf_task_class cls;
	enum sf_op_kind kind;
	bool immediate;
	uint32_t need; /* the right that the peer's instance must give, or 0 */
	/* For a verb whose remote operand is no buffer. take fills op's region and address, iov and len, as the kind has it, and
	 * refuses what is wrong with the task; settle follows a success. Between them, where the local operand is mapped, land
	 * puts what came in there. */
	doca_error_t (*take)(struct rdma_request *request);
	void (*land)(struct rdma_request *request);
	void (*settle)(struct rdma_request *request);
};

static inline const struct rdma_verb *rdma_verb_of(const struct rdma_request *request)
{
	return (const struct rdma_verb *)request->base.cls;
}
static inline struct doca_rdma *rdma_of(const struct rdma_request *request)
{
	return (struct doca_rdma *)request->base.ctx;
}

/* For the *_allocate_init: the base and the connection are set, all else is 0. */
doca_error_t rdma_request_alloc(struct doca_rdma *rdma, enum rdma_pool pool, struct doca_rdma_connection *connection,
				union doca_data user_data, const void *place, struct rdma_request **request);
/* For the *_set_conf. */
doca_error_t rdma_pool_configure(struct doca_rdma *rdma, enum rdma_pool pool, const struct sf_task_class *cls,
				 doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks);

/* For sf_task_class.inspect. */
void rdma_request_inspect(const struct doca_task *base);

/* A success: what it changes in the buffers. */
void rdma_request_settle(struct rdma_request *request);
/* The task ends with status from the next progress call. */
void rdma_end_later(struct doca_rdma *rdma, struct doca_task *task, doca_error_t status);

/* ---- operands.c ---- */

/* Fills op's region and address, iov and len. What is wrong is logged. */
doca_error_t rdma_request_take_apart(struct rdma_request *request);
/* The local operand. */
const struct doca_buf *rdma_request_local(const struct rdma_request *request);
/* Local operands, for take: the pieces of a list into iov and len; 8 bytes for the value before an atomic into iov. */
doca_error_t rdma_request_take_list(struct rdma_request *request, struct sf_reg_list *list);
doca_error_t rdma_request_take_result(struct rdma_request *request);
/* INVALID_VALUE, logged. */
doca_error_t rdma_request_missing(const struct rdma_request *request, const char *what);

/* ---- submit.c ---- */

/* cls.submit: by the fabric, or with an error that says what is wrong. */
doca_error_t rdma_request_submit(struct doca_task *base, uint32_t flags);
/* Tries what waits; true when something moved. */
bool rdma_requests_pump(struct doca_rdma *rdma);

/* ---- receive.c ---- */

/* What a message's header says, which the peer wrote; false, logged: it is not RDMA's. */
bool rdma_header_read(const struct sf_recv *recv, enum doca_rdma_opcode *opcode, doca_be32_t *immediate);

/* ---- inline_completion.c ---- */

/* cls.submit of the verbs that may end there. */
doca_error_t rdma_write_submit(struct doca_task *base, uint32_t flags);
doca_error_t rdma_read_submit(struct doca_task *base, uint32_t flags);
doca_error_t rdma_atomic_submit(struct doca_task *base, uint32_t flags);
/* The task has succeeded; nothing of its connection is under way, nor waits. */
void rdma_succeeded(struct rdma_request *request);
/* Runs the callbacks of those, and returns how many. Before any other task of their connections is told of; it may be inside a
 * poll. */
uint32_t rdma_inline_complete(struct doca_rdma *rdma);

/* ---- one_connection.c ---- */

/* From progress, when one.due. Runs the program's state callback. */
void rdma_one_run(struct doca_rdma *rdma);

/* ---- gpu_thread.c ---- */

/* An instance with a data path on a GPU has a thread of its own, which shares the endpoint and the connections with the
 *program's: every public call that touches them begins with
 *
 *	struct doca_rdma *entered __attribute__((cleanup(rdma_leave), unused)) = rdma_enter(rdma);
 *
 * It may be done again inside. For other instances, and NULL, it does nothing. */
struct doca_rdma *rdma_gpu_enter(struct doca_rdma *rdma);
void rdma_gpu_leave(struct doca_rdma *rdma);
static inline struct doca_rdma *rdma_enter(struct doca_rdma *rdma)
{
	return __builtin_expect(rdma != NULL && rdma->gpu != NULL, 0) ? rdma_gpu_enter(rdma) : NULL;
}
static inline void rdma_leave(struct doca_rdma **entered)
{
	if (__builtin_expect(*entered != NULL, 0))
		rdma_gpu_leave(*entered);
}
/* sf_ctx_kick, from either thread. */
void rdma_kick(struct doca_rdma *rdma);

/* ---- rdma.c ---- */

/* NOT_SUPPORTED, logged, where the data path is on a GPU: there are no tasks then. */
doca_error_t rdma_check_tasks(const struct doca_rdma *rdma);

/* NULL is INVALID_VALUE, logged with what the thing is. */
doca_error_t rdma_check_given(const void *pointer, const char *what);
/* For logs; any number. */
const char *rdma_transport_name(uint32_t transport);

#endif
