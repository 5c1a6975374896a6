/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RDMA instance. A file x.h declares what x.c defines:
 *
 *   rdma          the instance and its context      properties    what can be set and asked
 *   connection    one connection: slot and end      caps          what a device can do
 *   connections   all of an instance                check         checks of arguments and state
 *   export        connecting by descriptors         descriptor    what travels out of band
 *   guest         further peers of an export        gpu*          the data path on a GPU (gpu.h)
 *   cm            connecting by address             cm_listen     ports, and the peers that call there
 *   cm_wire       what travels with a call          cm_name       names of ports
 *   addr          addresses                         bridge        connecting by a program's own rdma_cm_id
 *   request       tasks that go out by a connection operands      what they name
 *   submit        how they go out                   inline_completion  those that end inside their submit
 *   completion    ends that progress reports        receive       receives
 *   task_X        the public face of a task type    one_connection  an instance as DOCA 2.5 has it
 *
 * An instance has one endpoint and one listener for its exports. A connection has two of the fabric's: its own, by which it
 * sends, reads and writes (out), and the peer's, by which it receives (in). So each side connects without waiting for the other,
 * and the descriptors may be exchanged in either order and at any time: the peer's listener is there since its export. Where
 * acknowledgements can travel with messages, the two then become one (rdma_connection_join), as a connection by address is from
 * the beginning.
 *
 * Tasks of a connection are sent in order. A task that the fabric does not accept now (no receive posted, not connected yet, a
 * queue full) waits in the connection with all later ones, and progress retries it.
 */
#ifndef RDMA_RDMA_H
#define RDMA_RDMA_H

#include <doca_rdma.h>

#include "core/ctx.h"
#include "fabric/fabric.h"
#include "mem/reg_cache.h"
#include "rdma/limits.h"

#define RDMA_NAME_MAX 48 /* a listener's name inside the machine, with its NUL */

_Static_assert(RDMA_NAME_MAX <= SF_NAME_MAX, "a name of an instance is a name");

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

struct rdma_connection_list {
	struct doca_rdma_connection *first, *last;
};

/* Of an instance whose start completes when it is connected (one_connection.h). */
struct rdma_one {
	bool wanted;
	bool due;				 /* connected while STARTING: the next progress call sets RUNNING */
	struct doca_rdma_connection *connection; /* of this run, or NULL */
	const void *details;			 /* of its export */
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
	uint64_t len_max; /* bytes of a task: RDMA_MESSAGE_MAX, or the profile's limit */
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
	int retry_fd;		  /* a timerfd: for waiting tasks in event-driven mode */
	bool retry_set;
	struct doca_rdma_connection *connections; /* kept until the next start, or destroy */
	uint32_t num_connections;		  /* slots that were used */
	struct rdma_connection_list ended_slots;  /* by next_free: the one that was freed first is reused first */
	struct rdma_connection_list changing;	  /* by next_changing: for rdma_cm_progress */
	struct rdma_listener *listeners;
	struct rdma_call *calls, *calls_last; /* requests of peers without a slot */
	uint32_t num_calls;
	struct rdma_guest *guests;
	uint32_t num_guests;
	uint32_t num_joins;  /* connections that joins */
	uint32_t join_at;    /* the next one to look at */
	uint32_t not_polled; /* consecutive progress calls that skipped the endpoint */
	struct doca_task *completed_inline,
		*completed_inline_last; /* succeeded inside their submits, to be completed by progress; by next */
	struct doca_rdma_connection *waiting, **waiting_end; /* connections with waiting tasks; by next_waiting */
	struct doca_task *ended, *ended_last;		     /* failed outside a poll, to be completed by progress */
	bool fatal;					     /* no working connection is left */
	struct rdma_one one;
	uint32_t recv_queue_size; /* with a data path on a GPU */
	struct rdma_gpu *gpu;	  /* that data path (gpu.h), kept until the next start, or destroy; or NULL */
};

#endif
