/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of the test of RDMA's order. Two sides, in two processes or in one, are joined by several connections ("lanes"), and
 * each submits random tasks of every verb, at random depth, with random pauses of its own progress and receives posted late.
 *
 * What a lane's tasks do to the peer's memory is done to a model as well, in the order of submission: what reads, atomics and
 * sync events give back must be the model's, completions must come in the order of submission, and at the end of each round
 * the owner's own memory must be the model's. Each message's kind, length, immediate and contents follow from the seed and its
 * number, so the receiver knows what has to come; some tell what must be visible in memory or in a sync event before them.
 */
#ifndef TEST_RDMA_ORDER_H
#define TEST_RDMA_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <doca_sync_event.h>

/* In both processes: not cmocka's asserts. */
static inline void order_check(bool good, const char *what, const char *file, int line)
{
	if (good)
		return;
	fprintf(stderr, "process %d, %s:%d: %s\n", (int)getpid(), file, line, what);
	_exit(1);
}

#ifndef CHECK
#define CHECK(condition) order_check(condition, #condition, __FILE__, __LINE__)
#endif

#include "support/rdma_rig.h"

#define LANES_MAX 4
#define DEPTH_MAX 12
#define RECEIVES_MAX 8
#define PIECES_MAX 4
#define MESSAGE_MAX 40000
#define WINDOW 65536		  /* bytes of each side that one lane of the other works on; the mark is behind them */
#define AREA (MESSAGE_MAX + 1024) /* local memory of a task or a receive: with gaps between its pieces */
#define EVENT_DETAILS_MAX 2048

enum verb {
	VERB_SEND,
	VERB_SEND_IMM,
	VERB_WRITE_IMM,
	VERB_WRITE,
	VERB_READ,
	VERB_CAS,
	VERB_ADD,
	VERB_EVENT_GET,
	VERB_EVENT_SET,
	VERB_EVENT_ADD,
	VERBS,
};

/* A list of local buffers, and where its bytes are. */
struct chain {
	struct doca_buf *head;
	uint32_t num;
	size_t before; /* bytes of data in the first buffer that were there already */
	uint8_t *at[PIECES_MAX];
	size_t len[PIECES_MAX];
};

struct side;

struct op {
	struct lane *lane;
	enum verb verb;
	bool used;
	uint64_t number; /* in its lane */
	uint8_t *area;
	struct chain local;
	struct doca_buf *remote;
	size_t remote_before, len;
	uint8_t *expected; /* what a task that fetches must give */
};

struct lane {
	struct side *side;
	uint32_t index;
	struct doca_rdma_connection *connection;
	struct doca_sync_event *own;		   /* the peer's lane works on it */
	uint64_t own_word;			   /* where it is in lanes of odd number */
	struct doca_sync_event_remote_net *remote; /* the peer's */
	uint8_t model[WINDOW + 8];		   /* of the peer's memory */
	uint64_t event_model;
	struct op ops[DEPTH_MAX];
	uint32_t depth, in_flight;
	uint64_t submitted, ended; /* tasks */
	uint64_t sent, received;   /* messages */
};

struct receive {
	struct side *side;
	bool posted;
	uint8_t *area;
	struct chain room;
};

/* At the end of a round: how it must look at the peer. */
struct report {
	uint64_t round, sent[LANES_MAX], sums[LANES_MAX], events[LANES_MAX];
};

enum phase { PHASE_SUBMIT, PHASE_DRAIN, PHASE_REPORTED, PHASE_CHECKED };

struct side {
	struct rdma_rig rig;
	uint32_t index; /* 0 or 1 */
	int socket;
	bool alone; /* in its process: may sleep */
	uint64_t seed, random;
	uint32_t num_lanes;
	struct lane lanes[LANES_MAX];
	struct receive receives[RECEIVES_MAX];
	uint32_t posted;
	bool ending;
	/* the round */
	uint64_t round;
	enum phase phase;
	uint64_t left;	    /* tasks to submit */
	bool heard, agreed; /* the peer's report is here; it has found ours true */
	struct report theirs;
	uint64_t events, moved_ns; /* completions so far; when the last one was */
};

/* ---- rdma_order_side.c ---- */

/* Opens a side, exchanges what is to be exchanged with the other by the socket, and connects. */
void side_prepare(struct side *side, uint32_t index, int socket, uint64_t seed);
void side_join(struct side *side); /* once both have been prepared */
/* One of the things that a side may do next. False when the round is over. */
bool side_step(struct side *side);
void side_begin_round(struct side *side, uint64_t num_tasks);
void side_end(struct side *side);

/* ---- rdma_order_tasks.c ---- */

void tasks_configure(struct side *side);
/* Submits a random task, or one and what has to be visible before it. */
void tasks_submit(struct side *side, struct lane *lane);
void receive_post(struct receive *receive);

/* ---- rdma_order_data.c ---- */

struct message {
	enum verb verb; /* SEND, SEND_IMM or WRITE_IMM */
	size_t len;
	doca_be32_t immediate;
	uint8_t base;						   /* of its contents */
	enum { MARK_NONE, MARK_WRITE, MARK_EVENT, MARK_OWN } mark; /* by what its number is seen, when it comes */
};

uint64_t random_next(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);
size_t random_len(uint64_t *state);
/* The message of that number which the side from sends by a lane. */
struct message message_of(uint64_t seed, uint32_t from, uint32_t lane, uint64_t number);

/* Cuts len bytes of an area into a list of random pieces: filled (data), or room behind some bytes that are there already. */
void chain_make(struct chain *chain, struct side *side, uint8_t *area, size_t len, bool data);
void chain_fill(const struct chain *chain, uint8_t base, size_t len);
void chain_put(struct chain *chain, const uint8_t *bytes, size_t len);
void chain_copy_out(const struct chain *chain, uint8_t *bytes, size_t len);
bool chain_holds(const struct chain *chain, uint8_t base, size_t len);
static inline uint8_t content(uint8_t base, size_t i)
{
	return (uint8_t)(base + i * 131 + (i >> 7));
}

#endif
