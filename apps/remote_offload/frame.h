/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames that clients and server exchange over TCP. They cross Comch unchanged, one or several in a message. All numbers
 * are big-endian u32:
 *
 *     size   id   payload length   payload
 *
 * `size` counts the whole frame, its own four bytes included. The header is size and id; the payload is a text, preceded by
 * its length. So `--max-message-length`, which does not count the header, bounds length and payload together: a limit of 256
 * admits 252 bytes of payload, as in published servers.
 *
 * A client sends requests; the answer has the request's header unchanged, or the id of a response.
 */
#ifndef REMOTE_OFFLOAD_FRAME_H
#define REMOTE_OFFLOAD_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER_SIZE 8U
#define FRAME_LENGTH_SIZE 4U
/* Bytes of a frame without its payload. */
#define FRAME_OVERHEAD (FRAME_HEADER_SIZE + FRAME_LENGTH_SIZE)
/* Longest payload that the size field can express. */
#define FRAME_PAYLOAD_MAX (UINT32_MAX - FRAME_OVERHEAD)

enum frame_id {
	FRAME_CLIENT_REQUEST = 4,
	FRAME_CLIENT_RESPONSE = 5,
};

struct frame {
	uint32_t size;
	uint32_t id;
	uint32_t payload_len;
	const uint8_t *payload; /* within the parsed bytes */
};

enum frame_status {
	FRAME_COMPLETE,	       /* all fields are valid */
	FRAME_PARTIAL,	       /* valid so far; more bytes are needed */
	FRAME_TOO_LARGE,       /* size is above the limit */
	FRAME_TOO_SMALL,       /* size has no room for header and length */
	FRAME_ID_UNKNOWN,      /* neither request nor response */
	FRAME_LENGTH_MISMATCH, /* size and payload length contradict each other */
};

/* In a message of several frames between server and orchestrator each frame begins at a multiple of this. */
#define FRAME_ALIGN 4U

/* Distance from one frame to the next in such a message. */
static inline uint32_t frame_stride(uint32_t size)
{
	return (size + FRAME_ALIGN - 1) & ~(FRAME_ALIGN - 1);
}

/* The largest size of a frame under --max-message-length. */
uint32_t frame_size_max(uint32_t max_message_length);

/*
 * Parses the first frame of untrusted bytes. It reports an error as early as possible: a frame that is too large at its
 * fourth byte. frame->size is valid also for a partial frame of at least four bytes, else 0.
 */
enum frame_status frame_parse(const uint8_t *bytes, size_t len, uint32_t size_max, struct frame *frame);

/* Writes one line: why frame_parse rejected these bytes, with the values. */
void frame_explain(const uint8_t *bytes, size_t len, uint32_t size_max, char *why, size_t why_size);

/* Writes the header and the length of a payload, which must follow them; returns the size of the whole frame. */
uint32_t frame_put_header(uint8_t *bytes, enum frame_id id, uint32_t payload_len);

#endif
