/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "apps/remote_offload/frame.h"

#define LIMIT 264 /* --max-message-length 256 */

static const uint8_t good[] = {0, 0, 0, 16, 0, 0, 0, 4, 0, 0, 0, 4, 'A', 'B', 'C', 'D', 'x'};

static void a_whole_frame_is_found(void **state)
{
	struct frame frame;

	assert_int_equal(frame_parse(good, sizeof(good), LIMIT, &frame), FRAME_COMPLETE);
	assert_int_equal(frame.size, 16);
	assert_int_equal(frame.id, FRAME_CLIENT_REQUEST);
	assert_int_equal(frame.payload_len, 4);
	assert_memory_equal(frame.payload, "ABCD", 4);
}

static void every_prefix_is_partial(void **state)
{
	struct frame frame;

	for (size_t len = 0; len < 16; len++) {
		assert_int_equal(frame_parse(good, len, LIMIT, &frame), FRAME_PARTIAL);
		assert_int_equal(frame.size, len < 4 ? 0 : 16);
	}
}

static void header_matches_what_is_parsed(void **state)
{
	uint8_t bytes[FRAME_OVERHEAD];

	assert_int_equal(frame_put_header(bytes, FRAME_CLIENT_REQUEST, 4), 16);
	assert_memory_equal(bytes, good, sizeof(bytes));
}

static void limit_counts_length_and_payload_but_not_the_header(void **state)
{
	uint8_t bytes[FRAME_OVERHEAD + 253] = {0};
	struct frame frame;

	assert_int_equal(frame_size_max(256), LIMIT);
	frame_put_header(bytes, FRAME_CLIENT_REQUEST, 252);
	assert_int_equal(frame_parse(bytes, sizeof(bytes), LIMIT, &frame), FRAME_COMPLETE);
	frame_put_header(bytes, FRAME_CLIENT_REQUEST, 253);
	assert_int_equal(frame_parse(bytes, 4, LIMIT, &frame), FRAME_TOO_LARGE);
	assert_int_equal(frame_size_max(UINT32_MAX), UINT32_MAX);
}

/* Changes one byte of the good frame and expects this status and explanation. */
static void expect_bad(size_t at, uint8_t value, size_t len, enum frame_status status, const char *explanation)
{
	uint8_t bytes[sizeof(good)];
	struct frame frame;
	char why[160];

	memcpy(bytes, good, sizeof(good));
	bytes[at] = value;
	assert_int_equal(frame_parse(bytes, len, LIMIT, &frame), status);
	frame_explain(bytes, len, LIMIT, why, sizeof(why));
	assert_string_equal(why, explanation);
}

static void bad_frames_are_refused_as_soon_as_they_show(void **state)
{
	expect_bad(2, 2, 4, FRAME_TOO_LARGE, "a frame of 528 bytes is above the limit of 264");
	expect_bad(3, 11, 4, FRAME_TOO_SMALL, "a frame of 11 bytes is shorter than its header and length of 12");
	expect_bad(7, 6, 8, FRAME_ID_UNKNOWN, "message id 6 is neither a client's request (4) nor a response (5)");
	expect_bad(11, 5, 12, FRAME_LENGTH_MISMATCH, "a payload of 5 bytes does not fit a frame of 16");
	expect_bad(12, 'Z', 14, FRAME_PARTIAL, "the frame ends after 14 of 16 bytes");
	expect_bad(12, 'Z', 3, FRAME_PARTIAL, "the frame ends after 3 bytes, before its size");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_frame_is_found),
		cmocka_unit_test(every_prefix_is_partial),
		cmocka_unit_test(header_matches_what_is_parsed),
		cmocka_unit_test(limit_counts_length_and_payload_but_not_the_header),
		cmocka_unit_test(bad_frames_are_refused_as_soon_as_they_show),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
