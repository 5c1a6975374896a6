/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages arrive unchanged, once, and in order. */
#include "conformance.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define MESSAGE_MAX ((size_t)8 << 20)

static void sizes_from_zero_to_megabytes(void)
{
	static const size_t sizes[] = {0,     1,     7,	    8,	    15,	     16,      31,	  48,	63,
				       64,    65,    127,   128,    255,     1000,    4095,	  4096, 4097,
				       16384, 65535, 65536, 262144, 1048577, 5000001, MESSAGE_MAX};
	char *data = malloc(MESSAGE_MAX);
	struct pair pair;
	struct slot slot;

	pair_open(&pair, 4);
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fill(data, sizes[i], i);
		CHECK_OK(slot_post(&pair.b, &slot, i * 3, sizes[i]));
		send_wait(pair.ab, data, sizes[i]);
		WAIT(slot.done == 1);
		CHECK_OK(slot.recv.status);
		CHECK(slot.recv.conn == pair.ba && slot.recv.kind == SF_OP_SEND);
		CHECK(slot.recv.len == sizes[i] && slot.recv.header_len == 0);
		CHECK(filled(pair.b.memory + i * 3, sizes[i], i));
	}
	pair_close(&pair);
	free(data);
}

static void message_ends_where_it_ends(void)
{
	struct pair pair;
	struct slot slot;
	char data[700];

	pair_open(&pair, 4);
	fill(data, sizeof(data), 1);
	memset(pair.b.memory, 0x55, 4096);
	CHECK_OK(slot_post(&pair.b, &slot, 100, 3000));
	send_wait(pair.ab, data, sizeof(data));
	WAIT(slot.done == 1);
	CHECK(slot.recv.len == sizeof(data));
	for (size_t i = 0; i < 4096; i++)
		CHECK((i >= 100 && i < 800) || pair.b.memory[i] == 0x55);
	pair_close(&pair);
}

static void headers_travel_with_messages(void)
{
	uint8_t header[SF_HEADER_MAX];
	struct pair pair;
	struct slot slot;
	struct send send;

	pair_open(&pair, 4);
	for (uint32_t len = 0; len <= SF_HEADER_MAX; len++) {
		fill(header, sizeof(header), len);
		CHECK_OK(slot_post(&pair.b, &slot, 0, len % 2 == 0 ? 0 : 8192));
		send_set(&send, pair.a.memory, len % 2 == 0 ? 0 : 100 * len);
		send.op.header = header;
		send.op.header_len = len;
		CHECK_OK(submit_wait(pair.ab, &send));
		WAIT(slot.done == 1);
		CHECK(slot.recv.header_len == len && filled(slot.recv.header, len, len));
		CHECK(slot.recv.len == send.pieces[0].len);
	}
	pair_close(&pair);
}

/* If a sender pushes but does not poll while it waits for the receiver, every accepted message arrives. */
static void accepted_messages_arrive_without_a_poll_of_the_sender(void)
{
	enum { NUM = 6, LEN = 4080 };
	static struct send sends[NUM];
	static struct slot slots[NUM];
	const uint64_t end_ms = sf_now_ms() + WAIT_MS;
	struct pair pair;
	uint32_t num = 1;

	pair_open(&pair, NUM);
	for (uint32_t i = 0; i < NUM; i++) {
		slot_set(&pair.b, &slots[i], (size_t)i * LEN, LEN);
		slots[i].recv.kept = true; /* the sender maps none of it */
		CHECK_OK(slot_post_set(&slots[i]));
		fill(pair.a.memory + (size_t)i * LEN, LEN, i);
		send_set(&sends[i], pair.a.memory + (size_t)i * LEN, LEN);
	}
	while (submit(pair.ab, &sends[0]) == DOCA_ERROR_AGAIN)
		CHECK(sf_now_ms() < end_ms);
	while (num < NUM && submit(pair.ab, &sends[num]) == DOCA_SUCCESS)
		num++;
	while (slots[num - 1].done == 0) {
		sf_ep_push(pair.a.ep);
		end_poll(&pair.b, 16);
		CHECK(sf_now_ms() < end_ms);
	}
	for (uint32_t i = 0; i < num; i++) {
		CHECK_OK(slots[i].recv.status);
		CHECK(slots[i].recv.len == LEN && filled(pair.b.memory + (size_t)i * LEN, LEN, i));
		CHECK(sends[i].done == 0); /* only a poll reports completions */
	}
	WAIT(sends[num - 1].done == 1);
	pair_close(&pair);
}

/* If the sender requires it, it need not even push: accepted messages are complete. */
static void accepted_messages_that_must_not_wait_arrive(void)
{
	enum { NUM = 16, ROUNDS = 20 };
	static struct send sends[NUM];
	static struct slot slots[NUM];
	struct pair pair;

	pair_open(&pair, NUM);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t len = round % 2 == 0 ? SF_SMALL_MAX : SF_SMALL_MAX / 2 + 100 * round;
		const uint64_t end_ms = sf_now_ms() + WAIT_MS;
		uint32_t num = 0;

		for (uint32_t i = 0; i < NUM; i++) {
			slot_set(&pair.b, &slots[i], (size_t)i * SF_SMALL_MAX, SF_SMALL_MAX);
			slots[i].recv.kept = true; /* the sender maps none of it */
			CHECK_OK(slot_post_set(&slots[i]));
			fill(pair.a.memory + (size_t)i * SF_SMALL_MAX, len, round + i);
			send_set(&sends[i], pair.a.memory + (size_t)i * SF_SMALL_MAX, len);
			sends[i].op.must_not_wait = true;
		}
		while (submit(pair.ab, &sends[0]) == DOCA_ERROR_AGAIN)
			CHECK(sf_now_ms() < end_ms);
		for (num = 1; num < NUM && submit(pair.ab, &sends[num]) == DOCA_SUCCESS;)
			num++;
		while (slots[num - 1].done == 0) {
			end_poll(&pair.b, 16);
			CHECK(sf_now_ms() < end_ms);
		}
		for (uint32_t i = 0; i < num; i++) {
			CHECK_OK(slots[i].recv.status);
			CHECK(slots[i].recv.len == len && filled(pair.b.memory + (size_t)i * SF_SMALL_MAX, len, round + i));
		}
		for (; num < NUM; num++)
			CHECK_OK(submit_wait(pair.ab, &sends[num]));
		WAIT(sends[0].done == 1 && slots[NUM - 1].done == 1);
	}
	pair_close(&pair);
}

/* Cuts len bytes into pieces of random size, some empty. */
static uint32_t cut(struct sf_iov *pieces, uint32_t max, char *data, size_t len, uint32_t *seed)
{
	uint32_t num = 1 + random_below(seed, max), i;

	for (i = 0; i + 1 < num; i++) {
		size_t piece = random_below(seed, 4) == 0 ? 0 : random_below(seed, (uint32_t)(2 * len / num + 1));

		piece = piece < len ? piece : len;
		pieces[i] = (struct sf_iov){data, piece};
		data += piece;
		len -= piece;
	}
	pieces[i] = (struct sf_iov){data, len};
	return num;
}

static void lists_of_uneven_pieces(void)
{
	const uint32_t out_max = fabric->iov_max < PIECES_MAX ? fabric->iov_max : PIECES_MAX;
	const uint32_t in_max = fabric->recv_iov_max < PIECES_MAX ? fabric->recv_iov_max : PIECES_MAX;
	uint32_t seed = seed_new();
	struct pair pair;
	struct slot slot;
	struct send send;

	pair_open(&pair, 4);
	for (uint32_t round = 0; round < 300; round++) {
		size_t len = random_below(&seed, round % 10 == 0 ? 2000000 : 9000), room = len + random_below(&seed, 100);

		fill(pair.a.memory + round, len, round);
		slot_set(&pair.b, &slot, 0, 1);
		slot.recv.iov_num = cut(slot.pieces, in_max, pair.b.memory + 5, room, &seed);
		CHECK_OK(slot_post_set(&slot));
		send_set(&send, NULL, 0);
		send.op.iov_num = cut(send.pieces, out_max, pair.a.memory + round, len, &seed);
		CHECK_OK(submit_wait(pair.ab, &send));
		WAIT(slot.done == 1);
		CHECK(slot.recv.len == len && filled(pair.b.memory + 5, len, round));
	}
	pair_close(&pair);
}

enum { STREAM_SLOTS = 16, STREAM_SENDS = 8, STREAM_ROOM = 150000, STREAM_MESSAGES = 4000 };

struct stream {
	struct pair pair;
	struct slot slots[STREAM_SLOTS];
	struct send sends[STREAM_SENDS];
	uint32_t numbers[STREAM_SENDS]; /* header of each send; must stay valid until the send completes */
	uint32_t seed;
	uint32_t sent, received, finished;
	size_t sizes[STREAM_MESSAGES];
};

static struct stream *stream; /* of the running case */

static void stream_received(struct slot *slot)
{
	uint32_t n = stream->received++;
	uint32_t number;

	CHECK_OK(slot->recv.status);
	CHECK(slot == &stream->slots[n % STREAM_SLOTS]); /* receives are used in the order of posting */
	memcpy(&number, slot->recv.header, sizeof(number));
	CHECK(slot->recv.header_len == sizeof(number) && number == n);
	CHECK(slot->recv.len == stream->sizes[n] && filled(slot->pieces[0].addr, slot->recv.len, n));
	CHECK_OK(slot_post_set(slot));
}

static void stream_finished(struct send *send)
{
	CHECK_OK(send->op.status);
	stream->finished++;
}

static void stream_send_some(void)
{
	struct send *send = &stream->sends[stream->sent % STREAM_SENDS];
	char *data = stream->pair.a.memory + (stream->sent % STREAM_SENDS) * STREAM_ROOM;
	uint32_t n = stream->sent;
	doca_error_t result;

	if (n == STREAM_MESSAGES || n - stream->finished >= STREAM_SENDS || (n >= STREAM_SENDS && send->done == 0))
		return;
	if (stream->sizes[n] == 0)
		stream->sizes[n] = 1 + random_below(&stream->seed, random_below(&stream->seed, 20) == 0 ? STREAM_ROOM - 1 : 300);
	fill(data, stream->sizes[n], n);
	send_set(send, data, stream->sizes[n]);
	stream->numbers[n % STREAM_SENDS] = n;
	send->op.header = &stream->numbers[n % STREAM_SENDS];
	send->op.header_len = sizeof(n);
	send->then = stream_finished;
	result = submit(stream->pair.ab, send);
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
	stream->sent += result == DOCA_SUCCESS;
	if (result == DOCA_ERROR_AGAIN)
		send->done = 1; /* may be used again */
}

static void order_is_kept_over_random_sizes(void)
{
	stream = calloc(1, sizeof(*stream));
	stream->seed = seed_new();
	pair_open(&stream->pair, STREAM_SLOTS);
	for (uint32_t i = 0; i < STREAM_SLOTS; i++) {
		slot_set(&stream->pair.b, &stream->slots[i], i * STREAM_ROOM, STREAM_ROOM);
		stream->slots[i].then = stream_received;
		CHECK_OK(slot_post_set(&stream->slots[i]));
	}
	while (stream->sent < STREAM_MESSAGES) {
		uint32_t before = stream->sent + stream->received;

		stream_send_some();
		end_poll(&stream->pair.a, 1 + random_below(&stream->seed, 4));
		if (random_below(&stream->seed, 3) == 0)
			end_poll(&stream->pair.b, random_below(&stream->seed, 8));
		if (stream->sent + stream->received == before)
			WAIT(true);
	}
	WAIT(stream->received == STREAM_MESSAGES && stream->finished == STREAM_MESSAGES);
	for (int i = 0; i < STREAM_SLOTS; i++)
		stream->slots[i].then = NULL;
	pair_close(&stream->pair);
	free(stream);
}

static void again_without_a_posted_receive(void)
{
	struct pair pair;
	struct send send;
	struct slot slot;

	pair_open(&pair, 4);
	send_set(&send, "late", 5);
	for (int i = 0; i < 100; i++)
		CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_AGAIN);
	CHECK_RESULT(send.op.status, DOCA_ERROR_EMPTY);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 16));
	/* The peer's posting clears it; the sender does not poll. */
	for (uint64_t end = sf_now_ms() + WAIT_MS; submit(pair.ab, &send) == DOCA_ERROR_AGAIN;)
		CHECK(sf_now_ms() < end);
	CHECK(send.done == 0); /* a completion is never reported inside submit */
	WAIT(send.done == 1 && slot.done == 1);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_AGAIN);
	CHECK(send.done == 0);
	pair_close(&pair);
}

#define LATE_ROUNDS 500

/* Posts one receive for each request, on another thread. */
struct posting {
	struct end *end;
	struct slot slots[LATE_ROUNDS];
	_Atomic uint32_t asked, posted;
};

static void *post_when_asked(void *arg)
{
	struct posting *posting = arg;

	for (uint32_t i = 0; i < LATE_ROUNDS; i++) {
		while (atomic_load(&posting->asked) == i)
			sched_yield();
		CHECK_OK(slot_post(posting->end, &posting->slots[i], 0, 16));
		atomic_store(&posting->posted, i + 1);
	}
	return NULL;
}

/* An accepted submit never sets the status of a failed one, however late the receive was posted. */
static void accepted_just_in_time(void)
{
	struct posting *posting = calloc(1, sizeof(*posting));
	pthread_t thread;
	struct pair pair;
	struct send send;

	CHECK(posting != NULL);
	pair_open(&pair, 4);
	posting->end = &pair.b;
	CHECK(pthread_create(&thread, NULL, post_when_asked, posting) == 0);
	for (uint32_t i = 0; i < LATE_ROUNDS; i++) {
		uint64_t end = sf_now_ms() + WAIT_MS;

		send_set(&send, "late", 5);
		CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_AGAIN);
		atomic_store(&posting->asked, i + 1);
		do {
			CHECK(sf_now_ms() < end);
			send.op.status = DOCA_SUCCESS;
		} while (submit(pair.ab, &send) == DOCA_ERROR_AGAIN);
		CHECK_RESULT(send.op.status, DOCA_SUCCESS);
		while (atomic_load(&posting->posted) == i) /* until then the other thread uses the endpoint */
			CHECK(sf_now_ms() < end);
		WAIT(send.done == 1 && posting->slots[i].done == 1);
	}
	pthread_join(thread, NULL);
	pair_close(&pair);
	free(posting);
}

static void too_big_leaves_the_receive_posted(void)
{
	struct pair pair;
	struct send send;
	struct slot slots[2];
	char data[4096] = {0};

	pair_open(&pair, 4);
	CHECK_OK(slot_post(&pair.b, &slots[0], 0, 100));
	CHECK_OK(slot_post(&pair.b, &slots[1], 4096, 4096));
	send_set(&send, data, 101);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_TOO_BIG);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_TOO_BIG);
	CHECK(slots[0].done == 0 && send.done == 0);
	send_wait(pair.ab, data, 100);
	WAIT(slots[0].done == 1);
	CHECK(slots[0].recv.len == 100 && slots[1].done == 0);
	send_wait(pair.ab, data, sizeof(data));
	WAIT(slots[1].done == 1);
	CHECK_OK(slot_post(&pair.b, &slots[0], 0, 0));
	send_set(&send, data, 1);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_TOO_BIG);
	pair_close(&pair);
}

static void malformed_operations_are_rejected(void)
{
	struct pair pair;
	struct send send;
	struct slot slot;

	pair_open(&pair, 4);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 4096));
	send_set(&send, pair.a.memory, 8);
	send.op.iov_num = fabric->iov_max + 1;
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_INVALID_VALUE);
	send_set(&send, pair.a.memory, 8);
	send.op.header = pair.a.memory;
	send.op.header_len = SF_HEADER_MAX + 1;
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_INVALID_VALUE);
	send_set(&send, pair.a.memory, (size_t)SF_TRANSFER_MAX + 1);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_INVALID_VALUE);
	send_set(&send, pair.a.memory, SIZE_MAX);
	send.pieces[1] = send.pieces[0];
	send.op.iov_num = 2;
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_INVALID_VALUE);
	CHECK(send.done == 0 && slot.done == 0);
	pair_close(&pair);
}

static struct slot *pong_slots;
static struct send pong_sends[64];
static uint32_t pongs;

static void pong_received(struct slot *slot)
{
	struct send *send = &pong_sends[pongs++ % 64];

	CHECK_OK(slot_post_set(slot));
	if (pongs > 2000)
		return;
	send_set(send, slot->pieces[0].addr, slot->recv.len);
	CHECK_OK(submit(slot->recv.conn, send));
}

static void callbacks_post_and_send(void)
{
	struct pair pair;

	pair_open(&pair, 8);
	pong_slots = calloc(8, sizeof(*pong_slots));
	for (uint32_t i = 0; i < 8; i++) {
		slot_set(i % 2 == 0 ? &pair.a : &pair.b, &pong_slots[i], i * 64, 64);
		pong_slots[i].then = pong_received;
		CHECK_OK(slot_post_set(&pong_slots[i]));
	}
	send_wait(pair.ab, "ball", 4);
	WAIT(pongs > 2000);
	for (int i = 0; i < 8; i++)
		pong_slots[i].then = NULL;
	for (int i = 0; i < 64; i++)
		WAIT(pong_sends[i].done == 1);
	pair_close(&pair);
	free(pong_slots);
}

static void poll_keeps_its_budget(void)
{
	struct pair pair;
	struct send sends[10];
	struct slot slots[10];
	uint32_t ran;

	pair_open(&pair, 16);
	for (uint32_t i = 0; i < 10; i++) {
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 8, 8));
		send_set(&sends[i], "message", 8);
	}
	for (uint32_t i = 0; i < 10; i++) {
		WAIT(submit(pair.ab, &sends[i]) == DOCA_SUCCESS);
	}
	CHECK(end_poll(&pair.b, 0) == 0);
	for (uint64_t end = sf_now_ms() + WAIT_MS; slots[9].done == 0; CHECK(sf_now_ms() < end)) {
		uint32_t before = pair.b.posted;

		ran = end_poll(&pair.b, 3);
		CHECK(before - pair.b.posted == ran);
	}
	for (int i = 1; i < 10; i++)
		CHECK(slots[i].order > slots[i - 1].order);
	WAIT(sends[9].done == 1);
	CHECK(end_poll(&pair.a, 64) == 0 && end_poll(&pair.b, 64) == 0);
	pair_close(&pair);
}

/* A peer that never polls limits the queue, and loses no message. */
static void a_peer_that_never_polls_loses_nothing(void)
{
	enum { DEEP = 6000 };
	struct slot *slots = calloc(DEEP, sizeof(*slots));
	struct send *sends = calloc(DEEP, sizeof(*sends));
	uint32_t sent = 0, finished = 0;
	struct pair pair;
	doca_error_t result = DOCA_SUCCESS;

	pair_open(&pair, DEEP);
	for (uint32_t i = 0; i < DEEP; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 8, 8));
	while (sent < DEEP && result == DOCA_SUCCESS) {
		send_set(&sends[sent], &sends[sent], 8);
		result = submit(pair.ab, &sends[sent]);
		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
		sent += result == DOCA_SUCCESS;
		end_poll(&pair.a, 1);
	}
	CHECK(sent > 0);
	WAIT(sends[sent - 1].done == 1 && slots[sent - 1].done == 1);
	for (uint32_t i = 0; i < sent; i++)
		finished += sends[i].done == 1 && slots[i].done == 1;
	CHECK(finished == sent && (sent == DEEP || slots[sent].done == 0));
	pair_close(&pair);
	free(slots);
	free(sends);
}

const struct conformance_case message_cases[] = {
	CASE(sizes_from_zero_to_megabytes, 0),
	CASE(message_ends_where_it_ends, 0),
	CASE(headers_travel_with_messages, 0),
	CASE(lists_of_uneven_pieces, 0),
	CASE(order_is_kept_over_random_sizes, 0),
	CASE(accepted_messages_arrive_without_a_poll_of_the_sender, 0),
	CASE(accepted_messages_that_must_not_wait_arrive, 0),
	CASE(again_without_a_posted_receive, 0),
	CASE(too_big_leaves_the_receive_posted, 0),
	CASE(malformed_operations_are_rejected, 0),
	CASE(callbacks_post_and_send, 0),
	CASE(poll_keeps_its_budget, 0),
	CASE(a_peer_that_never_polls_loses_nothing, 0),
	CASE(accepted_just_in_time, SF_CAP_OTHER_PROCESS),
	{0},
};
