/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in a stream of bytes, one after the other: each has two lengths, a head and a body, padded to 8 bytes. Received bytes
 * are untrusted.
 */
#ifndef UROM_COMM_FRAME_H
#define UROM_COMM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct comm_frame {
	const uint8_t *head, *body;
	uint32_t head_len, body_len;
};

static inline size_t comm_padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

static inline size_t comm_frame_size(size_t head_len, size_t body_len)
{
	return 2 * sizeof(uint32_t) + comm_padded(head_len) + comm_padded(body_len);
}

static inline uint8_t *comm_put_padded(uint8_t *out, const uint8_t *data, size_t len)
{
	if (len != 0)
		memcpy(out, data, len);
	memset(out + len, 0, comm_padded(len) - len); /* earlier contents of the buffer must not reach the peer */
	return out + comm_padded(len);
}

/* There is room for comm_frame_size() bytes. */
static inline void comm_frame_write(uint8_t *out, const struct comm_frame *frame)
{
	memcpy(out, &frame->head_len, sizeof(uint32_t));
	memcpy(out + sizeof(uint32_t), &frame->body_len, sizeof(uint32_t));
	out = comm_put_padded(out + 2 * sizeof(uint32_t), frame->head, frame->head_len);
	(void)comm_put_padded(out, frame->body, frame->body_len);
}

enum comm_frame_found { COMM_FRAME_WHOLE, COMM_FRAME_PART, COMM_FRAME_BAD };

/* Returns whether the next message is complete. size: the bytes that it needs, or those of its lengths. BAD: it exceeds the
 * limit. */
static inline enum comm_frame_found comm_frame_find(const uint8_t *at, size_t left, size_t head_max, size_t body_max,
						    size_t *size)
{
	uint32_t lens[2];

	*size = sizeof(lens);
	if (left < sizeof(lens))
		return COMM_FRAME_PART;
	memcpy(lens, at, sizeof(lens));
	if (lens[0] > head_max || lens[1] > body_max)
		return COMM_FRAME_BAD;
	*size = comm_frame_size(lens[0], lens[1]);
	return *size <= left ? COMM_FRAME_WHOLE : COMM_FRAME_PART;
}

/* Returns the next message; false: the remaining bytes are no complete message. */
static inline bool comm_frame_read(const uint8_t **at, size_t *left, struct comm_frame *frame)
{
	if (*left < 2 * sizeof(uint32_t))
		return false;
	memcpy(&frame->head_len, *at, sizeof(uint32_t));
	memcpy(&frame->body_len, *at + sizeof(uint32_t), sizeof(uint32_t));
	size_t size = comm_frame_size(frame->head_len, frame->body_len);
	if (size > *left)
		return false;
	frame->head = *at + 2 * sizeof(uint32_t);
	frame->body = frame->head + comm_padded(frame->head_len);
	*at += size;
	*left -= size;
	return true;
}

#endif
