/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for UROM's communication component: what is sent is kept, and what arrives is what a fuzz target says. Bodies that
 * are delivered lie in memory of exactly their size, and a peer that ends is freed at once.
 */
#ifndef UROM_FAKE_COMM_H
#define UROM_FAKE_COMM_H

#include "urom/comm/comm.h"
#include "urom/proto.h"
#include "urom_fake_input.h"

#define FAKE_SENT_MAX 64 /* the oldest of a peer go first */

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

/* The target's: what a poll of this comm does. */
bool fake_poll(struct sf_comm *comm);

extern struct sf_comm *fake_comms; /* that are open */

/* A peer that connects to a listener. */
struct fake_peer *fake_arrive(struct sf_comm *comm);
/* Is it still there? */
bool fake_is_there(const struct sf_comm *comm, const struct fake_peer *peer);
void fake_deliver(struct fake_peer *peer, const struct urom_head *head, const void *body, size_t len);
void fake_lose(struct fake_peer *peer);
/* Takes the oldest of what was sent to it; its body is the caller's to free. */
bool fake_take_sent(struct fake_peer *peer, struct fake_sent *sent);

/* ---- the input ---- */

/* A message's head as a peer might send it: kinds and statuses that are mostly in range. */
struct urom_head fake_head(struct fake_input *input);

#endif
