/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_bitfield.h
 * Masks, and fields cut out by masks, in 8 bits and in 16 and 32 bits in network order.
 *
 *     #define COLOUR DOCA_BE32_GENMASK(15, 8)             bits 15 to 8, as in a packet
 *     uint32_t word = DOCA_BE32_SET(COLOUR, 3) | ...;     one or more fields make a word
 *     DOCA_BE32P_SET(COLOUR, 3, &packet->word);           the same, or-ed into memory
 *     DOCA_BE32_GET(COLOUR, packet->word)                 3
 *
 * Bits are counted from 0, the least significant. Masks are constants, and with constant arguments so are masks, words and
 * values: they may initialise a static object. The forms with P take a pointer, are statements, and may point to unaligned
 * memory. With BE the memory is in network order.
 */
#ifndef DOCA_BITFIELD_H_
#define DOCA_BITFIELD_H_

#include <arpa/inet.h>

#include <doca_types.h>

/** Index of the lowest bit that is set; 0 for an empty mask. */
#define DOCA_SHIFT(_x) ((_x) != 0 ? __builtin_ffsll((long long)(_x)) - 1 : 0)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/** 16 bits of the host in network order. */
#define DOCA_HTOBE16(_x) __builtin_bswap16((_x))

/** 32 bits of the host in network order. */
#define DOCA_HTOBE32(_x) __builtin_bswap32((_x))

/** 64 bits of the host in network order. */
#define DOCA_HTOBE64(_x) __builtin_bswap64((_x))

#else

/** 16 bits of the host in network order. */
#define DOCA_HTOBE16(_x) ((uint16_t)(_x))

/** 32 bits of the host in network order. */
#define DOCA_HTOBE32(_x) ((uint32_t)(_x))

/** 64 bits of the host in network order. */
#define DOCA_HTOBE64(_x) ((uint64_t)(_x))

#endif

/** 16 bits in network order for the host. */
#define DOCA_BETOH16(_x) DOCA_HTOBE16(_x)

/** 32 bits in network order for the host. */
#define DOCA_BETOH32(_x) DOCA_HTOBE32(_x)

/** 64 bits in network order for the host. */
#define DOCA_BETOH64(_x) DOCA_HTOBE64(_x)

/** The mask of bits _h down to _l of 8. */
#define DOCA_U8_GENMASK(_h, _l) ((UINT8_MAX - (UINT8_C(1) << (_l)) + 1) & (UINT8_MAX >> (8 - 1 - (_h))))

/** Writes the mask of bits _h down to _l of 8 to _p. */
#define DOCA_U8P_GENMASK(_h, _l, _p) (*(uint8_t *)(_p) = (uint8_t)DOCA_U8_GENMASK(_h, _l))

/** The mask of bits _h down to _l of 16, in network order. */
#define DOCA_BE16_GENMASK(_h, _l) (DOCA_HTOBE16((UINT16_MAX - (UINT16_C(1) << (_l)) + 1) & (UINT16_MAX >> (16 - 1 - (_h)))))

/** Writes the mask of bits _h down to _l of 16 to _p, in network order. */
#define DOCA_BE16P_GENMASK(_h, _l, _p)                                                                                           \
	do {                                                                                                                     \
		doca_be16_t doca_mask_ = (doca_be16_t)DOCA_BE16_GENMASK(_h, _l);                                                 \
		__builtin_memcpy((_p), &doca_mask_, sizeof(doca_mask_));                                                         \
	} while (0)

/** The mask of bits _h down to _l of 32, in network order. */
#define DOCA_BE32_GENMASK(_h, _l) (DOCA_HTOBE32((UINT32_MAX - (UINT32_C(1) << (_l)) + 1) & (UINT32_MAX >> (32 - 1 - (_h)))))

/** Writes the mask of bits _h down to _l of 32 to _p, in network order. */
#define DOCA_BE32P_GENMASK(_h, _l, _p)                                                                                           \
	do {                                                                                                                     \
		doca_be32_t doca_mask_ = (doca_be32_t)DOCA_BE32_GENMASK(_h, _l);                                                 \
		__builtin_memcpy((_p), &doca_mask_, sizeof(doca_mask_));                                                         \
	} while (0)

/** The value _v in the field _m of 8 bits, all else 0. */
#define DOCA_U8_SET(_m, _v) (((_v) << DOCA_SHIFT(_m)) & (_m))

/** Ors the value _v into the field _m of the byte at _p. */
#define DOCA_U8P_SET(_m, _v, _p) (*(uint8_t *)(_p) = (uint8_t)(*(uint8_t *)(_p) | DOCA_U8_SET(_m, _v)))

/** The value _v in the field _m of 16 bits in network order, all else 0. */
#define DOCA_BE16_SET(_m, _v) ((DOCA_HTOBE16((_v) << DOCA_SHIFT(DOCA_BETOH16(_m)))) & (_m))

/** Ors the value _v into the field _m of the 16 bits in network order at _p. */
#define DOCA_BE16P_SET(_m, _v, _p)                                                                                               \
	do {                                                                                                                     \
		doca_be16_t doca_word_;                                                                                          \
		__builtin_memcpy(&doca_word_, (_p), sizeof(doca_word_));                                                         \
		doca_word_ = (doca_be16_t)(doca_word_ | DOCA_BE16_SET(_m, _v));                                                  \
		__builtin_memcpy((_p), &doca_word_, sizeof(doca_word_));                                                         \
	} while (0)

/** The value _v in the field _m of 32 bits in network order, all else 0. */
#define DOCA_BE32_SET(_m, _v) ((DOCA_HTOBE32((_v) << DOCA_SHIFT(DOCA_BETOH32(_m)))) & (_m))

/** Ors the value _v into the field _m of the 32 bits in network order at _p. */
#define DOCA_BE32P_SET(_m, _v, _p)                                                                                               \
	do {                                                                                                                     \
		doca_be32_t doca_word_;                                                                                          \
		__builtin_memcpy(&doca_word_, (_p), sizeof(doca_word_));                                                         \
		doca_word_ = (doca_be32_t)(doca_word_ | DOCA_BE32_SET(_m, _v));                                                  \
		__builtin_memcpy((_p), &doca_word_, sizeof(doca_word_));                                                         \
	} while (0)

/** The value in the field _m of the 8 bits _f. */
#define DOCA_U8_GET(_m, _f) (((_m) & (_f)) >> DOCA_SHIFT((_m)))

/** The value in the field _m of the 16 bits _f in network order, for the host. */
#define DOCA_BE16_GET(_m, _f) ((DOCA_BETOH16((_m) & (_f)) >> DOCA_SHIFT(DOCA_BETOH16(_m))))

/** The value in the field _m of the 32 bits _f in network order, for the host. */
#define DOCA_BE32_GET(_m, _f) ((DOCA_BETOH32((_m) & (_f)) >> DOCA_SHIFT(DOCA_BETOH32(_m))))

#endif /* DOCA_BITFIELD_H_ */
