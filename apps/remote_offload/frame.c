/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame.h"

#include <stdio.h>
#include <string.h>

#include "big_endian.h"

uint32_t frame_size_max(uint32_t max_message_length)
{
	return max_message_length > UINT32_MAX - FRAME_HEADER_SIZE ? UINT32_MAX : max_message_length + FRAME_HEADER_SIZE;
}

enum frame_status frame_parse(const uint8_t *bytes, size_t len, uint32_t size_max, struct frame *frame)
{
	*frame = (struct frame){0};
	if (len < sizeof(uint32_t))
		return FRAME_PARTIAL;
	frame->size = big_get32(bytes);
	if (frame->size > size_max)
		return FRAME_TOO_LARGE;
	if (frame->size < FRAME_OVERHEAD)
		return FRAME_TOO_SMALL;
	if (len < FRAME_HEADER_SIZE)
		return FRAME_PARTIAL;
	frame->id = big_get32(bytes + 4);
	if (frame->id != FRAME_CLIENT_REQUEST && frame->id != FRAME_CLIENT_RESPONSE)
		return FRAME_ID_UNKNOWN;
	if (len < FRAME_OVERHEAD)
		return FRAME_PARTIAL;
	frame->payload_len = big_get32(bytes + FRAME_HEADER_SIZE);
	if (frame->payload_len != frame->size - FRAME_OVERHEAD)
		return FRAME_LENGTH_MISMATCH;
	if (len < frame->size)
		return FRAME_PARTIAL;
	frame->payload = bytes + FRAME_OVERHEAD;
	return FRAME_COMPLETE;
}

void frame_explain(const uint8_t *bytes, size_t len, uint32_t size_max, char *why, size_t why_size)
{
	struct frame frame;

	switch (frame_parse(bytes, len, size_max, &frame)) {
	case FRAME_COMPLETE:
		snprintf(why, why_size, "nothing is wrong with a frame of %u bytes", frame.size);
		break;
	case FRAME_PARTIAL:
		if (frame.size == 0)
			snprintf(why, why_size, "the frame ends after %zu bytes, before its size", len);
		else
			snprintf(why, why_size, "the frame ends after %zu of %u bytes", len, frame.size);
		break;
	case FRAME_TOO_LARGE:
		snprintf(why, why_size, "a frame of %u bytes is above the limit of %u", frame.size, size_max);
		break;
	case FRAME_TOO_SMALL:
		snprintf(why, why_size, "a frame of %u bytes is shorter than its header and length of %u", frame.size,
			 FRAME_OVERHEAD);
		break;
	case FRAME_ID_UNKNOWN:
		snprintf(why, why_size, "message id %u is neither a client's request (%d) nor a response (%d)", frame.id,
			 FRAME_CLIENT_REQUEST, FRAME_CLIENT_RESPONSE);
		break;
	case FRAME_LENGTH_MISMATCH:
		snprintf(why, why_size, "a payload of %u bytes does not fit a frame of %u", frame.payload_len, frame.size);
		break;
	}
}

uint32_t frame_put_header(uint8_t *bytes, enum frame_id id, uint32_t payload_len)
{
	big_put32(bytes, payload_len + FRAME_OVERHEAD);
	big_put32(bytes + 4, id);
	big_put32(bytes + FRAME_HEADER_SIZE, payload_len);
	return payload_len + FRAME_OVERHEAD;
}
