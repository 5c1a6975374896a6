/* SPDX-License-Identifier: BSD-3-Clause */
/* How the server's GPU functions handle messages: compared with known answers, and with OpenSSL's where it is available. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#ifdef HAVE_LIBCRYPTO
#include <openssl/evp.h>
#endif

#include "remote_offload/kernels.h"
#include "remote_offload/orchestrator/answer.h"

#define LONG_LEN 1000000
#define THREADS 3

static _Alignas(8) uint8_t payload[LONG_LEN];

/* Runs the threads of a message one after the other, in reverse order. The result must not depend on the order. */
static uint32_t apply(uint32_t function, uint8_t *bytes, uint32_t len)
{
	uint32_t answer_len = 0;

	for (uint32_t rank = THREADS; rank-- > 0;) {
		uint32_t rank_len = offload_apply(function, bytes, len, rank, THREADS);

		assert_true(rank == THREADS - 1 || rank_len == answer_len);
		answer_len = rank_len;
	}
	return answer_len;
}

static void expect_answer(uint32_t function, const void *request, uint32_t len, const char *hex)
{
	char text[2 * 32 + 1];
	uint32_t answer_len;

	memmove(payload, request, len);
	answer_len = apply(function, payload, len);
	assert_true(answer_len <= 32);
	for (uint32_t i = 0; i < answer_len; i++)
		snprintf(text + 2 * i, 3, "%02x", payload[i]);
	assert_string_equal(text, hex);
}

static void sha256_of_published_messages(void **state)
{
	const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	(void)state;
	expect_answer(OFFLOAD_SHA256, "", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect_answer(OFFLOAD_SHA256, "abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	expect_answer(OFFLOAD_SHA256, two_blocks, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(payload, 'a', LONG_LEN);
	expect_answer(OFFLOAD_SHA256, payload, LONG_LEN, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 3720 B.4; the digest is written there with its least byte first. */
static void crc32c_of_published_messages(void **state)
{
	uint8_t zeros[32] = {0}, ones[32], up[32], down[32];
	static const uint8_t read_command[48] = {
		0x01, 0xc0, [16] = 0x14, [20] = 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, [40] = 0x02,
	};

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	for (uint8_t i = 0; i < 32; i++) {
		up[i] = i;
		down[i] = (uint8_t)(31 - i);
	}
	expect_answer(OFFLOAD_CRC32C, "", 0, "00000000");
	expect_answer(OFFLOAD_CRC32C, "123456789", 9, "e3069283");
	expect_answer(OFFLOAD_CRC32C, zeros, sizeof(zeros), "8a9136aa");
	expect_answer(OFFLOAD_CRC32C, ones, sizeof(ones), "62a8ab43");
	expect_answer(OFFLOAD_CRC32C, up, sizeof(up), "46dd794e");
	expect_answer(OFFLOAD_CRC32C, down, sizeof(down), "113fdb5c");
	expect_answer(OFFLOAD_CRC32C, read_command, sizeof(read_command), "d9963a56");
}

static void fill_random(uint8_t *bytes, uint32_t len, unsigned int *seed)
{
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(rand_r(seed) >> 8);
}

static void reverse_of_every_short_length(void **state)
{
	uint8_t request[256];
	unsigned int seed = 1;

	(void)state;
	for (uint32_t len = 0; len <= sizeof(request); len++) {
		fill_random(request, len, &seed);
		memcpy(payload, request, len);
		payload[len] = 0xa5;
		assert_int_equal(apply(OFFLOAD_REVERSE, payload, len), len);
		for (uint32_t i = 0; i < len; i++)
			assert_int_equal(payload[i], request[len - 1 - i]);
		assert_int_equal(payload[len], 0xa5);
	}
}

static void answers_have_the_tables_length(void **state)
{
	static const uint32_t answer_max[] = {
#define ANSWER_MAX(id, name, function, max) max,
		OFFLOAD_FUNCTIONS(ANSWER_MAX)
#undef ANSWER_MAX
	};

	(void)state;
	for (uint32_t function = 0; function < OFFLOAD_FUNCTION_COUNT; function++) {
		for (uint32_t len = 0; len < 100; len++) {
			uint32_t bound = len > answer_max[function] ? len : answer_max[function];

			memset(payload, 0xa5, 200);
			if (answer_max[function] == 0)
				assert_int_equal(apply(function, payload, len), len);
			else
				assert_true(apply(function, payload, len) <= bound);
			for (uint32_t i = bound; i < 200; i++)
				assert_int_equal(payload[i], 0xa5);
		}
	}
}

/* Messages of several frames */

static uint8_t *put_frame(uint8_t *at, const char *text)
{
	uint32_t len = (uint32_t)strlen(text), header[3] = {kernel_swap(len + 12), kernel_swap(4), kernel_swap(len)};

	memcpy(at, header, sizeof(header));
	memcpy(at + sizeof(header), text, len);
	memset(at + sizeof(header) + len, 0, (4 - len % 4) % 4);
	return at + sizeof(header) + len;
}

static uint32_t put_frames(uint8_t *at, const char *const *texts)
{
	uint8_t *begin = at;

	while (*texts)
		at = put_frame(begin + (at - begin + 3) / 4 * 4, *texts++);
	return (uint32_t)(at - begin);
}

static void expect_reversed(const char *const *requests, const char *const *answers, uint32_t expected_frames)
{
	static _Alignas(8) uint8_t expected[256];
	uint32_t len = put_frames(payload, requests), expected_len = put_frames(expected, answers);

	assert_int_equal(len, expected_len);
	assert_int_equal(kernel_answer_all(OFFLOAD_REVERSE, (uintptr_t)payload, len), expected_frames);
	assert_memory_equal(payload, expected, expected_len);
}

static void each_frame_of_a_message_is_answered(void **state)
{
	(void)state;
	expect_reversed((const char *const[]){"ABCD", "", "12345678", "abc", NULL},
			(const char *const[]){"DCBA", "", "87654321", "cba", NULL}, 4);
}

static void frames_of_odd_lengths_begin_aligned(void **state)
{
	(void)state;
	expect_reversed((const char *const[]){"ABCDE", "1234", "x", "12", "abc", NULL},
			(const char *const[]){"EDCBA", "4321", "x", "21", "cba", NULL}, 5);
}

static void what_is_no_frame_goes_back_as_it_came(void **state)
{
	static const uint32_t sizes[] = {0, 11, 17, UINT32_MAX};
	uint8_t before[36];

	(void)state;
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t size = kernel_swap(sizes[i]);

		put_frame(put_frame(payload, "ABCD"), "1234");
		memcpy(payload + 16, &size, sizeof(size));
		memcpy(before, payload, sizeof(before));
		assert_int_equal(kernel_answer_all(OFFLOAD_REVERSE, (uintptr_t)payload, 32), 1);
		assert_memory_equal(payload + 12, "DCBA", 4);
		assert_memory_equal(payload + 16, before + 16, 16);
	}
	memcpy(payload, "short", 5);
	assert_int_equal(kernel_answer_all(OFFLOAD_REVERSE, (uintptr_t)payload, 5), 1);
	assert_memory_equal(payload, "short", 5);
}

#ifdef HAVE_LIBCRYPTO
static void sha256_is_that_of_openssl(void **state)
{
	unsigned int seed = 2;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t len = i < 300 ? i : (uint32_t)rand_r(&seed) % 20000;
		uint8_t digest[32];

		fill_random(payload, len, &seed);
		assert_int_equal(EVP_Digest(payload, len, digest, NULL, EVP_sha256(), NULL), 1);
		assert_int_equal(apply(OFFLOAD_SHA256, payload, len), sizeof(digest));
		assert_memory_equal(payload, digest, sizeof(digest));
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_of_published_messages),
		cmocka_unit_test(crc32c_of_published_messages),
		cmocka_unit_test(each_frame_of_a_message_is_answered),
		cmocka_unit_test(frames_of_odd_lengths_begin_aligned),
		cmocka_unit_test(what_is_no_frame_goes_back_as_it_came),
		cmocka_unit_test(reverse_of_every_short_length),
		cmocka_unit_test(answers_have_the_tables_length),
#ifdef HAVE_LIBCRYPTO
		cmocka_unit_test(sha256_is_that_of_openssl),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
