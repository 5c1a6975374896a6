/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DPU's half of the allreduce plugin.
 *
 *   worker_allreduce.c  the plugin's operations     pieces.c    pieces in flight, along a schedule
 *   vectors.c           whole vectors                schedule.c  steps of ring and tree
 *   agree.c             agreement of the workers     reduce.c    sums, minima, maxima
 *   share.c             a worker's share of one      network.c   messages between workers
 *   hosts.c             accessible processes         process_memory.c     access to their memory
 *
 * A vector arrives in pieces, inside commands, or stays in its rank's memory if the worker can access that. In the second
 * case the workers agree first (agree.c): if each can access all ranks' memories, each reduces its share there (share.c);
 * otherwise the vector is sent in pieces, which a worker reads from the memory or its host sends.
 *
 * A piece runs the steps of its schedule; a receiving step waits for its message. A message whose piece has not arrived or is
 * not at that step is kept.
 */
#ifndef WORKER_ALLREDUCE_H
#define WORKER_ALLREDUCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <doca_urom_plugin.h>

#include "allreduce_proto.h"
#include "ucx_side.h"

#define ALLREDUCE_BUCKETS 256
/* Bytes of kept messages; beyond, their allreduce fails. */
#define ALLREDUCE_KEPT_MAX (UINT64_C(128) << 20)
/* Failed tags, about 4096: a rank may start one long after the others. */
#define ALLREDUCE_FAILED_SETS 512
#define ALLREDUCE_FAILED_WAYS 8
#define ALLREDUCE_ADDRESS_MAX 8192
#define ALLREDUCE_HOSTS_MAX 64
#define ALLREDUCE_AWAITED_MAX 1024 /* vectors that only others have begun */
#define ALLREDUCE_CHUNK 65536	   /* bytes of a share that are reduced in one step: they fit into the cache */

struct piece;
struct vector;

/* ---- schedule.c ---- */

enum step_kind { STEP_SEND, STEP_REDUCE, STEP_COPY, STEP_END };

struct step {
	enum step_kind kind;
	uint32_t rank;	      /* the other rank */
	uint32_t number;      /* of the message, among those between both ranks for this piece */
	uint32_t offset, len; /* bytes of the piece */
};

/* Returns step i of a rank for a piece of len bytes with elements of element bytes. */
struct step schedule_step(const struct allreduce_shape *shape, uint32_t rank, uint32_t len, uint32_t element, uint32_t i);

/* ---- reduce.c ---- */

/* into = into op from, element by element; from may lie at any address. */
void reduce(uint8_t type, uint8_t op, void *into, const void *from, size_t len);

/* ---- process_memory.c ---- */

/* Access to the memory of another process of this machine, if the kernel allows it. */
struct process_memory {
	int pid;
	int fd; /* pidfd: detects that the id was reused */
};

/* NOT_SUPPORTED: by this system, or UCX_TLS forbids it; NOT_FOUND: no such process. */
doca_error_t process_memory_open(struct process_memory *memory, uint64_t process);
void process_memory_close(struct process_memory *memory);
bool process_memory_is_alive(const struct process_memory *memory);
/* NOT_PERMITTED; CONNECTION_ABORTED: the process has ended; INVALID_VALUE: the memory is unmapped or read-only. */
doca_error_t process_memory_read(const struct process_memory *memory, void *to, uint64_t from, size_t len);
doca_error_t process_memory_write(const struct process_memory *memory, uint64_t to, const void *from, size_t len);

/* ---- hosts.c ---- */

/* The process of a rank that this worker serves. */
struct host {
	LIST_ENTRY(host) next;
	uint64_t attachment, client;
	uint64_t board;
	uint8_t number[ALLREDUCE_NUMBER_SIZE];
	struct process_memory memory;
	bool proven;
};

/* The process of another rank: trusted once a random number of this worker has appeared in its memory. */
struct process {
	uint64_t attachment; /* 0: none yet */
	uint64_t board;
	uint8_t number[ALLREDUCE_NUMBER_SIZE];
	struct process_memory memory;
	bool proven, refused;
};

struct allreduce;

doca_error_t hosts_attach(struct allreduce *allreduce, uint64_t client, const struct allreduce_attach *attach,
			  struct allreduce_attached *attached);
doca_error_t hosts_prove(struct allreduce *allreduce, uint64_t client, uint64_t attachment);
doca_error_t hosts_detach(struct allreduce *allreduce, uint64_t client, uint64_t attachment);
/* NULL: no such proven host. */
struct host *hosts_find(struct allreduce *allreduce, uint64_t client, uint64_t attachment);
/* Drops the hosts of a client that has left. */
void hosts_forget(struct allreduce *allreduce, uint64_t client);
/* Writes the number of another worker. */
doca_error_t host_write_number(const struct host *host, uint32_t rank, const uint8_t number[ALLREDUCE_NUMBER_SIZE]);

/* Returns the number to write there; NULL: no access, or already proven. */
const uint8_t *process_challenge(struct allreduce *allreduce, uint32_t rank, const struct allreduce_offer *offer);
void process_check(struct allreduce *allreduce, uint32_t rank, uint32_t my_rank, doca_error_t status);
bool process_is_proven(const struct allreduce *allreduce, uint32_t rank, uint64_t attachment);
void processes_close(struct allreduce *allreduce);

/* ---- network.c ---- */

struct peer {
	uint64_t id;		       /* in its address */
	struct ucx_endpoint *endpoint; /* NULL: none yet */
};

struct network {
	struct ucx_side side;
	uint64_t id;
	struct peer *peers; /* by rank */
	uint32_t num_peers;
	uint32_t failures_seen;
	SLIST_HEAD(, send) free_sends;
};

doca_error_t network_open(struct allreduce *allreduce);
void network_close(struct allreduce *allreduce);
/* Connects to a rank, unless that is done. NOT_FOUND: it is not in the domain; CONNECTION_ABORTED: its worker has died. */
doca_error_t network_connect(struct allreduce *allreduce, uint32_t rank);
bool network_is_dead(const struct allreduce *allreduce, uint32_t rank);
/* True once after peers have died. */
bool network_lost_any(struct allreduce *allreduce);
/* Returns whether the domain's address of the rank is this worker. */
bool network_is_self(struct allreduce *allreduce, uint32_t rank);
/* piece, which owns the data, is notified by piece_sent() unless the send completes immediately. NULL: few data, which are
 * copied. */
doca_error_t network_send(struct allreduce *allreduce, uint32_t rank, const struct allreduce_message *message, const void *data,
			  size_t len, struct piece *piece);

/* ---- pieces.c ---- */

/* A received message. */
struct inbound {
	STAILQ_ENTRY(inbound) in_inbox;
	LIST_ENTRY(inbound) next;
	struct allreduce_message message;
	bool lacks_data; /* no memory for the data */
	uint32_t len;
	uint8_t data[];
};

struct piece {
	LIST_ENTRY(piece) next;
	struct allreduce *allreduce;
	struct allreduce_command command;
	uint64_t client;
	struct urom_worker_notif_desc *notification; /* holds the data; NULL: the vector is in its rank's memory */
	struct vector *vector;			     /* NULL: it has ended */
	uint8_t *data;
	uint32_t len, element;
	uint32_t step;
	uint32_t sends; /* incomplete sends */
	doca_error_t status;
	bool ended; /* except for its sends */
	bool ready; /* in the ready list: a message arrived or the last send ended */
	TAILQ_ENTRY(piece) in_ready;
};

/* body: its data. The answer reports errors; NO_MEMORY: no memory for the answer. */
doca_error_t piece_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
			 const struct allreduce_command *command, const void *body, size_t len);
/* Starts a piece of a vector; takes ownership of data, which is from malloc(). */
doca_error_t piece_start_of(struct vector *vector, const struct allreduce_command *command, uint8_t *data, size_t len);
bool piece_exists(struct allreduce *allreduce, uint64_t tag, uint64_t offset);
void piece_sent(struct piece *piece);
/* Handles ALLREDUCE_DATA. */
void pieces_handle_message(struct allreduce *allreduce, struct inbound *inbound);
void pieces_run(struct allreduce *allreduce);
/* Finds the tag of a piece that still needs a worker that has died. */
bool pieces_find_bereaved(const struct allreduce *allreduce, uint64_t *tag);
/* Fails all pieces with the tag and frees their kept messages. *num_ranks grows to theirs. */
void pieces_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t *num_ranks);
bool pieces_find_of_client(const struct allreduce *allreduce, uint64_t client, uint64_t *tag);
void pieces_free(struct allreduce *allreduce);

/* ---- vectors.c ---- */

enum vector_stage {
	VECTOR_AWAITED, /* only others have begun it */
	VECTOR_OFFERED, /* waiting for the others' offers */
	VECTOR_PROVING, /* checking access to all memories */
	VECTOR_SHARING, /* this worker reduces its share */
	VECTOR_LEAVING, /* the others still reduce their shares */
	VECTOR_PIECES,	/* sending pieces from the rank's memory */
};

/* State of one rank, including this one. */
struct party {
	struct allreduce_offer offer;
	uint8_t challenge[ALLREDUCE_NUMBER_SIZE];
	bool offered, challenges, asked, judged, left, entered;
};

struct vector {
	LIST_ENTRY(vector) next;
	TAILQ_ENTRY(vector) in_working;
	struct allreduce *allreduce;
	struct allreduce_command command;
	struct allreduce_shape shape; /* as in the offers */
	struct urom_worker_notif_desc *notification;
	enum vector_stage stage;
	uint64_t client;
	struct host *host; /* NULL: no access to its memory */
	struct allreduce_place place;
	uint32_t num_offered, num_asked, num_judged, num_left;
	bool mismatched, refused, working, ended, entered;
	uint64_t at, end;	/* of the share, or of the part sent in pieces */
	uint32_t num_pieces;	/* in flight */
	struct party parties[]; /* by rank; empty with too many ranks */
};

doca_error_t vector_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
			  const struct allreduce_command *command, const void *body, size_t len);
void vectors_handle_message(struct allreduce *allreduce, const struct inbound *inbound);
/* True when anything was done. */
bool vectors_run(struct allreduce *allreduce);
void vector_piece_ended(struct vector *vector, uint64_t offset, const uint8_t *data, size_t len, doca_error_t status);
bool vectors_find_bereaved(const struct allreduce *allreduce, uint64_t *tag);
void vectors_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t *num_ranks);
bool vectors_find_of_client(const struct allreduce *allreduce, uint64_t client, uint64_t *tag);
void vectors_free(struct allreduce *allreduce);

/* Fails the vector here and at the other ranks. */
void vector_fail(struct vector *vector, doca_error_t status);
void vector_send(struct vector *vector, uint32_t rank, enum allreduce_message_kind kind, doca_error_t status, const void *data,
		 size_t len);
void vector_send_all(struct vector *vector, enum allreduce_message_kind kind, doca_error_t status, const void *data, size_t len);
/* all_memories: each worker can access its rank's memory, so no command carries a piece. */
void vector_go_in_pieces(struct vector *vector, bool all_memories);
void vector_begin_share(struct vector *vector);
/* Ends the vector when all ranks have left. */
void vector_check_left(struct vector *vector);

/* ---- agree.c ---- */

/* Called when the host has begun the vector: sends offers to all others. */
void agree_offer(struct vector *vector);
void agree_handle_message(struct vector *vector, const struct inbound *inbound);

/* ---- share.c ---- */

/* Enters the guards of all ranks. */
doca_error_t share_enter(struct vector *vector);
void share_leave(struct vector *vector);
/* Reduces a part of the share. AGAIN: there is more. */
doca_error_t share_step(struct vector *vector);
/* The same for the own rank's guard only. */
doca_error_t own_enter(struct vector *vector);
void own_leave(struct vector *vector);

/* ---- worker_allreduce.c ---- */

struct failed {
	uint64_t tag;
	doca_error_t status; /* SUCCESS: the entry is empty */
};

struct allreduce {
	struct urom_worker_ctx *ctx;
	struct network network;
	STAILQ_HEAD(, inbound) inbox;
	LIST_HEAD(, piece) pieces[ALLREDUCE_BUCKETS];
	LIST_HEAD(, inbound) kept[ALLREDUCE_BUCKETS];
	uint64_t kept_bytes; /* includes the inbox */
	TAILQ_HEAD(, piece) ready;
	LIST_HEAD(, vector) vectors;
	LIST_HEAD(, vector) ended_vectors;
	uint32_t num_awaited;
	TAILQ_HEAD(, vector) working;
	LIST_HEAD(, host) hosts;
	uint32_t num_hosts;
	struct process processes[ALLREDUCE_DIRECT_RANKS_MAX];		    /* by rank */
	struct failed failed[ALLREDUCE_FAILED_SETS][ALLREDUCE_FAILED_WAYS]; /* newest first */
	uint8_t *chunks;						    /* two of them */
	ucs_list_link_t notifications;
};

/* Fails all operations with the tag, here and, if notify, at the other ranks, which would wait for this one. */
void allreduce_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, bool notify);
/* The same among num_ranks ranks, even if nothing is in flight here. */
void allreduce_fail_among(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t num_ranks);
/* Notifies one other rank. */
void allreduce_send_abort(struct allreduce *allreduce, uint32_t rank, uint64_t tag, doca_error_t status);
/* SUCCESS: the tag has not failed recently. */
doca_error_t allreduce_failed(const struct allreduce *allreduce, uint64_t tag);
void inbound_free(struct allreduce *allreduce, struct inbound *inbound);

#endif
