/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_block_lines.h
 * How the threads of a block of a CUDA GPU read and write lines of a GPU queue together: by way of shared memory. There each
 * thread has the whole line of its own message; across PCIe the lines go one behind the other, in few accesses. Internal to
 * doca_gpunetio_dev_comch.cuh.
 */
#ifndef SOFTFIELD_GPU_BLOCK_LINES_H_
#define SOFTFIELD_GPU_BLOCK_LINES_H_

#include <softfield/gpu_copy.h>
#include <softfield/gpu_fetch.h>

/** The most lines that a block reads or writes together. */
#define SOFTFIELD_BLOCK_LINES 128u
/** Loads that a thread has in flight, where the hardware does not copy lines itself. */
#define SOFTFIELD_BLOCK_FLIGHT 4u

/** The block's lines in shared memory. Between uses the threads synchronize. */
SOFTFIELD_DEVICE struct softfield_line *softfield_block_stage(void)
{
	__shared__ __align__(128) struct softfield_line stage[SOFTFIELD_BLOCK_LINES];

	return stage;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/** One thread has the hardware copy the lines. */
SOFTFIELD_DEVICE void softfield_block_fill(const struct softfield_line *ring, uint32_t depth, uint32_t seq, uint32_t n)
{
	__shared__ __align__(8) uint64_t barrier;
	const uint32_t at = seq & (depth - 1), first = min(n, depth - at), line = sizeof(struct softfield_line);
	const uint32_t place = (uint32_t)__cvta_generic_to_shared(&barrier);
	struct softfield_line *stage = softfield_block_stage();

	if (threadIdx.x != 0 || n == 0)
		return;
	softfield_fetch_expect(place, n * line);
	softfield_fetch_start(stage[0].slot16, ring + at, first * line, place);
	if (first != n)
		softfield_fetch_start(stage[first].slot16, ring, (n - first) * line, place);
	softfield_fetch_wait(place);
}
#else
SOFTFIELD_DEVICE void softfield_block_fill(const struct softfield_line *ring, uint32_t depth, uint32_t seq, uint32_t n)
{
	const uint32_t size = blockDim.x, num = n * SOFTFIELD_LINE_SLOTS16;
	struct softfield_slot16 slot16[SOFTFIELD_BLOCK_FLIGHT];
	struct softfield_line *stage = softfield_block_stage();
	uint32_t i, k;

	for (i = threadIdx.x; i < num; i += SOFTFIELD_BLOCK_FLIGHT * size) {
#pragma unroll
		for (k = 0; k < SOFTFIELD_BLOCK_FLIGHT; k++) {
			const uint32_t s = i + k * size;

			if (s < num)
				slot16[k] = softfield_load_slot16(&ring[(seq + s / 4) & (depth - 1)].slot16[s & 3]);
		}
#pragma unroll
		for (k = 0; k < SOFTFIELD_BLOCK_FLIGHT; k++) {
			const uint32_t s = i + k * size;

			if (s < num)
				stage[s / 4].slot16[s & 3] = slot16[k];
		}
	}
}
#endif

/**
 * Copies n lines of a ring of depth, from message seq on, to the stage, and synchronizes. Slots that the sender has not written
 * yet have their old content.
 */
SOFTFIELD_DEVICE void softfield_block_load(const struct softfield_line *ring, uint32_t depth, uint32_t seq, uint32_t n)
{
	softfield_block_fill(ring, depth, seq, n);
	__syncthreads();
}

/** Synchronizes, and copies n lines from the stage to a ring of depth, from message seq on. */
SOFTFIELD_DEVICE void softfield_block_store(struct softfield_line *ring, uint32_t depth, uint32_t seq, uint32_t n)
{
	const struct softfield_line *stage = softfield_block_stage();
	uint32_t i;

	__syncthreads();
	for (i = threadIdx.x; i < n * SOFTFIELD_LINE_SLOTS16; i += blockDim.x)
		softfield_store_slot16(&ring[(seq + i / 4) & (depth - 1)].slot16[i & 3], stage[i / 4].slot16[i & 3]);
}

/** Returns whether the sender has written all of the line of message seq. */
SOFTFIELD_DEVICE bool softfield_line_is_there(const struct softfield_line *line, uint32_t seq, uint32_t shift)
{
	const uint32_t mark = softfield_mark(seq, shift);

	return softfield_tag_gen(line->slot16[0].w[3]) == softfield_gen(seq, shift) && line->slot16[1].w[3] == mark &&
	       line->slot16[2].w[3] == mark && line->slot16[3].w[3] == mark;
}

/** Copies a line's part of a message and its immediate data out of the line's slots. */
SOFTFIELD_DEVICE void softfield_line_scatter(const struct softfield_slot16 slot16[SOFTFIELD_LINE_SLOTS16], uint8_t *buf,
					     uint32_t len, uint8_t *imm, uint32_t imm_len)
{
	const bool wide = ((uintptr_t)buf & 15) == 0, words = ((uintptr_t)buf & 3) == 0;
	uint32_t at;

#pragma unroll
	for (at = 0; at < SOFTFIELD_LINE_PAYLOAD; at += 4) {
		const uint32_t k = at / 4, word = slot16[k / 3].w[k % 3], end = (at & ~15u) + 16;

		if (wide && end <= len) {
			if (at % 16 == 0)
				*(uint4 *)(buf + at) =
					make_uint4(word, slot16[(k + 1) / 3].w[(k + 1) % 3], slot16[(k + 2) / 3].w[(k + 2) % 3],
						   slot16[(k + 3) / 3].w[(k + 3) % 3]);
		} else if (words && at + 4 <= len) {
			*(uint32_t *)(buf + at) = word;
		} else if (at < len + imm_len) {
			softfield_scatter_word(word, at, buf, len, imm, imm_len);
		}
	}
}

/** The opposite, and zeros after them. The tags are left 0. */
SOFTFIELD_DEVICE void softfield_line_gather(struct softfield_slot16 slot16[SOFTFIELD_LINE_SLOTS16], const uint8_t *buf,
					    uint32_t len, const uint8_t *imm, uint32_t imm_len)
{
	const bool wide = ((uintptr_t)buf & 15) == 0, words = ((uintptr_t)buf & 3) == 0;
	uint32_t word[SOFTFIELD_LINE_PAYLOAD / 4], at, k;

#pragma unroll
	for (at = 0; at < SOFTFIELD_LINE_PAYLOAD; at += 4) {
		const uint32_t end = (at & ~15u) + 16;

		k = at / 4;
		if (wide && end <= len) {
			if (at % 16 == 0) {
				const uint4 four = *(const uint4 *)(buf + at);

				word[k] = four.x;
				word[k + 1] = four.y;
				word[k + 2] = four.z;
				word[k + 3] = four.w;
			}
		} else if (words && at + 4 <= len) {
			word[k] = *(const uint32_t *)(buf + at);
		} else {
			word[k] = at < len + imm_len ? softfield_gather_word(at, buf, len, imm, imm_len) : 0;
		}
	}
#pragma unroll
	for (k = 0; k < SOFTFIELD_LINE_SLOTS16; k++) {
		slot16[k].w[0] = word[3 * k];
		slot16[k].w[1] = word[3 * k + 1];
		slot16[k].w[2] = word[3 * k + 2];
		slot16[k].w[3] = 0;
	}
}

#endif /* SOFTFIELD_GPU_BLOCK_LINES_H_ */
