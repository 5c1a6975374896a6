/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "remote_offload/control_message.h"

/* What a program without the terms sends and receives. */
static const uint8_t plain_request[] = {0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 7};

static void plain_exchange_is_understood(void **state)
{
	struct control_message message;

	assert_null(control_message_unpack(plain_request, sizeof(plain_request), &message));
	assert_int_equal(message.id, CONTROL_EXCHANGE_CONSUMER_ID_REQUEST);
	assert_int_equal(message.consumer_id, 7);
	assert_false(message.has_terms);
}

static void terms_lie_behind_the_declared_size(void **state)
{
	struct control_message message = {.id = CONTROL_EXCHANGE_CONSUMER_ID_REQUEST,
					  .consumer_id = 7,
					  .has_terms = true,
					  .terms = {2, 128, 256, 1024}},
			       again;
	uint8_t bytes[CONTROL_MESSAGE_MAX];
	uint32_t len = control_message_pack(&message, bytes);

	assert_true(len > sizeof(plain_request));
	assert_memory_equal(bytes, plain_request, sizeof(plain_request));
	assert_null(control_message_unpack(bytes, len, &again));
	assert_memory_equal(&again.terms, &message.terms, sizeof(message.terms));
	/* If the terms are truncated they are ignored, and the rest is valid. */
	assert_null(control_message_unpack(bytes, len - 1, &again));
	assert_false(again.has_terms);
}

/* Version 2 added several frames in one message. */
static void terms_of_version_1_mean_one_frame_a_message(void **state)
{
	static const uint8_t old[] = {0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 7,   'S', 'F', 'R', 'O',
				      0, 0, 0, 1,  0, 0, 0, 2, 0, 0, 0, 128, 0,	  0,   1,   0};
	struct control_message message;

	assert_null(control_message_unpack(old, sizeof(old), &message));
	assert_true(message.has_terms);
	assert_int_equal(message.terms.queues, 2);
	assert_int_equal(message.terms.max_concurrent_messages, 128);
	assert_int_equal(message.terms.max_message_length, 256);
	assert_int_equal(message.terms.batch_bytes, 0);
}

static void shutdown_messages_are_a_header(void **state)
{
	struct control_message message = {.id = CONTROL_SHUTDOWN_COMPLETE};
	static const uint8_t expected[] = {0, 0, 0, 8, 0, 0, 0, 1};
	uint8_t bytes[CONTROL_MESSAGE_MAX];

	assert_int_equal(control_message_pack(&message, bytes), sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
}

static void bad_messages_are_refused(void **state)
{
	static const uint8_t too_long[] = {0, 0, 0, 13, 0, 0, 0, 2, 0, 0, 0, 7}, unknown[] = {0, 0, 0, 8, 0, 0, 0, 4},
			     no_id[] = {0, 0, 0, 8, 0, 0, 0, 3}, short_size[] = {0, 0, 0, 7, 0, 0, 0, 0};
	struct control_message message;

	assert_non_null(control_message_unpack(plain_request, 7, &message));
	assert_non_null(control_message_unpack(too_long, sizeof(too_long), &message));
	assert_non_null(control_message_unpack(unknown, sizeof(unknown), &message));
	assert_non_null(control_message_unpack(no_id, sizeof(no_id), &message));
	assert_non_null(control_message_unpack(short_size, sizeof(short_size), &message));
}

static void mismatches_name_both_values(void **state)
{
	struct control_terms server = {2, 128, 256}, orchestrator = {3, 128, 256};
	char why[256] = "";

	assert_false(control_terms_match(&server, &orchestrator, why, sizeof(why)));
	assert_non_null(strstr(why, "2 --cpu"));
	assert_non_null(strstr(why, "--num-gpu-threads 3"));
	orchestrator = (struct control_terms){2, 64, 512};
	assert_false(control_terms_match(&server, &orchestrator, why, sizeof(why)));
	assert_non_null(strstr(why, "256"));
	assert_non_null(strstr(why, "512"));
	orchestrator.max_message_length = 256;
	assert_true(control_terms_match(&server, &orchestrator, why, sizeof(why)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_exchange_is_understood),
		cmocka_unit_test(terms_lie_behind_the_declared_size),
		cmocka_unit_test(terms_of_version_1_mean_one_frame_a_message),
		cmocka_unit_test(shutdown_messages_are_a_header),
		cmocka_unit_test(bad_messages_are_refused),
		cmocka_unit_test(mismatches_name_both_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
