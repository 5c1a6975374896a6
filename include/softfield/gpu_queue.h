/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_queue.h
 * The GPU queue: one direction of messages between a CPU process and a kernel, through memory that both map.
 *
 * The memory belongs to the process that owns the GPU; the peer process maps it as an imported region. One side sends, the
 * other receives; either may be the kernel. Reading across PCIe takes a microsecond, writing takes none of the writer's time, so
 * everything that one side waits for is written by the other side in as few whole 16-byte stores as possible:
 *
 * - Line: 64 bytes, four 16-byte slots of 12 payload bytes and a 4-byte tag. The tag holds the generation of the ring, never 0,
 *   so each slot shows by itself whether it is complete: the reader needs no counter and no fence. Up to 48 bytes of payload
 *   and immediate data travel in the line.
 * - Overflow slot: 128 bytes for each line, eight more such slots; all overflow slots follow all lines. A message of up to 144
 *   bytes continues in its line's overflow slot, in as many 16-byte slots as it needs; the line's first one holds its length.
 *   A larger message lies in the arena, the line holds its position and length, and one fence separates the two.
 * - Credits of the receiver, one 16-byte slot: how many receives it has posted, their length, how many messages it has
 *   consumed. A posted receive also permits the reuse of the line of `depth` receives before, so the sender needs nothing
 *   else. All unused credits have one length: receives of another length get credits when the earlier ones are used up.
 *
 * Message n goes to line n mod depth and to receive n. Numbers are 32 bits and wrap.
 *
 * Neither side trusts the other: positions and lengths are checked where they are read, and a side keeps its counters in
 * memory of its own.
 */
#ifndef SOFTFIELD_GPU_QUEUE_H_
#define SOFTFIELD_GPU_QUEUE_H_

#include <stdint.h>
#include <softfield/device.h>

#define SOFTFIELD_GPU_QUEUE_MAGIC 0x78626d53u /**< "Smbx" */
#define SOFTFIELD_GPU_QUEUE_VERSION 2
#define SOFTFIELD_GPU_QUEUE_DEPTH_MIN 16		  /**< lines */
#define SOFTFIELD_GPU_QUEUE_DEPTH_MAX 65536		  /**< lines */
#define SOFTFIELD_GPU_QUEUE_ARENA_MAX (UINT32_C(1) << 30) /**< bytes */
#define SOFTFIELD_SLOT16_PAYLOAD 12			  /**< bytes of payload and immediate data that a 16-byte slot holds */
#define SOFTFIELD_LINE_PAYLOAD 48			  /**< likewise a line */
#define SOFTFIELD_INLINE_MAX 144			  /**< likewise a line with its overflow slot */
#define SOFTFIELD_LINE_SLOTS16 4
#define SOFTFIELD_OVERFLOW_SLOTS16 8
#define SOFTFIELD_IMM_MAX 32	 /**< bytes of immediate data */
#define SOFTFIELD_AHEAD 8	 /**< how many messages ahead a CPU prefetches */
#define SOFTFIELD_AHEAD_LINES 4	 /**< the most cache lines of the arena that it prefetches */
#define SOFTFIELD_ARENA_ALIGN 64 /**< where a message begins in the arena */

/** A message's place in the ring. */
struct softfield_line {
	struct softfield_slot16 slot16[SOFTFIELD_LINE_SLOTS16];
} __attribute__((aligned(64)));

/** The rest of a message. */
struct softfield_overflow {
	struct softfield_slot16 slot16[SOFTFIELD_OVERFLOW_SLOTS16];
} __attribute__((aligned(64)));

/** Properties of a GPU queue, fixed by the owner. */
enum softfield_gpu_queue_flags {
	SOFTFIELD_GPU_QUEUE_TO_KERNEL = 1 << 0, /**< the kernel receives; else it sends */
	SOFTFIELD_GPU_QUEUE_HARDWARE = 1 << 1,	/**< the GPU is real: it can neither sleep nor wake a peer */
};

/** Why a side has closed the queue. */
enum softfield_gpu_queue_closed {
	SOFTFIELD_GPU_QUEUE_OPEN = 0,
	SOFTFIELD_GPU_QUEUE_STOPPED = 1, /**< its context was stopped */
	SOFTFIELD_GPU_QUEUE_LOST = 2,	 /**< the peer is gone */
};

/** The head of a GPU queue; lines and arena follow at the offsets it names. Each group of words has one writer and its own cache
 * line. */
struct softfield_gpu_queue {
	/* the owner, once */
	uint32_t magic, version, flags;
	uint32_t depth;	       /**< lines, a power of two */
	uint64_t lines_offset; /**< from the start of the region; the overflow slots follow */
	uint64_t arena_offset; /**< from the start of the region */
	uint32_t arena_size;   /**< bytes, a power of two */
	uint32_t number;       /**< the consumer's or producer's number, to distinguish GPU queues of one region */
	uint32_t reserved_0[2];
	uint64_t trace_salt; /**< random: identifies the queue in a timeline's flows */
	uint8_t reserved_1[8];
	/* the receiver */
	struct softfield_slot16 credits
		__attribute__((aligned(64))); /**< receives with credits, their length, messages consumed, closed */
	/* the owner's host code, for its kernel */
	struct softfield_slot16 control __attribute__((aligned(64))); /**< word 0: closed */
	/* the receiver sets, the sender clears and wakes */
	uint32_t sleeping __attribute__((aligned(64))); /**< a software GPU's thread sleeps on this word */
	uint32_t armed;					/**< the CPU waits to be woken */
	/**
	 * 1: before it sleeps, the receiver executes a memory barrier in all processes that registered for it (membarrier), so a
	 * registered sender needs no fence between a message and its check of the words above. Set once, by the receiver's host
	 * code.
	 */
	uint32_t barriers;
} __attribute__((aligned(64)));

/** Words of the credits. */
enum { SOFTFIELD_CREDIT_COUNT, SOFTFIELD_CREDIT_LEN, SOFTFIELD_CREDIT_DONE, SOFTFIELD_CREDIT_CLOSED };

/* The tag of a line's first 16-byte slot: generation in the top byte, below it what the line holds. */
#define SOFTFIELD_TAG_ARENA (UINT32_C(1) << 14) /**< words 0 and 1 of the line are offset and length in the arena */

/** The generation byte of message number seq in a ring of 1 << shift lines: never 0, differs from the generation before. */
SOFTFIELD_DEVICE uint32_t softfield_gen(uint32_t seq, uint32_t shift)
{
	return (0x80 | ((seq >> shift) & 0x7f)) << 24;
}

/** The tag of a line's first 16-byte slot. */
SOFTFIELD_DEVICE uint32_t softfield_tag(uint32_t gen, uint32_t inline_len, uint32_t imm_len, uint32_t arena)
{
	return gen | arena | imm_len << 8 | inline_len;
}

SOFTFIELD_DEVICE uint32_t softfield_tag_len(uint32_t tag)
{
	return tag & 0xff;
}
SOFTFIELD_DEVICE uint32_t softfield_tag_imm_len(uint32_t tag)
{
	return (tag >> 8) & 0x3f;
}
SOFTFIELD_DEVICE uint32_t softfield_tag_gen(uint32_t tag)
{
	return tag & 0xff000000u;
}

/** Returns whether the message continues in the overflow slot. */
SOFTFIELD_DEVICE int softfield_tag_goes_on(uint32_t tag)
{
	return (tag & SOFTFIELD_TAG_ARENA) == 0 && softfield_tag_len(tag) + softfield_tag_imm_len(tag) > SOFTFIELD_LINE_PAYLOAD;
}

/**
 * The tag of all other 16-byte slots: the whole number of the generation, because an overflow slot may be unused for many
 * generations. Never 0.
 */
SOFTFIELD_DEVICE uint32_t softfield_mark(uint32_t seq, uint32_t shift)
{
	return 0x80000000u | seq >> shift;
}

/** 16-byte slots of a message that travels in the line: all of the line's, and those of the overflow slot that it needs. */
SOFTFIELD_DEVICE uint32_t softfield_inline_slots16(uint32_t bytes)
{
	return bytes <= SOFTFIELD_LINE_PAYLOAD ? SOFTFIELD_LINE_SLOTS16
					       : (bytes + SOFTFIELD_SLOT16_PAYLOAD - 1) / SOFTFIELD_SLOT16_PAYLOAD;
}

/** The overflow slot of line slot of depth. */
SOFTFIELD_DEVICE struct softfield_overflow *softfield_overflow_of(struct softfield_line *lines, uint32_t depth, uint32_t slot)
{
	return (struct softfield_overflow *)(lines + depth) + slot;
}

/** Bytes that a message of len takes in the arena. */
SOFTFIELD_DEVICE uint32_t softfield_arena_room(uint32_t len)
{
	return (len + SOFTFIELD_ARENA_ALIGN - 1) & ~(uint32_t)(SOFTFIELD_ARENA_ALIGN - 1);
}

/**
 * Allocates len contiguous bytes from a byte ring.
 * head and tail are positions that only grow; size is a power of two.
 * @return 1 and the offset, and head advances; 0 when there is no room now
 */
SOFTFIELD_DEVICE int softfield_arena_take(uint64_t *head, uint64_t tail, uint32_t size, uint32_t len, uint32_t *offset)
{
	uint32_t room = softfield_arena_room(len), at = (uint32_t)*head & (size - 1);
	uint64_t begin = at + (uint64_t)room > size ? *head + (size - at) : *head;

	if (begin + room - tail > size)
		return 0;
	*offset = (uint32_t)begin & (size - 1);
	*head = begin + room;
	return 1;
}

/** Prefetches the lines of the next message, assuming that it is as long as this one. */
SOFTFIELD_DEVICE void softfield_arena_prefetch_write(const uint8_t *arena, uint32_t size, uint32_t offset, uint32_t len)
{
	uint32_t room = softfield_arena_room(len), lines = room / SOFTFIELD_ARENA_ALIGN, i;
	uint64_t at = offset + (uint64_t)SOFTFIELD_AHEAD * room;

	if (lines > SOFTFIELD_AHEAD_LINES || at + room > size)
		return;
	for (i = 0; i < lines; i++)
		softfield_prefetch_write(arena + at + i * SOFTFIELD_ARENA_ALIGN);
}

/** Bytes that a ring of messages uses at first, and how many of the largest message it holds: more would only make it cold. */
#define SOFTFIELD_ARENA_FIRST (UINT32_C(1) << 19)
#define SOFTFIELD_ARENA_MESSAGES 32u

/**
 * softfield_arena_take on the part of the arena that is in use, which grows with the largest message, when it is empty.
 * used is the sender's, at first 0; size is the whole arena.
 */
SOFTFIELD_DEVICE int softfield_arena_take_some(uint64_t *head, uint64_t tail, uint32_t *used, uint32_t size, uint32_t len,
					       uint32_t *offset)
{
	uint64_t wanted = (uint64_t)SOFTFIELD_ARENA_MESSAGES * softfield_arena_room(len);
	uint32_t grown = *used;

	if (grown < size && (grown == 0 || wanted > grown)) {
		if (*head != tail)
			return 0;
		if (grown == 0)
			grown = SOFTFIELD_ARENA_FIRST < size ? SOFTFIELD_ARENA_FIRST : size;
		while (grown < wanted && grown < size)
			grown *= 2;
		*used = grown;
	}
	return softfield_arena_take(head, tail, *used, len, offset);
}

#endif /* SOFTFIELD_GPU_QUEUE_H_ */
