/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that a server may send to the client, cut into random pieces. The first byte is the number of requests in flight, the
 * second the length of the pieces. A leading part of the stream is replaced by correct answers, so that the rest is reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "remote_offload/client/connection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MESSAGE "ABCDEFG"
#define EXPECTED "GFEDCBA"
#define DEPTH 16

static struct messages messages;

static void messages_make(void)
{
	static struct client_config config = {.depth = DEPTH};

	config.message = strdup(MESSAGE);
	config.expected = strdup(EXPECTED);
	if (messages_init(&messages, &config) != DOCA_SUCCESS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct burst bursts[DEPTH];
	struct connection connection = {.fd = -1, .bursts = bursts, .burst_mask = DEPTH - 1};
	static struct latency latency;
	uint8_t piece[256];
	size_t length, right;

	if (messages.requests == NULL)
		messages_make();
	if (size < 3)
		return 0;
	latency_reset(&latency);
	connection.answers = messages.echoed;
	connection.begun = connection.credits = data[0] % (DEPTH + 1);
	bursts[0] = (struct burst){.upto = connection.begun, .time_ns = 1};
	connection.burst_tail = connection.begun > 0;
	length = 1 + data[1];
	right = data[2];
	data += 3;
	size -= 3;
	for (size_t at = 0; at < size;) {
		size_t len = size - at < length ? size - at : length;
		enum connection_status status;

		memcpy(piece, data + at, len);
		for (size_t i = 0; i < len && at + i < right; i++)
			piece[i] = messages.echoed[at + i];
		status = connection_receive(&connection, &messages, piece, len, 2, &latency);
		if (connection.answered > connection.begun || latency.count != connection.answered)
			abort();
		if (status != CONNECTION_OK) {
			if (connection_error()[0] == '\0')
				abort();
			break;
		}
		at += len;
	}
	return 0;
}
