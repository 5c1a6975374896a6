/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device code of Comch at warp and block scope, which is CUDA's, on emulated threads: the CPU sends through a GPU queue, a
 * warp or block returns each message through another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/gpu_block_kernel.h"
#include "comch/gpu_receiver.h"
#include "comch/gpu_sender.h"
#include "support/cuda_threads/cuda_threads.h"

#define DEPTH 256u
#define ARENA (1u << 18)
#define ARENA_OFFSET (1u << 20)
#define SIZE (ARENA_OFFSET + ARENA)
#define BUFS 200u
#define LEN_MAX 9000u
#define STRIDE ((LEN_MAX + 64 + 63) / 64 * 64)
#define CONSUMER_ID 7

struct echo {
	uint8_t *to, *from; /* the memory of the two GPU queues */
	struct doca_comch_gpu_consumer consumer;
	struct doca_comch_gpu_producer producer;
	struct softfield_gpu_recv recvs[DEPTH];
	uint8_t imm[DEPTH * SOFTFIELD_IMM_MAX];
	struct softfield_gpu_peer peers[SOFTFIELD_GPU_PEERS_MAX];
	struct softfield_gpu_dest dests[SOFTFIELD_GPU_PEERS_MAX];
	struct softfield_gpu_send sends[2 * DEPTH];
	struct softfield_gpu_queue control;
	struct gpu_sender sender;
	struct gpu_receiver receiver;
	uint8_t *bufs;
	struct echo_turn turn;
	uint32_t sent, received; /* by the CPU */
	uint32_t seed, len_max, imm_max, threads;
	void (*body)(void *turn);
};

static struct echo *echo;

/* Length, immediate data and bytes of message n depend on n. */
static uint32_t len_of(uint32_t n)
{
	return (n * 2654435761u + echo->seed) % (echo->len_max + 1);
}
static uint32_t imm_len_of(uint32_t n)
{
	return echo->imm_max == 0 ? 0 : (n * 40503u + echo->seed) % (echo->imm_max + 1);
}
static void fill(uint8_t *bytes, uint32_t len, uint32_t n)
{
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(n * 31 + i * 7 + (i >> 8) + 1);
}

/* Receives what has come back, and gives as many credits again. */
static void receive_all(struct echo_turn *turn)
{
	uint8_t wanted[LEN_MAX], imm[SOFTFIELD_IMM_MAX];
	struct gpu_arrival arrival;

	(void)turn;
	while (comch_gpu_receiver_peek(&echo->receiver, &arrival) == DOCA_SUCCESS) {
		const uint32_t n = echo->received, len = len_of(n), imm_len = imm_len_of(n);

		fill(wanted, len, n);
		fill(imm, imm_len, n + 3);
		assert_int_equal(arrival.len, len);
		assert_int_equal(arrival.imm_len, imm_len);
		assert_memory_equal(arrival.arena != NULL ? arrival.arena : arrival.line, wanted, len);
		assert_memory_equal(arrival.arena != NULL ? arrival.line : arrival.line + len, imm, imm_len);
		gpu_receiver_next(&echo->receiver);
		echo->received++;
	}
	comch_gpu_receiver_give_credits(&echo->receiver, 97, LEN_MAX); /* fewer than a block of 128 may send */
}

/* The same for a kernel that has no credits left. It repeats its send until it has, so this ends the program if that never comes.
 */
static void receive_again(struct echo_turn *turn)
{
	static uint32_t in_vain;
	const uint32_t received = echo->received;

	receive_all(turn);
	in_vain = echo->received == received ? in_vain + 1 : 0;
	if (in_vain > 100) {
		fprintf(stderr, "message %u does not come\n", received);
		abort();
	}
}

static void send_some(uint32_t num)
{
	uint8_t bytes[LEN_MAX], imm[SOFTFIELD_IMM_MAX];

	for (uint32_t i = 0; i < num; i++) {
		const uint32_t n = echo->sent;
		const struct sf_iov iov = {bytes, len_of(n)};
		doca_error_t result;

		fill(bytes, (uint32_t)iov.len, n);
		fill(imm, imm_len_of(n), n + 3);
		result = comch_gpu_sender_send(&echo->sender, NULL, &iov, 1, imm, imm_len_of(n));
		if (result == DOCA_ERROR_AGAIN)
			return;
		assert_int_equal(result, DOCA_SUCCESS);
		echo->sent++;
	}
}

static uint8_t *aligned(size_t len)
{
	uint8_t *memory = aligned_alloc(128, (len + 127) / 128 * 128);

	assert_non_null(memory);
	memset(memory, 0, (len + 127) / 128 * 128);
	return memory;
}

/* offset: of the buffers, from an address of 64 bytes. first: the number of the first message. */
static void begin(uint32_t offset, uint32_t first)
{
	struct gpu_queue to, from, seen;

	comch_gpu_queue_init(echo->to, 0, ARENA_OFFSET, ARENA, DEPTH, SOFTFIELD_GPU_QUEUE_TO_KERNEL, 1, &to);
	comch_gpu_queue_init(echo->from, 0, ARENA_OFFSET, ARENA, DEPTH, 0, 1, &from);
	assert_int_equal(comch_gpu_queue_view(echo->to, SIZE, 0, true, &seen), DOCA_SUCCESS);
	assert_int_equal(comch_gpu_sender_init(&echo->sender, &seen), DOCA_SUCCESS);
	echo->sender.seq = echo->sender.count = echo->sender.done = first;
	assert_int_equal(comch_gpu_queue_view(echo->from, SIZE, 0, false, &seen), DOCA_SUCCESS);
	comch_gpu_receiver_init(&echo->receiver, &seen);
	echo->consumer = (struct doca_comch_gpu_consumer){.gpu_queue = to.head,
							  .lines = to.lines,
							  .arena = to.arena,
							  .recvs = echo->recvs,
							  .imm = echo->imm,
							  .arena_size = ARENA,
							  .depth = DEPTH,
							  .shift = to.shift,
							  .recv_max = DEPTH,
							  .head = first,
							  .delivered = first,
							  .posted = first,
							  .credited = first};
	echo->producer = (struct doca_comch_gpu_producer){.control = &echo->control,
							  .peers = echo->peers,
							  .dests = echo->dests,
							  .sends = echo->sends,
							  .arena = from.arena,
							  .arena_size = ARENA,
							  .send_ring = 2 * DEPTH,
							  .send_max = DEPTH};
	echo->peers[3] = (struct softfield_gpu_peer){.consumer_id = CONSUMER_ID,
						     .depth = DEPTH,
						     .shift = from.shift,
						     .arena_size = ARENA,
						     .gpu_queue = from.head,
						     .lines = from.lines};
	echo->turn = (struct echo_turn){.consumer = &echo->consumer,
					.producer = &echo->producer,
					.consumer_id = CONSUMER_ID,
					.num_bufs = BUFS,
					.buf_size = LEN_MAX,
					.stride = STRIDE,
					.bufs = echo->bufs + offset,
					.again = receive_again};
}

static int setup(void **state)
{
	echo = (struct echo *)aligned(sizeof(*echo));
	echo->to = aligned(SIZE);
	echo->from = aligned(SIZE);
	echo->bufs = aligned((size_t)BUFS * STRIDE + 64);
	*state = echo;
	return 0;
}

static int teardown(void **state)
{
	comch_gpu_sender_fini(&echo->sender);
	free(echo->to);
	free(echo->from);
	free(echo->bufs);
	free(echo);
	return 0;
}

/* Sends so many messages, in batches of all sizes up to all receives. */
static void exchange(uint32_t num, uint32_t seed)
{
	uint32_t batch = 1, idle = 0, got;

	echo->seed = seed;
	cuda_threads_run(echo->threads, echo->body == block_turn ? block_post : warp_post, &echo->turn);
	receive_all(&echo->turn);
	while (echo->received < num || echo->received != echo->sent) {
		if (echo->sent < num)
			send_some(batch % 3 == 0 ? batch : batch / 2 + 1);
		batch = batch * 5 / 3 + 1 > BUFS ? 1 : batch * 5 / 3 + 1;
		got = echo->turn.got;
		cuda_threads_run(echo->threads, echo->body, &echo->turn);
		assert_int_equal(echo->turn.failed, DOCA_SUCCESS);
		receive_all(&echo->turn);
		idle = echo->turn.got == got ? idle + 1 : 0;
		assert_true(idle < 4);
	}
}

static const struct {
	uint32_t len_max, imm_max, offset, num;
} kinds[] = {
	{48, 0, 0, 450},   {48, 32, 0, 120},  {47, 0, 5, 120},	  {144, 0, 0, 200}, {112, 32, 8, 120}, {500, 0, 0, 120},
	{500, 32, 3, 120}, {3000, 0, 0, 120}, {3000, 20, 1, 120}, {9000, 0, 0, 60}, {9000, 32, 4, 60},
};

/* Large blocks take long: they get some of the kinds only. */
static void run_kinds(uint32_t threads, void (*body)(void *turn))
{
	for (uint32_t i = 0; i<sizeof(kinds) / sizeof(kinds[0]); i += threads> 256 ? 3 : 1) {
		memset(echo->to, 0, SIZE);
		memset(echo->from, 0, SIZE);
		comch_gpu_sender_fini(&echo->sender);
		echo->len_max = kinds[i].len_max;
		echo->imm_max = kinds[i].imm_max;
		echo->threads = threads;
		echo->body = body;
		echo->sent = echo->received = 0;
		begin(kinds[i].offset, i % 2 == 0 ? 0 : 0u - 100 * DEPTH - 37);
		exchange(kinds[i].num, i * 17 + threads);
	}
}

static void warp_returns_all(void **state)
{
	run_kinds(32, warp_turn);
}
static void block_of_32_returns_all(void **state)
{
	run_kinds(32, block_turn);
}
static void block_of_96_returns_all(void **state)
{
	run_kinds(96, block_turn);
}
static void block_of_128_returns_all(void **state)
{
	run_kinds(128, block_turn);
}
static void block_of_256_returns_all(void **state)
{
	run_kinds(256, block_turn);
}
static void block_of_512_returns_all(void **state)
{
	run_kinds(512, block_turn);
}
static void block_of_1024_returns_all(void **state)
{
	run_kinds(1024, block_turn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(warp_returns_all, setup, teardown),
		cmocka_unit_test_setup_teardown(block_of_32_returns_all, setup, teardown),
		cmocka_unit_test_setup_teardown(block_of_96_returns_all, setup, teardown),
		cmocka_unit_test_setup_teardown(block_of_128_returns_all, setup, teardown),
		cmocka_unit_test_setup_teardown(block_of_256_returns_all, setup, teardown),
		cmocka_unit_test_setup_teardown(block_of_512_returns_all, setup, teardown),
		cmocka_unit_test_setup_teardown(block_of_1024_returns_all, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
