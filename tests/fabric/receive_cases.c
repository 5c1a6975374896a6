/* SPDX-License-Identifier: BSD-3-Clause */
/* Posted receives, and which of them are left after a disconnect. */
#include "conformance.h"

static void receives_are_bounded_by_recv_max(void)
{
	struct slot slots[5];
	struct pair pair;

	pair_open(&pair, 4);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 64, 64));
	CHECK_RESULT(slot_post(&pair.b, &slots[4], 256, 64), DOCA_ERROR_FULL);
	send_wait(pair.ab, "one", 4);
	WAIT(slots[0].done == 1);
	CHECK_OK(slot_post(&pair.b, &slots[4], 256, 64));
	CHECK_RESULT(slot_post(&pair.b, &slots[0], 0, 64), DOCA_ERROR_FULL);
	pair_close(&pair);
	for (int i = 1; i < 5; i++)
		CHECK(slots[i].done == 1);
}

static void receives_lie_inside_their_region(void)
{
	struct sf_region *small;
	struct pair pair;
	struct slot slot;

	pair_open(&pair, 4);
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory + 100, 1000, ALL_RIGHTS, &small));
	slot_set(&pair.b, &slot, 100, 1000);
	slot.recv.region = small;
	slot.pieces[0].len = 1001;
	CHECK_RESULT(slot_post_set(&slot), DOCA_ERROR_INVALID_VALUE);
	slot.pieces[0] = (struct sf_iov){pair.b.memory + 99, 10};
	CHECK_RESULT(slot_post_set(&slot), DOCA_ERROR_INVALID_VALUE);
	slot.pieces[0] = (struct sf_iov){pair.b.memory + 1000, SIZE_MAX - 10};
	CHECK_RESULT(slot_post_set(&slot), DOCA_ERROR_INVALID_VALUE);
	slot.recv.region = NULL;
	slot.pieces[0] = (struct sf_iov){pair.b.memory + 100, 10};
	CHECK_RESULT(slot_post_set(&slot), DOCA_ERROR_INVALID_VALUE);
	slot.recv.region = small;
	slot.recv.iov_num = fabric->recv_iov_max + 1;
	CHECK_RESULT(slot_post_set(&slot), DOCA_ERROR_INVALID_VALUE);
	slot.recv.region = pair.a.region;
	slot.recv.iov_num = 1;
	slot.pieces[0] = (struct sf_iov){pair.a.memory, 10};
	CHECK_RESULT(slot_post_set(&slot), DOCA_ERROR_INVALID_VALUE); /* a region of another domain */
	slot.recv.region = small;
	slot.pieces[0] = (struct sf_iov){pair.b.memory + 100, 1000};
	CHECK_OK(slot_post_set(&slot));
	fill(pair.a.memory, 1000, 3);
	send_wait(pair.ab, pair.a.memory, 1000);
	WAIT(slot.done == 1);
	CHECK(filled(pair.b.memory + 100, 1000, 3));
	sf_region_close(small);
	pair_close(&pair);
}

static void connections_share_the_receives_of_an_endpoint(void)
{
	enum { CONNS = 4, ROUNDS = 200 };
	struct slot slots[8];
	struct sf_conn *conns[CONNS];
	struct end a, b;

	end_open(&a, "host0/0000:d8:00.0", 4);
	end_open(&b, "dpu0/0000:03:00.0", 8);
	end_listen(&b, SF_LISTEN_AUTO);
	for (uint32_t i = 0; i < CONNS; i++) {
		conns[i] = end_connect(&a, b.name);
		WAIT(a.connects == i + 1 && b.accepts == i + 1);
	}
	for (uint32_t i = 0; i < 8; i++)
		CHECK_OK(slot_post(&b, &slots[i], i * 64, 64));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct slot *slot = &slots[i % 8];

		send_wait(conns[(i * 7) % CONNS], &i, sizeof(i));
		WAIT(slot->done == 1);
		CHECK(slot->recv.conn == b.accepted[(i * 7) % CONNS]);
		CHECK(memcmp(slot->pieces[0].addr, &i, sizeof(i)) == 0);
		CHECK_OK(slot_post(&b, slot, (i % 8) * 64, 64));
	}
	/* After the end of one connection the others still have the receives. */
	sf_conn_close(conns[0]);
	WAIT(b.closes == 1);
	sf_conn_close(b.accepted[0]);
	CHECK(b.posted == 8);
	send_wait(conns[1], "y", 1);
	WAIT(b.posted == 7);
	for (int i = 1; i < CONNS; i++) {
		sf_conn_close(conns[i]);
		sf_conn_close(b.accepted[i]);
	}
	end_close(&a);
	end_close(&b);
}

enum { CROWD = 8, CROWD_MESSAGES = 200, CROWD_RECEIVES = 4 };

static struct crowd {
	struct end a, b;
	struct sf_conn *conns[CROWD];
	struct send sends[CROWD];
	uint32_t numbers[CROWD][2]; /* number of the sender, and of its message */
	uint32_t sent[CROWD], got[CROWD], all;
	struct slot slots[CROWD_RECEIVES];
} * crowd;

static void crowd_received(struct slot *slot)
{
	uint32_t number[2];

	if (slot->recv.status != DOCA_SUCCESS)
		return;
	memcpy(number, slot->pieces[0].addr, sizeof(number));
	CHECK(number[0] < CROWD && number[1] == crowd->got[number[0]]);
	crowd->got[number[0]]++;
	crowd->all++;
	slot->done = 0;
	CHECK_OK(slot_post_set(slot));
}

/* Returns whether all messages have arrived and all sends are done. */
static bool crowd_sends(void)
{
	bool all_done = true;

	for (uint32_t i = 0; i < CROWD; i++) {
		if (crowd->sent[i] == CROWD_MESSAGES || crowd->sent[i] != crowd->numbers[i][1] + crowd->sends[i].done)
			continue;
		crowd->numbers[i][0] = i;
		crowd->numbers[i][1] = crowd->sent[i];
		send_set(&crowd->sends[i], crowd->numbers[i], sizeof(crowd->numbers[i]));
		if (submit(crowd->conns[i], &crowd->sends[i]) == DOCA_SUCCESS)
			crowd->sent[i]++;
	}
	for (uint32_t i = 0; i < CROWD; i++)
		all_done = all_done && crowd->sends[i].done == 1;
	return all_done && crowd->all == CROWD * CROWD_MESSAGES;
}

/* Each message arrives once and in its connection's order, although other connections used the receives that its connection
 * knew. */
static void more_senders_than_receives(void)
{
	crowd = calloc(1, sizeof(*crowd));
	end_open(&crowd->a, "host0/0000:d8:00.0", 4);
	end_open(&crowd->b, "dpu0/0000:03:00.0", CROWD_RECEIVES);
	end_listen(&crowd->b, SF_LISTEN_AUTO);
	for (uint32_t i = 0; i < CROWD; i++) {
		crowd->conns[i] = end_connect(&crowd->a, crowd->b.name);
		WAIT(crowd->a.connects == i + 1 && crowd->b.accepts == i + 1);
	}
	for (uint32_t i = 0; i < CROWD_RECEIVES; i++) {
		slot_set(&crowd->b, &crowd->slots[i], i * 64, 64);
		crowd->slots[i].then = crowd_received;
		CHECK_OK(slot_post_set(&crowd->slots[i]));
	}
	WAIT(crowd_sends());
	for (int i = 0; i < CROWD; i++) {
		sf_conn_close(crowd->conns[i]);
		sf_conn_close(crowd->b.accepted[i]);
	}
	end_close(&crowd->a);
	end_close(&crowd->b);
	free(crowd);
}

static bool has_credits(struct sf_conn *conn, uint32_t num, uint32_t len)
{
	uint32_t its_len, its_num = sf_conn_credits(conn, &its_len);

	return its_num == num && (num == 0 || its_len == len);
}

/* For a GPU's messages to a peer whose memory it cannot map. With SF_CAP_MAP, the provider may learn of receives only in a
 * submit. */
static void credits_are_the_next_receives_of_one_length(void)
{
	struct slot slots[5];
	struct pair pair;

	pair_open(&pair, 5);
	CHECK(has_credits(pair.ab, 0, 0));
	for (uint32_t i = 0; i < 5; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 128, i < 3 ? 64 : 100));
	if ((fabric->caps & SF_CAP_MAP) == 0) {
		WAIT(has_credits(pair.ab, 3, 64));
		send_wait(pair.ab, "one", 4);
		send_wait(pair.ab, "two", 4);
		WAIT(has_credits(pair.ab, 1, 64));
		send_wait(pair.ab, "three", 6);
		WAIT(has_credits(pair.ab, 2, 100));
		sf_ep_flush_recvs(pair.b.ep);
		WAIT(has_credits(pair.ab, 0, 0));
		CHECK_OK(slot_post(&pair.b, &slots[0], 0, 0));
		WAIT(has_credits(pair.ab, 1, 0));
	}
	sf_conn_disconnect(pair.ab);
	CHECK(has_credits(pair.ab, 0, 0));
	pair_close(&pair);
}

static void flush_returns_every_receive(void)
{
	struct slot slots[6];
	struct send send;
	struct pair pair;
	uint32_t len;

	pair_open(&pair, 6);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 64, 64));
	send_wait(pair.ab, "kept", 5);
	sf_ep_flush_recvs(pair.b.ep);
	CHECK(slots[1].done == 0); /* reported by the next poll */
	WAIT(pair.b.posted == 0);
	CHECK_OK(slots[0].recv.status);
	CHECK(slots[0].recv.len == 5);
	for (int i = 1; i < 6; i++) {
		CHECK(slots[i].done == 1);
		CHECK_RESULT(slots[i].recv.status, DOCA_ERROR_CONNECTION_ABORTED);
		CHECK(slots[i].recv.conn == NULL);
	}
	WAIT(sf_conn_credits(pair.ab, &len) == 0); /* the sender may notice it later */
	send_set(&send, "x", 1);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_AGAIN);
	/* the endpoint can be used again */
	for (uint32_t i = 0; i < 6; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 64, 64));
	CHECK_RESULT(slot_post(&pair.b, &(struct slot){0}, 0, 0), DOCA_ERROR_FULL);
	send_wait(pair.ab, "more", 5);
	WAIT(slots[0].done == 1);
	CHECK_OK(slots[0].recv.status);
	pair_close(&pair);
}

static void disconnect_delivers_all_data_first(void)
{
	enum { MESSAGES = 20 };
	struct slot slots[MESSAGES];
	struct send sends[MESSAGES];
	struct pair pair;

	pair_open(&pair, MESSAGES);
	for (uint32_t i = 0; i < MESSAGES; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 100000, 100000));
	for (uint32_t i = 0; i < MESSAGES; i++) {
		fill(pair.a.memory + i * 100000, 100000, i);
		send_set(&sends[i], pair.a.memory + i * 100000, i % 2 == 0 ? 10 : 100000);
		WAIT(submit(pair.ab, &sends[i]) == DOCA_SUCCESS);
	}
	sf_conn_disconnect(pair.ab);
	sf_conn_disconnect(pair.ab);
	for (uint64_t end = sf_now_ms() + WAIT_MS; pair.b.closes == 0; CHECK(sf_now_ms() < end)) {
		end_poll(&pair.b, 1);
		end_poll(&pair.a, 1);
	}
	for (uint32_t i = 0; i < MESSAGES; i++) {
		CHECK(slots[i].done == 1);
		CHECK_OK(slots[i].recv.status);
		CHECK(slots[i].recv.conn == pair.ba && filled(pair.b.memory + i * 100000, slots[i].recv.len, i));
	}
	CHECK(pair.b.closed == pair.ba);
	CHECK_RESULT(pair.b.close_reason, DOCA_ERROR_CONNECTION_RESET);
	WAIT(sends[MESSAGES - 1].done == 1);
	for (int i = 0; i < MESSAGES; i++)
		CHECK(sends[i].done == 1 && sends[i].op.status == DOCA_SUCCESS);
	CHECK(pair.a.closes == 0); /* our own closed callback does not run */
	pair_close(&pair);
	CHECK(pair.b.closes == 1);
}

static struct sf_conn *to_disconnect;

static void disconnect_in_done(struct send *send)
{
	sf_conn_disconnect(to_disconnect);
}

static void disconnect_inside_a_done_callback(void)
{
	struct slot slots[2];
	struct send send;
	struct pair pair;

	pair_open(&pair, 2);
	CHECK_OK(slot_post(&pair.b, &slots[0], 0, 64));
	CHECK_OK(slot_post(&pair.b, &slots[1], 64, 64));
	send_set(&send, "last", 5);
	send.then = disconnect_in_done;
	to_disconnect = pair.ab;
	CHECK_OK(submit_wait(pair.ab, &send));
	WAIT(pair.b.closes == 1);
	CHECK(slots[0].done == 1 && slots[1].done == 0);
	pair_close(&pair);
}

static void both_sides_disconnect_simultaneously(void)
{
	struct pair pair;

	for (int i = 0; i < 20; i++) {
		pair_open(&pair, 2);
		sf_conn_disconnect(pair.ab);
		sf_conn_disconnect(pair.ba);
		for (int poll = 0; poll < 50; poll++) {
			end_poll(&pair.a, 4);
			end_poll(&pair.b, 4);
		}
		CHECK(pair.a.closes == 0 && pair.b.closes == 0);
		pair_close(&pair);
	}
}

static void closing_a_connection_flushes_what_it_has_not_reported(void)
{
	struct slot slots[3];
	struct send sends[2];
	struct pair pair;

	pair_open(&pair, 3);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 64, 64));
	for (int i = 0; i < 2; i++) {
		send_set(&sends[i], "unseen", 7);
		WAIT(submit(pair.ab, &sends[i]) == DOCA_SUCCESS);
		for (uint64_t end = sf_now_ms() + WAIT_MS; sends[i].done == 0; CHECK(sf_now_ms() < end))
			end_poll(&pair.a, 4);
	}
	for (int i = 0; i < 2; i++)
		CHECK(slots[i].done <= 1);
	uint32_t seen = slots[0].done + slots[1].done;

	sf_conn_close(pair.ba);
	WAIT(slots[0].done == 1 && slots[1].done == 1);
	for (uint32_t i = seen; i < 2; i++) {
		CHECK_RESULT(slots[i].recv.status, DOCA_ERROR_CONNECTION_ABORTED);
		CHECK(slots[i].recv.conn == NULL);
	}
	CHECK(slots[2].done == 0);
	WAIT(pair.a.closes == 1);
	sf_conn_close(pair.ab);
	end_close(&pair.a);
	end_close(&pair.b);
}

static void receives_outlive_conns(void)
{
	struct slot slot;
	struct pair pair;

	pair_open(&pair, 2);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	for (uint32_t i = 2; i < 6; i++) {
		sf_conn_close(pair.ab);
		WAIT(pair.b.closes == i - 1);
		sf_conn_close(pair.ba);
		CHECK(slot.done == 0);
		pair.ab = end_connect(&pair.a, pair.b.name);
		WAIT(pair.a.connects == i && pair.b.accepts == i);
		pair.ba = pair.b.accepted[i - 1];
	}
	send_wait(pair.ab, "found", 6);
	WAIT(slot.done == 1);
	CHECK_OK(slot.recv.status);
	CHECK(slot.recv.conn == pair.ba);
	pair_close(&pair);
}

const struct conformance_case receive_cases[] = {
	CASE(receives_are_bounded_by_recv_max, 0),
	CASE(receives_lie_inside_their_region, 0),
	CASE(credits_are_the_next_receives_of_one_length, 0),
	CASE(connections_share_the_receives_of_an_endpoint, 0),
	CASE(more_senders_than_receives, 0),
	CASE(flush_returns_every_receive, 0),
	CASE(disconnect_delivers_all_data_first, 0),
	CASE(disconnect_inside_a_done_callback, 0),
	CASE(both_sides_disconnect_simultaneously, 0),
	CASE(closing_a_connection_flushes_what_it_has_not_reported, 0),
	CASE(receives_outlive_conns, 0),
	{0},
};
