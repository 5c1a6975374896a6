/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of a session: a head, the kind's own fields, and bytes. Fixed layouts, little endian. sf_tcp_head_check validates a
 * head before anything else reads it.
 *
 *   SEND WRITE READ CAS FAA   requests, numbered. They are carried out in that order
 *   DATA FAIL                 the answer to a READ, CAS or FAA; a request that could not be carried out
 *   REFUSED RESUME            there was no receive for a SEND: it and all requests behind it are to come again, after a RESUME
 *   RECEIVES                  what the endpoint has posted
 *   ACK                       nothing but its ack, which every frame has: all requests with lower numbers are carried out
 *                             and answered
 *   RING ASK BYE              wake the endpoint; send RECEIVES; nothing follows
 */
#ifndef SF_FABRIC_TCP_WIRE_H
#define SF_FABRIC_TCP_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/control/message.h"
#include "fabric/fabric.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the layouts are little endian");

#define TCP_RUNS_MAX 14

enum tcp_kind {
	TCP_SEND = SF_OP_SEND,
	TCP_WRITE = SF_OP_WRITE,
	TCP_READ = SF_OP_READ,
	TCP_CAS = SF_OP_CAS,
	TCP_FAA = SF_OP_FAA,
	TCP_DATA,
	TCP_FAIL,
	TCP_REFUSED,
	TCP_RESUME,
	TCP_RECEIVES,
	TCP_ACK,
	TCP_RING,
	TCP_ASK,
	TCP_BYE,
};

struct tcp_head {
	uint8_t kind;
	uint8_t header_len; /* SEND, WRITE: bytes of the header, which come before the data */
	uint16_t unused;
	/* Of the request; in DATA, FAIL and REFUSED: of the answered one; in RESUME: of the next one; in RECEIVES: how many ASKs
	 * came before it. */
	uint32_t seq;
	uint32_t ack;
	uint32_t len; /* bytes behind the head */
};

/* Begins WRITE, READ, CAS and FAA: memory of the peer's process. */
struct tcp_target {
	uint64_t region;
	struct sf_key token;
	uint64_t addr;
};

struct tcp_read {
	struct tcp_target target;
	uint64_t len;
};

struct tcp_atomic {
	struct tcp_target target;
	uint64_t compare, value;
};

/* Receives that the peer may use. The first one is for its message number `from` (SENDs, and WRITEs with a header, counted from
 * 0). */
struct tcp_receives {
	uint32_t from;
	uint16_t num;
	uint16_t more; /* not 0: there are others, for which credits will follow */
	struct tcp_run {
		uint32_t len, num;
	} runs[TCP_RUNS_MAX];
};

#define TCP_SIDE_RUNS_MAX 6

/* A side of CONNECT and ACCEPT: what its endpoint has posted, so that the peer can send immediately. */
struct tcp_side {
	uint32_t version;
	uint16_t num, more;
	struct tcp_run runs[TCP_SIDE_RUNS_MAX];
};

_Static_assert(sizeof(struct tcp_side) <= SF_SIDE_SIZE, "a side fits");

#define TCP_VERSION 2
#define TCP_FIXED_MAX (sizeof(struct tcp_receives) + SF_HEADER_MAX)

/* Messages to an agent: the connection becomes a session for the region's importer. */
enum tcp_msg_kind { TCP_MSG_ATTACH = SF_MSG_OF_TCP, TCP_MSG_ATTACHED };

struct tcp_msg_attach {
	struct sf_msg head;
	struct tcp_target target; /* addr is the region's */
	uint64_t len;
	uint32_t rights;
	uint32_t unused;
};

struct tcp_msg_attached {
	struct sf_msg head; /* value: a status */
};

/* Bytes behind a head that belong neither to the message nor to the memory: the kind's fields, and the header. */
static inline uint32_t tcp_fixed_len(const struct tcp_head *head)
{
	switch ((enum tcp_kind)head->kind) {
	case TCP_SEND:
		return head->header_len;
	case TCP_WRITE:
		return (uint32_t)sizeof(struct tcp_target) + head->header_len;
	case TCP_READ:
		return sizeof(struct tcp_read);
	case TCP_CAS:
	case TCP_FAA:
		return sizeof(struct tcp_atomic);
	case TCP_RECEIVES:
		return sizeof(struct tcp_receives);
	default:
		return 0;
	}
}

static inline bool tcp_is_request(unsigned kind)
{
	return kind <= TCP_FAA;
}

/* Returns true for a head of a known kind with every length in bounds. */
bool sf_tcp_head_check(const struct tcp_head *head);

/* Returns how many receives of one length, *len, the peer has for message number `message` and the following ones; or 0. */
uint32_t sf_tcp_receives_credits(const struct tcp_receives *receives, uint32_t message, uint32_t *len);

/* Returns the size of the peer's receive for message number `message`, or -1. */
int64_t sf_tcp_receives_room(const struct tcp_receives *receives, uint32_t message);

bool sf_tcp_side_check(const void *side);
/* The receives that the peer has posted when the connection begins, of a checked side. */
void sf_tcp_side_receives(const struct tcp_side *side, struct tcp_receives *receives);
bool sf_tcp_msg_check(const struct sf_msg *msg, size_t len, unsigned fds);

#endif
