/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for UROM's communication component: it keeps sent messages, and the fuzz target supplies arriving ones. Delivered
 * bodies lie in allocations of exactly their size, and a peer that ends is freed immediately.
 */
#ifndef UROM_FAKE_COMM_H
#define UROM_FAKE_COMM_H

#include "urom/comm/comm.h"
#include "urom/proto.h"
#include "urom_fake_input.h"

#define FAKE_SENT_MAX 64 /* of a peer; the oldest are dropped first */

/* A message that the code under test has sent. */
struct fake_sent {
	struct urom_head head;
	uint8_t *body;
	size_t len;
};

struct fake_peer {
	struct sf_comm_peer base;
	struct sf_comm *comm;
	struct fake_peer *next;
	struct fake_sent sent[FAKE_SENT_MAX];
	uint32_t num_sent;
};

struct sf_comm {
	struct sf_comm_options options;
	int fd;
	struct fake_peer *peers;
	struct sf_comm *next;
};

/* Supplied by the target: a poll of this comm. */
bool fake_poll(struct sf_comm *comm);

extern struct sf_comm *fake_comms; /* that are open */

/* A peer that connects to a listener. */
struct fake_peer *fake_arrive(struct sf_comm *comm);
/* Returns true if it still exists. */
bool fake_is_there(const struct sf_comm *comm, const struct fake_peer *peer);
void fake_deliver(struct fake_peer *peer, const struct urom_head *head, const void *body, size_t len);
void fake_lose(struct fake_peer *peer);
/* Pops the oldest message sent to it; the caller frees its body. */
bool fake_take_sent(struct fake_peer *peer, struct fake_sent *sent);

/* ---- the input ---- */

/* A message's head as a peer might send it, usually with kinds and statuses in range. */
struct urom_head fake_head(struct fake_input *input);

#endif
