/* SPDX-License-Identifier: BSD-3-Clause */
/* Which part of an event's value a wait compares. */
#ifndef SF_SYNC_EVENT_MASK_H
#define SF_SYNC_EVENT_MASK_H

#include <stdbool.h>
#include <stdint.h>

/* 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0. */
static inline bool sf_event_mask_is_valid(uint64_t mask)
{
	const uint64_t low_bits = UINT64_C(0x0101010101010101);
	uint64_t bytes = mask & low_bits; /* one bit for each byte that is 0xff, if the mask is one */
	int num = __builtin_popcountll(bytes);

	return mask == bytes * 0xff && (num == 0 || num == 1 || num == 2 || num == 4 || num == 8);
}

#endif
