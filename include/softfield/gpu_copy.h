/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_copy.h
 * How a kernel moves a message: between a line's quads and a buffer, and between the arena and a buffer. On a CUDA GPU wide
 * accesses, several of them in flight in each thread; on the software GPU memcpy. Internal to the doca_dev_gpu_comch_* functions.
 */
#ifndef SOFTFIELD_GPU_COPY_H_
#define SOFTFIELD_GPU_COPY_H_

#include <stdint.h>
#include <softfield/gpu_mailbox.h>

/** Loads of 16 bytes that each thread of a large copy has in flight. */
#define SOFTFIELD_COPY_FLIGHT 8

#if !defined(__CUDACC__)
#include <string.h>
#endif

/** A word at payload byte at, which is not a whole and aligned part of the buffer: byte by byte. */
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

/** Writes payload bytes 12q and on, as far as they belong to the message, to the buffer; those behind it, to imm. */
SOFTFIELD_DEVICE void softfield_scatter(struct softfield_quad quad, uint32_t q, uint8_t *buf, uint32_t len, uint8_t *imm,
					uint32_t imm_len)
{
	uint32_t k, at;

#if !defined(__CUDACC__)
	if ((q + 1) * SOFTFIELD_QUAD_PAYLOAD <= len) {
		memcpy(buf + q * SOFTFIELD_QUAD_PAYLOAD, quad.w, SOFTFIELD_QUAD_PAYLOAD);
		return;
	}
#endif
	for (k = 0; k < 3; k++) {
		at = q * SOFTFIELD_QUAD_PAYLOAD + 4 * k;
		if (at + 4 <= len && ((uintptr_t)buf & 3) == 0)
			*(uint32_t *)(buf + at) = quad.w[k];
		else if (at < len + imm_len)
			softfield_scatter_word(quad.w[k], at, buf, len, imm, imm_len);
	}
}

/** The opposite: payload bytes 12q and on, then imm, then zeros. The tag is left 0. */
SOFTFIELD_DEVICE struct softfield_quad softfield_gather(uint32_t q, const uint8_t *buf, uint32_t len, const uint8_t *imm,
							uint32_t imm_len)
{
	struct softfield_quad quad = {{0, 0, 0, 0}};
	uint32_t k, at;

	for (k = 0; k < 3; k++) {
		at = q * SOFTFIELD_QUAD_PAYLOAD + 4 * k;
		if (at + 4 <= len && ((uintptr_t)buf & 3) == 0)
			quad.w[k] = *(const uint32_t *)(buf + at);
		else if (at < len + imm_len)
			quad.w[k] = softfield_gather_word(at, buf, len, imm, imm_len);
	}
	return quad;
}

#if defined(__CUDACC__)

/** The first len bytes of a quad, to any address. */
SOFTFIELD_COLD void softfield_store_bytes(uint8_t *to, struct softfield_quad quad, uint32_t len)
{
	uint32_t i;

#pragma unroll
	for (i = 0; i < 16; i++)
		if (i < len)
			to[i] = (uint8_t)(quad.w[i / 4] >> 8 * (i & 3));
}

/** The opposite. */
SOFTFIELD_COLD struct softfield_quad softfield_load_bytes(const uint8_t *from, uint32_t len)
{
	struct softfield_quad quad = {{0, 0, 0, 0}};
	uint32_t i;

#pragma unroll
	for (i = 0; i < 16; i++)
		if (i < len)
			quad.w[i / 4] |= (uint32_t)from[i] << 8 * (i & 3);
	return quad;
}

/** Stores a quad, or the first len bytes of it, to any address. */
SOFTFIELD_DEVICE void softfield_store_any(uint8_t *to, struct softfield_quad quad, uint32_t len)
{
	uint32_t i;

	if (len >= 16 && ((uintptr_t)to & 15) == 0) {
		*(uint4 *)to = make_uint4(quad.w[0], quad.w[1], quad.w[2], quad.w[3]);
	} else if (len >= 16 && ((uintptr_t)to & 3) == 0) {
		for (i = 0; i < 4; i++)
			((uint32_t *)to)[i] = quad.w[i];
	} else {
		softfield_store_bytes(to, quad, len);
	}
}

/** Loads a quad, or the first len bytes of it, from any address. */
SOFTFIELD_DEVICE struct softfield_quad softfield_load_any(const uint8_t *from, uint32_t len)
{
	struct softfield_quad quad = {{0, 0, 0, 0}};
	uint32_t i;

	if (len >= 16 && ((uintptr_t)from & 15) == 0) {
		uint4 v = *(const uint4 *)from;

		quad.w[0] = v.x;
		quad.w[1] = v.y;
		quad.w[2] = v.z;
		quad.w[3] = v.w;
	} else if (len >= 16 && ((uintptr_t)from & 3) == 0) {
		for (i = 0; i < 4; i++)
			quad.w[i] = ((const uint32_t *)from)[i];
	} else {
		quad = softfield_load_bytes(from, len);
	}
	return quad;
}

/** Copies a message out of the arena; n threads do it together, of which the caller is number rank. */
SOFTFIELD_COLD void softfield_copy_in(uint8_t *to, const uint8_t *arena, uint32_t len, uint32_t rank, uint32_t n)
{
	const struct softfield_quad *from = (const struct softfield_quad *)arena;
	uint32_t quads = (len + 15) / 16, i = rank, k;

	for (; i + (SOFTFIELD_COPY_FLIGHT - 1) * n < quads; i += SOFTFIELD_COPY_FLIGHT * n) {
		struct softfield_quad quad[SOFTFIELD_COPY_FLIGHT];
#pragma unroll
		for (k = 0; k < SOFTFIELD_COPY_FLIGHT; k++)
			quad[k] = softfield_load_quad(from + i + k * n);
#pragma unroll
		for (k = 0; k < SOFTFIELD_COPY_FLIGHT; k++)
			softfield_store_any(to + 16 * (uint64_t)(i + k * n), quad[k], len - 16 * (i + k * n));
	}
	for (; i < quads; i += n)
		softfield_store_any(to + 16 * (uint64_t)i, softfield_load_quad(from + i), len - 16 * i);
}

/** Copies a message into the arena, likewise. */
SOFTFIELD_COLD void softfield_copy_out(uint8_t *arena, const uint8_t *from, uint32_t len, uint32_t rank, uint32_t n)
{
	struct softfield_quad *to = (struct softfield_quad *)arena;
	uint32_t quads = (len + 15) / 16, i = rank, k;

	for (; i + (SOFTFIELD_COPY_FLIGHT - 1) * n < quads; i += SOFTFIELD_COPY_FLIGHT * n) {
		struct softfield_quad quad[SOFTFIELD_COPY_FLIGHT];
#pragma unroll
		for (k = 0; k < SOFTFIELD_COPY_FLIGHT; k++)
			quad[k] = softfield_load_any(from + 16 * (uint64_t)(i + k * n), len - 16 * (i + k * n));
#pragma unroll
		for (k = 0; k < SOFTFIELD_COPY_FLIGHT; k++)
			softfield_store_quad(to + i + k * n, quad[k]);
	}
	for (; i < quads; i += n)
		softfield_store_quad(to + i, softfield_load_any(from + 16 * (uint64_t)i, len - 16 * i));
}

#else

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
