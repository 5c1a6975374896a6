/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DPU's half of the allreduce plugin.
 *
 *   worker_allreduce.c  what the worker calls       pieces.c    pieces under way, along a schedule
 *   vectors.c           whole vectors                schedule.c  who sends what to whom, step by step
 *   agree.c             how they go                  reduce.c    sums, minima, maxima
 *   share.c             a worker's share of one      network.c   messages between workers
 *   hosts.c             processes within reach       reach.c     their memory
 *
 * A vector comes in pieces, inside commands, or stays in its rank's memory where the worker reaches that. In the second case the
 * workers agree first (agree.c): if each reaches all ranks' memories, each reduces its share there (share.c); otherwise the
 * vector goes in pieces after all, which a worker takes out of the memory or its host sends.
 *
 * A piece runs through the steps of its schedule as far as it can; a step that receives waits for its message. A message whose
 * piece has not come yet, or is not at that step, is kept.
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
/* Bytes of messages that wait for their pieces; beyond, their allreduce fails. */
#define ALLREDUCE_KEPT_MAX (UINT64_C(128) << 20)
/* Tags that have failed, some 4096 of them: a rank may begin one long after the others have gone on to the next. */
#define ALLREDUCE_FAILED_SETS 512
#define ALLREDUCE_FAILED_WAYS 8
#define ALLREDUCE_ADDRESS_MAX 8192
#define ALLREDUCE_HOSTS_MAX 64
#define ALLREDUCE_AWAITED_MAX 1024 /* vectors that others have begun */
#define ALLREDUCE_CHUNK 65536	   /* bytes of a share that are reduced at once: they stay in the cache */

struct piece;
struct vector;

/* ---- schedule.c ---- */

enum step_kind { STEP_SEND, STEP_REDUCE, STEP_COPY, STEP_END };

struct step {
	enum step_kind kind;
	uint32_t rank;	      /* the other */
	uint32_t number;      /* of the message, among those between the two for this piece */
	uint32_t offset, len; /* bytes of the piece */
};

/* Step i of a rank for a piece of len bytes in elements of element bytes. */
struct step schedule_step(const struct allreduce_shape *shape, uint32_t rank, uint32_t len, uint32_t element, uint32_t i);

/* ---- reduce.c ---- */

/* into = into op from, element by element; from may lie at any address. */
void reduce(uint8_t type, uint8_t op, void *into, const void *from, size_t len);

/* ---- reach.c ---- */

/* Another process of this machine, whose memory this one reaches if the kernel allows it. */
struct reach {
	int pid;
	int fd; /* of the process, which is another when its id is used again */
};

/* NOT_SUPPORTED: not here, or UCX_TLS forbids it; NOT_FOUND: there is no such process. */
doca_error_t reach_open(struct reach *reach, uint64_t process);
void reach_close(struct reach *reach);
bool reach_is_alive(const struct reach *reach);
/* NOT_PERMITTED; CONNECTION_ABORTED: the process has ended; INVALID_VALUE: nothing is there, or nothing that may be written. */
doca_error_t reach_read(const struct reach *reach, void *to, uint64_t from, size_t len);
doca_error_t reach_write(const struct reach *reach, uint64_t to, const void *from, size_t len);

/* ---- hosts.c ---- */

/* The process of a rank that this worker serves. */
struct host {
	LIST_ENTRY(host) next;
	uint64_t attachment, client;
	uint64_t board;
	uint8_t number[ALLREDUCE_NUMBER_SIZE];
	struct reach reach;
	bool proven;
};

/* The process of another rank: it is believed to be one when a number that was made up here has appeared in its memory. */
struct process {
	uint64_t attachment; /* 0: none yet */
	uint64_t board;
	uint8_t number[ALLREDUCE_NUMBER_SIZE];
	struct reach reach;
	bool proven, refused;
};

struct allreduce;

doca_error_t hosts_attach(struct allreduce *allreduce, uint64_t client, const struct allreduce_attach *attach,
			  struct allreduce_attached *attached);
doca_error_t hosts_prove(struct allreduce *allreduce, uint64_t client, uint64_t attachment);
doca_error_t hosts_detach(struct allreduce *allreduce, uint64_t client, uint64_t attachment);
/* NULL: none that is proven. */
struct host *hosts_find(struct allreduce *allreduce, uint64_t client, uint64_t attachment);
/* All of a client that has left. */
void hosts_forget(struct allreduce *allreduce, uint64_t client);
/* Writes what another worker has made up. */
doca_error_t host_write_number(const struct host *host, uint32_t rank, const uint8_t number[ALLREDUCE_NUMBER_SIZE]);

/* The number to be written there; NULL: it cannot be reached, or needs no proof any more. */
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
/* The rank is this worker itself, as the domain has it. */
bool network_is_self(struct allreduce *allreduce, uint32_t rank);
/* The piece, whose data they are, is told of the end by piece_sent() unless it ends at once. NULL: data are few, and copied. */
doca_error_t network_send(struct allreduce *allreduce, uint32_t rank, const struct allreduce_message *message, const void *data,
			  size_t len, struct piece *piece);

/* ---- pieces.c ---- */

/* A message, as it came. */
struct inbound {
	STAILQ_ENTRY(inbound) in_inbox;
	LIST_ENTRY(inbound) next;
	struct allreduce_message message;
	bool lacks_data; /* there was no memory for them */
	uint32_t len;
	uint8_t data[];
};

struct piece {
	LIST_ENTRY(piece) next;
	struct allreduce *allreduce;
	struct allreduce_command command;
	uint64_t client;
	struct urom_worker_notif_desc *notification; /* holds the data; NULL: of a vector in its rank's memory */
	struct vector *vector;			     /* NULL: it has ended */
	uint8_t *data;
	uint32_t len, element;
	uint32_t step;
	uint32_t sends; /* that have not ended */
	doca_error_t status;
	bool ended; /* but for its sends */
	bool ready; /* in the list of those for which something came, or whose last send ended */
	TAILQ_ENTRY(piece) in_ready;
};

/* body: its data. What is wrong is told by the answer. NO_MEMORY: there is none. */
doca_error_t piece_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
			 const struct allreduce_command *command, const void *body, size_t len);
/* One of a vector: data is from malloc(), and the piece's from now on. */
doca_error_t piece_start_of(struct vector *vector, const struct allreduce_command *command, uint8_t *data, size_t len);
bool piece_exists(struct allreduce *allreduce, uint64_t tag, uint64_t offset);
void piece_sent(struct piece *piece);
/* Takes DATA. */
void pieces_take(struct allreduce *allreduce, struct inbound *inbound);
void pieces_run(struct allreduce *allreduce);
/* The tag of one that still needs a worker that has died. */
bool pieces_find_bereaved(const struct allreduce *allreduce, uint64_t *tag);
/* Ends all under the tag, those of its messages that were kept as well. num_ranks grows to theirs. */
void pieces_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t *num_ranks);
bool pieces_find_of_client(const struct allreduce *allreduce, uint64_t client, uint64_t *tag);
void pieces_free(struct allreduce *allreduce);

/* ---- vectors.c ---- */

enum vector_stage {
	VECTOR_AWAITED, /* others have begun it */
	VECTOR_OFFERED, /* the others' offers come */
	VECTOR_PROVING, /* whether all are within reach */
	VECTOR_SHARING, /* this worker reduces its share */
	VECTOR_LEAVING, /* the others still reduce theirs */
	VECTOR_PIECES,	/* in pieces out of the rank's memory */
};

/* Another rank, or this one. */
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
	struct allreduce_shape shape; /* as those who offered have it */
	struct urom_worker_notif_desc *notification;
	enum vector_stage stage;
	uint64_t client;
	struct host *host; /* NULL: its memory is not reached */
	struct allreduce_place place;
	uint32_t num_offered, num_asked, num_judged, num_left;
	bool mismatched, refused, working, ended, entered;
	uint64_t at, end;	/* of the share, or of what is in pieces */
	uint32_t num_pieces;	/* under way */
	struct party parties[]; /* by rank; none where they are too many */
};

doca_error_t vector_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
			  const struct allreduce_command *command, const void *body, size_t len);
void vectors_take(struct allreduce *allreduce, const struct inbound *inbound);
/* True when anything was done. */
bool vectors_run(struct allreduce *allreduce);
void vector_piece_ended(struct vector *vector, uint64_t offset, const uint8_t *data, size_t len, doca_error_t status);
bool vectors_find_bereaved(const struct allreduce *allreduce, uint64_t *tag);
void vectors_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t *num_ranks);
bool vectors_find_of_client(const struct allreduce *allreduce, uint64_t client, uint64_t *tag);
void vectors_free(struct allreduce *allreduce);

/* Here and at the others. */
void vector_fail(struct vector *vector, doca_error_t status);
void vector_tell(struct vector *vector, uint32_t rank, enum allreduce_message_kind kind, doca_error_t status, const void *data,
		 size_t len);
void vector_tell_all(struct vector *vector, enum allreduce_message_kind kind, doca_error_t status, const void *data, size_t len);
/* all_memories: no piece comes in a command. */
void vector_go_in_pieces(struct vector *vector, bool all_memories);
void vector_begin_share(struct vector *vector);
/* Ends it when all have left. */
void vector_check_left(struct vector *vector);

/* ---- agree.c ---- */

/* The host has begun it: tells all others. */
void agree_offer(struct vector *vector);
void agree_take(struct vector *vector, const struct inbound *inbound);

/* ---- share.c ---- */

/* The worker says at all ranks' gates that it is there. */
doca_error_t share_enter(struct vector *vector);
void share_leave(struct vector *vector);
/* Some of it. AGAIN: there is more. */
doca_error_t share_step(struct vector *vector);
/* The same for the own rank alone. */
doca_error_t own_enter(struct vector *vector);
void own_leave(struct vector *vector);

/* ---- worker_allreduce.c ---- */

struct failed {
	uint64_t tag;
	doca_error_t status; /* SUCCESS: none is here */
};

struct allreduce {
	struct urom_worker_ctx *ctx;
	struct network network;
	STAILQ_HEAD(, inbound) inbox;
	LIST_HEAD(, piece) pieces[ALLREDUCE_BUCKETS];
	LIST_HEAD(, inbound) kept[ALLREDUCE_BUCKETS];
	uint64_t kept_bytes; /* with those in the inbox */
	TAILQ_HEAD(, piece) ready;
	LIST_HEAD(, vector) vectors;
	LIST_HEAD(, vector) ended_vectors;
	uint32_t num_awaited;
	TAILQ_HEAD(, vector) working;
	LIST_HEAD(, host) hosts;
	uint32_t num_hosts;
	struct process processes[ALLREDUCE_DIRECT_RANKS_MAX];		    /* by rank */
	struct failed failed[ALLREDUCE_FAILED_SETS][ALLREDUCE_FAILED_WAYS]; /* the latest first */
	uint8_t *chunks;						    /* two */
	ucs_list_link_t notifications;
};

/* Ends everything under the tag with status, here and, if tell, at the other ranks, which would wait for this one. */
void allreduce_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, bool tell);
/* The same where perhaps nothing is under way here, but it is among that many ranks. */
void allreduce_fail_among(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t num_ranks);
/* Tells one of the others. */
void allreduce_tell_failed(struct allreduce *allreduce, uint32_t rank, uint64_t tag, doca_error_t status);
/* SUCCESS: it has not failed lately. */
doca_error_t allreduce_failed(const struct allreduce *allreduce, uint64_t tag);
void inbound_free(struct allreduce *allreduce, struct inbound *inbound);

#endif
