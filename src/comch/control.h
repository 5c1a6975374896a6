/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comch's wire format, little-endian. Packing trusts its arguments; parsing trusts nothing: the bytes come from another process.
 *
 *   handshake private data of a client's connect, and of the server's accept
 *   refusal   private data of the server's reject
 *   control   a message on the control connection: header, and for some types a payload
 *   attach    private data of a producer's connect to a consumer
 *   data      the header of a producer's message
 */
#ifndef COMCH_CONTROL_H
#define COMCH_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "comch/limits.h"
#include "fabric/fabric.h"

#define COMCH_WIRE_VERSION 1

/* ---- handshake ---- */

struct comch_handshake {
	uint32_t max_msg_size;	  /* longest message that the sender of the handshake can receive */
	uint32_t recv_queue_size; /* how many of them it buffers */
};

#define COMCH_HANDSHAKE_SIZE 16

size_t comch_handshake_pack(const struct comch_handshake *handshake, uint8_t out[COMCH_HANDSHAKE_SIZE]);

/* INVALID_VALUE: not a handshake, or sizes out of bounds. UNSUPPORTED_VERSION: of another version of Softfield. */
doca_error_t comch_handshake_parse(const void *data, size_t len, struct comch_handshake *handshake);

/* ---- refusal ---- */

#define COMCH_REFUSAL_SIZE 8

size_t comch_refusal_pack(doca_error_t reason, uint8_t out[COMCH_REFUSAL_SIZE]);

/* Returns the reason, or CONNECTION_ABORTED if the bytes hold none. */
doca_error_t comch_refusal_parse(const void *data, size_t len);

/* ---- control ---- */

enum comch_control_type {
	COMCH_CONTROL_MESSAGE = 1, /* payload: the user's bytes */
	COMCH_CONTROL_ADVERTISE =
		2, /* a consumer has started: id, value is its immediate data length; payload says how to connect to it */
	COMCH_CONTROL_ACK = 3,	  /* answer to an advertisement: id, value is a doca_error_t */
	COMCH_CONTROL_EXPIRE = 4, /* a consumer has stopped: id */
};

/* How a consumer is reached. */
enum comch_path {
	COMCH_PATH_CONN = 0,	  /* connect to its listener and send */
	COMCH_PATH_GPU_QUEUE = 1, /* write to its GPU queue, which the descriptor names; the listener shows whether it lives */
};

#define COMCH_CONTROL_HEADER_SIZE 12
#define COMCH_ADVERTISE_MAX (8 + SF_NAME_MAX + SF_DESCRIPTOR_MAX)

struct comch_advertisement {
	enum comch_path path;
	char name[SF_NAME_MAX]; /* of the consumer's listener */
	uint8_t descriptor[SF_DESCRIPTOR_MAX];
	uint32_t descriptor_len;
};

struct comch_control {
	enum comch_control_type type;
	uint32_t id; /* never 0 but in MESSAGE */
	uint32_t value;
};

size_t comch_control_pack(const struct comch_control *control, uint8_t out[COMCH_CONTROL_HEADER_SIZE]);

/* INVALID_VALUE: not a message of Comch. The payload's length is checked against the type. */
doca_error_t comch_control_parse(const void *header, size_t header_len, size_t payload_len, struct comch_control *control);

size_t comch_advertisement_pack(const struct comch_advertisement *ad, uint8_t out[COMCH_ADVERTISE_MAX]);
doca_error_t comch_advertisement_parse(const void *payload, size_t len, struct comch_advertisement *ad);

/* ---- attach ---- */

#define COMCH_ATTACH_DESCRIPTOR_MAX (SF_PRIVATE_MAX - 16)

struct comch_attach {
	enum comch_path path; /* GPU_QUEUE: the producer writes to a GPU queue of its own, which descriptor names */
	uint32_t producer_id;
	const uint8_t *descriptor; /* inside the parsed bytes */
	uint32_t descriptor_len;
};

size_t comch_attach_pack(const struct comch_attach *attach, uint8_t out[SF_PRIVATE_MAX]);
doca_error_t comch_attach_parse(const void *data, size_t len, struct comch_attach *attach);

/* ---- data ---- */

#define COMCH_DATA_HEADER_SIZE 8
#define COMCH_DATA_MARK 0xC1

/* Written by the producer once per task, read by the consumer once per message. */
struct comch_data_header {
	uint8_t mark;
	uint8_t imm_len;
	uint16_t reserved;
	uint32_t producer_id;
	uint8_t imm[COMCH_IMM_MAX];
};

_Static_assert(sizeof(struct comch_data_header) == COMCH_DATA_HEADER_SIZE + COMCH_IMM_MAX, "no padding on the wire");
_Static_assert(sizeof(struct comch_data_header) <= SF_HEADER_MAX, "the header travels with the message");

static inline bool comch_data_header_valid(const void *header, size_t len)
{
	const struct comch_data_header *data = (const struct comch_data_header *)header;

	return len >= COMCH_DATA_HEADER_SIZE && data->mark == COMCH_DATA_MARK && data->imm_len <= COMCH_IMM_MAX &&
	       len == (size_t)COMCH_DATA_HEADER_SIZE + data->imm_len;
}

#endif
