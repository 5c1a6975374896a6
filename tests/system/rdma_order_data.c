/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers, the messages that follow from them, and lists of buffers. */
#include "rdma_order.h"

#define GAP_MAX 64
#define BEFORE_MAX 8

uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return random_next(state) % bound;
}

/* Lengths around each size at which the implementation switches to another path. */
size_t random_len(uint64_t *state)
{
	switch (random_below(state, 12)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return 1 + random_below(state, 32);
	case 4:
	case 5:
		return 90 + random_below(state, 40);
	case 6:
	case 7:
		return 1 + random_below(state, 2200);
	case 8:
	case 9:
		return 4000 + random_below(state, 4300);
	default:
		return random_below(state, MESSAGE_MAX + 1);
	}
}

struct message message_of(uint64_t seed, uint32_t from, uint32_t lane, uint64_t number)
{
	static const enum verb verbs[] = {VERB_SEND, VERB_SEND_IMM, VERB_WRITE_IMM};
	uint64_t state = seed ^ (UINT64_C(0x1234567) * (from + 1)) ^ ((uint64_t)(lane + 1) << 40) ^ (number * 0x10001);
	struct message message;

	message.verb = verbs[random_below(&state, 3)];
	message.len = random_len(&state);
	message.immediate = message.verb == VERB_SEND ? 0 : (doca_be32_t)random_next(&state);
	message.base = (uint8_t)random_next(&state);
	message.mark = random_below(&state, message.verb == VERB_WRITE_IMM ? 4 : 3);
	if (message.mark == MARK_OWN)
		message.len = sizeof(uint64_t);
	return message;
}

/* ---- lists ---- */

static struct doca_buf *piece_make(struct side *side, uint8_t *at, size_t before, size_t len, bool data)
{
	struct doca_buf *buf = rdma_rig_buf(&side->rig, false, (size_t)(at - side->rig.memory), before + len, false);

	CHECK_OK(doca_buf_set_data(buf, at, data ? before + len : before));
	return buf;
}

void chain_make(struct chain *chain, struct side *side, uint8_t *area, size_t len, bool data)
{
	uint32_t num = 1 + (uint32_t)random_below(&side->random, PIECES_MAX);
	uint8_t *at = area;

	*chain = (struct chain){.num = num, .before = data ? 0 : random_below(&side->random, BEFORE_MAX)};
	for (uint32_t i = 0; i < num; i++) {
		size_t before = i == 0 ? chain->before : 0, part = i == num - 1 ? len : random_below(&side->random, len + 1);
		struct doca_buf *buf;

		at += random_below(&side->random, GAP_MAX);
		CHECK(at + before + part <= area + AREA);
		buf = piece_make(side, at, before, part, data);
		if (chain->head == NULL)
			chain->head = buf;
		else
			CHECK_OK(doca_buf_chain_list(chain->head, buf));
		chain->at[i] = at + before;
		chain->len[i] = part;
		at += before + part;
		len -= part;
	}
}

void chain_fill(const struct chain *chain, uint8_t base, size_t len)
{
	for (size_t i = 0, piece = 0, at = 0; i < len; i++, at++) {
		for (; at == chain->len[piece]; piece++)
			at = 0;
		chain->at[piece][at] = content(base, i);
	}
}

void chain_put(struct chain *chain, const uint8_t *bytes, size_t len)
{
	for (uint32_t piece = 0; piece < chain->num && len != 0; piece++) {
		size_t part = chain->len[piece] < len ? chain->len[piece] : len;

		memcpy(chain->at[piece], bytes, part);
		bytes += part;
		len -= part;
	}
}

void chain_copy_out(const struct chain *chain, uint8_t *bytes, size_t len)
{
	for (uint32_t piece = 0; piece < chain->num && len != 0; piece++) {
		size_t part = chain->len[piece] < len ? chain->len[piece] : len;

		memcpy(bytes, chain->at[piece], part);
		bytes += part;
		len -= part;
	}
}

bool chain_holds(const struct chain *chain, uint8_t base, size_t len)
{
	for (size_t i = 0, piece = 0, at = 0; i < len; i++, at++) {
		for (; at == chain->len[piece]; piece++)
			at = 0;
		if (chain->at[piece][at] != content(base, i))
			return false;
	}
	return true;
}
