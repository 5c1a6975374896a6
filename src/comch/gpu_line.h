/* SPDX-License-Identifier: BSD-3-Clause */
/* How the CPU stores a message in the 16-byte slots of a line (softfield/gpu_queue.h). */
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
 * its ends. overflow: NULL if they fit into the line. */
static inline void gpu_slots16_put(struct softfield_line *line, struct softfield_overflow *overflow, uint32_t tag, uint32_t mark,
				   const uint8_t *bytes, uint32_t len)
{
	struct softfield_slot16 *slot16 = line->slot16;
	uint32_t at = 0;

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

/* The same for a message that fits into the line. */
static inline void gpu_line_put(struct softfield_line *line, uint32_t tag, uint32_t mark, const uint8_t *bytes, uint32_t len)
{
	if (len != SOFTFIELD_LINE_PAYLOAD) {
		gpu_slots16_put(line, NULL, tag, mark, bytes, len);
		return;
	}
#pragma GCC unroll 4
	for (uint32_t i = 0; i < SOFTFIELD_LINE_SLOTS16; i++, tag = mark)
		softfield_store_piece(&line->slot16[i], bytes + i * SOFTFIELD_SLOT16_PAYLOAD, tag);
}

#endif
