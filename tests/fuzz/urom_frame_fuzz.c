/* SPDX-License-Identifier: BSD-3-Clause */
/* UROM's messages in a stream: parsed messages lie inside it, and packed messages parse to the same fields. */
#include <assert.h>
#include <stdlib.h>

#include "urom/comm/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const uint8_t *data, size_t size)
{
	const uint8_t *at = data;
	size_t left = size;
	struct comm_frame frame;
	size_t whole;
	enum comm_frame_found found = comm_frame_find(data, size, 64, 4096, &whole);

	assert(found == COMM_FRAME_BAD || (whole <= size) == (found == COMM_FRAME_WHOLE));
	while (comm_frame_read(&at, &left, &frame)) {
		assert(at + left == data + size);
		assert(frame.head + frame.head_len <= frame.body && frame.body + frame.body_len <= at);
		assert(comm_frame_size(frame.head_len, frame.body_len) <= size);
	}
}

static void write_and_read(const uint8_t *data, size_t size)
{
	uint32_t head_len = data[0] < size - 1 ? data[0] : (uint32_t)size - 1;
	const struct comm_frame frame = {data + 1, data + 1 + head_len, head_len, (uint32_t)size - 1 - head_len};
	size_t room = comm_frame_size(frame.head_len, frame.body_len), left = room;
	uint8_t *out = (uint8_t *)malloc(room);
	const uint8_t *at = out;
	struct comm_frame again;

	comm_frame_write(out, &frame);
	bool ok = comm_frame_read(&at, &left, &again);
	assert(ok && left == 0 && again.head_len == frame.head_len && again.body_len == frame.body_len);
	assert(memcmp(again.head, frame.head, frame.head_len) == 0 && memcmp(again.body, frame.body, frame.body_len) == 0);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = (uint8_t *)malloc(size + 1);

	memcpy(copy, data, size);
	read_all(copy, size);
	if (size != 0)
		write_and_read(copy, size);
	free(copy);
	return 0;
}
