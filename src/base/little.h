/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers in messages and files: little-endian, at any alignment. Also a checksum over such bytes. */
#ifndef SF_BASE_LITTLE_H
#define SF_BASE_LITTLE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void sf_put_le16(uint8_t *at, uint32_t value)
{
	const uint16_t little = htole16((uint16_t)value);

	memcpy(at, &little, sizeof(little));
}

static inline void sf_put_le32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void sf_put_le64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static inline uint16_t sf_get_le16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t sf_get_le32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t sf_get_le64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

#define SF_CHECKSUM_BEGIN UINT64_C(0xcbf29ce484222325)

/* FNV-1a, which may be computed piece by piece. It detects accidental damage; tokens protect against attackers. */
static inline uint64_t sf_checksum(uint64_t sum, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return sum;
}

#endif
