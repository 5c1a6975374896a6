/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the rdmo plugin's DPU half.
 *
 *   worker_rdmo.c           the interface, and a target's commands
 *   worker_rdmo_requests.c  requests of initiators, in the order of execution
 *   worker_rdmo_steps.c     execution of one request in the target's memory
 *
 * A client is a target's program. Requests of all its queues are executed one after the other, but a put does not wait for
 * earlier puts; only a fence and a flush wait. A pointer is read when the first append needs it and belongs to the worker
 * until a flush has written it back, after all data.
 */
#ifndef WORKER_RDMO_H
#define WORKER_RDMO_H

#include <sys/queue.h>

#include <doca_urom_plugin.h>

#include "rdmo_proto.h"
#include "ucx_side.h"

#define RDMO_CLIENTS_MAX 256
#define RDMO_QUEUES_MAX 4096	    /* of a client */
#define RDMO_REGIONS_MAX 4096	    /* of a client */
#define RDMO_POINTERS_MAX 4096	    /* of a client, between two flushes */
#define RDMO_REQUESTS_MAX 65536	    /* incomplete requests of all clients */
#define RDMO_BYTES_MAX (256u << 20) /* bytes of these requests */
#define RDMO_COMPLAINTS_MAX 32	    /* log lines about invalid requests */
#define RDMO_FLAG_FENCE 1u

struct rdmo_region {
	LIST_ENTRY(rdmo_region) next;
	uint64_t number, va, len;
	ucp_rkey_h rkey;
	bool used; /* has been written to */
	bool gone; /* freed once nothing is in flight */
};

/* The answer to an RDMO_MR_DEREGISTER, which waits until all writes in flight are done. */
struct rdmo_removal {
	struct rdmo_client *client;
	struct urom_worker_notif_desc *answer;
};

struct rdmo_queue {
	LIST_ENTRY(rdmo_queue) next;
	uint64_t number;
	struct ucx_endpoint *endpoint; /* the initiator */
	uint64_t last_request;
	doca_error_t status; /* the first error since its last flush */
};

struct rdmo_pointer {
	LIST_ENTRY(rdmo_pointer) next;
	uint64_t address, region;
	uint64_t base;	/* the value read */
	uint64_t moved; /* bytes appended since then */
};

struct rdmo_request {
	TAILQ_ENTRY(rdmo_request) next;
	struct rdmo_client *client;
	struct rdmo_request_head head;
	uint32_t num_puts; /* in flight */
	bool done;	   /* not in the client's list any more: the last put frees it */
	size_t len;
	uint8_t data[];
};

/* Stage of a client's first request. All but BEGIN and READY are entered when a step completes. */
enum rdmo_stage { RDMO_BEGIN, RDMO_FENCED, RDMO_READY, RDMO_READ, RDMO_WRITTEN };

struct rdmo_client {
	LIST_ENTRY(rdmo_client) next;
	struct rdmo *rdmo;
	uint64_t id, dest_id;
	struct ucx_endpoint *endpoint; /* the target's program */
	LIST_HEAD(, rdmo_region) regions;
	LIST_HEAD(, rdmo_queue) queues;
	LIST_HEAD(, rdmo_pointer) pointers;
	uint32_t num_regions, num_queues, num_pointers;
	uint64_t last_region;
	TAILQ_HEAD(, rdmo_request) requests;
	enum rdmo_stage stage;
	uint64_t num_puts;     /* in flight */
	uint32_t num_removals; /* pending */
	bool has_left;
	/* of the one step that may be in flight */
	bool busy;
	ucs_status_t step_status;
	struct rdmo_pointer *step_pointer;
	uint64_t operand, word;
};

struct rdmo {
	struct ucx_side ucx;
	LIST_HEAD(, rdmo_client) clients, left; /* left: freed once nothing is in flight */
	uint32_t num_clients;			/* in clients */
	uint32_t num_requests;
	size_t num_bytes;
	uint32_t num_complaints;
	bool closing;
	ucs_list_link_t answers; /* to be returned by progress */
};

/* ---- worker_rdmo.c ---- */

struct rdmo_queue *rdmo_queue_find(const struct rdmo_client *client, uint64_t number);
struct rdmo_region *rdmo_region_find(const struct rdmo_client *client, uint64_t number);
/* Frees removed regions if nothing is in flight. */
void rdmo_regions_sweep(struct rdmo_client *client);

/* ---- worker_rdmo_requests.c ---- */

/* UCX's handler of RDMO_AM_REQUEST; arg is the struct rdmo. */
ucs_status_t rdmo_receive(void *arg, const void *header, size_t header_len, void *data, size_t len,
			  const ucp_am_recv_param_t *param);
/* Executes requests until one must wait. */
void rdmo_run(struct rdmo_client *client);
/* Records the first error in the request's queue. */
void rdmo_note(const struct rdmo_request *request, doca_error_t status);
void rdmo_requests_free(struct rdmo_client *client);
/* Answers a flush through the endpoint. */
void rdmo_respond(ucp_ep_h ep, uint64_t queue, uint64_t number, doca_error_t status);

/* ---- worker_rdmo_steps.c ---- */

/* Runs one step of the client's first request; returns true if the request is done. */
bool rdmo_step(struct rdmo_client *client, struct rdmo_request *request);
void rdmo_request_free(struct rdmo_request *request);
void rdmo_pointer_drop(struct rdmo_client *client, struct rdmo_pointer *pointer);

#endif
