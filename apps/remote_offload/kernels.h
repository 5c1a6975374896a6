/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of --kernel: what the GPU does with a message. CUDA and the software GPU share this source.
 *
 * To add a function, write it below as
 *
 *     OFFLOAD_FUNCTION uint32_t offload_NAME(uint8_t *payload, uint32_t len, uint32_t rank, uint32_t threads)
 *
 * and add its line to OFFLOAD_FUNCTIONS. It reads the request from payload, overwrites it with the answer and returns the
 * answer's length, at most the larger of the request and the table's bound. `threads` GPU threads call it together for one
 * message, with `rank` 0 to threads - 1. They run in no order, so only one thread may read and write each byte. A function
 * that cannot be divided lets rank 0 do everything. All return the same length. payload is aligned to 4 bytes. If the table's
 * bound is 0, every answer is as long as its request, and a message may hold several requests.
 */
#ifndef REMOTE_OFFLOAD_KERNELS_H
#define REMOTE_OFFLOAD_KERNELS_H

#include <stdint.h>

/*    id       name on the command line, function, longest answer to a shorter request */
#define OFFLOAD_FUNCTIONS(X)                                                                                                     \
	X(REVERSE, "reverse", offload_reverse, 0)                                                                                \
	X(SHA256, "sha256", offload_sha256, 32)                                                                                  \
	X(CRC32C, "crc32c", offload_crc32c, 4)

enum offload_function {
#define OFFLOAD_ENUM(id, name, function, answer_max) OFFLOAD_##id,
	OFFLOAD_FUNCTIONS(OFFLOAD_ENUM)
#undef OFFLOAD_ENUM
		OFFLOAD_FUNCTION_COUNT
};

#if defined(__CUDACC__)
#define OFFLOAD_FUNCTION static __device__
#define OFFLOAD_TABLE static __device__ const
#else
#include <string.h>
#define OFFLOAD_FUNCTION static inline __attribute__((unused))
#define OFFLOAD_TABLE static const __attribute__((unused))
#endif

/* reverse: the last byte first */

#if defined(__CUDACC__)

OFFLOAD_FUNCTION uint32_t offload_reverse(uint8_t *payload, uint32_t len, uint32_t rank, uint32_t threads)
{
	uint32_t *words = (uint32_t *)payload, count = len / 4, i;

	if (len % 4 == 0) {
		for (i = rank; i < (count + 1) / 2; i += threads) {
			uint32_t front = words[i], back = words[count - 1 - i];

			words[i] = __byte_perm(back, 0, 0x0123);
			words[count - 1 - i] = __byte_perm(front, 0, 0x0123);
		}
		return len;
	}
	for (i = rank; i < len / 2; i += threads) {
		uint8_t front = payload[i];

		payload[i] = payload[len - 1 - i];
		payload[len - 1 - i] = front;
	}
	return len;
}

#else

/* A CPU loads eight unaligned bytes at a time; the middle, shorter than two loads, is swapped byte by byte. */
OFFLOAD_FUNCTION uint32_t offload_reverse(uint8_t *payload, uint32_t len, uint32_t rank, uint32_t threads)
{
	uint8_t *front = payload, *back = payload + len;
	uint64_t a, b;

	(void)threads;
	if (rank != 0)
		return len;
	for (; back - front >= 16; front += 8) {
		back -= 8;
		memcpy(&a, front, 8);
		memcpy(&b, back, 8);
		a = __builtin_bswap64(a);
		b = __builtin_bswap64(b);
		memcpy(front, &b, 8);
		memcpy(back, &a, 8);
	}
	while (back - front >= 2) {
		uint8_t byte = *front;

		*front++ = *--back;
		*back = byte;
	}
	return len;
}

#endif

/* sha256: the digest, 32 bytes (FIPS 180-4) */

OFFLOAD_TABLE uint32_t offload_sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
	0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
	0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

OFFLOAD_FUNCTION uint32_t offload_rotate_right(uint32_t value, uint32_t bits)
{
	return value >> bits | value << (32 - bits);
}

/* One block of 16 words, already converted to the machine's byte order; w is overwritten. */
OFFLOAD_FUNCTION void offload_sha256_block(uint32_t state[8], uint32_t w[16])
{
	uint32_t s[8], i, t1, t2;

	for (i = 0; i < 8; i++)
		s[i] = state[i];
	for (i = 0; i < 64; i++) {
		if (i >= 16) {
			uint32_t w15 = w[(i - 15) & 15], w2 = w[(i - 2) & 15];

			w[i & 15] += (offload_rotate_right(w15, 7) ^ offload_rotate_right(w15, 18) ^ w15 >> 3) + w[(i - 7) & 15] +
				     (offload_rotate_right(w2, 17) ^ offload_rotate_right(w2, 19) ^ w2 >> 10);
		}
		t1 = s[7] + (offload_rotate_right(s[4], 6) ^ offload_rotate_right(s[4], 11) ^ offload_rotate_right(s[4], 25)) +
		     ((s[4] & s[5]) ^ (~s[4] & s[6])) + offload_sha256_k[i] + w[i & 15];
		t2 = (offload_rotate_right(s[0], 2) ^ offload_rotate_right(s[0], 13) ^ offload_rotate_right(s[0], 22)) +
		     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		s[7] = s[6];
		s[6] = s[5];
		s[5] = s[4];
		s[4] = s[3] + t1;
		s[3] = s[2];
		s[2] = s[1];
		s[1] = s[0];
		s[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		state[i] += s[i];
}

/* Byte `at` of the padded message. */
OFFLOAD_FUNCTION uint32_t offload_sha256_byte(const uint8_t *payload, uint32_t len, uint64_t total, uint64_t at)
{
	if (at < len)
		return payload[at];
	if (at == len)
		return 0x80;
	if (at >= total - 8)
		return (uint32_t)((uint64_t)len * 8 >> 8 * (total - 1 - at)) & 0xff;
	return 0;
}

OFFLOAD_FUNCTION uint32_t offload_sha256(uint8_t *payload, uint32_t len, uint32_t rank, uint32_t threads)
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	uint64_t total = ((uint64_t)len + 9 + 63) / 64 * 64, at;
	uint32_t w[16], i;

	(void)threads;
	if (rank != 0)
		return 32;
	for (at = 0; at < total; at += 64) {
		for (i = 0; i < 16; i++) {
			if (at + 4 * i + 4 <= len) {
				const uint8_t *p = payload + at + 4 * i;

				w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
			} else {
				w[i] = offload_sha256_byte(payload, len, total, at + 4 * i) << 24 |
				       offload_sha256_byte(payload, len, total, at + 4 * i + 1) << 16 |
				       offload_sha256_byte(payload, len, total, at + 4 * i + 2) << 8 |
				       offload_sha256_byte(payload, len, total, at + 4 * i + 3);
			}
		}
		offload_sha256_block(state, w);
	}
	for (i = 0; i < 32; i++)
		payload[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
	return 32;
}

/* crc32c: the Castagnoli checksum, 4 bytes big-endian */

OFFLOAD_TABLE uint32_t offload_crc32c_table[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

OFFLOAD_FUNCTION uint32_t offload_crc32c(uint8_t *payload, uint32_t len, uint32_t rank, uint32_t threads)
{
	uint32_t crc = 0xffffffff, i;

	(void)threads;
	if (rank != 0)
		return 4;
	for (i = 0; i < len; i++) {
		crc ^= payload[i];
		crc = crc >> 4 ^ offload_crc32c_table[crc & 15];
		crc = crc >> 4 ^ offload_crc32c_table[crc & 15];
	}
	crc = ~crc;
	for (i = 0; i < 4; i++)
		payload[i] = (uint8_t)(crc >> (24 - 8 * i));
	return 4;
}

OFFLOAD_FUNCTION uint32_t offload_apply(uint32_t function, uint8_t *payload, uint32_t len, uint32_t rank, uint32_t threads)
{
	switch (function) {
#define OFFLOAD_CASE(id, name, function_, answer_max)                                                                            \
	case OFFLOAD_##id:                                                                                                       \
		return function_(payload, len, rank, threads);
		OFFLOAD_FUNCTIONS(OFFLOAD_CASE)
#undef OFFLOAD_CASE
	default:
		return len;
	}
}

#endif
