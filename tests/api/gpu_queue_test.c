/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU queues: both sides in one thread; the kernel's side is the device functions compiled as C. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <softfield/gpu_consumer.h>
#include <softfield/gpu_producer.h>

#include "comch/gpu_receiver.h"
#include "comch/gpu_sender.h"

#define DEPTH 16u
#define ARENA 4096u
#define ARENA_OFFSET 8192u
#define SIZE (ARENA_OFFSET + ARENA)

static uint8_t *memory;

static int make_memory(void **state)
{
	memory = aligned_alloc(4096, SIZE);
	memset(memory, 0, SIZE);
	return 0;
}

static int drop_memory(void **state)
{
	free(memory);
	return 0;
}

/* ---- a kernel's consumer and the CPU's sender ---- */

struct to_kernel {
	struct gpu_queue box;
	struct gpu_sender sender;
	struct doca_comch_gpu_consumer consumer;
	struct softfield_gpu_recv recvs[DEPTH];
	uint8_t imm[DEPTH * SOFTFIELD_IMM_MAX];
	uint8_t buffers[DEPTH][2048];
};

static struct to_kernel *to_kernel(uint32_t first)
{
	struct to_kernel *t = aligned_alloc(128, (sizeof(*t) + 127) / 128 * 128);
	struct gpu_queue seen;

	memset(t, 0, sizeof(*t));
	comch_gpu_queue_init(memory, 0, ARENA_OFFSET, ARENA, DEPTH, SOFTFIELD_GPU_QUEUE_TO_KERNEL, 1, &t->box);
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, true, &seen), DOCA_SUCCESS);
	assert_int_equal(comch_gpu_sender_init(&t->sender, &seen), DOCA_SUCCESS);
	t->consumer.gpu_queue = t->box.head;
	t->consumer.lines = t->box.lines;
	t->consumer.arena = t->box.arena;
	t->consumer.recvs = t->recvs;
	t->consumer.imm = t->imm;
	t->consumer.arena_size = ARENA;
	t->consumer.depth = DEPTH;
	t->consumer.shift = t->box.shift;
	t->consumer.recv_max = DEPTH;
	/* as after that many messages */
	t->consumer.head = t->consumer.delivered = t->consumer.posted = t->consumer.credited = first;
	t->sender.seq = t->sender.count = t->sender.done = first;
	return t;
}

static void drop_to_kernel(struct to_kernel *t)
{
	comch_gpu_sender_fini(&t->sender);
	free(t);
}

static void post(struct to_kernel *t, uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(softfield_consumer_post(&t->consumer, i, (uintptr_t)t->buffers[t->consumer.posted % DEPTH], len),
				 DOCA_SUCCESS);
}

static doca_error_t send(struct to_kernel *t, const void *bytes, size_t len, const void *imm, uint32_t imm_len)
{
	struct sf_iov iov = {(void *)(uintptr_t)bytes, len};

	return comch_gpu_sender_send(&t->sender, NULL, &iov, 1, imm, imm_len);
}

static void expect(struct to_kernel *t, const uint8_t *bytes, uint32_t len, const uint8_t *imm, uint32_t imm_len)
{
	uint32_t mkey, got, got_imm_len;
	uint8_t *got_imm;
	uintptr_t addr;

	assert_int_equal(softfield_consumer_try(&t->consumer, &mkey, &addr, &got, &got_imm, &got_imm_len), DOCA_SUCCESS);
	assert_int_equal(got, len);
	assert_memory_equal((const uint8_t *)addr, bytes, len);
	assert_int_equal(got_imm_len, imm_len);
	if (imm_len != 0)
		assert_memory_equal(got_imm, imm, imm_len);
	else
		assert_null(got_imm);
}

static void fill(uint8_t *bytes, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(seed * 31 + i * 7 + 1);
}

static void every_length_and_immediate_arrives(void **state)
{
	struct to_kernel *t = to_kernel(0);
	uint8_t bytes[2048], imm[SOFTFIELD_IMM_MAX];

	for (uint32_t len = 0; len <= 210; len++) {
		for (uint32_t imm_len = 0; imm_len <= SOFTFIELD_IMM_MAX; imm_len += 4) {
			fill(bytes, len, len);
			fill(imm, imm_len, imm_len + 5);
			post(t, 1, 2048);
			assert_int_equal(send(t, bytes, len, imm, imm_len), DOCA_SUCCESS);
			expect(t, bytes, len, imm, imm_len);
		}
	}
	drop_to_kernel(t);
}

static void numbers_wrap(void **state)
{
	struct to_kernel *t = to_kernel(UINT32_MAX - 100);
	uint8_t bytes[1500];

	for (uint32_t i = 0; i < 300; i++) {
		uint32_t len = i % 3 == 0 ? 1500 : 20;

		fill(bytes, len, i);
		post(t, 1, 2048);
		assert_int_equal(send(t, bytes, len, NULL, 0), DOCA_SUCCESS);
		expect(t, bytes, len, NULL, 0);
	}
	drop_to_kernel(t);
}

static void nothing_is_sent_without_a_receive(void **state)
{
	struct to_kernel *t = to_kernel(0);
	uint8_t byte = 1;

	assert_int_equal(send(t, &byte, 1, NULL, 0), DOCA_ERROR_AGAIN);
	post(t, 2, 64);
	assert_int_equal(send(t, &byte, 1, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(send(t, &byte, 1, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(send(t, &byte, 1, NULL, 0), DOCA_ERROR_AGAIN);
	drop_to_kernel(t);
}

static void ring_of_receives_is_bounded(void **state)
{
	struct to_kernel *t = to_kernel(0);

	post(t, DEPTH, 64);
	assert_int_equal(softfield_consumer_post(&t->consumer, 0, (uintptr_t)t->buffers[0], 64), DOCA_ERROR_AGAIN);
	assert_int_equal(softfield_consumer_post(&t->consumer, 0, 0, 64), DOCA_ERROR_INVALID_VALUE);
	drop_to_kernel(t);
}

/* Message n goes to receive n, also when their lengths differ. */
static void receives_of_several_lengths_keep_their_order(void **state)
{
	struct to_kernel *t = to_kernel(0);
	uint8_t bytes[1000];

	fill(bytes, sizeof(bytes), 3);
	post(t, 2, 16);
	post(t, 1, 1000);
	post(t, 1, 16);
	assert_int_equal(send(t, bytes, 17, NULL, 0), DOCA_ERROR_TOO_BIG);
	assert_int_equal(send(t, bytes, 16, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(send(t, bytes, 1, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(send(t, bytes, 1000, NULL, 0), DOCA_ERROR_AGAIN); /* gets credits when the first two are used up */
	expect(t, bytes, 16, NULL, 0);
	expect(t, bytes, 1, NULL, 0);
	assert_int_equal(send(t, bytes, 1000, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(send(t, bytes, 17, NULL, 0), DOCA_ERROR_AGAIN);
	expect(t, bytes, 1000, NULL, 0);
	assert_int_equal(send(t, bytes, 17, NULL, 0), DOCA_ERROR_TOO_BIG);
	drop_to_kernel(t);
}

/* A second producer joins while the first, which takes no lock, is sending. */
#define JOINED_SENDS 200000u

struct joined {
	struct to_kernel *t;
	uint32_t seed;
	atomic_uint *sent;
};

static void *send_joined(void *arg)
{
	struct joined *j = arg;
	uint32_t message[2] = {j->seed, 0};

	for (; message[1] < JOINED_SENDS; message[1]++) {
		while (send(j->t, message, sizeof(message), NULL, 0) == DOCA_ERROR_AGAIN)
			sched_yield();
		atomic_fetch_add(j->sent, 1);
	}
	return NULL;
}

static void producers_that_join_do_not_mix(void **state)
{
	struct to_kernel *t = to_kernel(0);
	atomic_uint sent = 0;
	struct joined joined[2] = {{t, 0, &sent}, {t, 1, &sent}};
	uint32_t next[2] = {0, 0}, mkey, len;
	pthread_t threads[2];
	bool second = false;
	uintptr_t addr;

	post(t, DEPTH, 64);
	comch_gpu_sender_join(&t->sender);
	assert_int_equal(pthread_create(&threads[0], NULL, send_joined, &joined[0]), 0);
	while (next[0] + next[1] < 2 * JOINED_SENDS) {
		if (!second && atomic_load(&sent) > JOINED_SENDS / 4) {
			comch_gpu_sender_join(&t->sender);
			assert_int_equal(pthread_create(&threads[1], NULL, send_joined, &joined[1]), 0);
			second = true;
		}
		if (softfield_consumer_try(&t->consumer, &mkey, &addr, &len, NULL, NULL) == DOCA_SUCCESS) {
			const uint32_t *message = (const uint32_t *)addr;

			assert_int_equal(len, 8);
			assert_true(message[0] < 2);
			assert_int_equal(message[1], next[message[0]]);
			next[message[0]]++;
			post(t, 1, 64);
		} else {
			sched_yield();
		}
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	comch_gpu_sender_leave(&t->sender);
	comch_gpu_sender_leave(&t->sender);
	drop_to_kernel(t);
}

static void full_arena_clears_by_receiving(void **state)
{
	struct to_kernel *t = to_kernel(0);
	uint8_t bytes[1500];

	fill(bytes, sizeof(bytes), 9);
	post(t, 8, 2048);
	assert_int_equal(send(t, bytes, 1500, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(send(t, bytes, 1500, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(send(t, bytes, 1500, NULL, 0), DOCA_ERROR_AGAIN);
	expect(t, bytes, 1500, NULL, 0);
	expect(t, bytes, 1500, NULL, 0);
	assert_int_equal(send(t, bytes, 1500, NULL, 0), DOCA_SUCCESS);
	drop_to_kernel(t);
}

static void kernel_rejects_an_invalid_line(void **state)
{
	static const uint32_t places[][2] = {{ARENA, 1}, {0, ARENA + 1}, {UINT32_MAX & ~63u, 64}, {ARENA - 64, 65}, {0, 2049}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct to_kernel *t = to_kernel(0);
		uint32_t mkey, len, gen = softfield_gen(0, t->box.shift);
		uintptr_t addr;

		post(t, 1, 2048);
		for (uint32_t q = 0; q < 4; q++)
			t->box.lines[0].slot16[q].w[3] = softfield_mark(0, t->box.shift);
		t->box.lines[0].slot16[0].w[0] = places[i][0];
		t->box.lines[0].slot16[0].w[1] = places[i][1];
		t->box.lines[0].slot16[0].w[3] = softfield_tag(gen, 0, 0, SOFTFIELD_TAG_ARENA);
		assert_int_equal(softfield_consumer_try(&t->consumer, &mkey, &addr, &len, NULL, NULL), DOCA_ERROR_IO_FAILED);
		assert_int_equal(softfield_consumer_try(&t->consumer, &mkey, &addr, &len, NULL, NULL), DOCA_ERROR_IO_FAILED);
		assert_int_equal(softfield_consumer_post(&t->consumer, 0, 1, 1), DOCA_ERROR_BAD_STATE);
		drop_to_kernel(t);
		memset(memory, 0, SIZE);
	}
}

/* Lengths from the peer are checked before they are used. */
static void kernel_rejects_invalid_lengths(void **state)
{
	static const uint32_t lengths[][2] = {{SOFTFIELD_INLINE_MAX + 1, 0}, {255, 0}, {120, 32}, {0, 33}, {101, 0}};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct to_kernel *t = to_kernel(0);
		uint32_t mkey, len;
		uintptr_t addr;

		post(t, 1, 100);
		for (uint32_t q = 0; q < 4; q++)
			t->box.lines[0].slot16[q].w[3] = softfield_mark(0, t->box.shift);
		t->box.lines[0].slot16[0].w[3] = softfield_tag(softfield_gen(0, t->box.shift), lengths[i][0], lengths[i][1], 0);
		assert_int_equal(softfield_consumer_try(&t->consumer, &mkey, &addr, &len, NULL, NULL), DOCA_ERROR_IO_FAILED);
		drop_to_kernel(t);
		memset(memory, 0, SIZE);
	}
}

/* The sender has stored the line but not yet the overflow slot: the message is not there yet, whatever earlier generations
 * left in that slot. */
static void kernel_waits_for_the_overflow(void **state)
{
	struct to_kernel *t = to_kernel(0);
	struct softfield_overflow *overflow = softfield_overflow_of(t->box.lines, DEPTH, 3);
	struct softfield_slot16 stale, written;
	uint8_t bytes[100];
	uint32_t mkey, len;
	uintptr_t addr;

	for (uint32_t i = 0; i < 128 * DEPTH + 3; i++) { /* long enough for the generation byte to wrap */
		fill(bytes, sizeof(bytes), i);
		post(t, 1, 100);
		assert_int_equal(send(t, bytes, i == 3 ? 100 : 48, NULL, 0), DOCA_SUCCESS);
		expect(t, bytes, i == 3 ? 100 : 48, NULL, 0);
	}
	fill(bytes, sizeof(bytes), 77);
	stale = overflow->slot16[4];
	post(t, 1, 100);
	assert_int_equal(send(t, bytes, 100, NULL, 0), DOCA_SUCCESS);
	written = overflow->slot16[4];
	overflow->slot16[4] = stale;
	for (int i = 0; i < 3; i++)
		assert_int_equal(softfield_consumer_try(&t->consumer, &mkey, &addr, &len, NULL, NULL), DOCA_ERROR_AGAIN);
	overflow->slot16[4] = written;
	expect(t, bytes, 100, NULL, 0);
	drop_to_kernel(t);
}

static void sender_ignores_invalid_credits(void **state)
{
	struct to_kernel *t = to_kernel(0);
	struct softfield_slot16 mad = {{DEPTH + 1, 4096, 5, 0}};
	uint8_t byte = 1;

	softfield_store_slot16(&t->box.head->credits, mad); /* more than the ring, and more completions than sends */
	assert_int_equal(send(t, &byte, 1, NULL, 0), DOCA_ERROR_AGAIN);
	mad = (struct softfield_slot16){{2, 4096, 0, 1}};
	softfield_store_slot16(&t->box.head->credits, mad);
	assert_int_equal(send(t, &byte, 1, NULL, 0), DOCA_ERROR_NOT_CONNECTED);
	drop_to_kernel(t);
}

static void a_stopped_consumer_is_reported(void **state)
{
	struct to_kernel *t = to_kernel(0);
	doca_error_t result = DOCA_ERROR_AGAIN;
	uint32_t mkey, len;
	uintptr_t addr;

	post(t, 1, 64);
	comch_gpu_queue_close(t->box.head, SOFTFIELD_GPU_QUEUE_STOPPED);
	for (int i = 0; i < SOFTFIELD_CONTROL_EVERY && result == DOCA_ERROR_AGAIN; i++)
		result = softfield_consumer_try(&t->consumer, &mkey, &addr, &len, NULL, NULL);
	assert_int_equal(result, DOCA_ERROR_BAD_STATE);
	drop_to_kernel(t);
}

/* ---- a kernel's producer and the CPU's receiver ---- */

struct from_kernel {
	struct doca_comch_gpu_producer producer;
	struct softfield_gpu_peer peers[SOFTFIELD_GPU_PEERS_MAX];
	struct softfield_gpu_dest dests[SOFTFIELD_GPU_PEERS_MAX];
	struct softfield_gpu_send sends[2 * DEPTH];
	struct softfield_gpu_queue control;
	struct gpu_receiver receiver;
};

static struct from_kernel *from_kernel(void)
{
	struct from_kernel *f = aligned_alloc(128, (sizeof(*f) + 127) / 128 * 128);
	struct gpu_queue box;

	memset(f, 0, sizeof(*f));
	comch_gpu_queue_init(memory, 0, ARENA_OFFSET, ARENA, DEPTH, 0, 1, &box);
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, false, &f->receiver.box), DOCA_SUCCESS);
	f->producer.control = &f->control;
	f->producer.peers = f->peers;
	f->producer.dests = f->dests;
	f->producer.sends = f->sends;
	f->producer.arena = box.arena;
	f->producer.arena_size = ARENA;
	f->producer.send_ring = 2 * DEPTH;
	f->producer.send_max = DEPTH;
	f->peers[3] = (struct softfield_gpu_peer){.consumer_id = 7,
						  .depth = DEPTH,
						  .shift = box.shift,
						  .arena_size = ARENA,
						  .gpu_queue = box.head,
						  .lines = box.lines};
	return f;
}

static doca_error_t kernel_send(struct from_kernel *f, const uint8_t *bytes, uint32_t len, uint64_t id)
{
	return softfield_producer_send(&f->producer, (uintptr_t)bytes, len, NULL, 0, 7, id);
}

/* The short way to receive takes the next message if it travels in its line and overflow slot alone. */
static void check_peek_inline(const struct gpu_receiver *receiver, const uint8_t *bytes, uint32_t bytes_len, uint32_t imm_len)
{
	uint8_t copy[SOFTFIELD_INLINE_MAX + 1];
	struct gpu_line line;
	uint32_t len;

	if (!gpu_receiver_peek_inline(receiver, &line, &len)) {
		assert_true(imm_len != 0 || bytes_len > SOFTFIELD_INLINE_MAX);
		return;
	}
	assert_int_equal(imm_len, 0);
	assert_int_equal(len, bytes_len);
	copy[len] = 0x5a;
	gpu_receiver_copy_inline(receiver, &line, copy, len);
	assert_memory_equal(copy, bytes, len);
	assert_int_equal(copy[len], 0x5a);
}

static void kernel_sends_up_to_its_credits(void **state)
{
	struct from_kernel *f = from_kernel();
	struct gpu_arrival arrival;
	uint8_t bytes[1500];
	uint64_t id;

	assert_int_equal(kernel_send(f, bytes, 1, 0), DOCA_ERROR_AGAIN);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t len = i % 4 == 0 ? 1500 : i % 160;

		fill(bytes, len, i);
		comch_gpu_receiver_give_credits(&f->receiver, 2, 1500);
		assert_int_equal(kernel_send(f, bytes, 1501, i), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(kernel_send(f, bytes, len, i), DOCA_SUCCESS);
		assert_true(comch_gpu_receiver_ready(&f->receiver));
		assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_SUCCESS);
		assert_int_equal(arrival.len, len);
		assert_memory_equal(arrival.arena != NULL ? arrival.arena : arrival.line, bytes, len);
		check_peek_inline(&f->receiver, bytes, len, 0);
		gpu_receiver_next(&f->receiver);
		assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_ERROR_AGAIN);
		assert_int_equal(softfield_producer_try(&f->producer, &id), DOCA_SUCCESS);
		assert_int_equal(id, i);
		assert_int_equal(softfield_producer_try(&f->producer, &id), DOCA_ERROR_AGAIN);
	}
	free(f);
}

static void kernel_sends_every_length_and_immediate(void **state)
{
	struct from_kernel *f = from_kernel();
	uint8_t bytes[256], imm[SOFTFIELD_IMM_MAX];
	struct gpu_arrival arrival;
	uint64_t id;

	for (uint32_t len = 0; len <= 160; len++) {
		for (uint32_t imm_len = 0; imm_len <= SOFTFIELD_IMM_MAX; imm_len += 8) {
			fill(bytes, len, len);
			fill(imm, imm_len, imm_len + 5);
			comch_gpu_receiver_give_credits(&f->receiver, 2, 200);
			assert_int_equal(softfield_producer_send(&f->producer, (uintptr_t)bytes, len, imm, imm_len, 7, len),
					 DOCA_SUCCESS);
			assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_SUCCESS);
			assert_int_equal(arrival.len, len);
			assert_int_equal(arrival.imm_len, imm_len);
			assert_int_equal(arrival.arena != NULL, len + imm_len > SOFTFIELD_INLINE_MAX);
			assert_memory_equal(arrival.arena != NULL ? arrival.arena : arrival.line, bytes, len);
			assert_memory_equal(arrival.arena != NULL ? arrival.line : arrival.line + len, imm, imm_len);
			check_peek_inline(&f->receiver, bytes, len, imm_len);
			gpu_receiver_next(&f->receiver);
			assert_int_equal(softfield_producer_try(&f->producer, &id), DOCA_SUCCESS);
		}
	}
	free(f);
}

static void receiver_waits_for_the_overflow(void **state)
{
	struct from_kernel *f = from_kernel();
	struct softfield_overflow *overflow = softfield_overflow_of(f->receiver.box.lines, DEPTH, 0);
	struct gpu_arrival arrival;
	struct gpu_line line;
	uint8_t bytes[100];
	uint32_t len;

	fill(bytes, sizeof(bytes), 4);
	comch_gpu_receiver_give_credits(&f->receiver, 1, 100);
	assert_int_equal(kernel_send(f, bytes, 100, 0), DOCA_SUCCESS);
	overflow->slot16[4].w[3]--;
	assert_true(comch_gpu_receiver_ready(&f->receiver)); /* a caller that sees it polls again and does not sleep */
	assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_ERROR_AGAIN);
	assert_false(gpu_receiver_peek_inline(&f->receiver, &line, &len));
	overflow->slot16[4].w[3]++;
	assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_SUCCESS);
	assert_memory_equal(arrival.line, bytes, 100);
	free(f);
}

static void sends_wait_for_polls_and_for_the_arena(void **state)
{
	struct from_kernel *f = from_kernel();
	struct gpu_arrival arrival;
	uint8_t bytes[1500] = {0};
	uint64_t id;

	comch_gpu_receiver_give_credits(&f->receiver, DEPTH, 1500);
	assert_int_equal(kernel_send(f, bytes, 1500, 0), DOCA_SUCCESS);
	assert_int_equal(kernel_send(f, bytes, 1500, 1), DOCA_SUCCESS);
	assert_int_equal(kernel_send(f, bytes, 1500, 2), DOCA_ERROR_AGAIN); /* the arena is full */
	assert_int_equal(kernel_send(f, bytes, 40, 2), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_SUCCESS);
		gpu_receiver_next(&f->receiver);
	}
	comch_gpu_receiver_give_credits(&f->receiver, DEPTH, 1500);
	assert_int_equal(kernel_send(f, bytes, 1500, 3), DOCA_SUCCESS);
	for (uint32_t i = 4; i < DEPTH; i++)
		assert_int_equal(kernel_send(f, bytes, 1, i), DOCA_SUCCESS);
	assert_int_equal(kernel_send(f, bytes, 1, DEPTH),
			 DOCA_ERROR_AGAIN); /* as many completions as configured wait for a poll */
	assert_int_equal(softfield_producer_try(&f->producer, &id), DOCA_SUCCESS);
	assert_int_equal(kernel_send(f, bytes, 1, DEPTH), DOCA_SUCCESS);
	free(f);
}

static void unknown_and_ended_consumers(void **state)
{
	struct from_kernel *f = from_kernel();
	uint8_t byte = 0;

	assert_int_equal(softfield_producer_send(&f->producer, (uintptr_t)&byte, 1, NULL, 0, 8, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_producer_send(&f->producer, (uintptr_t)&byte, 1, NULL, 0, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_producer_send(&f->producer, 0, 1, NULL, 0, 7, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_producer_send(&f->producer, (uintptr_t)&byte, 1, &byte, 33, 7, 0), DOCA_ERROR_INVALID_VALUE);
	comch_gpu_receiver_give_credits(&f->receiver, 1, 64);
	assert_int_equal(kernel_send(f, &byte, 1, 0), DOCA_SUCCESS);
	comch_gpu_receiver_close(&f->receiver);
	assert_int_equal(kernel_send(f, &byte, 1, 0), DOCA_ERROR_BAD_STATE);
	f->peers[3].consumer_id = 0;
	assert_int_equal(kernel_send(f, &byte, 1, 0), DOCA_ERROR_INVALID_VALUE);
	free(f);
}

static void lost_peer_ends_the_producer(void **state)
{
	struct from_kernel *f = from_kernel();
	doca_error_t result = DOCA_ERROR_AGAIN;
	uint8_t byte = 0;
	uint64_t id;

	comch_gpu_queue_close(&f->control, SOFTFIELD_GPU_QUEUE_LOST);
	for (int i = 0; i < SOFTFIELD_CONTROL_EVERY && result == DOCA_ERROR_AGAIN; i++)
		result = softfield_producer_try(&f->producer, &id);
	assert_int_equal(result, DOCA_ERROR_IO_FAILED);
	assert_int_equal(kernel_send(f, &byte, 1, 0), DOCA_ERROR_BAD_STATE);
	free(f);
}

static void receiver_rejects_messages_without_credits(void **state)
{
	struct from_kernel *f = from_kernel();
	struct gpu_arrival arrival;
	struct gpu_line line;
	uint32_t gen = softfield_gen(0, f->receiver.box.shift), len;

	for (uint32_t q = 0; q < 4; q++)
		f->receiver.box.lines[0].slot16[q].w[3] = softfield_mark(0, f->receiver.box.shift);
	f->receiver.box.lines[0].slot16[0].w[3] = softfield_tag(gen, 4, 0, 0);
	assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_ERROR_IO_FAILED);
	assert_false(gpu_receiver_peek_inline(&f->receiver, &line, &len));
	comch_gpu_receiver_give_credits(&f->receiver, 1, 3);
	assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_ERROR_IO_FAILED);
	assert_false(gpu_receiver_peek_inline(&f->receiver, &line, &len));
	f->receiver.len = 1000;
	f->receiver.box.lines[0].slot16[0].w[3] = softfield_tag(gen, SOFTFIELD_INLINE_MAX + 1, 0, 0);
	assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_ERROR_IO_FAILED);
	assert_false(gpu_receiver_peek_inline(&f->receiver, &line, &len));
	f->receiver.box.lines[0].slot16[0].w[3] = softfield_tag(gen, 120, 32, 0);
	assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_ERROR_IO_FAILED);
	assert_false(gpu_receiver_peek_inline(&f->receiver, &line, &len));
	f->receiver.box.lines[0].slot16[0].w[3] = softfield_tag(gen, 4, 33, 0);
	assert_int_equal(comch_gpu_receiver_peek(&f->receiver, &arrival), DOCA_ERROR_IO_FAILED);
	assert_false(gpu_receiver_peek_inline(&f->receiver, &line, &len));
	free(f);
}

/* ---- heads ---- */

static void invalid_heads_are_rejected(void **state)
{
	struct softfield_gpu_queue *head = (struct softfield_gpu_queue *)memory;
	struct gpu_queue box;

	comch_gpu_queue_init(memory, 0, ARENA_OFFSET, ARENA, DEPTH, 0, 1, &box);
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, true, &box), DOCA_ERROR_INVALID_VALUE); /* the wrong direction */
	assert_int_equal(comch_gpu_queue_view(memory, SIZE - 1, 0, false, &box), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, SIZE, false, &box), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 1, false, &box), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 64, false, &box), DOCA_ERROR_INVALID_VALUE);
	head->depth = 24;
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, false, &box), DOCA_ERROR_INVALID_VALUE);
	head->depth = SOFTFIELD_GPU_QUEUE_DEPTH_MAX;
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, false, &box), DOCA_ERROR_INVALID_VALUE);
	head->depth = DEPTH;
	head->lines_offset = UINT64_MAX - 63;
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, false, &box), DOCA_ERROR_INVALID_VALUE);
	head->lines_offset = 256;
	head->arena_size = ARENA * 2;
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, false, &box), DOCA_ERROR_INVALID_VALUE);
	head->arena_size = ARENA;
	head->version++;
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, false, &box), DOCA_ERROR_UNSUPPORTED_VERSION);
	head->version--;
	assert_int_equal(comch_gpu_queue_view(memory, SIZE, 0, false, &box), DOCA_SUCCESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_memory, drop_memory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_length_and_immediate_arrives),
		TEST(numbers_wrap),
		TEST(nothing_is_sent_without_a_receive),
		TEST(ring_of_receives_is_bounded),
		TEST(receives_of_several_lengths_keep_their_order),
		TEST(producers_that_join_do_not_mix),
		TEST(full_arena_clears_by_receiving),
		TEST(kernel_rejects_an_invalid_line),
		TEST(kernel_rejects_invalid_lengths),
		TEST(kernel_waits_for_the_overflow),
		TEST(sender_ignores_invalid_credits),
		TEST(a_stopped_consumer_is_reported),
		TEST(kernel_sends_up_to_its_credits),
		TEST(kernel_sends_every_length_and_immediate),
		TEST(receiver_waits_for_the_overflow),
		TEST(sends_wait_for_polls_and_for_the_arena),
		TEST(unknown_and_ended_consumers),
		TEST(lost_peer_ends_the_producer),
		TEST(receiver_rejects_messages_without_credits),
		TEST(invalid_heads_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
