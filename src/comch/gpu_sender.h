/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU sends to a kernel through a GPU queue. */
#ifndef COMCH_GPU_SENDER_H
#define COMCH_GPU_SENDER_H

#include "base/trace.h"
#include "comch/gpu_line.h"
#include "comch/gpu_queue.h"

/*
 * The send state of a GPU queue. All producers of the process that send to one consumer share it, from any thread.
 *
 * As long as there is one producer it takes no lock: a locked instruction would wait for the stores of the message before, which
 * have to fetch their lines from the kernel's CPU. It sets busy, checks that it is alone, and sends. A producer that joins sets
 * shared, makes a memory barrier in all threads of the process, and waits until busy is clear.
 */
struct gpu_sender {
	struct gpu_queue box;
	uint32_t shared;	   /* there have been several producers */
	uint32_t busy;		   /* the only producer is sending */
	uint32_t lock;		   /* of several: spin; held for one message */
	uint32_t producers;	   /* guarded by the caller's lock */
	uint32_t seq;		   /* owned by the sending producer, as are the fields below */
	uint32_t count, len, done; /* the credits, as last read */
	bool closed;
	uint64_t arena_head, arena_tail;
	uint32_t arena_used; /* bytes of the arena in turn */
	uint64_t *arena_end; /* depth of them: where the arena's head stood behind each message */
};

doca_error_t comch_gpu_sender_init(struct gpu_sender *sender, const struct gpu_queue *box);
void comch_gpu_sender_fini(struct gpu_sender *sender);

/* Adds or removes a producer. Calls do not overlap. In between, that producer sends from one thread at a time. */
void comch_gpu_sender_join(struct gpu_sender *sender);
void comch_gpu_sender_leave(struct gpu_sender *sender);

/* AGAIN: no receive is posted, or no arena bytes are free. TOO_BIG: longer than the receive, which stays. NOT_CONNECTED: closed.
 * object: identifies the message in the timeline, usually its task. */
doca_error_t comch_gpu_sender_send(struct gpu_sender *sender, const void *object, const struct sf_iov *iov, uint32_t iov_num,
				   const void *imm, uint32_t imm_len);

/* ---- the parts of a send ---- */

/* Returns whether the producer is alone and needs no lock. Ends with gpu_sender_end either way. A compiler barrier is enough:
 * a joining producer makes the barrier for the processors. */
static inline bool gpu_sender_begin(struct gpu_sender *sender)
{
	__atomic_store_n(&sender->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&sender->shared, __ATOMIC_RELAXED) == 0;
}

static inline void gpu_sender_end(struct gpu_sender *sender)
{
	__atomic_store_n(&sender->busy, 0, __ATOMIC_RELEASE);
}

/* Message seq, in line slot, is in the queue. */
static inline void gpu_sender_advance(struct gpu_sender *sender, uint32_t seq, uint32_t slot)
{
	sender->arena_end[slot] = sender->arena_head;
	sender->seq = seq + 1;
}

static inline void gpu_sender_wake(const struct gpu_sender *sender)
{
	if ((sender->box.flags & SOFTFIELD_GPU_QUEUE_HARDWARE) == 0)
		gpu_queue_wake(&sender->box,
			       sender->box.registered && __atomic_load_n(&sender->box.head->barriers, __ATOMIC_RELAXED) != 0);
}

/*
 * Sends most small messages: one buffer that fits into the line and its overflow slot, without immediate data, while there are
 * credits, no other producer and no timeline. gpu_sender_wake must follow. Returns false, and has sent nothing, if it is not such
 * a message: then use comch_gpu_sender_send.
 */
static inline __attribute__((always_inline)) bool gpu_sender_send_inline(struct gpu_sender *sender, const void *object,
									 const uint8_t *bytes, uint64_t len)
{
	const uint32_t slots = sender->box.depth - 1, shift = sender->box.shift;
	struct softfield_line *lines = sender->box.lines, *line;
	uint32_t seq, slot;

	if (__builtin_expect(len > SOFTFIELD_INLINE_MAX || sf_trace_on(), 0))
		return false;
	if (__builtin_expect(!gpu_sender_begin(sender) || sender->seq == sender->count || len > sender->len, 0)) {
		gpu_sender_end(sender);
		return false;
	}
	seq = sender->seq;
	slot = seq & slots;
	line = &lines[slot];
	softfield_prefetch_write(&lines[(seq + SOFTFIELD_AHEAD) & slots]);
	if (len > SOFTFIELD_LINE_PAYLOAD)
		softfield_prefetch_write(softfield_overflow_of(lines, slots + 1, (seq + SOFTFIELD_AHEAD) & slots));
	softfield_published(line);
	gpu_slots16_put(line, softfield_overflow_of(lines, slots + 1, slot),
			softfield_tag(softfield_gen(seq, shift), (uint32_t)len, 0, 0), softfield_mark(seq, shift), bytes,
			(uint32_t)len);
	SF_PROBE(send, object, 0, len);
	gpu_sender_advance(sender, seq, slot);
	gpu_sender_end(sender);
	return true;
}

/* Returns the kernel's posted receives that no message was sent to yet, and sets *len to their length. The sender must have no
 * other thread. */
uint32_t comch_gpu_sender_credits(struct gpu_sender *sender, uint32_t *len);

#endif
