/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocol between the halves of the allreduce plugin, and between workers. All use the same byte order. The parse functions
 * check data of another process, and copy it only if all of it is valid.
 */
#ifndef ALLREDUCE_PROTO_H
#define ALLREDUCE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define ALLREDUCE_VERSION 2
#define ALLREDUCE_RANKS_MAX 65536
#define ALLREDUCE_DIRECT_RANKS_MAX 64 /* ranks of an allreduce that accesses all their memories */
#define ALLREDUCE_IN_PLACE_MIN 16384  /* bytes of a vector that stays in place; commands carry smaller ones */
#define ALLREDUCE_NUMBER_SIZE 16      /* bytes of a number that proves access to a process */
#define ALLREDUCE_INFLIGHT_MAX 8      /* of one comm */
#define ALLREDUCE_PIECE_MIN 64	      /* bytes; the length of each piece but the last is a multiple of it */
#define ALLREDUCE_PIECE_MAX (1 << 26)

enum allreduce_type { ALLREDUCE_FLOAT, ALLREDUCE_DOUBLE, ALLREDUCE_INT32, ALLREDUCE_INT64, ALLREDUCE_TYPES };
enum allreduce_op { ALLREDUCE_SUM, ALLREDUCE_MIN, ALLREDUCE_MAX, ALLREDUCE_OPS };
/* DIRECT: each worker reduces its share in the ranks' memories. AUTO, for whole vectors only: the workers decide. */
enum allreduce_algorithm { ALLREDUCE_TREE, ALLREDUCE_RING, ALLREDUCE_DIRECT, ALLREDUCE_AUTO, ALLREDUCE_ALGORITHMS };

/* Parameters that must be equal on all ranks. */
struct allreduce_shape {
	uint32_t num_ranks;
	uint8_t type, op, algorithm, reserved;
	uint32_t piece_max; /* bytes of every piece but the last */
	uint32_t reserved2;
	uint64_t total; /* bytes of the vector */
};

/* ---- memory of a rank's process that workers write ---- */

/*
 * Guards a vector that workers may access. A worker first writes its process id to busy, then checks that serial has the
 * expected value; the rank first changes serial, then waits for busy to clear. After that no worker accesses the vector.
 */
struct allreduce_guard {
	uint64_t serial;
	uint32_t busy[ALLREDUCE_DIRECT_RANKS_MAX + 1]; /* by rank; the last: the rank's own worker if there are more ranks */
	uint32_t reserved;
};

struct allreduce_board {
	uint8_t numbers[ALLREDUCE_DIRECT_RANKS_MAX + 1]
		       [ALLREDUCE_NUMBER_SIZE]; /* by rank; the last: the rank's answer to an attach */
	struct allreduce_guard guards[ALLREDUCE_INFLIGHT_MAX];
};

/* ---- commands ---- */

enum allreduce_command_kind {
	ALLREDUCE_PIECE = 1, /* a piece of a vector, which follows; the answer is the piece's result */
	ALLREDUCE_CANCEL,    /* fails the operation with this tag; the answer is empty */
	ALLREDUCE_ATTACH,    /* announces the rank's process; the answer is a struct allreduce_attached */
	ALLREDUCE_PROVE,     /* the worker's number is on the board; the answer is empty: its status says whether the worker can
				access the rank's memory */
	ALLREDUCE_DETACH,    /* revokes ATTACH */
	ALLREDUCE_VECTOR,    /* a whole vector; the answer is a struct allreduce_done */
};

struct allreduce_command {
	uint32_t kind;
	uint32_t rank;
	uint64_t tag;
	uint64_t offset; /* bytes, of the piece in the vector */
	struct allreduce_shape shape;
	uint64_t status; /* of a cancel: the reason that the other ranks get */
};

struct allreduce_attach {
	uint64_t process; /* id */
	uint64_t board;	  /* address */
};

struct allreduce_attached {
	uint64_t attachment;
	uint8_t number[ALLREDUCE_NUMBER_SIZE]; /* the rank must write it to its board */
	uint64_t worker, daemon;	       /* ids of the processes that request access to the rank's memory */
};

/* Addresses of a vector and its guard. */
struct allreduce_place {
	uint64_t send, receive;
	uint64_t guard, serial;
};

struct allreduce_vector {
	uint64_t attachment; /* 0: the worker cannot access the rank's memory */
	struct allreduce_place place;
};

/* If as_pieces is set, the host must send pieces; else the result is in place. */
struct allreduce_done {
	uint32_t as_pieces;
	uint32_t algorithm; /* for the pieces, or the one used */
};

/* ---- messages between workers ---- */

enum allreduce_message_kind {
	ALLREDUCE_HANDSHAKE = 1,
	ALLREDUCE_DATA,	     /* of a step of a piece; the data follow */
	ALLREDUCE_ABORT,     /* of all operations with the tag; number: the reason */
	ALLREDUCE_OFFER,     /* the sender has its vector: struct allreduce_offer follows */
	ALLREDUCE_CHALLENGE, /* requests to write the number that follows to the rank's board */
	ALLREDUCE_PROOF,     /* the answer to a challenge: number is a status */
	ALLREDUCE_VERDICT,   /* number is a status: whether the sender can access all ranks' memories */
	ALLREDUCE_LEFT,	     /* the sender has reduced its share and accesses no vector any more */
	ALLREDUCE_MESSAGES,
};

struct allreduce_message {
	uint32_t kind;
	uint32_t source; /* rank */
	uint64_t key;	 /* the receiver's id in its address, which only workers of the domain know */
	uint64_t tag, offset;
	uint32_t number;
	uint32_t reserved;
	struct allreduce_shape shape;
};

struct allreduce_offer {
	uint64_t attachment; /* 0: the sender cannot access its rank's memory */
	uint64_t process, board;
	uint64_t known; /* digest of the attachments that the sender can access */
	struct allreduce_place place;
};

/* The result of the plugin's addr, for other workers. */
struct allreduce_address {
	uint64_t id; /* distinguishes workers that reuse an address */
	uint32_t len;
	uint8_t ucp[];
};

/* ---- decisions of both halves ---- */

uint32_t allreduce_element_size(uint8_t type);
/* Chooses the algorithm for a vector's pieces if the program did not. */
enum allreduce_algorithm allreduce_piece_algorithm(const struct allreduce_shape *shape);

/* ---- parse ---- */

/* Parses a whole command; *body of *body_len bytes follows the head. INVALID_VALUE: malformed. */
doca_error_t allreduce_command_parse(const void *data, size_t len, struct allreduce_command *command, const void **body,
				     size_t *body_len);
doca_error_t allreduce_attach_parse(const void *body, size_t len, struct allreduce_attach *attach);
/* Parses a vector and checks that it lies within a process's address space. */
doca_error_t allreduce_vector_parse(const void *body, size_t len, const struct allreduce_shape *shape,
				    struct allreduce_vector *vector);

/* Parses an answer's payload; the host's half calls it. */
doca_error_t allreduce_attached_parse(const void *data, size_t len, struct allreduce_attached *attached);
doca_error_t allreduce_done_parse(const void *data, size_t len, struct allreduce_done *done);

/* Parses the head of a message between workers with data_len bytes after it. key: the receiver's. */
doca_error_t allreduce_message_parse(const void *head, size_t head_len, size_t data_len, uint64_t key,
				     struct allreduce_message *message);
doca_error_t allreduce_offer_parse(const void *data, size_t len, const struct allreduce_shape *shape,
				   struct allreduce_offer *offer);
/* *ucp: the UCX address, of address->len bytes; room: an upper bound of the whole size. */
doca_error_t allreduce_address_parse(const void *data, size_t room, struct allreduce_address *address, const void **ucp);

/* Returns whether this value of UCX_TLS (NULL: unset) allows access to another process's memory, as UCX's transport cma does. */
bool allreduce_tls_allows_memory(const char *tls);

/* Converts the failure status of another process, which may be invalid. */
doca_error_t allreduce_known_error(uint64_t status);

#endif
