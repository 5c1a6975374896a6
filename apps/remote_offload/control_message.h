/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control messages that the server and the orchestrator exchange over Comch. All fields are big-endian u32:
 *
 *     size (of the message with this header)   id   [consumer id]   [terms]
 *
 * The terms are our extension, behind the declared size: the options of each side, so that incompatible programs are detected
 * at start. A peer that does not know them reads the declared size only, and a message that ends at its declared size is
 * complete.
 */
#ifndef REMOTE_OFFLOAD_CONTROL_MESSAGE_H
#define REMOTE_OFFLOAD_CONTROL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum control_message_id {
	CONTROL_START_SHUTDOWN = 0,
	CONTROL_SHUTDOWN_COMPLETE = 1,
	CONTROL_EXCHANGE_CONSUMER_ID_REQUEST = 2,
	CONTROL_EXCHANGE_CONSUMER_ID_RESPONSE = 3,
};

#define CONTROL_MESSAGE_MAX 36

/* A response with this consumer id rejects the server; ids start at 1. */
#define CONTROL_CONSUMER_ID_NONE 0

/* The options of one side. */
struct control_terms {
	uint32_t queues;		  /* --cpu count of the server, --num-gpu-threads of the orchestrator */
	uint32_t max_concurrent_messages; /* per queue */
	uint32_t max_message_length;	  /* bytes, without the frame's header */
	/*
	 * Bytes of a message on the queues that may hold several frames, each beginning at a multiple of 4 bytes; their
	 * answers come back in one message too. 0: one frame a message. The server sends what it can send, the orchestrator
	 * returns that value or 0. Version 1 of the terms lacks it.
	 */
	uint32_t batch_bytes;
};

struct control_message {
	enum control_message_id id;
	uint32_t consumer_id; /* exchange messages only */
	bool has_terms;	      /* the peer is one of ours */
	struct control_terms terms;
};

/* Returns the bytes to send, at most CONTROL_MESSAGE_MAX. */
uint32_t control_message_pack(const struct control_message *message, uint8_t *buffer);

/* NULL, or what is wrong with the bytes (untrusted). */
const char *control_message_unpack(const uint8_t *bytes, size_t len, struct control_message *message);

/* True when both sides are compatible; otherwise writes one line with both values of the first difference. */
bool control_terms_match(const struct control_terms *server, const struct control_terms *orchestrator, char *why,
			 size_t why_size);

#endif
