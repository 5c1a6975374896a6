/* SPDX-License-Identifier: BSD-3-Clause */
/* Big-endian numbers in messages, at any alignment. */
#ifndef BIG_ENDIAN_H
#define BIG_ENDIAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void big_put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static inline uint32_t big_get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

#endif
