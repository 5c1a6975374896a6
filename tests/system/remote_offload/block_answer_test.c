/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the threads of a block of a CUDA GPU answer their messages, on emulated threads. The code of one thread answers a copy of
 * the same messages: all bytes, lengths and numbers of frames must be equal. The messages lie in one arena of random bytes, so a
 * write outside of a message differs as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "remote_offload/orchestrator/answer.h"
#include "support/cuda_threads/cuda_threads.h"
#include "system/remote_offload/block_answer_kernel.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ARENA (1u << 20)
#define ROUNDS_MAX 4u
#define GAP 48u /* at least, between messages: an answer may be this much longer than its request */
#define REQUEST 4u
#define SMALL_MAX 128u /* the longest payload of a frame that is not large */
#define LISTED_MAX 1024u
#define FUNCTION_NONE OFFLOAD_FUNCTION_COUNT /* leaves messages as they are */

static const uint32_t block_sizes[] = {32, 128, 256, 512};
static const uint32_t answer_max[] = {
#define ANSWER_MAX(id, name, function, max) max,
	OFFLOAD_FUNCTIONS(ANSWER_MAX)
#undef ANSWER_MAX
		[FUNCTION_NONE] = 0,
};

static _Alignas(16) uint8_t arena[ARENA], expected[ARENA];
static uint32_t used;	 /* of the arena */
static uint32_t open_at; /* where the message that is being written begins */
static uint32_t threads; /* of the block */
static uint32_t num_rounds, num_messages[ROUNDS_MAX];
static struct block_round rounds[ROUNDS_MAX];
static unsigned int seed;

static uint32_t random_below(uint32_t bound)
{
	return (uint32_t)rand_r(&seed) % bound;
}

static void bytes_random(uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(rand_r(&seed) >> 8);
}

/* Writing messages: message_begin, then what the message contains, then message_end */

static void round_begin(void)
{
	assert_true(num_rounds < ROUNDS_MAX);
	memset(&rounds[num_rounds], 0, sizeof(rounds[0]));
	num_messages[num_rounds++] = 0;
}

static void block_begin(uint32_t block_size)
{
	threads = block_size;
	num_rounds = used = 0;
	round_begin();
}

static uint8_t *bytes_put(uint32_t len)
{
	uint8_t *bytes = arena + used;

	assert_true(len <= ARENA - GAP - used);
	bytes_random(bytes, len);
	used += len;
	return bytes;
}

static void message_begin(void)
{
	bytes_put(GAP + random_below(64));
	bytes_put((4 - used % 4) % 4);
	open_at = used;
}

static void message_end(void)
{
	struct block_round *round = &rounds[num_rounds - 1];
	uint32_t *num = &num_messages[num_rounds - 1];

	assert_true(*num < threads);
	round->addrs[*num] = (uintptr_t)(arena + open_at);
	round->lens[(*num)++] = used - open_at;
}

static void header_put(uint32_t size, uint32_t id, uint32_t payload_len)
{
	const uint32_t header[] = {kernel_swap(size), kernel_swap(id), kernel_swap(payload_len)};

	bytes_put((4 - used % 4) % 4);
	memcpy(bytes_put(sizeof(header)), header, sizeof(header));
}

static uint8_t *frame_put(uint32_t payload_len)
{
	header_put(payload_len + KERNEL_FRAME_OVERHEAD, REQUEST, payload_len);
	return bytes_put(payload_len);
}

static void frames_put(uint32_t num, uint32_t payload_len)
{
	while (num-- > 0)
		frame_put(payload_len);
}

/* Messages of the given number of frames, all of the same size. */
static void messages_put(uint32_t num, uint32_t frames, uint32_t payload_len)
{
	while (num-- > 0) {
		message_begin();
		frames_put(frames, payload_len);
		message_end();
	}
}

/* A batch of frames of different sizes; one in eight is no request, one in eight as long as the one before. */
static void batch_put(uint32_t frames, uint32_t payload_max)
{
	uint32_t len = 0;

	message_begin();
	while (frames-- > 0) {
		len = random_below(8) == 0 ? len : random_below(payload_max + 1);
		if (random_below(8) == 0) {
			header_put(len + KERNEL_FRAME_OVERHEAD, REQUEST + random_below(2), len + random_below(2));
			bytes_put(len);
		} else {
			frame_put(len);
		}
	}
	message_end();
}

/* Comparing a block with one thread */

static void round_answer_alone(const struct block_round *round, struct block_round *wanted, uint32_t function, uint32_t batches)
{
	for (uint32_t i = 0; i < threads; i++) {
		const uintptr_t addr = round->addrs[i] - (uintptr_t)arena + (uintptr_t)expected;

		wanted->answer_lens[i] = round->lens[i];
		wanted->frames[i] = round->addrs[i] != 0;
		if (round->addrs[i] != 0 && batches)
			wanted->frames[i] = kernel_answer_all(function, addr, round->lens[i]);
		else if (round->addrs[i] != 0)
			wanted->answer_lens[i] = kernel_answer(function, addr, round->lens[i]);
	}
}

static void memory_expect_equal(void)
{
	uint32_t i, message;

	if (memcmp(arena, expected, ARENA) == 0)
		return;
	for (i = 0; arena[i] == expected[i]; i++)
		;
	for (uint32_t round = 0; round < num_rounds; round++) {
		for (message = 0; message < num_messages[round]; message++) {
			if (arena + i >= (uint8_t *)rounds[round].addrs[message])
				print_message("byte %u of message %u of %u, of %u bytes\n",
					      (uint32_t)(arena + i - (uint8_t *)rounds[round].addrs[message]), message,
					      num_messages[round], rounds[round].lens[message]);
		}
	}
	fail_msg("%u threads: byte %u of the arena is %u, not %u", threads, i, arena[i], expected[i]);
}

/* The messages stay in the arena as answered: those of the next call are written anew. */
static void block_expect_answers(uint32_t function, uint32_t batches)
{
	struct block_call call = {.args = {.function = function, .batches = batches}, .rounds = rounds, .num_rounds = num_rounds};
	static struct block_round wanted;

	memcpy(expected, arena, ARENA);
	for (uint32_t i = 0; i < num_rounds; i++) {
		memset(rounds[i].frames, 0xff, sizeof(rounds[i].frames));
		memset(rounds[i].answer_lens, 0xff, sizeof(rounds[i].answer_lens));
	}
	cuda_threads_run(threads, block_answer, &call);
	for (uint32_t i = 0; i < num_rounds; i++) {
		round_answer_alone(&rounds[i], &wanted, function, batches);
		assert_memory_equal(rounds[i].frames, wanted.frames, threads * sizeof(uint32_t));
		assert_memory_equal(rounds[i].answer_lens, wanted.answer_lens, threads * sizeof(uint32_t));
	}
	memory_expect_equal();
}

/* Tests. Each is run for every size of block, by the tables at the end. */

static void without_messages_nothing_changes(uint32_t block_size)
{
	for (uint32_t function = 0; function <= FUNCTION_NONE; function++) {
		block_begin(block_size);
		block_expect_answers(function, 0);
		if (answer_max[function] == 0)
			block_expect_answers(function, 1);
	}
}

static void one_frame_is_answered(uint32_t block_size)
{
	static const uint32_t lens[] = {0, 1, 4, 7, 32, 33, 100, SMALL_MAX, SMALL_MAX + 1, 500, 2003};

	for (uint32_t function = 0; function <= FUNCTION_NONE; function++) {
		for (uint32_t i = 0; i < COUNT(lens) * (answer_max[function] == 0 ? 2 : 1); i++) {
			block_begin(block_size);
			messages_put(1, 1, lens[i % COUNT(lens)]);
			block_expect_answers(function, i >= COUNT(lens));
		}
	}
}

/* A frame a message, small ones, in all numbers of threads that share a frame; some messages are no request. */
static void small_frames_are_answered(uint32_t block_size)
{
	static const uint32_t parts[] = {1, 2, 3, 4, 5, 8, 9};

	for (uint32_t function = 0; function <= FUNCTION_NONE; function++) {
		for (uint32_t i = 0; i < COUNT(parts); i++) {
			block_begin(block_size);
			for (uint32_t n = 0; n < block_size / parts[i]; n++)
				batch_put(1, SMALL_MAX);
			block_expect_answers(function, 0);
		}
	}
}

/* Without batches a message of several frames goes back as it came, as does one without any. */
static void without_batches_only_one_frame_is_answered(uint32_t block_size)
{
	for (uint32_t function = 0; function <= FUNCTION_NONE; function++) {
		block_begin(block_size);
		messages_put(2, 2, 20);
		messages_put(1, 1, 20);
		messages_put(1, 30, 20);
		messages_put(1, 0, 0);
		message_begin();
		bytes_put(11);
		message_end();
		message_begin();
		bytes_put(1000);
		message_end();
		messages_put(1, 1, 400);
		block_expect_answers(function, 0);
	}
}

static void equal_frames_of_a_batch_are_answered(uint32_t block_size)
{
	static const uint32_t counts[] = {1, 2, 31, 32, 33, 60}, lens[] = {0, 3, 4, 21, SMALL_MAX, SMALL_MAX + 4};

	for (uint32_t i = 0; i < COUNT(counts); i++) {
		block_begin(block_size);
		messages_put(1, counts[i], lens[i]);
		block_expect_answers(OFFLOAD_REVERSE, 1);
		block_begin(block_size);
		for (uint32_t k = 0; k < COUNT(lens); k++)
			messages_put(1, counts[i], lens[k]);
		block_expect_answers(OFFLOAD_REVERSE, 1);
	}
}

static void different_frames_of_a_batch_are_answered(uint32_t block_size)
{
	static const uint32_t payload_max[] = {3, 16, 50, 300};

	for (uint32_t i = 0; i < 2 * COUNT(payload_max); i++) {
		block_begin(block_size);
		for (uint32_t n = random_below(10) + 1; n > 0; n--)
			batch_put(random_below(40), payload_max[i / 2]);
		block_expect_answers(OFFLOAD_REVERSE, 1);
	}
	for (uint32_t i = 0; i < 3; i++) { /* runs of equal frames, one after the other */
		block_begin(block_size);
		for (uint32_t n = 0; n < 5; n++) {
			message_begin();
			for (uint32_t k = 0; k < 4; k++)
				frames_put(random_below(40), random_below(40));
			message_end();
		}
		block_expect_answers(OFFLOAD_REVERSE, 1);
	}
}

/* Where a lane looks for a frame, there may be bytes that look like one, of the same size, within another frame. */
static void payload_that_looks_like_frames_is_no_frame(uint32_t block_size)
{
	uint8_t *payload;

	for (uint32_t i = 0; i < 3; i++) {
		block_begin(block_size);
		for (uint32_t n = 0; n < 6; n++) {
			message_begin();
			frames_put(i + 1, 4);
			payload = frame_put(16 * 6 + 4);
			for (uint32_t at = 4 + 16 * (n % 2); at + 16 <= 16 * 6 + 4; at += 16)
				memcpy(payload + at, arena + open_at, 16);
			frames_put(5, 4);
			message_end();
		}
		block_expect_answers(OFFLOAD_REVERSE, 1);
	}
	block_begin(block_size); /* before the end of the padding, the bytes of the second size are those of the first: 15 */
	message_begin();
	frame_put(15 - KERNEL_FRAME_OVERHEAD);
	*bytes_put(1) = 0;
	frame_put((15 << 8) + 16 - KERNEL_FRAME_OVERHEAD);
	message_end();
	block_expect_answers(OFFLOAD_REVERSE, 1);
}

/* A message that ends, after so many equal frames, with the header of a request of this size and so many bytes. */
static void message_put_tail(uint32_t frames, uint32_t payload_len, uint32_t size, uint32_t rest)
{
	message_begin();
	frames_put(frames, payload_len);
	header_put(size, REQUEST, size - KERNEL_FRAME_OVERHEAD);
	bytes_put(rest);
	message_end();
}

static void what_is_no_frame_goes_back_as_it_came(uint32_t block_size)
{
	static const uint32_t frames[] = {0, 1, 5, 31, 32, 40};
	static const uint32_t sizes[] = {0, 1, 11, 33, 100000, INT32_MAX, INT32_MAX + 1u, UINT32_MAX - 3, UINT32_MAX};

	for (uint32_t i = 0; i < COUNT(frames); i++) {
		block_begin(block_size);
		for (uint32_t k = 0; k < COUNT(sizes); k++)
			message_put_tail(frames[i], 20, sizes[k], 20); /* a header, and 20 bytes: 32 in all */
		for (uint32_t rest = 1; rest < KERNEL_FRAME_OVERHEAD; rest += 2) {
			message_begin();
			frames_put(frames[i], 21);
			memcpy(bytes_put(rest), arena + open_at, rest); /* the beginning of another frame */
			message_end();
		}
		message_begin();
		frames_put(frames[i], 20);
		bytes_put(200);
		message_end();
		block_expect_answers(OFFLOAD_REVERSE, 1);
	}
}

/* The frame that fills the list, the next one, and many more. */
static void frames_beyond_the_list_are_answered(uint32_t block_size)
{
	static const uint32_t more[] = {0, 1, 500};

	for (uint32_t i = 0; i < COUNT(more); i++) {
		block_begin(block_size);
		messages_put(16, LISTED_MAX / 16, 4 + i);
		if (more[i] != 0)
			messages_put(1, more[i], 9);
		block_expect_answers(OFFLOAD_REVERSE, 1);
	}
	block_begin(block_size);
	for (uint32_t i = 0; i < 30; i++)
		batch_put(50, 30);
	block_expect_answers(OFFLOAD_REVERSE, 1);
}

/* The numbers of large frames: fewer than warps, as many, and more. */
static void large_frames_are_answered(uint32_t block_size)
{
	const uint32_t warps = block_size / 32, nums[] = {1, warps - 1, warps, warps + 1, 3 * warps + 1};
	static const uint32_t lens[] = {SMALL_MAX + 1, 131, SMALL_MAX, 200, 1000, 4096};

	for (uint32_t function = 0; function <= FUNCTION_NONE; function++) {
		for (uint32_t i = 0; i < COUNT(nums) * (answer_max[function] == 0 ? 2 : 1); i++) {
			block_begin(block_size);
			for (uint32_t n = 0; n < nums[i % COUNT(nums)]; n++)
				messages_put(1, 1, lens[(n + i) % COUNT(lens)]);
			block_expect_answers(function, i >= COUNT(nums));
		}
	}
}

static void message_put_any(uint32_t batches)
{
	switch (random_below(4)) {
	case 0:
		messages_put(1, 1, SMALL_MAX + 1 + random_below(800));
		break;
	case 1:
		messages_put(1, 1, random_below(SMALL_MAX + 1));
		break;
	case 2:
		message_put_tail(batches ? random_below(12) : 0, random_below(40), random_below(100), random_below(100));
		break;
	default:
		batch_put(batches ? random_below(30) : 1, 200);
		break;
	}
}

/* As the kernel calls it: one call follows the other, with messages of all kinds. */
static void calls_follow_each_other(uint32_t block_size)
{
	for (uint32_t i = 0; i < 6; i++) {
		const uint32_t function = i % (FUNCTION_NONE + 1u), batches = answer_max[function] == 0;

		block_begin(block_size);
		for (uint32_t n = 0; n < ROUNDS_MAX; n++) {
			if (n > 0)
				round_begin();
			for (uint32_t num = random_below(batches ? 32 : block_size + 1); num > 0; num--)
				message_put_any(batches);
		}
		block_expect_answers(function, batches);
	}
}

static int setup(void **state)
{
	seed = 1;
	bytes_random(arena, ARENA);
	return 0;
}

#define TESTS(X)                                                                                                                 \
	X(without_messages_nothing_changes)                                                                                      \
	X(one_frame_is_answered)                                                                                                 \
	X(small_frames_are_answered)                                                                                             \
	X(without_batches_only_one_frame_is_answered)                                                                            \
	X(equal_frames_of_a_batch_are_answered)                                                                                  \
	X(different_frames_of_a_batch_are_answered)                                                                              \
	X(payload_that_looks_like_frames_is_no_frame)                                                                            \
	X(what_is_no_frame_goes_back_as_it_came)                                                                                 \
	X(frames_beyond_the_list_are_answered)                                                                                   \
	X(large_frames_are_answered)                                                                                             \
	X(calls_follow_each_other)

#define TEST_RUN(name)                                                                                                           \
	static void name##_by_all_blocks(void **state)                                                                           \
	{                                                                                                                        \
		for (uint32_t i = 0; i < COUNT(block_sizes); i++)                                                                \
			name(block_sizes[i]);                                                                                    \
	}
TESTS(TEST_RUN)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST_ROW(name) cmocka_unit_test_setup(name##_by_all_blocks, setup),
		TESTS(TEST_ROW)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
