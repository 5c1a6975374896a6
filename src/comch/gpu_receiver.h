/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU receives from a kernel through a GPU queue. */
#ifndef COMCH_GPU_RECEIVER_H
#define COMCH_GPU_RECEIVER_H

#include "comch/gpu_line.h"
#include "comch/gpu_queue.h"

#define GPU_RECEIVER_AHEAD 4 /* how many messages ahead it prefetches */

/* A message that arrived, inside the GPU queue: copy it out. */
struct gpu_arrival {
	uint32_t len, imm_len;
	const uint8_t *arena;			 /* its bytes, or NULL: they are in line */
	uint8_t line[SOFTFIELD_INLINE_MAX + 16]; /* its bytes and then its immediate data; or the latter only */
};

struct gpu_receiver {
	struct gpu_queue box;
	uint32_t seq;	     /* messages taken */
	uint32_t released;   /* of these, those whose bytes the kernel may overwrite */
	uint32_t count, len; /* credits given */
	uint32_t published;  /* released as last written */
};

/* Begins to receive from a GPU queue from which nothing was received yet. */
void comch_gpu_receiver_init(struct gpu_receiver *receiver, const struct gpu_queue *box);

/* Checks for the next message. AGAIN: there is none. IO_FAILED: it is invalid. */
doca_error_t comch_gpu_receiver_peek(const struct gpu_receiver *receiver, struct gpu_arrival *arrival);
/* Checks for the usual message, one that travels in its line and overflow slot and has no immediate data, and loads the line.
 * Returns false if there is none: then comch_gpu_receiver_peek says what there is. */
static inline bool gpu_receiver_peek_inline(const struct gpu_receiver *receiver, struct gpu_line *line, uint32_t *len)
{
	const struct gpu_queue *box = &receiver->box;
	const uint32_t seq = receiver->seq, slot = seq & (box->depth - 1), shift = box->shift;
	const uint32_t gen = softfield_gen(seq, shift), mark = softfield_mark(seq, shift);
	const struct softfield_line *from = &box->lines[slot];

	*len = gpu_line_begin(line, from) - gen; /* with other bits in the tag it is longer */
	if (*len > SOFTFIELD_INLINE_MAX || !gpu_line_end(line, from, mark) || *len > receiver->len || seq == receiver->count)
		return false;
	return *len <= SOFTFIELD_LINE_PAYLOAD ||
	       gpu_overflow_arrived(softfield_overflow_of(box->lines, box->depth, slot),
				    softfield_inline_slots16(*len) - SOFTFIELD_LINE_SLOTS16, mark);
}

/* Copies out what the overflow slot of the next message holds. */
void comch_gpu_receiver_copy_overflow(const struct gpu_receiver *receiver, uint8_t *to, uint32_t len);
/* Copies out the message that was peeked. */
static inline void gpu_receiver_copy_inline(const struct gpu_receiver *receiver, const struct gpu_line *line, uint8_t *to,
					    uint32_t len)
{
	uint8_t bytes[SOFTFIELD_LINE_PAYLOAD];

	if (len >= SOFTFIELD_LINE_PAYLOAD) {
		gpu_line_store(line, to);
		if (len > SOFTFIELD_LINE_PAYLOAD)
			comch_gpu_receiver_copy_overflow(receiver, to + SOFTFIELD_LINE_PAYLOAD, len - SOFTFIELD_LINE_PAYLOAD);
	} else {
		gpu_line_store(line, bytes);
		gpu_payload_copy(to, bytes, len);
	}
}

/* The message is copied out. */
static inline void gpu_receiver_next(struct gpu_receiver *receiver)
{
	receiver->released = ++receiver->seq;
}
/* Asks a kernel of a software GPU to ring when there is a message. Returns true if there is one already. */
bool comch_gpu_receiver_arm(struct gpu_receiver *receiver);
/* Returns true if there may be a message. */
bool comch_gpu_receiver_ready(const struct gpu_receiver *receiver);
/* Gives credits for count receives of len bytes, as many as the ring holds, once the credits of another length are used up. */
void comch_gpu_receiver_give_credits(struct gpu_receiver *receiver, uint32_t count, uint32_t len);
/* Gives no more credits. */
void comch_gpu_receiver_close(struct gpu_receiver *receiver);

#endif
