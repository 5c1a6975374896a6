/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the halves of the allreduce plugin say to each other, and the workers among themselves. All are of one byte order. The
 * parse functions take what came from another process, and copy it only if all of it can be meant.
 */
#ifndef ALLREDUCE_PROTO_H
#define ALLREDUCE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define ALLREDUCE_VERSION 2
#define ALLREDUCE_RANKS_MAX 65536
#define ALLREDUCE_DIRECT_RANKS_MAX 64 /* ranks of an allreduce that reaches into all their memories */
#define ALLREDUCE_IN_PLACE_MIN 16384  /* bytes of a vector that stays where it is; smaller ones go in commands */
#define ALLREDUCE_NUMBER_SIZE 16      /* bytes of a number that proves a process to be reached */
#define ALLREDUCE_INFLIGHT_MAX 8      /* of one comm */
#define ALLREDUCE_PIECE_MIN 64	      /* bytes of a piece that is not the last, of which it is a multiple */
#define ALLREDUCE_PIECE_MAX (1 << 26)

enum allreduce_type { ALLREDUCE_FLOAT, ALLREDUCE_DOUBLE, ALLREDUCE_INT32, ALLREDUCE_INT64, ALLREDUCE_TYPES };
enum allreduce_op { ALLREDUCE_SUM, ALLREDUCE_MIN, ALLREDUCE_MAX, ALLREDUCE_OPS };
/* DIRECT: each worker reduces its share straight in the ranks' memories. AUTO is for vectors only: the workers find out. */
enum allreduce_algorithm { ALLREDUCE_TREE, ALLREDUCE_RING, ALLREDUCE_DIRECT, ALLREDUCE_AUTO, ALLREDUCE_ALGORITHMS };

/* What must be the same on all ranks. */
struct allreduce_shape {
	uint32_t num_ranks;
	uint8_t type, op, algorithm, reserved;
	uint32_t piece_max; /* bytes of every piece but the last */
	uint32_t reserved2;
	uint64_t total; /* bytes of the vector */
};

/* ---- in a rank's process, for workers to write ---- */

/*
 * One vector that workers may touch. Whoever will says so in busy, by its process's id, and only then looks whether serial is
 * what it was told; the rank changes serial and only then looks at busy: so after that nobody touches the vector.
 */
struct allreduce_gate {
	uint64_t serial;
	uint32_t busy[ALLREDUCE_DIRECT_RANKS_MAX + 1]; /* by rank; the last: the rank's own worker, beyond that many ranks */
	uint32_t reserved;
};

struct allreduce_board {
	uint8_t numbers[ALLREDUCE_DIRECT_RANKS_MAX + 1]
		       [ALLREDUCE_NUMBER_SIZE]; /* by rank; the last: the rank's own answer to an attach */
	struct allreduce_gate gates[ALLREDUCE_INFLIGHT_MAX];
};

/* ---- commands ---- */

enum allreduce_command_kind {
	ALLREDUCE_PIECE = 1, /* a piece of a vector, which follows; answered with the piece's result */
	ALLREDUCE_CANCEL,    /* fails what is under way under the tag; answered with nothing */
	ALLREDUCE_ATTACH,    /* "this is my process"; answered with struct allreduce_attached */
	ALLREDUCE_PROVE, /* "your number is on my board"; answered with nothing: the worker reaches the rank's memory, or does not
			  */
	ALLREDUCE_DETACH, /* "no more" */
	ALLREDUCE_VECTOR, /* a whole vector; answered with struct allreduce_done */
};

struct allreduce_command {
	uint32_t kind;
	uint32_t rank;
	uint64_t tag;
	uint64_t offset; /* bytes, of the piece in the vector */
	struct allreduce_shape shape;
	uint64_t status; /* of a cancel: why, which the other ranks are told */
};

struct allreduce_attach {
	uint64_t process; /* id */
	uint64_t board;	  /* address */
};

struct allreduce_attached {
	uint64_t attachment;
	uint8_t number[ALLREDUCE_NUMBER_SIZE]; /* to be written to the board */
	uint64_t worker, daemon;	       /* process ids: who asks to reach the rank's memory */
};

/* Where a vector is, and the gate before it. */
struct allreduce_place {
	uint64_t send, receive;
	uint64_t gate, serial;
};

struct allreduce_vector {
	uint64_t attachment; /* 0: the worker does not reach the rank's memory */
	struct allreduce_place place;
};

/* The host sends pieces when the worker says so; else the result is in its place. */
struct allreduce_done {
	uint32_t as_pieces;
	uint32_t algorithm; /* of the pieces, or that was */
};

/* ---- messages between workers ---- */

enum allreduce_message_kind {
	ALLREDUCE_HELLO = 1,
	ALLREDUCE_DATA,	     /* of a step of a piece; they follow */
	ALLREDUCE_ABORT,     /* of all under the tag; number: why */
	ALLREDUCE_OFFER,     /* the sender has its vector: struct allreduce_offer follows */
	ALLREDUCE_CHALLENGE, /* "write this to your rank's board": the number follows */
	ALLREDUCE_PROOF,     /* "it is written", or not: number is a status */
	ALLREDUCE_VERDICT,   /* number is a status: whether the sender reaches all ranks' memories */
	ALLREDUCE_LEFT,	     /* the sender has done its share and touches no vector any more */
	ALLREDUCE_MESSAGES,
};

struct allreduce_message {
	uint32_t kind;
	uint32_t source; /* rank */
	uint64_t key;	 /* the receiver's id in its address: others than the domain's do not know it */
	uint64_t tag, offset;
	uint32_t number;
	uint32_t reserved;
	struct allreduce_shape shape;
};

struct allreduce_offer {
	uint64_t attachment; /* 0: the sender does not reach its rank's memory */
	uint64_t process, board;
	uint64_t known; /* digest of the attachments that the sender has found to be reached */
	struct allreduce_place place;
};

/* What a plugin's addr tells other workers. */
struct allreduce_address {
	uint64_t id; /* another worker in the same place has another */
	uint32_t len;
	uint8_t ucp[];
};

/* ---- what both halves decide alike ---- */

uint32_t allreduce_element_size(uint8_t type);
/* The way of a vector's pieces, where the program leaves it open. */
enum allreduce_algorithm allreduce_piece_algorithm(const struct allreduce_shape *shape);

/* ---- parse ---- */

/* A whole command; what follows the head is *body of *body_len bytes. INVALID_VALUE: it means nothing. */
doca_error_t allreduce_command_parse(const void *data, size_t len, struct allreduce_command *command, const void **body,
				     size_t *body_len);
doca_error_t allreduce_attach_parse(const void *body, size_t len, struct allreduce_attach *attach);
/* The vector lies within a process's memory, as its shape says. */
doca_error_t allreduce_vector_parse(const void *body, size_t len, const struct allreduce_shape *shape,
				    struct allreduce_vector *vector);

/* An answer's payload, for the host's half. */
doca_error_t allreduce_attached_parse(const void *data, size_t len, struct allreduce_attached *attached);
doca_error_t allreduce_done_parse(const void *data, size_t len, struct allreduce_done *done);

/* The head of a message between workers with data_len bytes after it. key: the receiver's. */
doca_error_t allreduce_message_parse(const void *head, size_t head_len, size_t data_len, uint64_t key,
				     struct allreduce_message *message);
doca_error_t allreduce_offer_parse(const void *data, size_t len, const struct allreduce_shape *shape,
				   struct allreduce_offer *offer);
/* *ucp: the UCX address, of address->len bytes; room: of the whole as far as it is known. */
doca_error_t allreduce_address_parse(const void *data, size_t room, struct allreduce_address *address, const void **ucp);

/* Whether this value of UCX_TLS (NULL: none) lets one process reach into another's memory, as UCX's transport cma does. */
bool allreduce_tls_allows_memory(const char *tls);

/* What another process gives as the reason of a failure. */
doca_error_t allreduce_known_error(uint64_t status);

#endif
