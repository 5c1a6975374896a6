/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the payloads of a message's frames by their answers, in place. Device code for both kinds of GPU. */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_ANSWER_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_ANSWER_H

#include <stdint.h>

#include <softfield/device.h>

#include "remote_offload/kernels.h"

/* As in frame.h, which is host code. */
#define KERNEL_FRAME_OVERHEAD 12u
#define KERNEL_REQUEST_ID 4u
#define KERNEL_FRAME_ALIGN 4u

SOFTFIELD_DEVICE uint32_t kernel_swap(uint32_t value)
{
#if defined(__CUDACC__)
	return __byte_perm(value, 0, 0x0123);
#else
	return __builtin_bswap32(value);
#endif
}

/*
 * Returns whether this is a request whose payload fits it. Anything else goes back unchanged, so the client sees it. The header
 * is only compared with the received length, and not used otherwise: the sender may change it meanwhile.
 */
SOFTFIELD_DEVICE int kernel_is_request(uintptr_t addr, uint32_t len)
{
	const uint32_t *header = (const uint32_t *)addr;
	uint32_t size, id, payload_len;

	if (len < KERNEL_FRAME_OVERHEAD)
		return 0;
	size = header[0]; /* all together: a GPU waits for loads, not for each */
	id = header[1];
	payload_len = header[2];
	return (int)(kernel_swap(size) == len) & (int)(kernel_swap(id) == KERNEL_REQUEST_ID) &
	       (int)(kernel_swap(payload_len) == len - KERNEL_FRAME_OVERHEAD);
}

/* The answer keeps the request's header except for the lengths. */
SOFTFIELD_DEVICE uint32_t kernel_set_answer_len(uintptr_t addr, uint32_t payload_len)
{
	uint32_t *header = (uint32_t *)addr;

	header[0] = kernel_swap(payload_len + KERNEL_FRAME_OVERHEAD);
	header[2] = kernel_swap(payload_len);
	return payload_len + KERNEL_FRAME_OVERHEAD;
}

/* One thread answers one frame; returns the length of the answer. */
SOFTFIELD_DEVICE uint32_t kernel_answer(uint32_t function, uintptr_t addr, uint32_t len)
{
	uint32_t payload_len = len - KERNEL_FRAME_OVERHEAD, answer_len;

	if (!kernel_is_request(addr, len))
		return len;
	answer_len = offload_apply(function, (uint8_t *)(addr + KERNEL_FRAME_OVERHEAD), payload_len, 0, 1);
	return answer_len == payload_len ? len : kernel_set_answer_len(addr, answer_len);
}

/* Distance from one frame of a message to the next. */
SOFTFIELD_DEVICE uint32_t kernel_stride(uint32_t size)
{
	return (size + KERNEL_FRAME_ALIGN - 1) & ~(KERNEL_FRAME_ALIGN - 1);
}

/* The size of the frame at `at` of a message, or 0 if the rest of the message is no frame. */
SOFTFIELD_DEVICE uint32_t kernel_frame_size(uintptr_t addr, uint32_t at, uint32_t len)
{
	uint32_t size;

	if (at >= len || len - at < KERNEL_FRAME_OVERHEAD)
		return 0;
#if defined(__CUDACC__)
	size = kernel_swap(*(const uint32_t *)(addr + at)); /* the GPU's own memory: from the first-level cache */
#else
	size = kernel_swap(softfield_load_word((const volatile uint32_t *)(addr + at))); /* once: the sender may change it */
#endif
	return size < KERNEL_FRAME_OVERHEAD || size > len - at ? 0 : size;
}

/*
 * One thread answers a message of one or several frames, each beginning at a multiple of 4 bytes, with a function whose answers
 * are as long as the requests. Bytes that are not a frame go back unchanged. Returns the number of frames, at least 1.
 */
SOFTFIELD_DEVICE uint32_t kernel_answer_all(uint32_t function, uintptr_t addr, uint32_t len)
{
	uint32_t at, size, count = 0;

	for (at = 0; (size = kernel_frame_size(addr, at, len)) != 0; at += kernel_stride(size)) {
		kernel_answer(function, addr + at, size);
		count++;
	}
	return count != 0 ? count : 1;
}

#endif
