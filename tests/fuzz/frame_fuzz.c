/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of bytes cut at random into frames. A decision about a prefix must hold for the longer text, and a complete frame must
 * lie within the bytes and encode to the same header.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/remote_offload/frame.h"
#include "support/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT 264U

static void prefixes_agree(const uint8_t *data, size_t len, enum frame_status whole)
{
	struct frame frame;

	for (size_t cut = 0; cut < len && cut < LIMIT; cut++) {
		enum frame_status status = frame_parse(data, cut, LIMIT, &frame);

		CHECK(status != FRAME_COMPLETE);
		CHECK(status == FRAME_PARTIAL || status == whole);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t header[FRAME_OVERHEAD];
	struct frame frame;
	char why[160];

	while (size > 0) {
		enum frame_status status = frame_parse(data, size, LIMIT, &frame);

		frame_explain(data, size, LIMIT, why, sizeof(why));
		CHECK(strlen(why) > 0);
		prefixes_agree(data, status == FRAME_COMPLETE ? frame.size : size, status);
		if (status != FRAME_COMPLETE)
			break;
		CHECK(frame.size <= size && frame.payload + frame.payload_len == data + frame.size);
		CHECK(frame_put_header(header, (enum frame_id)frame.id, frame.payload_len) == frame.size);
		CHECK(memcmp(header, data, sizeof(header)) == 0);
		data += frame.size;
		size -= frame.size;
	}
	return 0;
}
