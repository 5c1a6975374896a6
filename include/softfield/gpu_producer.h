/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_producer.h
 * The producer's device code at thread scope; warp and block scope build on it. Internal to doca_gpunetio_dev_comch.cuh.
 *
 * A send is complete, for the kernel, when its bytes are in the GPU queue: the receive is reserved and the buffer is free. So
 * completions come in the order of the sends, and polling for them costs nothing.
 */
#ifndef SOFTFIELD_GPU_PRODUCER_H_
#define SOFTFIELD_GPU_PRODUCER_H_

#include <doca_error.h>
#include <softfield/gpu_comch.h>
#include <softfield/gpu_consumer.h>
#include <softfield/gpu_copy.h>

/** The message's bytes are in the arena. */
#define SOFTFIELD_NOT_INLINE UINT32_C(0xffffffff)

/** Copies the host's entry, whose id is written last. */
SOFTFIELD_COLD int softfield_peer_copy(struct softfield_gpu_peer *to, const struct softfield_gpu_peer *from, uint32_t id)
{
	const struct softfield_slot16 *slots16 = (const struct softfield_slot16 *)from;
	struct softfield_slot16 copy[sizeof(*from) / sizeof(struct softfield_slot16)];
	uint32_t i;

	if (softfield_load_slot16(slots16).w[0] != id)
		return 0;
	softfield_fence_system();
	softfield_observed(from);
	for (i = 0; i < sizeof(copy) / sizeof(copy[0]); i++)
		copy[i] = softfield_load_slot16(slots16 + i);
	if (copy[0].w[0] != id)
		return 0;
	*to = *(const struct softfield_gpu_peer *)(const void *)copy;
	return 1;
}

/** A send state by its number. */
SOFTFIELD_DEVICE struct softfield_gpu_dest *softfield_producer_dest(struct doca_comch_gpu_producer *p, uint32_t dest)
{
	return dest == p->last_dest ? &p->current : &p->dests[dest];
}

SOFTFIELD_DEVICE int softfield_dest_is(const struct softfield_gpu_dest *d, uint32_t consumer_id)
{
	return d->peer.consumer_id == consumer_id && d->closed == 0;
}

/** Switches to the send state of another consumer. @return 0 when there is none */
SOFTFIELD_COLD int softfield_producer_switch(struct doca_comch_gpu_producer *p, uint32_t consumer_id)
{
	struct softfield_gpu_peer peer;
	uint32_t i;

	p->dests[p->last_dest] = p->current;
	for (i = 0; i < SOFTFIELD_GPU_PEERS_MAX && !softfield_dest_is(&p->dests[i], consumer_id); i++)
		;
	if (i == SOFTFIELD_GPU_PEERS_MAX) {
		for (i = 0; i < SOFTFIELD_GPU_PEERS_MAX && !softfield_peer_copy(&peer, &p->peers[i], consumer_id); i++)
			;
		if (i == SOFTFIELD_GPU_PEERS_MAX)
			return 0;
		p->dests[i].peer = peer;
		p->dests[i].seq = p->dests[i].count = p->dests[i].len = p->dests[i].done = p->dests[i].closed = 0;
	}
	p->current = p->dests[i];
	p->last_dest = i;
	return 1;
}

/** Makes the send state of a consumer the current one. @return 0 when there is no such consumer */
SOFTFIELD_DEVICE int softfield_producer_find(struct doca_comch_gpu_producer *p, uint32_t consumer_id)
{
	return softfield_dest_is(&p->current, consumer_id) || softfield_producer_switch(p, consumer_id);
}

/** Ends the producer if the host has closed it. */
SOFTFIELD_DEVICE void softfield_producer_check_control(struct doca_comch_gpu_producer *p)
{
	uint32_t closed = softfield_load_slot16(&p->control->control).w[0];

	if (closed != SOFTFIELD_GPU_QUEUE_OPEN)
		p->status = closed == SOFTFIELD_GPU_QUEUE_LOST ? DOCA_ERROR_IO_FAILED : DOCA_ERROR_BAD_STATE;
}

/** Reads the consumer's credits, and whether the producer or the consumer has ended. */
SOFTFIELD_COLD void softfield_producer_refresh(struct doca_comch_gpu_producer *p, struct softfield_gpu_dest *d)
{
	struct softfield_slot16 credits = softfield_load_slot16(&d->peer.gpu_queue->credits);

	softfield_producer_check_control(p);
	softfield_observed(&d->peer.gpu_queue->credits);
	d->closed = credits.w[SOFTFIELD_CREDIT_CLOSED];
	/* check what the peer wrote: at most a ring of receives, and nothing consumed that was not sent */
	if (credits.w[SOFTFIELD_CREDIT_COUNT] - d->seq <= d->peer.depth)
		d->count = credits.w[SOFTFIELD_CREDIT_COUNT];
	if (d->seq - credits.w[SOFTFIELD_CREDIT_DONE] <= d->seq - d->done)
		d->done = credits.w[SOFTFIELD_CREDIT_DONE];
	d->len = credits.w[SOFTFIELD_CREDIT_LEN];
}

/** Frees the arena bytes of messages that their consumers have consumed, in the order of sending. */
SOFTFIELD_COLD void softfield_producer_reclaim(struct doca_comch_gpu_producer *p)
{
	if (p->arena_head == p->arena_tail)
		p->freed = p->sent;
	while (p->freed != p->sent) {
		struct softfield_gpu_send *s = &p->sends[p->freed & (p->send_ring - 1)];

		if (s->inline_len == SOFTFIELD_NOT_INLINE) {
			struct softfield_gpu_dest *d = softfield_producer_dest(p, s->dest);

			if (d->closed == 0 && (int32_t)(d->done - s->seq) <= 0) {
				softfield_producer_refresh(p, d);
				if (d->closed == 0 && (int32_t)(d->done - s->seq) <= 0)
					return;
			}
			p->arena_tail = s->arena_end;
		}
		p->freed++;
	}
}

/** Returns whether the producer's own ring has room for one more message. */
SOFTFIELD_DEVICE int softfield_producer_has_slot(struct doca_comch_gpu_producer *p)
{
	if (p->sent - p->polled >= p->send_max)
		return 0;
	if (p->sent - p->freed >= p->send_ring)
		softfield_producer_reclaim(p);
	return p->sent - p->freed < p->send_ring;
}

/** Allocates arena bytes for a message. @return 0 when there are none now */
SOFTFIELD_COLD int softfield_producer_take(struct doca_comch_gpu_producer *p, uint32_t len, uint32_t *offset)
{
	if (softfield_arena_take_some(&p->arena_head, p->arena_tail, &p->arena_used, p->arena_size, len, offset))
		return 1;
	softfield_producer_reclaim(p);
	return softfield_arena_take_some(&p->arena_head, p->arena_tail, &p->arena_used, p->arena_size, len, offset);
}

/** 16-byte slot q of a message: in its line, or from the fourth on in its overflow slot. */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_send_slot16(const struct softfield_gpu_send *s, uint32_t shift, uint32_t q)
{
	uint32_t gen = softfield_gen(s->seq, shift), mark = softfield_mark(s->seq, shift);
	struct softfield_slot16 slot16;

	if (s->inline_len == SOFTFIELD_NOT_INLINE) {
		if (q == 0) {
			slot16.w[0] = s->offset;
			slot16.w[1] = s->len;
			slot16.w[2] = 0;
			slot16.w[3] = softfield_tag(gen, 0, s->imm_len, SOFTFIELD_TAG_ARENA);
			return slot16;
		}
		slot16 = softfield_gather(q - 1, 0, 0, (const uint8_t *)s->imm, s->imm_len);
		slot16.w[3] = mark;
		return slot16;
	}
	slot16 = softfield_gather(q, (const uint8_t *)s->addr, s->len, (const uint8_t *)s->imm, s->imm_len);
	slot16.w[3] = q == 0 ? softfield_tag(gen, s->len, s->imm_len, 0) : mark;
	return slot16;
}

#if defined(__CUDACC__)

/** Writes the part of a message that belongs into the overflow slot. */
SOFTFIELD_COLD void softfield_producer_overflow(const struct softfield_gpu_peer *peer, const struct softfield_gpu_send *s)
{
	struct softfield_overflow *overflow = softfield_overflow_of(peer->lines, peer->depth, s->seq & (peer->depth - 1));
	uint32_t slots16 = softfield_inline_slots16(s->len + s->imm_len), q;

	for (q = SOFTFIELD_LINE_SLOTS16; q < slots16; q++)
		softfield_store_slot16(&overflow->slot16[q - SOFTFIELD_LINE_SLOTS16], softfield_send_slot16(s, peer->shift, q));
}

/** Writes a message's line, and its overflow slot. */
SOFTFIELD_DEVICE void softfield_producer_put(const struct softfield_gpu_peer *peer, const struct softfield_gpu_send *s)
{
	struct softfield_line *line = &peer->lines[s->seq & (peer->depth - 1)];
	uint32_t q;

	for (q = 0; q < SOFTFIELD_LINE_SLOTS16; q++)
		softfield_store_slot16(&line->slot16[q], softfield_send_slot16(s, peer->shift, q));
	if (s->inline_len != SOFTFIELD_NOT_INLINE && s->len + s->imm_len > SOFTFIELD_LINE_PAYLOAD)
		softfield_producer_overflow(peer, s);
}

#else

SOFTFIELD_DEVICE void softfield_producer_put(const struct softfield_gpu_peer *peer, const struct softfield_gpu_send *s)
{
	uint32_t slot = s->seq & (peer->depth - 1), ahead = (s->seq + SOFTFIELD_AHEAD) & (peer->depth - 1), q, slots16;
	const int is_inline = s->inline_len != SOFTFIELD_NOT_INLINE;
	uint32_t tag = softfield_tag(softfield_gen(s->seq, peer->shift), is_inline ? s->len : 0, s->imm_len,
				     is_inline ? 0 : SOFTFIELD_TAG_ARENA),
		 mark = softfield_mark(s->seq, peer->shift);
	struct softfield_slot16 *line = peer->lines[slot].slot16, *to;
	struct softfield_slot16 *overflow = softfield_overflow_of(peer->lines, peer->depth, slot)->slot16;

	softfield_prefetch_write(&peer->lines[ahead]);
	softfield_published(line);
	if (!is_inline) {
		softfield_put_arena_line(&peer->lines[slot], tag, mark, s->offset, s->len, (const uint8_t *)(uintptr_t)s->imm,
					 s->imm_len);
		return;
	}
	slots16 = softfield_inline_slots16(s->len + s->imm_len);
	if (slots16 > SOFTFIELD_LINE_SLOTS16)
		softfield_prefetch_write(softfield_overflow_of(peer->lines, peer->depth, ahead));
	for (q = 0; q < slots16; q++) {
		to = q < SOFTFIELD_LINE_SLOTS16 ? line + q : overflow + q - SOFTFIELD_LINE_SLOTS16;
		if ((q + 1) * SOFTFIELD_SLOT16_PAYLOAD <= s->len)
			softfield_store_piece(to, (const uint8_t *)s->addr + q * SOFTFIELD_SLOT16_PAYLOAD, q == 0 ? tag : mark);
		else
			softfield_store_slot16(to, softfield_send_slot16(s, peer->shift, q));
	}
}

#endif

/** Wakes the peer's CPU, if the GPU can. */
SOFTFIELD_DEVICE void softfield_producer_ring(const struct softfield_gpu_dest *d)
{
#if !defined(__CUDACC__)
	if (d->peer.registered == 0 || __atomic_load_n(&d->peer.gpu_queue->barriers, __ATOMIC_RELAXED) == 0)
		softfield_fence_system(); /* the line before the check: the peer arms, then checks the line */
	if (__atomic_load_n(&d->peer.gpu_queue->armed, __ATOMIC_RELAXED) != 0 &&
	    __atomic_exchange_n(&d->peer.gpu_queue->armed, 0, __ATOMIC_ACQ_REL) != 0 && d->peer.ring != 0)
		d->peer.ring(d->peer.ring_arg);
#else
	(void)d;
#endif
}

/** doca_dev_gpu_comch_producer_send. */
SOFTFIELD_COLD doca_error_t softfield_producer_send(struct doca_comch_gpu_producer *p, uintptr_t addr, uint32_t len,
						    const uint8_t *imm, uint32_t imm_len, uint32_t consumer_id,
						    uint64_t user_msg_id)
{
	struct softfield_gpu_dest *d;
	struct softfield_gpu_send *s;

	if (consumer_id == 0 || (addr == 0 && len != 0) || imm_len > SOFTFIELD_IMM_MAX || (imm == 0 && imm_len != 0))
		return DOCA_ERROR_INVALID_VALUE;
	if (p->status != 0)
		return DOCA_ERROR_BAD_STATE;
	if (!softfield_producer_find(p, consumer_id))
		return DOCA_ERROR_INVALID_VALUE;
	d = &p->current;
	if (d->seq == d->count) {
		softfield_producer_refresh(p, d);
		if (p->status != 0 || d->closed != 0)
			return DOCA_ERROR_BAD_STATE;
		if (d->seq == d->count)
			return DOCA_ERROR_AGAIN;
	}
	if (len > d->len || len > p->arena_size)
		return DOCA_ERROR_INVALID_VALUE;
	if (!softfield_producer_has_slot(p))
		return DOCA_ERROR_AGAIN;
	s = &p->sends[p->sent & (p->send_ring - 1)];
	s->inline_len = len + imm_len <= SOFTFIELD_INLINE_MAX ? len : SOFTFIELD_NOT_INLINE;
	if (s->inline_len == SOFTFIELD_NOT_INLINE) {
		if (!softfield_producer_take(p, len, &s->offset))
			return p->status != 0 ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_AGAIN;
		softfield_copy_out(p->arena + s->offset, (const uint8_t *)addr, len, 0, 1);
		softfield_arena_prefetch_write(p->arena, p->arena_size, s->offset, len);
		softfield_fence_release(); /* the arena before the line */
	}
	s->user_msg_id = user_msg_id;
	s->addr = addr;
	s->len = len;
	s->imm = (uintptr_t)imm;
	s->imm_len = imm_len;
	s->dest = p->last_dest;
	s->seq = d->seq;
	s->arena_end = p->arena_head;
	softfield_trace(p->trace, SOFTFIELD_TRACE_SEND, p->sent, softfield_trace_flow(d->peer.trace_salt, d->seq), len);
	softfield_producer_put(&d->peer, s);
	d->seq++;
	p->sent++;
	softfield_producer_ring(d);
	return DOCA_SUCCESS;
}

/** doca_dev_gpu_comch_producer_poll without waiting. */
SOFTFIELD_COLD doca_error_t softfield_producer_try(struct doca_comch_gpu_producer *p, uint64_t *user_msg_id)
{
	if (p->polled == p->sent) {
		if (p->status == 0 && ++p->empties % SOFTFIELD_CONTROL_EVERY == 0)
			softfield_producer_check_control(p);
		return p->status != 0 ? (doca_error_t)p->status : DOCA_ERROR_AGAIN;
	}
	*user_msg_id = p->sends[p->polled & (p->send_ring - 1)].user_msg_id;
	p->polled++;
	return DOCA_SUCCESS;
}

#endif /* SOFTFIELD_GPU_PRODUCER_H_ */
