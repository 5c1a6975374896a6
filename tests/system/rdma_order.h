/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of the test of RDMA's order. Two sides, in two processes or in one, are connected by several connections ("lanes").
 * Each submits random tasks of every verb, at random depth, with random pauses of its own progress and receives posted late.
 *
 * Each task of a lane is also applied to a model of the peer's memory, in the order of submission. What reads, atomics and sync
 * events return must match the model, completions must come in the order of submission, and at the end of each round the owner's
 * memory must match the model. Each message's kind, length, immediate and contents follow from the seed and its number, so the
 * receiver knows what must arrive; some messages state what must be visible in memory or in a sync event before them.
 */
#ifndef TEST_RDMA_ORDER_H
#define TEST_RDMA_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <doca_sync_event.h>

#include "support/rdma_rig.h"

#define LANES_MAX 4
#define DEPTH_MAX 12
#define RECEIVES_MAX 8
#define PIECES_MAX 4
#define MESSAGE_MAX 40000
#define WINDOW 65536		  /* bytes of each side that one lane of the other side accesses; a mark follows them */
#define AREA (MESSAGE_MAX + 1024) /* bytes of local memory for a task or a receive, with gaps between its pieces */
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

/* A list of local buffers, and the addresses of its bytes. */
struct chain {
	struct doca_buf *head;
	uint32_t num;
	size_t before; /* bytes of data that the first buffer held already */
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
	uint8_t *expected; /* what a task that reads must return */
};

struct lane {
	struct side *side;
	uint32_t index;
	struct doca_rdma_connection *connection;
	struct doca_sync_event *own;		   /* the peer's lane accesses it */
	uint64_t own_word;			   /* its value, in lanes of odd number */
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

/* Sent at the end of a round: the state that the peer must have. */
struct report {
	uint64_t round, sent[LANES_MAX], sums[LANES_MAX], events[LANES_MAX];
};

enum phase { PHASE_SUBMIT, PHASE_DRAIN, PHASE_REPORTED, PHASE_CHECKED };

struct side {
	struct rdma_rig rig;
	uint32_t index; /* 0 or 1 */
	int socket;
	bool alone; /* alone in its process: may sleep */
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
	bool heard, agreed; /* the peer's report has arrived; the peer has confirmed ours */
	struct report theirs;
	uint64_t events, moved_ns; /* completions so far; time of the last one */
};

/* ---- rdma_order_side.c ---- */

/* Opens a side, exchanges descriptors with the other side by the socket, and connects. */
void side_prepare(struct side *side, uint32_t index, int socket, uint64_t seed);
void side_join(struct side *side); /* call when both sides are prepared */
/* Does one of the steps that are possible now. Returns false when the round is over. */
bool side_step(struct side *side);
void side_begin_round(struct side *side, uint64_t num_tasks);
void side_end(struct side *side);

/* ---- rdma_order_tasks.c ---- */

void tasks_configure(struct side *side);
/* Submits a random task, or a message together with the task that must be visible before it. */
void tasks_submit(struct side *side, struct lane *lane);
void receive_post(struct receive *receive);

/* ---- rdma_order_data.c ---- */

struct message {
	enum verb verb; /* SEND, SEND_IMM or WRITE_IMM */
	size_t len;
	doca_be32_t immediate;
	uint8_t base; /* of its contents */
	enum {
		MARK_NONE,
		MARK_WRITE,
		MARK_EVENT,
		MARK_OWN
	} mark; /* shows the message's number to the peer, when the message arrives */
};

uint64_t random_next(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);
size_t random_len(uint64_t *state);
/* Returns the message with that number that side `from` sends on a lane. */
struct message message_of(uint64_t seed, uint32_t from, uint32_t lane, uint64_t number);

/* Cuts len bytes of an area into a list of random pieces: full of data, or free space behind some existing bytes. */
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
