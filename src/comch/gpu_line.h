/* SPDX-License-Identifier: BSD-3-Clause */
/* How the CPU stores a message in the 16-byte slots of a line, and loads it from them (softfield/gpu_queue.h). */
#ifndef COMCH_GPU_LINE_H
#define COMCH_GPU_LINE_H

#include <stdbool.h>
#include <string.h>

#include <softfield/gpu_queue.h>

/* A 16-byte slot of fewer bytes than it holds. Where bytes lie before them, they are loaded with those and shifted out: a piece
 * that was put together in memory would wait for the store buffer. */
static inline void gpu_slot16_put_last(struct softfield_slot16 *to, uint32_t tag, const uint8_t *bytes, uint32_t len, bool before)
{
	uint32_t missing = SOFTFIELD_SLOT16_PAYLOAD - len, high = 0;
	uint64_t low = 0;
	unsigned __int128 both;

	if (__builtin_expect(!before, 0)) {
		memcpy(&low, bytes, len < 8 ? len : 8);
		memcpy(&high, bytes + 8, len < 8 ? 0 : len - 8);
		softfield_store_halves(to, low, (uint64_t)tag << 32 | high);
		return;
	}
	memcpy(&low, bytes - missing, 8);
	memcpy(&high, bytes - missing + 8, 4);
	both = ((unsigned __int128)high << 64 | low) >> 8 * missing;
	softfield_store_halves(to, (uint64_t)both, (uint64_t)tag << 32 | (uint64_t)(both >> 64));
}

/* The 16-byte slots of a message: tag is the first one's, mark the others'. The bytes are one buffer's, which is not read beyond
 * its ends. */
static inline void gpu_slots16_put(struct softfield_line *line, struct softfield_overflow *overflow, uint32_t tag, uint32_t mark,
				   const uint8_t *bytes, uint32_t len)
{
	struct softfield_slot16 *slot16 = line->slot16;
	uint32_t at = 0;

	if (len == SOFTFIELD_LINE_PAYLOAD) {
#pragma GCC unroll 4
		for (uint32_t i = 0; i < SOFTFIELD_LINE_SLOTS16; i++, tag = mark)
			softfield_store_piece(&line->slot16[i], bytes + i * SOFTFIELD_SLOT16_PAYLOAD, tag);
		return;
	}
	for (; at + SOFTFIELD_SLOT16_PAYLOAD <= len; at += SOFTFIELD_SLOT16_PAYLOAD, tag = mark) {
		softfield_store_piece(slot16, bytes + at, tag);
		slot16 = slot16 == &line->slot16[SOFTFIELD_LINE_SLOTS16 - 1] ? overflow->slot16 : slot16 + 1;
	}
	if (at != len) {
		gpu_slot16_put_last(slot16++, tag, bytes + at, len - at, at != 0);
		tag = mark;
		at += SOFTFIELD_SLOT16_PAYLOAD;
	}
	for (; at < SOFTFIELD_LINE_PAYLOAD; at += SOFTFIELD_SLOT16_PAYLOAD, tag = mark)
		softfield_store_halves(slot16++, 0, (uint64_t)tag << 32);
}

/* ---- loading ---- */

typedef uint32_t gpu_words __attribute__((vector_size(16)));
typedef gpu_words gpu_words_anywhere __attribute__((aligned(1), may_alias));
typedef float gpu_words_shuffled
	__attribute__((vector_size(16))); /* gcc shuffles words of two vectors better if they are floats */

/* Words a to d of both vectors, of which those of y have numbers 4 to 7. */
#if defined(__clang__)
#define GPU_WORDS(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
#define GPU_WORDS(x, y, a, b, c, d) __builtin_shuffle(x, y, (gpu_words){a, b, c, d})
#endif

/* A line as it was loaded. */
struct gpu_line {
	gpu_words slot16[SOFTFIELD_LINE_SLOTS16];
};

static inline gpu_words gpu_words_load(const struct softfield_slot16 *from)
{
	struct softfield_slot16 slot16 = softfield_load_slot16(from);
	gpu_words words;

	memcpy(&words, &slot16, sizeof(words));
	return words;
}

/* Loads the first slot of a line and returns its tag. */
static inline uint32_t gpu_line_begin(struct gpu_line *to, const struct softfield_line *from)
{
	to->slot16[0] = gpu_words_load(&from->slot16[0]);
	return to->slot16[0][3];
}

/* Loads the other ones. Returns whether all have arrived: have the mark. */
static inline bool gpu_line_end(struct gpu_line *to, const struct softfield_line *from, uint32_t mark)
{
	gpu_words differ = {0, 0, 0, 0};

#pragma GCC unroll 4
	for (uint32_t i = 1; i < SOFTFIELD_LINE_SLOTS16; i++) {
		to->slot16[i] = gpu_words_load(&from->slot16[i]);
		differ |= to->slot16[i] ^ mark;
	}
	if (differ[3] != 0)
		return false;
	softfield_observed(from);
	return true;
}

/* Returns whether n slots of an overflow slot have arrived. */
static inline bool gpu_overflow_arrived(const struct softfield_overflow *from, uint32_t n, uint32_t mark)
{
	for (uint32_t i = 0; i < n; i++) {
		if (gpu_words_load(&from->slot16[i])[3] != mark)
			return false;
	}
	return true;
}

/* Stores the payload of a line: 48 bytes. They are put together in registers, so that what loads them next needs one store only:
 * a load of bytes that several stores wrote waits until these are in the cache. */
static inline void gpu_line_store(const struct gpu_line *line, uint8_t to[SOFTFIELD_LINE_PAYLOAD])
{
	const gpu_words none = {0}, payload = {~0u, ~0u, ~0u, 0}, *from = line->slot16;
	gpu_words_anywhere *words = (gpu_words_anywhere *)to;

	words[0] = (from[0] & payload) | GPU_WORDS(none, from[1], 0, 0, 0, 4);
	words[1] = (gpu_words)GPU_WORDS((gpu_words_shuffled)from[1], (gpu_words_shuffled)from[2], 1, 2, 4, 5);
	words[2] = GPU_WORDS(from[2] & payload, none, 2, 3, 4, 4) | GPU_WORDS(none, from[3], 0, 4, 5, 6);
}

/* Copies fewer than 64 bytes that were stored 16 at a time, likewise. */
static inline void gpu_payload_copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t at = 0;

#pragma GCC unroll 6
	for (uint32_t part = 32; part != 0; part /= 2) {
		if (len & part) {
			memcpy(to + at, from + at, part);
			at += part;
		}
	}
}

/* Stores the payload of an overflow slot: len bytes, in the pieces in which the sender stored them. */
static inline void gpu_overflow_store(const struct softfield_overflow *from, uint8_t *to, uint32_t len)
{
	const struct softfield_slot16 *slot16 = from->slot16;

	for (; len >= SOFTFIELD_SLOT16_PAYLOAD; len -= SOFTFIELD_SLOT16_PAYLOAD, to += SOFTFIELD_SLOT16_PAYLOAD, slot16++)
		memcpy(to, slot16->w, SOFTFIELD_SLOT16_PAYLOAD);
	gpu_payload_copy(to, (const uint8_t *)slot16->w, len);
}

#endif
