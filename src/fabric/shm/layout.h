/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What two processes see of each other: the shapes in shared memory. All of it is untrusted on both sides.
 *
 * Endpoint segment (one memfd an endpoint, mapped by every peer that has a connection to the endpoint): the ring of posted
 * receives. A sender claims a receive with one compare-and-swap on the entry's state word and from then on works on its own copy
 * of the entry, so that the owner may use the ring position anew at once and a sender that is stopped or killed in the middle
 * holds one receive and no place in the ring. Tickets number the postings; the entry of ticket t is entry[t % entries].
 *
 *   FREE(t) -> POSTED(t')      owner posts; t' is the next ticket that falls on this position
 *   POSTED(t) -> TAKEN(t, l)   a sender claims it for connection l (the owner's number of that connection)
 *   POSTED(t) -> FREE(t)       owner takes it back (flush, repair)
 *
 * All peers of the endpoint can write all of this segment, so nothing in it is evidence of what another peer did. Before a sender
 * claims a receive it names it in its connection's segment, which only its owner and itself can write: that is what the owner
 * believes when it makes the ring anew (repair.h).
 *
 * Connection segment (one memfd a connection): two rings of records, one a direction, each written by one side and read by the
 * other. A record is 1 or more lines of 64 bytes, contiguous (each ring is mapped twice in a row, so nothing wraps). The writer
 * zeroes the mark behind its record, then stores the record's mark with release: the reader polls one word, and a short
 * message (header and data up to 40 bytes) is that one line.
 */
#ifndef SF_FABRIC_SHM_LAYOUT_H
#define SF_FABRIC_SHM_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHM_LINE 64
#define SHM_PAGE 4096
#define SHM_PIECES_MAX 6	 /* pieces of one posted receive */
#define SHM_RECV_MAX (1u << 16)	 /* receives of one endpoint */
#define SHM_CONNS_MAX (1u << 16) /* connections an endpoint has at a time */
#define SHM_RING_LINES 192u	 /* 12 KiB: about 90 messages of 64 bytes in flight */
#define SHM_RECORD_LINES_MAX 65u /* one record, so that a ring holds at least two */
#define SHM_TICKET_BITS 40
#define SHM_TICKET_MASK ((UINT64_C(1) << SHM_TICKET_BITS) - 1)
#define SHM_CONN_ID_MAX ((1u << 22) - 1)

/* Fetches a line that will be written. The builtin asks for a shared copy unless told that the processor is new enough, and
 * then the write waits for the other core once more; this instruction does nothing on processors that lack it. */
static inline void shm_prefetch_write(const volatile void *line)
{
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*(const volatile char *)line));
#else
	__builtin_prefetch((const void *)line, 1);
#endif
}

/* Fetches a line that will be read. Does not use the builtin, because compilers drop calls of functions that do nothing else. */
static inline void shm_prefetch_read(const volatile void *line)
{
#ifdef __x86_64__
	__asm__ volatile("prefetcht0 %0" : : "m"(*(const volatile char *)line));
#else
	__builtin_prefetch((const void *)line, 0);
#endif
}

/* Moves a written line to the cache that all cores share: a core that waits for it finds it there sooner than in ours. This costs
 * time when many lines are written in a row, and then no reader keeps up anyway. Has no effect on processors that lack it. */
static inline void shm_hand_over(const volatile void *line)
{
#ifdef __x86_64__
	__asm__ volatile("cldemote %0" : : "m"(*(const volatile char *)line));
#else
	(void)line;
#endif
}

/* Ends a check of shared memory that found nothing. Without it, a processor that starts the next check before this one's loads
 * are done also fetches the lines behind the awaited one while the peer writes them, and the peer must wait for each of them
 * again. */
static inline void shm_look_done(void)
{
#ifdef __x86_64__
	__asm__ volatile("lfence" : : : "memory");
#endif
}

enum shm_entry_state {
	SHM_FREE,
	SHM_POSTED,
	SHM_TAKEN,
};

static inline uint64_t shm_state(enum shm_entry_state state, uint32_t conn, uint64_t ticket)
{
	return (uint64_t)state << 62 | (uint64_t)conn << SHM_TICKET_BITS | (ticket & SHM_TICKET_MASK);
}

static inline enum shm_entry_state shm_state_kind(uint64_t state)
{
	return (enum shm_entry_state)(state >> 62);
}
static inline uint32_t shm_state_conn(uint64_t state)
{
	return (uint32_t)(state >> SHM_TICKET_BITS) & SHM_CONN_ID_MAX;
}
static inline uint64_t shm_state_ticket(uint64_t state)
{
	return state & SHM_TICKET_MASK;
}

struct shm_piece {
	_Atomic uint64_t addr; /* the owner's */
	_Atomic uint64_t len;
};

/* The first line contains everything that a sender of a message in one or two pieces needs. */
struct shm_entry {
	alignas(2 * SHM_LINE) _Atomic uint64_t state;
	_Atomic uint64_t region; /* 0 when the receive has no memory */
	_Atomic uint32_t slot;	 /* the owner's number of the receive, repeated in the record */
	_Atomic uint32_t len;	 /* room, bytes */
	_Atomic uint32_t pieces;
	uint32_t unused;
	struct shm_piece piece[SHM_PIECES_MAX];
};

_Static_assert(sizeof(struct shm_entry) == 2 * SHM_LINE, "an entry is two lines");

#define SHM_TOP_SLOTS (SHM_CONNS_MAX / 64) /* connections behind one bit of ready_top */

struct shm_ep_segment {
	/* 0, or the number of the last arming: a peer writes the endpoint's eventfd once for each number that it sees. */
	alignas(SHM_LINE) _Atomic uint32_t armed;
	/* A hint for the next ticket to claim: spares a sender the walk past the receives that others took. A wrong value only
	 * costs time. */
	alignas(2 * SHM_LINE) _Atomic uint64_t hint;
	/* Changes when the ring was rebuilt, to the rebuilt ring's first ticket. */
	_Atomic uint64_t first, epoch;
	/* The owner does not poll the rings of cold connections (one bit for each connection, written by the owner). A sender
	 * that finds its connection's bit set after it has published sets the connection's bit in ready, and the bit of ready_top
	 * for that word. */
	alignas(2 * SHM_LINE) _Atomic uint64_t ready_top;
	alignas(SHM_PAGE) _Atomic uint64_t cold[SHM_CONNS_MAX / 64];
	alignas(SHM_PAGE) _Atomic uint64_t ready[SHM_CONNS_MAX / 64];
	alignas(SHM_PAGE) struct shm_entry entry[];
};

/* Ticket numbers wrap: the half of them that follows a ticket counts as later. */
static inline bool shm_ticket_before(uint64_t a, uint64_t b)
{
	return ((b - a) & SHM_TICKET_MASK) - 1 < SHM_TICKET_MASK / 2;
}

/* The place of a ticket's entry. */
static inline uint32_t shm_position(uint64_t ticket, uint32_t entries)
{
	return (uint32_t)ticket & (entries - 1);
}

static inline size_t shm_ep_segment_size(uint32_t entries)
{
	return sizeof(struct shm_ep_segment) + (size_t)entries * sizeof(struct shm_entry);
}

enum shm_record_kind {
	SHM_RECORD_NONE,    /* not written yet */
	SHM_RECORD_SEND,    /* a message is complete: data_len bytes of it are here, the rest is in place already */
	SHM_RECORD_WRITE,   /* a one-sided write with a header is done */
	SHM_RECORD_PART,    /* data_len bytes of the message, at offset msg_len, for the reader to put in place */
	SHM_RECORD_RELEASE, /* the claimed receive was not used: post it again */
	SHM_RECORD_BYE,	    /* the writer disconnected; nothing follows */
};

#define SHM_RECORD_DATA 24 /* where the header bytes begin, and after them the data */

struct shm_record {
	_Atomic uint32_t mark; /* kind | header_len << 8 | lines << 16; written last */
	_Atomic uint32_t data_len;
	_Atomic uint32_t slot;
	_Atomic uint32_t msg_len; /* SEND: bytes of the message; PART: offset of these bytes */
	_Atomic uint64_t ticket;
	uint8_t bytes[SHM_LINE - SHM_RECORD_DATA]; /* and on in the next lines */
};

_Static_assert(sizeof(struct shm_record) == SHM_LINE, "a record's head is one line");

/* The bytes a record can carry at most. */
#define SHM_RECORD_DATA_MAX (SHM_RECORD_LINES_MAX * SHM_LINE - SHM_RECORD_DATA)

static inline uint32_t shm_record_lines(uint32_t header_len, uint32_t data_len)
{
	return (SHM_RECORD_DATA + header_len + data_len + SHM_LINE - 1) / SHM_LINE;
}

/* The connection segment: this page, then the ring from the connecting side, then the ring to it. */
struct shm_conn_segment {
	struct {
		alignas(2 * SHM_LINE) _Atomic uint64_t consumed; /* lines the reader is done with, ever */
		alignas(2 *
			SHM_LINE) _Atomic uint64_t claim; /* the writer's: the receive that it is about to claim, or has, or 0 */
	} ring[2];
};

/* A claim word. */
static inline uint64_t shm_claim_word(uint32_t slot, uint64_t ticket)
{
	return UINT64_C(1) << 63 | (uint64_t)(slot & (SHM_RECV_MAX - 1)) << SHM_TICKET_BITS | (ticket & SHM_TICKET_MASK);
}
static inline uint32_t shm_claim_slot(uint64_t claim)
{
	return (uint32_t)(claim >> SHM_TICKET_BITS) & (SHM_RECV_MAX - 1);
}

#define SHM_RING_SIZE ((size_t)SHM_RING_LINES * SHM_LINE)
#define SHM_CONN_SEGMENT_SIZE (SHM_PAGE + 2 * SHM_RING_SIZE)

_Static_assert(SHM_RING_SIZE % SHM_PAGE == 0, "a ring is mapped twice, page after page");
_Static_assert(2 * SHM_RECORD_LINES_MAX + 2 <= SHM_RING_LINES, "two of the largest records fit");

#endif
