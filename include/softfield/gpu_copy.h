/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_copy.h
 * How a kernel moves a message: between a line's 16-byte slots and a buffer, and between the arena and a buffer. On a CUDA GPU by
 * wide accesses, with several in flight in each thread; on the software GPU by memcpy. Internal to the doca_dev_gpu_comch_*
 * functions.
 */
#ifndef SOFTFIELD_GPU_COPY_H_
#define SOFTFIELD_GPU_COPY_H_

#include <stdint.h>
#include <softfield/gpu_queue.h>

/** Loads of 16 bytes that each thread of a large copy has in flight. */
#define SOFTFIELD_COPY_FLIGHT 8

#if !defined(__CUDACC__)
#include <string.h>
#endif

/** Writes the word at payload byte `at`, which is not a whole and aligned part of the buffer, byte by byte. */
SOFTFIELD_COLD void softfield_scatter_word(uint32_t word, uint32_t at, uint8_t *buf, uint32_t len, uint8_t *imm, uint32_t imm_len)
{
	uint32_t b;

	for (b = 0; b < 4; b++, at++, word >>= 8) {
		if (at < len)
			buf[at] = (uint8_t)word;
		else if (at < len + imm_len)
			imm[at - len] = (uint8_t)word;
	}
}

/** The opposite. */
SOFTFIELD_COLD uint32_t softfield_gather_word(uint32_t at, const uint8_t *buf, uint32_t len, const uint8_t *imm, uint32_t imm_len)
{
	uint32_t word = 0, b;

	for (b = 0; b < 4; b++, at++) {
		if (at < len)
			word |= (uint32_t)buf[at] << 8 * b;
		else if (at < len + imm_len)
			word |= (uint32_t)imm[at - len] << 8 * b;
	}
	return word;
}

/** Writes payload bytes from 12q on to the buffer, as far as they belong to the message, and those after it to imm. */
SOFTFIELD_DEVICE void softfield_scatter(struct softfield_slot16 slot16, uint32_t q, uint8_t *buf, uint32_t len, uint8_t *imm,
					uint32_t imm_len)
{
	uint32_t k, at;

#if !defined(__CUDACC__)
	if ((q + 1) * SOFTFIELD_SLOT16_PAYLOAD <= len) {
		memcpy(buf + q * SOFTFIELD_SLOT16_PAYLOAD, slot16.w, SOFTFIELD_SLOT16_PAYLOAD);
		return;
	}
#endif
	for (k = 0; k < 3; k++) {
		at = q * SOFTFIELD_SLOT16_PAYLOAD + 4 * k;
		if (at + 4 <= len && ((uintptr_t)buf & 3) == 0)
			*(uint32_t *)(buf + at) = slot16.w[k];
		else if (at < len + imm_len)
			softfield_scatter_word(slot16.w[k], at, buf, len, imm, imm_len);
	}
}

/** The opposite: payload bytes from 12q on, then imm, then zeros. The tag is left 0. */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_gather(uint32_t q, const uint8_t *buf, uint32_t len, const uint8_t *imm,
							  uint32_t imm_len)
{
	struct softfield_slot16 slot16 = {{0, 0, 0, 0}};
	uint32_t k, at;

	for (k = 0; k < 3; k++) {
		at = q * SOFTFIELD_SLOT16_PAYLOAD + 4 * k;
		if (at + 4 <= len && ((uintptr_t)buf & 3) == 0)
			slot16.w[k] = *(const uint32_t *)(buf + at);
		else if (at < len + imm_len)
			slot16.w[k] = softfield_gather_word(at, buf, len, imm, imm_len);
	}
	return slot16;
}

#if defined(__CUDACC__)

/** Stores the first len bytes of a 16-byte slot to any address. */
SOFTFIELD_COLD void softfield_store_bytes(uint8_t *to, struct softfield_slot16 slot16, uint32_t len)
{
	uint32_t i;

#pragma unroll
	for (i = 0; i < 16; i++)
		if (i < len)
			to[i] = (uint8_t)(slot16.w[i / 4] >> 8 * (i & 3));
}

/** The opposite. */
SOFTFIELD_COLD struct softfield_slot16 softfield_load_bytes(const uint8_t *from, uint32_t len)
{
	struct softfield_slot16 slot16 = {{0, 0, 0, 0}};
	uint32_t i;

#pragma unroll
	for (i = 0; i < 16; i++)
		if (i < len)
			slot16.w[i / 4] |= (uint32_t)from[i] << 8 * (i & 3);
	return slot16;
}

/** Stores a 16-byte slot, or the first len bytes of it, to any address. */
SOFTFIELD_DEVICE void softfield_store_any(uint8_t *to, struct softfield_slot16 slot16, uint32_t len)
{
	uint32_t i;

	if (len >= 16 && ((uintptr_t)to & 15) == 0) {
		*(uint4 *)to = make_uint4(slot16.w[0], slot16.w[1], slot16.w[2], slot16.w[3]);
	} else if (len >= 16 && ((uintptr_t)to & 3) == 0) {
		for (i = 0; i < 4; i++)
			((uint32_t *)to)[i] = slot16.w[i];
	} else {
		softfield_store_bytes(to, slot16, len);
	}
}

/** Loads a 16-byte slot, or the first len bytes of it, from any address. */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_load_any(const uint8_t *from, uint32_t len)
{
	struct softfield_slot16 slot16 = {{0, 0, 0, 0}};
	uint32_t i;

	if (len >= 16 && ((uintptr_t)from & 15) == 0) {
		uint4 v = *(const uint4 *)from;

		slot16.w[0] = v.x;
		slot16.w[1] = v.y;
		slot16.w[2] = v.z;
		slot16.w[3] = v.w;
	} else if (len >= 16 && ((uintptr_t)from & 3) == 0) {
		for (i = 0; i < 4; i++)
			slot16.w[i] = ((const uint32_t *)from)[i];
	} else {
		slot16 = softfield_load_bytes(from, len);
	}
	return slot16;
}

/** Whether a buffer can be accessed 16 bytes at a time. */
SOFTFIELD_DEVICE bool softfield_is_wide(const void *buf)
{
	return ((uintptr_t)buf & 15) == 0;
}

/** The first len bytes of four words to an aligned buffer; fewer than 16. */
SOFTFIELD_DEVICE void softfield_four_store(uint8_t *buf, uint4 four, uint32_t len)
{
	const uint32_t last = len < 4 ? four.x : len < 8 ? four.y : len < 12 ? four.z : four.w;
	uint32_t b;

	if (len >= 4)
		((uint32_t *)buf)[0] = four.x;
	if (len >= 8)
		((uint32_t *)buf)[1] = four.y;
	if (len >= 12)
		((uint32_t *)buf)[2] = four.z;
#pragma unroll
	for (b = 0; b < 3; b++)
		if (b < (len & 3))
			buf[(len & ~3u) + b] = (uint8_t)(last >> 8 * b);
}

/** The opposite; zeros behind them. Loads all of the last word, too. */
SOFTFIELD_DEVICE uint4 softfield_four_load(const uint8_t *buf, uint32_t len)
{
	const uint32_t *words = (const uint32_t *)buf, kept = len & 3 ? (1u << 8 * (len & 3)) - 1 : ~0u;
	uint4 four;

	four.x = len > 0 ? words[0] : 0;
	four.y = len > 4 ? words[1] : 0;
	four.z = len > 8 ? words[2] : 0;
	four.w = len > 12 ? words[3] : 0;
	four.x &= len < 4 ? kept : ~0u;
	four.y &= len < 8 ? kept : ~0u;
	four.z &= len < 12 ? kept : ~0u;
	four.w &= kept;
	return four;
}

/**
 * softfield_store_any and softfield_load_any of such a buffer, without a call: around one, slots that are still being loaded
 * would have to be stored to memory, and each waited for.
 */
SOFTFIELD_DEVICE void softfield_store_wide(uint8_t *to, struct softfield_slot16 slot16, uint32_t len)
{
	const uint4 four = make_uint4(slot16.w[0], slot16.w[1], slot16.w[2], slot16.w[3]);

	if (len >= 16)
		*(uint4 *)to = four;
	else
		softfield_four_store(to, four, len);
}
SOFTFIELD_DEVICE struct softfield_slot16 softfield_load_wide(const uint8_t *from, uint32_t len)
{
	const uint4 four = len >= 16 ? *(const uint4 *)from : softfield_four_load(from, len);
	const struct softfield_slot16 slot16 = {{four.x, four.y, four.z, four.w}};

	return slot16;
}

/** Loads and stores 16 bytes at most of a message and of the arena, in the direction of `in`: out of the arena. */
template <bool in> SOFTFIELD_DEVICE struct softfield_slot16 softfield_copy_load(const uint8_t *from, uint32_t len)
{
	return in ? softfield_load_slot16((const struct softfield_slot16 *)from) : softfield_load_wide(from, len);
}
template <bool in> SOFTFIELD_DEVICE void softfield_copy_store(uint8_t *to, struct softfield_slot16 slot16, uint32_t len)
{
	if (in)
		softfield_store_wide(to, slot16, len);
	else
		softfield_store_slot16((struct softfield_slot16 *)to, slot16);
}

/** softfield_copy_in and softfield_copy_out where the message's buffer is at any address. */
template <bool in>
SOFTFIELD_COLD void softfield_copy_any(uint8_t *to, const uint8_t *from, uint32_t len, uint32_t rank, uint32_t n)
{
	uint32_t i, slots16 = (len + 15) / 16;

#pragma unroll 1
	for (i = rank; i < slots16; i += n) {
		if (in)
			softfield_store_any(to + 16 * (uint64_t)i,
					    softfield_load_slot16((const struct softfield_slot16 *)from + i), len - 16 * i);
		else
			softfield_store_slot16((struct softfield_slot16 *)to + i,
					       softfield_load_any(from + 16 * (uint64_t)i, len - 16 * i));
	}
}

/** The same where it is wide. A message that is one load for each thread returns early: passing over the rest takes long. */
template <bool in>
SOFTFIELD_COLD void softfield_copy_wide(uint8_t *to, const uint8_t *from, uint32_t len, uint32_t rank, uint32_t n)
{
	struct softfield_slot16 slot16[SOFTFIELD_COPY_FLIGHT];
	uint32_t slots16 = (len + 15) / 16, i = rank, k;

	if (slots16 <= n) {
		if (i < slots16)
			softfield_copy_store<in>(to + 16 * (uint64_t)i,
						 softfield_copy_load<in>(from + 16 * (uint64_t)i, len - 16 * i), len - 16 * i);
		return;
	}
	for (; i < slots16; i += SOFTFIELD_COPY_FLIGHT * n) {
#pragma unroll
		for (k = 0; k < SOFTFIELD_COPY_FLIGHT; k++)
			if (i + k * n < slots16)
				slot16[k] = softfield_copy_load<in>(from + 16 * (uint64_t)(i + k * n), len - 16 * (i + k * n));
#pragma unroll
		for (k = 0; k < SOFTFIELD_COPY_FLIGHT; k++)
			if (i + k * n < slots16)
				softfield_copy_store<in>(to + 16 * (uint64_t)(i + k * n), slot16[k], len - 16 * (i + k * n));
	}
}

/** Copies a message out of the arena; n threads do it together, of which the caller is number rank. */
SOFTFIELD_DEVICE void softfield_copy_in(uint8_t *to, const uint8_t *arena, uint32_t len, uint32_t rank, uint32_t n)
{
	if (softfield_is_wide(to))
		softfield_copy_wide<true>(to, arena, len, rank, n);
	else
		softfield_copy_any<true>(to, arena, len, rank, n);
}

/** Copies a message into the arena, likewise. */
SOFTFIELD_DEVICE void softfield_copy_out(uint8_t *arena, const uint8_t *from, uint32_t len, uint32_t rank, uint32_t n)
{
	if (softfield_is_wide(from))
		softfield_copy_wide<false>(arena, from, len, rank, n);
	else
		softfield_copy_any<false>(arena, from, len, rank, n);
}

#else

/** Two words as one. The second has 64 bits, since of a shifted word of 32 bits a compiler may store 32 and load 64. */
SOFTFIELD_DEVICE uint64_t softfield_pair(uint32_t first, uint64_t second)
{
	__asm__("" : "+r"(second));
	return first | second << 32;
}

/**
 * Writes the line of a message in the arena: where it is, and its immediate data. The slots are put together in registers: a load
 * of bytes that several stores wrote waits until all earlier stores are in the cache, and those into the arena take long.
 */
SOFTFIELD_DEVICE void softfield_put_arena_line(struct softfield_line *line, uint32_t tag, uint32_t mark, uint32_t offset,
					       uint32_t len, const uint8_t *imm, uint32_t imm_len)
{
	uint8_t bytes[SOFTFIELD_LINE_PAYLOAD - SOFTFIELD_SLOT16_PAYLOAD] = {0};
	uint32_t q;

	softfield_store_halves(&line->slot16[0], softfield_pair(offset, len), softfield_pair(0, tag));
	if (imm_len == 0) {
		for (q = 1; q < SOFTFIELD_LINE_SLOTS16; q++)
			softfield_store_halves(&line->slot16[q], 0, softfield_pair(0, mark));
		return;
	}
	memcpy(bytes, imm, imm_len);
	for (q = 1; q < SOFTFIELD_LINE_SLOTS16; q++)
		softfield_store_piece(&line->slot16[q], bytes + (q - 1) * SOFTFIELD_SLOT16_PAYLOAD, mark);
}

SOFTFIELD_DEVICE void softfield_copy_in(uint8_t *to, const uint8_t *arena, uint32_t len, uint32_t rank, uint32_t n)
{
	(void)n;
	if (rank == 0)
		memcpy(to, arena, len);
}

SOFTFIELD_DEVICE void softfield_copy_out(uint8_t *arena, const uint8_t *from, uint32_t len, uint32_t rank, uint32_t n)
{
	(void)n;
	if (rank == 0)
		memcpy(arena, from, len);
}

#endif

#endif /* SOFTFIELD_GPU_COPY_H_ */
