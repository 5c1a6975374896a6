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
/** Likewise overflow slots. */
#define SOFTFIELD_BLOCK_OVERFLOWS (SOFTFIELD_SHARED_SLOTS16 / SOFTFIELD_OVERFLOW_SLOTS16)
/** Loads that a thread has in flight, where the hardware does not copy lines itself. */
#define SOFTFIELD_BLOCK_FLIGHT 4u

/** Shared slots for each thread, of which slot u is number u * blockDim.x + threadIdx.x. 0: there are more threads than slots. */
SOFTFIELD_DEVICE uint32_t softfield_block_flight(void)
{
	return SOFTFIELD_SHARED_SLOTS16 / blockDim.x;
}

/** The shared slots as lines: the stage. */
SOFTFIELD_DEVICE struct softfield_line *softfield_block_stage(void)
{
	return (struct softfield_line *)softfield_shared_slots16();
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

/**
 * Begins to copy a slot from host memory to one in shared memory, which only the calling thread reads. No register waits for the
 * bytes, so a thread can have many in flight.
 */
SOFTFIELD_DEVICE void softfield_block_fetch(struct softfield_slot16 *to, const uint8_t *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
		     : "memory");
#else
	*to = softfield_load_slot16((const struct softfield_slot16 *)from);
#endif
}
SOFTFIELD_DEVICE void softfield_block_fetched(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/** Returns whether the sender has written all of the line of message seq. */
SOFTFIELD_DEVICE bool softfield_line_is_there(const struct softfield_line *line, uint32_t seq, uint32_t shift)
{
	const uint32_t mark = softfield_mark(seq, shift);

	return softfield_tag_gen(line->slot16[0].w[3]) == softfield_gen(seq, shift) && line->slot16[1].w[3] == mark &&
	       line->slot16[2].w[3] == mark && line->slot16[3].w[3] == mark;
}

/** Words of a line's payload, four at a time. */
#define SOFTFIELD_LINE_FOURS (SOFTFIELD_LINE_PAYLOAD / 16)

/** Whether messages of this kind are moved 16 bytes at a time. */
SOFTFIELD_DEVICE bool softfield_line_is_wide(const void *buf, uint32_t imm_len)
{
	return imm_len == 0 && softfield_is_wide(buf);
}

/** Copies a line's part of a message and its immediate data out of a line. */
SOFTFIELD_COLD void softfield_line_scatter_any(const struct softfield_line *line, uint8_t *buf, uint32_t len, uint8_t *imm,
					       uint32_t imm_len)
{
	uint32_t q;

	for (q = 0; q < SOFTFIELD_LINE_SLOTS16; q++)
		softfield_scatter(line->slot16[q], q, buf, len, imm, imm_len);
}
SOFTFIELD_DEVICE void softfield_line_scatter(const struct softfield_line *line, uint8_t *buf, uint32_t len, uint8_t *imm,
					     uint32_t imm_len)
{
	const struct softfield_slot16 a = line->slot16[0], b = line->slot16[1], c = line->slot16[2], d = line->slot16[3];
	const uint4 fours[SOFTFIELD_LINE_FOURS] = {make_uint4(a.w[0], a.w[1], a.w[2], b.w[0]),
						   make_uint4(b.w[1], b.w[2], c.w[0], c.w[1]),
						   make_uint4(c.w[2], d.w[0], d.w[1], d.w[2])};
	uint32_t k;

	if (!softfield_line_is_wide(buf, imm_len)) {
		softfield_line_scatter_any(line, buf, len, imm, imm_len);
		return;
	}
#pragma unroll
	for (k = 0; k < SOFTFIELD_LINE_FOURS; k++)
		if (16 * k + 16 <= len)
			*(uint4 *)(buf + 16 * k) = fours[k];
	if (len < SOFTFIELD_LINE_PAYLOAD && (len & 15) != 0)
		softfield_four_store(buf + (len & ~15u), len < 16 ? fours[0] : len < 32 ? fours[1] : fours[2], len & 15);
}

/** The opposite, for a message that is moved 16 bytes at a time: the payload, and zeros after it. */
SOFTFIELD_DEVICE void softfield_line_gather(uint4 fours[SOFTFIELD_LINE_FOURS], const uint8_t *buf, uint32_t len)
{
	uint32_t k;

#pragma unroll
	for (k = 0; k < SOFTFIELD_LINE_FOURS; k++)
		fours[k] = 16 * k + 16 <= len ? *(const uint4 *)(buf + 16 * k) : make_uint4(0, 0, 0, 0);
	if (len >= SOFTFIELD_LINE_PAYLOAD || (len & 15) == 0)
		return;
	const uint4 four = softfield_four_load(buf + (len & ~15u), len & 15);

#pragma unroll
	for (k = 0; k < SOFTFIELD_LINE_FOURS; k++)
		fours[k] = k == len / 16 ? four : fours[k];
}

/** Writes such a payload and the tags to a line of the stage. */
SOFTFIELD_DEVICE void softfield_line_put(struct softfield_line *line, const uint4 fours[SOFTFIELD_LINE_FOURS], uint32_t tag,
					 uint32_t mark)
{
	const struct softfield_slot16 a = {{fours[0].x, fours[0].y, fours[0].z, tag}},
				      b = {{fours[0].w, fours[1].x, fours[1].y, mark}},
				      c = {{fours[1].z, fours[1].w, fours[2].x, mark}},
				      d = {{fours[2].y, fours[2].z, fours[2].w, mark}};

	line->slot16[0] = a;
	line->slot16[1] = b;
	line->slot16[2] = c;
	line->slot16[3] = d;
}

/** The same for any message: loads it, too. */
SOFTFIELD_COLD void softfield_line_put_any(struct softfield_line *line, const uint8_t *buf, uint32_t len, const uint8_t *imm,
					   uint32_t imm_len, uint32_t tag, uint32_t mark)
{
	struct softfield_slot16 slot16;
	uint32_t q;

	for (q = 0; q < SOFTFIELD_LINE_SLOTS16; q++) {
		slot16 = softfield_gather(q, buf, len, imm, imm_len);
		slot16.w[3] = q == 0 ? tag : mark;
		line->slot16[q] = slot16;
	}
}

#endif /* SOFTFIELD_GPU_BLOCK_LINES_H_ */
