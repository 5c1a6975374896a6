/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_thread.h
 * Comch calls of one thread of a CUDA GPU. A thread waits for its loads one after the other, so a call loads its handle's
 * counters together, then the message together. Rare cases are left to the general code of gpu_consumer.h and gpu_producer.h.
 * Internal to doca_gpunetio_dev_comch.cuh.
 */
#ifndef SOFTFIELD_GPU_THREAD_H_
#define SOFTFIELD_GPU_THREAD_H_

#include <stddef.h>

#include <softfield/gpu_consumer.h>
#include <softfield/gpu_fetch.h>
#include <softfield/gpu_producer.h>

/**
 * 16 bytes of a handle or of data beside it, in one load or store. The loads are not moved: the compiler would move each after
 * the branch before its use, and the thread would wait for one after the other.
 */
SOFTFIELD_DEVICE uint4 softfield_thread_load(const void *from, size_t offset)
{
	uint4 words;

	asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
		     : "l"((const uint8_t *)from + offset)
		     : "memory");
	return words;
}
SOFTFIELD_DEVICE void softfield_thread_store(void *to, size_t offset, uint4 words)
{
	*(uint4 *)((uint8_t *)to + offset) = words;
}
SOFTFIELD_DEVICE uint8_t *softfield_thread_pointer(uint32_t low, uint32_t high)
{
	return (uint8_t *)(low | (uint64_t)high << 32);
}

/** The assumptions of these loads. */
#define SOFTFIELD_THREAD_AT(type, field, offset) static_assert(offsetof(struct type, field) == offset, #type "." #field " moved")

SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, gpu_queue, 0);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, recvs, 24);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, imm, 32);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, depth, 44);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, recv_max, 52);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, head, 60);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, delivered, 64);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, posted, 68);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, credited, 72);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, credit_len, 76);
SOFTFIELD_THREAD_AT(doca_comch_gpu_consumer, status, 84);
SOFTFIELD_THREAD_AT(softfield_gpu_recv, mkey, 12);
SOFTFIELD_THREAD_AT(softfield_gpu_recv, got, 16);
SOFTFIELD_THREAD_AT(softfield_gpu_recv, imm_len, 20);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, current.peer.consumer_id, 0);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, current.peer.depth, 4);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, current.peer.shift, 8);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, current.peer.lines, 24);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, current.seq, 64);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, current.len, 72);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, current.closed, 80);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, status, 100);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, sent, 104);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, freed, 112);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, send_max, 120);
SOFTFIELD_THREAD_AT(doca_comch_gpu_producer, sends, 128);

/* ---- consumer ---- */

/** Words of four slots' payload. */
#define SOFTFIELD_THREAD_WORDS (SOFTFIELD_LINE_PAYLOAD / 4)

/** The first len bytes of four slots, at most their payload, to an aligned buffer. The slots were loaded from fetched. */
SOFTFIELD_DEVICE void softfield_thread_scatter(uint8_t *buf, const struct softfield_slot16 slot16[SOFTFIELD_LINE_SLOTS16],
					       const struct softfield_slot16 *fetched, uint32_t len)
{
	uint32_t k, b, tail;

#pragma unroll
	for (k = 0; k < SOFTFIELD_THREAD_WORDS; k++)
		if (4 * k + 4 <= len)
			((uint32_t *)buf)[k] = slot16[k / 3].w[k % 3];
	if ((len & 3) == 0 || len > SOFTFIELD_LINE_PAYLOAD)
		return;
	tail = fetched[len / SOFTFIELD_SLOT16_PAYLOAD].w[len / 4 % 3];
#pragma unroll
	for (b = 0; b < 3; b++)
		if (b < (len & 3))
			buf[(len & ~3u) + b] = (uint8_t)(tail >> 8 * b);
}

/**
 * Copies four slots of a line or an overflow slot. @return 0 if a slot after the first that holds some of len bytes is not of
 * this generation
 */
SOFTFIELD_DEVICE int softfield_thread_slots(struct softfield_slot16 slot16[SOFTFIELD_LINE_SLOTS16],
					    const struct softfield_slot16 *fetched, uint32_t mark, uint32_t len)
{
	uint32_t q, wrong = 0;

#pragma unroll
	for (q = 0; q < SOFTFIELD_LINE_SLOTS16; q++)
		slot16[q] = fetched[q];
#pragma unroll
	for (q = 1; q < SOFTFIELD_LINE_SLOTS16; q++)
		wrong |= q * SOFTFIELD_SLOT16_PAYLOAD < len ? slot16[q].w[3] ^ mark : 0;
	return wrong == 0;
}

/** Copies the part of a message in its overflow slot, which was fetched. @return 0 if it is not complete yet */
SOFTFIELD_DEVICE int softfield_thread_take_overflow(uint8_t *to, uint32_t len, const struct softfield_slot16 *overflow,
						    uint32_t mark)
{
	struct softfield_slot16 slot16[SOFTFIELD_LINE_SLOTS16];
	uint32_t at;

#pragma unroll 1
	for (at = SOFTFIELD_LINE_PAYLOAD; at < len; at += SOFTFIELD_LINE_PAYLOAD, overflow += SOFTFIELD_LINE_SLOTS16) {
		if (!softfield_thread_slots(slot16, overflow, mark, len - at) || slot16[0].w[3] != mark)
			return 0;
		softfield_thread_scatter(to + at, slot16, overflow, len - at);
	}
	return 1;
}

/** What a thread found in a line. */
enum softfield_thread_found {
	SOFTFIELD_THREAD_NOTHING,
	SOFTFIELD_THREAD_TAKEN,
	SOFTFIELD_THREAD_LONGER, /**< a message that continues in the overflow slot, which was not fetched */
	SOFTFIELD_THREAD_OTHER,	 /**< a message for the general path */
};

/**
 * Copies message number seq into its receive, if it has arrived and is not a special case. Its line was fetched; its overflow
 * slot too, or that is NULL.
 */
SOFTFIELD_DEVICE enum softfield_thread_found softfield_thread_take(uint32_t seq, uint32_t shift, uint4 posted,
								   struct softfield_gpu_recv *r,
								   const struct softfield_slot16 *fetched,
								   const struct softfield_slot16 *overflow)
{
	struct softfield_slot16 line[SOFTFIELD_LINE_SLOTS16];
	uint32_t mark = softfield_mark(seq, shift), tag, len;
	uint8_t *to = softfield_thread_pointer(posted.x, posted.y);

	if (!softfield_thread_slots(line, fetched, mark, SOFTFIELD_LINE_PAYLOAD))
		return SOFTFIELD_THREAD_NOTHING;
	tag = line[0].w[3];
	if (softfield_tag_gen(tag) != softfield_gen(seq, shift))
		return SOFTFIELD_THREAD_NOTHING;
	len = softfield_tag_len(tag);
	if ((int)((tag & SOFTFIELD_TAG_ARENA) != 0) | (int)(softfield_tag_imm_len(tag) != 0) |
	    (int)(len > min(posted.z, SOFTFIELD_INLINE_MAX)) | (int)((posted.x & 3) != 0))
		return SOFTFIELD_THREAD_OTHER;
	if (len > SOFTFIELD_LINE_PAYLOAD && overflow == 0)
		return SOFTFIELD_THREAD_LONGER;
	softfield_thread_scatter(to, line, fetched, len);
	if (len > SOFTFIELD_LINE_PAYLOAD && !softfield_thread_take_overflow(to, len, overflow, mark))
		return SOFTFIELD_THREAD_NOTHING;
	softfield_thread_store(r, offsetof(struct softfield_gpu_recv, got), make_uint4(len, 0, SOFTFIELD_IN_LINE, 0));
	return SOFTFIELD_THREAD_TAKEN;
}

/** Copies a message out of the arena, as many lines at a time as the thread can fetch. */
SOFTFIELD_DEVICE void softfield_thread_copy_in(uint8_t *to, const uint8_t *arena, uint32_t len)
{
	uint32_t piece = softfield_fetch_max() * (uint32_t)sizeof(struct softfield_line), at, i, n;
	const struct softfield_slot16 *fetched;

	for (at = 0; at < len; at += piece) {
		n = min(softfield_arena_room(len - at), piece);
		fetched = softfield_fetch(arena + at, n / (uint32_t)sizeof(struct softfield_line), 0, 0);
		for (i = 0; i < n && at + i < len; i += 16)
			softfield_store_any(to + at + i, fetched[i / 16], len - at - i);
	}
}

/**
 * Copies a message with immediate data, or one in the arena, into its receive. Its line is complete, and a copy, because this
 * function fetches.
 */
SOFTFIELD_COLD enum softfield_look softfield_thread_take_other(struct doca_comch_gpu_consumer *c, uint32_t seq,
							       struct softfield_slot16 q0, struct softfield_slot16 q1,
							       struct softfield_slot16 q2, struct softfield_slot16 q3)
{
	const struct softfield_slot16 line[SOFTFIELD_LINE_SLOTS16] = {q0, q1, q2, q3};
	struct softfield_gpu_recv *r = &c->recvs[seq & (c->depth - 1)];
	uint32_t q;

	if ((q0.w[3] & SOFTFIELD_TAG_ARENA) == 0)
		return softfield_consumer_take(c, seq, line);
	if (!softfield_line_check(c, q0, r->len, &r->got, &r->imm_len)) {
		c->status = DOCA_ERROR_IO_FAILED;
		return SOFTFIELD_LOOK_NONE;
	}
	softfield_after_load(); /* the arena after the line */
	softfield_thread_copy_in((uint8_t *)r->addr, c->arena + q0.w[0], r->got);
	for (q = 1; q < SOFTFIELD_LINE_SLOTS16; q++)
		softfield_scatter(line[q], q - 1, 0, 0, c->imm + (seq & (c->depth - 1)) * SOFTFIELD_IMM_MAX, r->imm_len);
	return SOFTFIELD_LOOK_CAME_BY_ARENA;
}

/** One poll for messages. */
struct softfield_thread_look {
	uint32_t first, n;			 /**< the messages to poll for */
	const struct softfield_slot16 *line;	 /**< of the first message, as fetched */
	const struct softfield_slot16 *overflow; /**< of the first message, or NULL */
	uint32_t taken;				 /**< of them */
	int goes_on;				 /**< one uses its overflow slot */
	int arena;				 /**< one was in the arena */
};

/** Copies the messages that have arrived into their receives. */
SOFTFIELD_DEVICE void softfield_thread_take_all(struct doca_comch_gpu_consumer *c, struct softfield_thread_look *look)
{
	const uint32_t shift = c->shift, mask = c->depth - 1, step = look->overflow != 0 ? SOFTFIELD_OVERFLOW_SLOTS16 : 0;
	const struct softfield_slot16 *line = look->line, *overflow = look->overflow;
	struct softfield_gpu_recv *recvs = c->recvs;
	uint32_t seq = look->first;
	uint4 posted, next = softfield_thread_load(&recvs[seq & mask], 0);
	enum softfield_thread_found found = SOFTFIELD_THREAD_TAKEN;
	enum softfield_look other;

#pragma unroll 1
	for (; seq != look->first + look->n; seq++, line += SOFTFIELD_LINE_SLOTS16, overflow += step) {
		posted = next;
		next = softfield_thread_load(&recvs[(seq + 1) & mask], 0);
		found = softfield_thread_take(seq, shift, posted, &recvs[seq & mask], line, overflow);
		if (found != SOFTFIELD_THREAD_TAKEN)
			break;
		look->goes_on |= softfield_tag_len(line[0].w[3]) > SOFTFIELD_LINE_PAYLOAD;
	}
	look->goes_on |= found == SOFTFIELD_THREAD_LONGER;
	if (found == SOFTFIELD_THREAD_OTHER) { /* the lines behind it may be overwritten then */
		other = softfield_thread_take_other(c, seq, line[0], line[1], line[2], line[3]);
		look->arena = other == SOFTFIELD_LOOK_CAME_BY_ARENA;
		seq += other != SOFTFIELD_LOOK_NONE;
	}
	look->taken = seq - look->first;
}

/** Polls for messages and copies them into their receives. @return how many arrived */
SOFTFIELD_DEVICE uint32_t softfield_thread_look(struct doca_comch_gpu_consumer *c)
{
	const uint32_t first = c->delivered, slot = first & (c->depth - 1), room = min(c->credited - first, c->depth - slot);
	const uint32_t max = c->goes_on ? softfield_fetch_max() / 3 : softfield_fetch_max();
	struct softfield_thread_look look = {first, min(min(room, max), 2 * c->found + 2), 0, 0, 0, 0, 0};

	if (look.n == 0)
		return 0;
	look.line = softfield_fetch(c->lines + slot, look.n, softfield_overflow_of(c->lines, c->depth, slot),
				    c->goes_on ? 2 * look.n : 0);
	look.overflow = c->goes_on ? look.line + look.n * SOFTFIELD_LINE_SLOTS16 : 0;
	softfield_thread_take_all(c, &look);
	c->found = look.taken;
	c->goes_on = (uint32_t)look.goes_on;
	if (look.taken == 0)
		return 0;
	c->delivered = first + look.taken;
	if ((c->credited != c->posted && softfield_consumer_give_credits(c)) || look.arena)
		softfield_consumer_publish(c);
	return look.taken;
}

/** doca_dev_gpu_comch_consumer_post_recv. */
SOFTFIELD_DEVICE doca_error_t softfield_thread_post(struct doca_comch_gpu_consumer *c, uint32_t mkey, uintptr_t addr,
						    uint32_t len)
{
	const uint4 queue = softfield_thread_load(c, 0), recvs = softfield_thread_load(c, 16),
		    sizes = softfield_thread_load(c, 32);
	const uint4 limits = softfield_thread_load(c, 48), counts = softfield_thread_load(c, 64),
		    ends = softfield_thread_load(c, 80);
	const uint32_t posted = counts.y;
	struct softfield_slot16 credits = {{posted + 1, len, counts.x, 0}};

	/* not if a posted receive has no credit yet, or this one cannot get one */
	if ((int)(addr == 0) | (int)(ends.y != 0) | (int)(posted - limits.w >= limits.y) | (int)(counts.z != posted) |
	    (int)(counts.w != len))
		return softfield_consumer_post(c, mkey, addr, len);
	softfield_thread_store(softfield_thread_pointer(recvs.z, recvs.w),
			       (posted & (sizes.w - 1)) * sizeof(struct softfield_gpu_recv),
			       make_uint4((uint32_t)addr, (uint32_t)((uint64_t)addr >> 32), len, mkey));
	softfield_thread_store(c, 64, make_uint4(counts.x, posted + 1, posted + 1, len));
	softfield_store_slot16(&((struct softfield_gpu_queue *)softfield_thread_pointer(queue.x, queue.y))->credits, credits);
	return DOCA_SUCCESS;
}

/** Whether it is so for one of the lanes of a warp that execute this call together. No other lane is waited for. */
SOFTFIELD_DEVICE int softfield_thread_any(int is_so)
{
	return __any_sync(__activemask(), is_so);
}

/** Polls for messages. has_some: there are some already, so that the result is DOCA_SUCCESS. */
SOFTFIELD_DEVICE doca_error_t softfield_thread_refill(struct doca_comch_gpu_consumer *c, int has_some)
{
	const uint32_t came = c->status == 0 ? softfield_thread_look(c) : 0;

	if (came != 0 || has_some)
		return DOCA_SUCCESS;
	if (c->status == 0 && ++c->empties % SOFTFIELD_CONTROL_EVERY == 0)
		softfield_consumer_check_control(c);
	return c->status != 0 ? (doca_error_t)c->status : DOCA_ERROR_AGAIN;
}

/** The general path to receive. The caller's addresses are not passed, so that their variables stay in registers. */
SOFTFIELD_DEVICE doca_error_t softfield_thread_recv_any(struct doca_comch_gpu_consumer *c, uint32_t *mkey, uintptr_t *addr,
							uint32_t *recv_len, uint8_t **imm_data, uint32_t *imm_data_len)
{
	uint32_t key = 0, len = 0, imm_len = 0;
	uintptr_t at = 0;
	uint8_t *imm = 0;
	doca_error_t result = softfield_consumer_try(c, &key, &at, &len, &imm, &imm_len);

	if (result != DOCA_SUCCESS)
		return result;
	*mkey = key;
	*addr = at;
	*recv_len = len;
	if (imm_data != 0)
		*imm_data = imm;
	if (imm_data_len != 0)
		*imm_data_len = imm_len;
	return DOCA_SUCCESS;
}

/** doca_dev_gpu_comch_consumer_recv_wait without waiting. */
SOFTFIELD_DEVICE doca_error_t softfield_thread_recv(struct doca_comch_gpu_consumer *c, uint32_t *mkey, uintptr_t *addr,
						    uint32_t *recv_len, uint8_t **imm_data, uint32_t *imm_data_len)
{
	const uint4 recvs = softfield_thread_load(c, 16), sizes = softfield_thread_load(c, 32);
	const uint32_t head = softfield_thread_load(c, 48).w, delivered = softfield_thread_load(c, 64).x;
	const uint32_t slot = head & (sizes.w - 1);
	const uint8_t *r = softfield_thread_pointer(recvs.z, recvs.w) + slot * sizeof(struct softfield_gpu_recv);
	void *const trace = c->trace;
	uint4 posted, came;

	if (!softfield_fetch_can())
		return softfield_thread_recv_any(c, mkey, addr, recv_len, imm_data, imm_data_len);
	/* The threads of a warp wait for one that polls, so all poll. */
	if (softfield_thread_any(head == delivered)) {
		const doca_error_t result = softfield_thread_refill(c, head != delivered);

		if (result != DOCA_SUCCESS)
			return result;
	}
	posted = softfield_thread_load(r, 0);
	came = softfield_thread_load(r, offsetof(struct softfield_gpu_recv, got));
	c->head = head + 1;
	*mkey = posted.w;
	*addr = (uintptr_t)softfield_thread_pointer(posted.x, posted.y);
	*recv_len = came.x;
	if (imm_data != 0)
		*imm_data = came.y != 0 ? softfield_thread_pointer(sizes.x, sizes.y) + slot * SOFTFIELD_IMM_MAX : 0;
	if (imm_data_len != 0)
		*imm_data_len = came.y;
	softfield_trace(trace, SOFTFIELD_TRACE_DELIVER, head, softfield_trace_flow(c->trace_salt, head), came.x);
	return DOCA_SUCCESS;
}

/* ---- producer ---- */

/** The first len bytes, at most four slots' payload, of an aligned buffer; zeros behind them. */
SOFTFIELD_DEVICE void softfield_thread_gather(uint32_t words[SOFTFIELD_THREAD_WORDS], const uint8_t *buf, uint32_t len)
{
	uint32_t k;

#pragma unroll
	for (k = 0; k < SOFTFIELD_THREAD_WORDS; k++)
		words[k] = 4 * k < len ? ((const uint32_t *)buf)[k] : 0; /* all of the last word, too */
	if ((len & 3) == 0)
		return;
#pragma unroll
	for (k = 0; k < SOFTFIELD_THREAD_WORDS; k++)
		words[k] &= k == len / 4 ? (1u << 8 * (len & 3)) - 1 : ~0u;
}

/** The first num of four slots. */
SOFTFIELD_DEVICE void softfield_thread_store_slots(struct softfield_slot16 *to, const uint32_t words[SOFTFIELD_THREAD_WORDS],
						   uint32_t tag, uint32_t mark, uint32_t num)
{
	uint32_t q;

#pragma unroll
	for (q = 0; q < SOFTFIELD_LINE_SLOTS16; q++) {
		struct softfield_slot16 slot16 = {{words[3 * q], words[3 * q + 1], words[3 * q + 2], q == 0 ? tag : mark}};

		if (q < num)
			softfield_store_slot16(&to[q], slot16);
	}
}

/** Writes the part of a message that belongs into its overflow slot. */
SOFTFIELD_DEVICE void softfield_thread_put_overflow(struct softfield_slot16 *overflow, const uint8_t *buf, uint32_t len,
						    uint32_t mark)
{
	uint32_t words[SOFTFIELD_THREAD_WORDS], at, n;

#pragma unroll 1
	for (at = SOFTFIELD_LINE_PAYLOAD; at < len; at += SOFTFIELD_LINE_PAYLOAD, overflow += SOFTFIELD_LINE_SLOTS16) {
		n = min(len - at, SOFTFIELD_LINE_PAYLOAD);
		softfield_thread_gather(words, buf + at, n);
		softfield_thread_store_slots(overflow, words, mark, mark,
					     (n + SOFTFIELD_SLOT16_PAYLOAD - 1) / SOFTFIELD_SLOT16_PAYLOAD);
	}
}

/**
 * Sends a message without immediate data that fits into a line and its overflow slot, to the consumer of the last message, if
 * that has a receive for it. @return 0: use the general path
 */
SOFTFIELD_DEVICE int softfield_thread_send_inline(struct doca_comch_gpu_producer *p, uintptr_t addr, uint32_t len,
						  uint32_t consumer_id, uint64_t user_msg_id)
{
	const uint4 peer = softfield_thread_load(p, 0), places = softfield_thread_load(p, 16),
		    dest = softfield_thread_load(p, 64);
	const uint4 ends = softfield_thread_load(p, 80), counts = softfield_thread_load(p, 96),
		    ring = softfield_thread_load(p, 112);
	const uint4 memory = softfield_thread_load(p, 128);
	const uint32_t seq = dest.x, sent = counts.z, shift = peer.z, slot = seq & (peer.y - 1),
		       mark = softfield_mark(seq, shift);
	struct softfield_gpu_send *s =
		(struct softfield_gpu_send *)softfield_thread_pointer(memory.x, memory.y) + (sent & (ring.y - 1));
	struct softfield_line *lines = (struct softfield_line *)softfield_thread_pointer(places.z, places.w);
	uint32_t words[SOFTFIELD_THREAD_WORDS];
	void *const trace = p->trace;

	softfield_thread_gather(words, (const uint8_t *)addr, min(len, SOFTFIELD_LINE_PAYLOAD));
	if ((int)(peer.x != consumer_id) | (int)(ends.x != 0) | (int)(counts.y != 0) | (int)(seq == dest.y) |
	    (int)(len > dest.z) | (int)(sent - counts.w >= ring.z) | (int)(sent - ring.x >= ring.y))
		return 0;
	softfield_thread_store_slots(lines[slot].slot16, words, softfield_tag(softfield_gen(seq, shift), len, 0, 0), mark,
				     SOFTFIELD_LINE_SLOTS16);
	if (len > SOFTFIELD_LINE_PAYLOAD)
		softfield_thread_put_overflow(softfield_overflow_of(lines, peer.y, slot)->slot16, (const uint8_t *)addr, len,
					      mark);
	s->user_msg_id = user_msg_id;
	s->inline_len = len;
	p->current.seq = seq + 1;
	p->sent = sent + 1;
	softfield_trace(trace, SOFTFIELD_TRACE_SEND, sent, softfield_trace_flow(p->current.peer.trace_salt, seq), len);
	return 1;
}

/** doca_dev_gpu_comch_producer_send. */
SOFTFIELD_DEVICE doca_error_t softfield_thread_send(struct doca_comch_gpu_producer *p, uintptr_t addr, uint32_t len,
						    const uint8_t *imm, uint32_t imm_len, uint32_t consumer_id,
						    uint64_t user_msg_id)
{
	const int is_inline = (int)(len <= SOFTFIELD_INLINE_MAX) & (int)(imm_len == 0) & (int)((addr & 3) == 0) &
			      (int)(addr != 0) & (int)(consumer_id != 0);

	if (is_inline && softfield_thread_send_inline(p, addr, len, consumer_id, user_msg_id))
		return DOCA_SUCCESS;
	return softfield_producer_send(p, addr, len, imm, imm_len, consumer_id, user_msg_id);
}

/** doca_dev_gpu_comch_producer_poll without waiting. */
SOFTFIELD_DEVICE doca_error_t softfield_thread_poll(struct doca_comch_gpu_producer *p, uint64_t *user_msg_id)
{
	const uint4 counts = softfield_thread_load(p, 96), ring = softfield_thread_load(p, 112),
		    memory = softfield_thread_load(p, 128);
	const struct softfield_gpu_send *sends = (const struct softfield_gpu_send *)softfield_thread_pointer(memory.x, memory.y);
	uint64_t id = 0;

	if (counts.w == counts.z) /* AGAIN, or the producer has ended */
		return softfield_producer_try(p, &id);
	*user_msg_id = sends[counts.w & (ring.y - 1)].user_msg_id;
	p->polled = counts.w + 1;
	return DOCA_SUCCESS;
}

#endif /* SOFTFIELD_GPU_THREAD_H_ */
