/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_consumer.h
 * The consumer's device code at thread scope; warp and block scope build on it. Internal to doca_gpunetio_dev_comch.cuh.
 */
#ifndef SOFTFIELD_GPU_CONSUMER_H_
#define SOFTFIELD_GPU_CONSUMER_H_

#include <doca_error.h>
#include <softfield/gpu_comch.h>
#include <softfield/gpu_copy.h>

/**
 * Messages that one thread consumes in one poll; the next calls return those after the first. A CUDA GPU loads all their lines
 * before it checks the first. On a CPU one message is copied while the lines of the others are being loaded.
 */
#if defined(__CUDACC__)
#define SOFTFIELD_THREAD_LINES 4
#else
#define SOFTFIELD_THREAD_LINES 8
#endif
/** Empty polls between two checks of the control word. */
#define SOFTFIELD_CONTROL_EVERY 16

/** Publishes the credits and the number of consumed messages to the sender. */
SOFTFIELD_DEVICE void softfield_consumer_publish(struct doca_comch_gpu_consumer *c)
{
	struct softfield_slot16 credits = {{c->credited, c->credit_len, c->delivered, 0}};

	softfield_published(&c->gpu_queue->credits);
	softfield_store_slot16(&c->gpu_queue->credits, credits);
}

/** Gives credits for all receives of one length, once those of another length are used up. @return whether there were any */
SOFTFIELD_COLD int softfield_consumer_give_credits(struct doca_comch_gpu_consumer *c)
{
	uint32_t mask = c->depth - 1, before = c->credited;

	if (c->credited == c->delivered && c->credited != c->posted)
		c->credit_len = c->recvs[c->credited & mask].len;
	while (c->credited != c->posted && c->recvs[c->credited & mask].len == c->credit_len)
		c->credited++;
	return c->credited != before;
}

/** Ends the consumer if the host or the peer has closed the queue. */
SOFTFIELD_COLD void softfield_consumer_check_control(struct doca_comch_gpu_consumer *c)
{
	uint32_t closed = softfield_load_slot16(&c->gpu_queue->control).w[0];

	if (closed != SOFTFIELD_GPU_QUEUE_OPEN)
		c->status = closed == SOFTFIELD_GPU_QUEUE_LOST ? DOCA_ERROR_IO_FAILED : DOCA_ERROR_BAD_STATE;
}

/** Checks a line, which the sender wrote, against the posted receive. @return 0 when it contradicts that */
SOFTFIELD_DEVICE int softfield_line_check(const struct doca_comch_gpu_consumer *c, struct softfield_slot16 first,
					  uint32_t posted_len, uint32_t *len, uint32_t *imm_len)
{
	uint32_t tag = first.w[3];

	*imm_len = softfield_tag_imm_len(tag);
	if (tag & SOFTFIELD_TAG_ARENA) {
		*len = first.w[1];
		return *len <= posted_len && *imm_len <= SOFTFIELD_IMM_MAX && first.w[0] % SOFTFIELD_ARENA_ALIGN == 0 &&
		       first.w[0] <= c->arena_size && *len <= c->arena_size - first.w[0];
	}
	*len = softfield_tag_len(tag);
	return *len <= posted_len && *imm_len <= SOFTFIELD_IMM_MAX && *len + *imm_len <= SOFTFIELD_INLINE_MAX;
}

/**
 * Copies the message of a complete line into its receive, except for the overflow slot. @return whether its bytes came from the
 * arena
 */
SOFTFIELD_DEVICE int softfield_consumer_deliver(struct doca_comch_gpu_consumer *c, uint32_t seq,
						const struct softfield_slot16 line[4])
{
	struct softfield_gpu_recv *r = &c->recvs[seq & (c->depth - 1)];
	uint8_t *imm = c->imm + (seq & (c->depth - 1)) * SOFTFIELD_IMM_MAX;
	uint32_t len, imm_len, q;

	if (!softfield_line_check(c, line[0], r->len, &len, &imm_len)) {
		c->status = DOCA_ERROR_IO_FAILED;
		return 0;
	}
	r->got = len;
	r->imm_len = imm_len;
	if (line[0].w[3] & SOFTFIELD_TAG_ARENA) {
		softfield_after_load(); /* the arena after the line */
		softfield_observed(&c->lines[seq & (c->depth - 1)]);
		softfield_copy_in((uint8_t *)r->addr, c->arena + line[0].w[0], len, 0, 1);
		for (q = 1; q < 4; q++)
			softfield_scatter(line[q], q - 1, 0, 0, imm, imm_len);
		return 1;
	}
	softfield_observed(&c->lines[seq & (c->depth - 1)]);
	for (q = 0; q < 4 && q * SOFTFIELD_SLOT16_PAYLOAD < len + imm_len; q++)
		softfield_scatter(line[q], q, (uint8_t *)r->addr, len, imm, imm_len);
	return 0;
}

/** The result of a check for one message. */
enum softfield_look { SOFTFIELD_LOOK_NONE, SOFTFIELD_LOOK_CAME, SOFTFIELD_LOOK_CAME_BY_ARENA };

#if defined(__CUDACC__)

/** Copies a message's overflow slot into its receive, whose lengths are known. @return 0 if it is not complete yet
 */
SOFTFIELD_COLD int softfield_consumer_overflow(struct doca_comch_gpu_consumer *c, uint32_t seq)
{
	uint32_t slot = seq & (c->depth - 1), mark = softfield_mark(seq, c->shift), q, slots16;
	const struct softfield_overflow *overflow = softfield_overflow_of(c->lines, c->depth, slot);
	const struct softfield_gpu_recv *r = &c->recvs[slot];
	struct softfield_slot16 slot16[SOFTFIELD_OVERFLOW_SLOTS16];

	slots16 = softfield_inline_slots16(r->got + r->imm_len) - SOFTFIELD_LINE_SLOTS16;
#pragma unroll
	for (q = 0; q < SOFTFIELD_OVERFLOW_SLOTS16; q++)
		if (q < slots16)
			slot16[q] = softfield_load_slot16(&overflow->slot16[q]);
#pragma unroll
	for (q = 0; q < SOFTFIELD_OVERFLOW_SLOTS16; q++)
		if (q < slots16 && slot16[q].w[3] != mark)
			return 0;
#pragma unroll
	for (q = 0; q < SOFTFIELD_OVERFLOW_SLOTS16; q++)
		if (q < slots16)
			softfield_scatter(slot16[q], SOFTFIELD_LINE_SLOTS16 + q, (uint8_t *)r->addr, r->got,
					  c->imm + slot * SOFTFIELD_IMM_MAX, r->imm_len);
	return 1;
}

/** Copies message number seq, whose line was loaded, into its receive, if it has arrived. */
SOFTFIELD_DEVICE enum softfield_look softfield_consumer_take(struct doca_comch_gpu_consumer *c, uint32_t seq,
							     const struct softfield_slot16 line[4])
{
	uint32_t tag = line[0].w[3], mark = softfield_mark(seq, c->shift);
	int arena;

	if (softfield_tag_gen(tag) != softfield_gen(seq, c->shift) || line[1].w[3] != mark || line[2].w[3] != mark ||
	    line[3].w[3] != mark)
		return SOFTFIELD_LOOK_NONE;
	arena = softfield_consumer_deliver(c, seq, line);
	if (c->status != 0 || (softfield_tag_goes_on(tag) && !softfield_consumer_overflow(c, seq)))
		return SOFTFIELD_LOOK_NONE;
	return arena ? SOFTFIELD_LOOK_CAME_BY_ARENA : SOFTFIELD_LOOK_CAME;
}

/**
 * Polls for messages and copies them into their receives: the general path, see softfield_thread_look. @return how many arrived
 */
SOFTFIELD_DEVICE uint32_t softfield_consumer_poll(struct doca_comch_gpu_consumer *c)
{
	struct softfield_slot16 line[SOFTFIELD_THREAD_LINES][4];
	uint32_t first = c->delivered, room = min(c->credited - first, SOFTFIELD_THREAD_LINES), i, q;
	enum softfield_look look;
	int arena = 0;

#pragma unroll
	for (i = 0; i < SOFTFIELD_THREAD_LINES; i++)
		for (q = 0; q < 4; q++)
			line[i][q] = softfield_load_slot16(&c->lines[(first + i) & (c->depth - 1)].slot16[q]);
#pragma unroll
	for (i = 0; i < SOFTFIELD_THREAD_LINES; i++) {
		look = i < room ? softfield_consumer_take(c, first + i, line[i]) : SOFTFIELD_LOOK_NONE;
		if (look == SOFTFIELD_LOOK_NONE)
			break;
		arena |= look == SOFTFIELD_LOOK_CAME_BY_ARENA;
		c->delivered++;
	}
	if (i != 0 && (softfield_consumer_give_credits(c) || arena))
		softfield_consumer_publish(c);
	return i;
}

#else

/** Prefetches the lines of the next message, assuming that it is as long as this one. */
SOFTFIELD_DEVICE void softfield_consumer_prefetch(const struct doca_comch_gpu_consumer *c, uint32_t seq, int goes_on)
{
	uint32_t slot = (seq + SOFTFIELD_AHEAD) & (c->depth - 1);

	__builtin_prefetch(&c->lines[slot]);
	if (goes_on)
		__builtin_prefetch(softfield_overflow_of(c->lines, c->depth, slot));
}

/** Copies message number seq into its receive, if it has arrived. */
SOFTFIELD_DEVICE enum softfield_look softfield_consumer_take(struct doca_comch_gpu_consumer *c, uint32_t seq)
{
	uint32_t slot = seq & (c->depth - 1), mark = softfield_mark(seq, c->shift), slots16, q, tag, len, imm_len;
	const struct softfield_slot16 *line = c->lines[slot].slot16,
				      *overflow = softfield_overflow_of(c->lines, c->depth, slot)->slot16;
	struct softfield_gpu_recv *r = &c->recvs[slot];
	struct softfield_slot16 slot16[4];

	slot16[0] = softfield_load_slot16(line);
	tag = slot16[0].w[3];
	if (softfield_tag_gen(tag) != softfield_gen(seq, c->shift))
		return SOFTFIELD_LOOK_NONE;
	softfield_consumer_prefetch(c, seq, softfield_tag_goes_on(tag));
	if ((tag & SOFTFIELD_TAG_ARENA) || !softfield_line_check(c, slot16[0], r->len, &len, &imm_len)) {
		for (q = 1; q < SOFTFIELD_LINE_SLOTS16; q++) {
			slot16[q] = softfield_load_slot16(line + q);
			if (slot16[q].w[3] != mark)
				return SOFTFIELD_LOOK_NONE;
		}
		softfield_consumer_deliver(c, seq, slot16);
		return c->status != 0 ? SOFTFIELD_LOOK_NONE : SOFTFIELD_LOOK_CAME_BY_ARENA;
	}
	slots16 = softfield_inline_slots16(len + imm_len);
	for (q = 0; q < slots16; q++) {
		slot16[0] = softfield_load_slot16(q < SOFTFIELD_LINE_SLOTS16 ? line + q : overflow + q - SOFTFIELD_LINE_SLOTS16);
		if (q != 0 && slot16[0].w[3] != mark)
			return SOFTFIELD_LOOK_NONE;
		softfield_scatter(slot16[0], q, (uint8_t *)r->addr, len, c->imm + slot * SOFTFIELD_IMM_MAX, imm_len);
	}
	softfield_observed(line);
	r->got = len;
	r->imm_len = imm_len;
	return SOFTFIELD_LOOK_CAME;
}

/** Polls for messages and copies them into their receives. @return how many arrived */
SOFTFIELD_DEVICE uint32_t softfield_consumer_poll(struct doca_comch_gpu_consumer *c)
{
	enum softfield_look look = SOFTFIELD_LOOK_CAME;
	uint32_t room = c->credited - c->delivered, i;
	int arena = 0;

	for (i = 0; i < room && i < SOFTFIELD_THREAD_LINES; i++) {
		look = softfield_consumer_take(c, c->delivered);
		if (look == SOFTFIELD_LOOK_NONE)
			break;
		arena |= look == SOFTFIELD_LOOK_CAME_BY_ARENA;
		c->delivered++;
	}
	if (i != 0 && (softfield_consumer_give_credits(c) || arena))
		softfield_consumer_publish(c);
	return i;
}

#endif

/** doca_dev_gpu_comch_consumer_post_recv. */
SOFTFIELD_COLD doca_error_t softfield_consumer_post(struct doca_comch_gpu_consumer *c, uint32_t mkey, uintptr_t addr,
						    uint32_t len)
{
	struct softfield_gpu_recv *r;

	if (addr == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (c->status != 0)
		return DOCA_ERROR_BAD_STATE;
	if (c->posted - c->head >= c->recv_max)
		return DOCA_ERROR_AGAIN;
	r = &c->recvs[c->posted & (c->depth - 1)];
	r->addr = addr;
	r->len = len;
	r->mkey = mkey;
	c->posted++;
	if (softfield_consumer_give_credits(c))
		softfield_consumer_publish(c);
	return DOCA_SUCCESS;
}

/** doca_dev_gpu_comch_consumer_recv_wait without waiting. */
SOFTFIELD_COLD doca_error_t softfield_consumer_try(struct doca_comch_gpu_consumer *c, uint32_t *mkey, uintptr_t *addr,
						   uint32_t *recv_len, uint8_t **imm_data, uint32_t *imm_data_len)
{
	struct softfield_gpu_recv *r;

	if (c->head == c->delivered) {
		if (c->status != 0)
			return (doca_error_t)c->status;
		if (softfield_consumer_poll(c) == 0) {
			if (++c->empties % SOFTFIELD_CONTROL_EVERY == 0)
				softfield_consumer_check_control(c);
			return c->status != 0 ? (doca_error_t)c->status : DOCA_ERROR_AGAIN;
		}
	}
	r = &c->recvs[c->head & (c->depth - 1)];
	*mkey = r->mkey;
	*addr = (uintptr_t)r->addr;
	*recv_len = r->got;
	if (imm_data != 0)
		*imm_data = r->imm_len != 0 ? c->imm + (c->head & (c->depth - 1)) * SOFTFIELD_IMM_MAX : 0;
	if (imm_data_len != 0)
		*imm_data_len = r->imm_len;
	softfield_trace(c->trace, SOFTFIELD_TRACE_DELIVER, c->head, softfield_trace_flow(c->trace_salt, c->head), r->got);
	c->head++;
	return DOCA_SUCCESS;
}

#endif /* SOFTFIELD_GPU_CONSUMER_H_ */
