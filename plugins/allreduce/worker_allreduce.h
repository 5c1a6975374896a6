/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DPU's half of the allreduce plugin.
 *
 *   worker_allreduce.c  what the worker calls     schedule.c  who sends what to whom, step by step
 *   pieces.c            pieces under way          reduce.c    sums, minima, maxima
 *   network.c           messages between workers
 *
 * A piece runs through the steps of its schedule as far as it can; a step that receives waits for its message. A message whose
 * piece has not come from the host yet, or is not at that step, is kept.
 */
#ifndef WORKER_ALLREDUCE_H
#define WORKER_ALLREDUCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <ucp/api/ucp.h>

#include <doca_urom_plugin.h>

#include "allreduce_proto.h"

#define ALLREDUCE_BUCKETS 256
#define ALLREDUCE_KEPT_MAX (UINT64_C(512) << 20) /* bytes of messages that wait for their pieces */
#define ALLREDUCE_ADDRESS_MAX 8192

struct piece;

/* ---- schedule.c ---- */

enum step_kind { STEP_SEND, STEP_REDUCE, STEP_COPY, STEP_END };

struct step {
	enum step_kind kind;
	uint32_t rank;	 /* the other */
	uint32_t number; /* of the message, among those between the two for this piece */
	uint32_t offset, len; /* bytes of the piece */
};

/* Step i of a rank for a piece of len bytes in elements of element bytes. */
struct step schedule_step(const struct allreduce_shape *shape, uint32_t rank, uint32_t len, uint32_t element, uint32_t i);

/* ---- reduce.c ---- */

uint32_t reduce_element_size(uint8_t type);
/* into = into op from, element by element; from may lie at any address. */
void reduce(uint8_t type, uint8_t op, void *into, const void *from, size_t len);

/* ---- network.c ---- */

enum message_kind { MESSAGE_HELLO = 1, MESSAGE_DATA, MESSAGE_ABORT };

struct message {
	uint32_t kind;
	uint32_t source; /* rank */
	uint64_t tag, offset;
	uint32_t number;
	uint32_t status; /* of an abort */
	struct allreduce_shape shape;
};

struct peer {
	struct allreduce *allreduce;
	uint64_t id;
	ucp_ep_h endpoint; /* NULL: none yet, or no more */
	bool dead;
};

struct network {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_address_t *address;
	size_t address_len;
	uint64_t id;
	struct peer **peers; /* by rank */
	uint32_t num_peers;
	SLIST_HEAD(, send) free_sends;
	bool lost; /* a peer has died since pieces_check_peers() */
};

struct kept {
	LIST_ENTRY(kept) next;
	struct message message;
	uint32_t len;
	uint8_t data[];
};

struct piece {
	LIST_ENTRY(piece) next;
	struct allreduce *allreduce;
	struct allreduce_command command;
	struct urom_worker_notif_desc *notification; /* holds the vector */
	uint8_t *data;
	uint32_t len, element;
	uint32_t step;
	uint32_t sends; /* that have not ended */
	bool ended;	/* but for its sends */
	bool ready;	/* in the list of those for which something came */
	TAILQ_ENTRY(piece) in_ready;
};

struct allreduce {
	struct urom_worker_ctx *ctx;
	struct network network;
	LIST_HEAD(, piece) pieces[ALLREDUCE_BUCKETS];
	LIST_HEAD(, kept) kept[ALLREDUCE_BUCKETS];
	uint64_t kept_bytes;
	TAILQ_HEAD(, piece) ready;
	ucs_list_link_t notifications;
};

doca_error_t network_open(struct allreduce *allreduce);
void network_close(struct allreduce *allreduce);
/* Connects to a rank, unless that is done. NOT_FOUND: it is not in the domain; CONNECTION_ABORTED: its worker has died. */
doca_error_t network_connect(struct allreduce *allreduce, uint32_t rank);
bool network_is_dead(const struct allreduce *allreduce, uint32_t rank);
/* The rank is this worker itself, as the domain has it. */
bool network_is_self(struct allreduce *allreduce, uint32_t rank);
/* The piece, which may be NULL when there is no data, is told of the end by piece_sent() unless it ends at once. */
doca_error_t network_send(struct allreduce *allreduce, uint32_t rank, const struct message *message, const void *data, size_t len,
			  struct piece *piece);

/* ---- pieces.c ---- */

doca_error_t piece_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc);
void piece_sent(struct piece *piece);
void pieces_take(struct allreduce *allreduce, const struct message *message, const void *data, size_t len);
/* Goes on with pieces for which something came. Not inside UCX: its TCP (1.13) fails an assertion when a send finds a connection
 * broken while the events of that connection wait their turn. */
void pieces_run(struct allreduce *allreduce);
/* Fails those that still need a worker that has died. */
void pieces_check_peers(struct allreduce *allreduce);
void pieces_cancel(struct allreduce *allreduce, uint64_t tag, uint64_t why);
void pieces_free(struct allreduce *allreduce);

#endif
