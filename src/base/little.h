/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in bytes that travel: little-endian, at any alignment; and a checksum over such bytes. */
#ifndef SF_BASE_LITTLE_H
#define SF_BASE_LITTLE_H

#include <stddef.h>
#include <stdint.h>

static inline void sf_put_little(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t sf_get_little(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static inline void sf_put_le16(uint8_t *at, uint32_t value) { sf_put_little(at, value, 2); }
static inline void sf_put_le32(uint8_t *at, uint32_t value) { sf_put_little(at, value, 4); }
static inline uint16_t sf_get_le16(const uint8_t *at) { return (uint16_t)sf_get_little(at, 2); }
static inline uint32_t sf_get_le32(const uint8_t *at) { return (uint32_t)sf_get_little(at, 4); }

#define SF_CHECKSUM_BEGIN UINT64_C(0xcbf29ce484222325)

/* FNV-1a, which may be taken piece by piece. Against accidents on the way; against an enemy there are tokens. */
static inline uint64_t sf_checksum(uint64_t sum, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return sum;
}

#endif
