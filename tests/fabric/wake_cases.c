/* SPDX-License-Identifier: BSD-3-Clause */
/* Arming an endpoint, and sleeping on its eventfd without losing a wake-up. */
#include "conformance.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define LOST_MS WAIT_MS /* a sleep this long means a lost wake-up */

static bool rung(const struct end *end)
{
	uint64_t count;

	return read(end->event_fd, &count, sizeof(count)) == sizeof(count);
}

static bool rings_within(const struct end *end, int ms)
{
	struct pollfd fd = {.fd = end->event_fd, .events = POLLIN};

	return poll(&fd, 1, ms) == 1 && rung(end);
}

/* Polls until nothing is due, then arms. */
static void arm_idle(struct end *end)
{
	for (uint64_t limit = sf_now_ms() + WAIT_MS; sf_ep_arm(end->ep); CHECK(sf_now_ms() < limit))
		end_poll(end, 16);
	(void)rung(end);
	CHECK(!sf_ep_arm(end->ep)); /* arming twice changes nothing */
}

static void an_armed_endpoint_is_rung_by_a_message(void)
{
	struct slot slots[2];
	struct send sends[2];
	struct pair pair;

	pair_open(&pair, 4);
	for (uint32_t i = 0; i < 2; i++) {
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 64, 64));
		send_set(&sends[i], "wake up", 8);
	}
	arm_idle(&pair.b);
	WAIT_WITHIN(WAIT_MS, submit(pair.ab, &sends[0]) == DOCA_SUCCESS);
	/* WAIT polled b only before it succeeded: if the endpoint is disarmed, the message was polled */
	CHECK(slots[0].done == 1 || rings_within(&pair.b, LOST_MS));
	WAIT(slots[0].done == 1 && sends[0].done == 1);
	arm_idle(&pair.b);
	CHECK_OK(submit(pair.ab, &sends[1]));
	CHECK(rings_within(&pair.b, LOST_MS));
	CHECK(sf_ep_arm(pair.b.ep)); /* due, so it is not armed */
	WAIT(slots[1].done == 1);
	pair_close(&pair);
}

static void arm_returns_true_when_something_is_due(void)
{
	struct slot slot;
	struct send send;
	struct pair pair;

	pair_open(&pair, 4);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	send_set(&send, "due", 4);
	WAIT(submit(pair.ab, &send) == DOCA_SUCCESS);
	while (slot.done == 0) {
		bool due = sf_ep_arm(pair.b.ep) || rings_within(&pair.b, LOST_MS);

		CHECK(due);
		end_poll(&pair.b, 16);
	}
	while (send.done == 0) { /* completions of this side count too */
		bool due = sf_ep_arm(pair.a.ep) || rings_within(&pair.a, LOST_MS);

		CHECK(due);
		end_poll(&pair.a, 16);
	}
	pair_close(&pair);
}

/* Programs look once more after they have armed, and then sleep. */
static void a_poll_that_finds_nothing_leaves_it_armed(void)
{
	struct slot slots[3];
	struct send send;
	struct pair pair;

	pair_open(&pair, 4);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 64, 64));
		arm_idle(&pair.b);
		for (uint32_t poll = 0; poll <= i * 10; poll++)
			end_poll(&pair.b, 16);
		send_set(&send, "look twice", 11);
		for (uint64_t limit = sf_now_ms() + WAIT_MS; submit(pair.ab, &send) != DOCA_SUCCESS; CHECK(sf_now_ms() < limit))
			end_poll(&pair.a, 1);
		CHECK(rings_within(&pair.b, LOST_MS));
		WAIT(slots[i].done == 1 && send.done == 1);
	}
	pair_close(&pair);
}

/* The poll consumes what would have ended the sleep: the event is written all the same. */
static void a_poll_that_finds_something_does_not_cancel_the_event(void)
{
	struct slot slot;
	struct send send;
	struct pair pair;

	pair_open(&pair, 4);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	arm_idle(&pair.b);
	send_set(&send, "found", 6);
	for (uint64_t limit = sf_now_ms() + WAIT_MS; submit(pair.ab, &send) != DOCA_SUCCESS; CHECK(sf_now_ms() < limit))
		end_poll(&pair.a, 1);
	WAIT(slot.done == 1);
	CHECK(rings_within(&pair.b, LOST_MS));
	WAIT(send.done == 1);
	pair_close(&pair);
}

static void an_endpoint_rings_once_per_arm(void)
{
	struct slot slots[4];
	struct send sends[4];
	struct pair pair;

	pair_open(&pair, 4);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_OK(slot_post(&pair.b, &slots[i], i * 64, 64));
	arm_idle(&pair.b);
	for (uint32_t i = 0; i < 4; i++) {
		send_set(&sends[i], "once", 5);
		for (uint64_t limit = sf_now_ms() + WAIT_MS; submit(pair.ab, &sends[i]) != DOCA_SUCCESS;
		     CHECK(sf_now_ms() < limit))
			end_poll(&pair.a, 1);
		WAIT(slots[i].done == 1 && sends[i].done == 1);
		CHECK(i == 0 ? rings_within(&pair.b, LOST_MS) : !rung(&pair.b));
	}
	pair_close(&pair);
}

static void connects_and_disconnects_ring(void)
{
	struct sf_conn *conn;
	struct end a, b;

	end_open(&a, "host0/0000:d8:00.0", 4);
	end_open(&b, "dpu0/0000:03:00.0", 4);
	end_listen(&b, 0);
	arm_idle(&b);
	conn = end_connect(&a, b.name);
	CHECK(rings_within(&b, LOST_MS));
	WAIT(b.requests == 1);
	arm_idle(&a);
	CHECK_OK(sf_conn_accept(b.listener, b.request, NULL, 0, NULL, &b.accepted[0]));
	CHECK(rings_within(&a, LOST_MS));
	WAIT(a.connects == 1);
	arm_idle(&b);
	sf_conn_disconnect(conn);
	CHECK(rings_within(&b, LOST_MS));
	WAIT(b.closes == 1);
	sf_conn_close(conn);
	sf_conn_close(b.accepted[0]);
	end_close(&a);
	end_close(&b);
}

static void ring_wakes_the_peers_armed_endpoint(void)
{
	struct pair pair;

	pair_open(&pair, 4);
	for (int i = 0; i < 10; i++) {
		arm_idle(&pair.b);
		sf_conn_ring(pair.ab);
		CHECK(rings_within(&pair.b, LOST_MS));
		end_poll(&pair.b, 4);
		sf_conn_ring(pair.ab); /* not armed again: no event */
		CHECK(!rung(&pair.b));
	}
	pair_close(&pair);
}

/* Two threads or processes sleep whenever nothing is due. One sends, the other acknowledges now and then. */

enum { WINDOW = 16, SLOTS = 2 * WINDOW };

struct sleeper {
	struct end end;
	struct sf_conn *conn;
	struct slot slots[SLOTS];
	struct send sends[SLOTS];
	uint32_t heard[SLOTS]; /* number that each slot received last */
	uint32_t posted_next, submitted, sleeps, seed;
	uint32_t number;
	uint32_t last; /* number received last */
	uint32_t received;
};

static void sleeper_received(struct slot *slot)
{
	struct sleeper *sleeper = (struct sleeper *)((char *)slot->end - offsetof(struct sleeper, end));
	uint32_t number;

	if (slot->recv.status != DOCA_SUCCESS)
		return;
	CHECK(slot->recv.len == 0 && slot->recv.header_len == sizeof(number));
	memcpy(&number, slot->recv.header, sizeof(number));
	CHECK(number > sleeper->last);
	sleeper->last = number;
	sleeper->received++;
	CHECK_OK(slot_post_set(slot));
}

static void sleeper_open(struct sleeper *sleeper, const char *device)
{
	memset(sleeper, 0, sizeof(*sleeper));
	end_open(&sleeper->end, device, SLOTS);
	for (int i = 0; i < SLOTS; i++) {
		slot_set(&sleeper->end, &sleeper->slots[i], 0, 0);
		sleeper->slots[i].then = sleeper_received;
		CHECK_OK(slot_post_set(&sleeper->slots[i]));
		sleeper->sends[i].done = 1;
	}
}

static void sleeper_close(struct sleeper *sleeper)
{
	sf_conn_disconnect(sleeper->conn);
	for (int i = 0; i < SLOTS; i++)
		WAIT(sleeper->sends[i].done == 1);
	sf_conn_close(sleeper->conn);
	end_close(&sleeper->end);
}

static void sleeper_wait(struct sleeper *sleeper)
{
	if (end_poll(&sleeper->end, 8) != 0 || sf_ep_arm(sleeper->end.ep))
		return;
	/* On every second sleep, look once more. Whatever that finds has rung too, or is about to. */
	if (sleeper->sleeps % 2 != 0)
		end_poll(&sleeper->end, 8);
	CHECK(rings_within(&sleeper->end, LOST_MS));
	sleeper->sleeps++;
}

/* Sends a number as a header. Returns false if it has to be repeated. */
static bool sleeper_send(struct sleeper *sleeper, uint32_t number)
{
	struct send *send = &sleeper->sends[sleeper->submitted % SLOTS];
	uint32_t *header = &sleeper->heard[sleeper->submitted % SLOTS];
	doca_error_t result;

	if (send->done == 0)
		return false;
	send_set(send, NULL, 0);
	*header = number;
	send->op.header = header;
	send->op.header_len = sizeof(*header);
	result = submit(sleeper->conn, send);
	if (result == DOCA_ERROR_AGAIN) {
		send->done = 1;
		sched_yield();
		return false;
	}
	CHECK_OK(result);
	sleeper->submitted++;
	return true;
}

static void sleeper_sends(struct sleeper *sleeper, uint32_t total)
{
	uint32_t next = 1;

	while (sleeper->last < total) {
		if (next <= total && next - sleeper->last <= WINDOW) {
			next += sleeper_send(sleeper, next);
			end_poll(&sleeper->end, random_below(&sleeper->seed, 2));
		} else {
			sleeper_wait(sleeper);
		}
	}
}

static void sleeper_answers(struct sleeper *sleeper, uint32_t total)
{
	uint32_t acked = 0, wanted = 1;

	while (acked < total) {
		if (sleeper->last >= wanted || sleeper->last == total) {
			uint32_t last = sleeper->last;

			if (sleeper_send(sleeper, last)) {
				acked = last;
				wanted = acked + 1 + random_below(&sleeper->seed, WINDOW);
			} else {
				end_poll(&sleeper->end, 8);
			}
		} else {
			sleeper_wait(sleeper);
		}
	}
	CHECK(sleeper->received == total);
	/* The last answer must have been sent. */
	WAIT(sleeper->end.closes == 1);
}

static uint32_t messages_total(void)
{
	return rounds_of(200000);
}

static char meeting[SF_NAME_MAX];
static pthread_barrier_t met;

static void *answering_thread(void *arg)
{
	static struct sleeper sleeper;

	sleeper_open(&sleeper, "dpu0/0000:03:00.0");
	sleeper.seed = *(uint32_t *)arg;
	end_listen(&sleeper.end, SF_LISTEN_AUTO);
	memcpy(meeting, sleeper.end.name, sizeof(meeting));
	pthread_barrier_wait(&met);
	while (sleeper.end.accepts == 0)
		sleeper_wait(&sleeper);
	sleeper.conn = sleeper.end.accepted[0];
	sleeper_answers(&sleeper, messages_total());
	sleeper_close(&sleeper);
	return NULL;
}

static void sleeper_connects_and_sends(struct sleeper *sleeper, const char *name)
{
	sleeper->conn = end_connect(&sleeper->end, name);
	while (sleeper->end.connects == 0)
		sleeper_wait(sleeper);
	CHECK_OK(sleeper->end.connect_status);
	sleeper_sends(sleeper, messages_total());
	CHECK(sleeper->sleeps > 0);
	sleeper_close(sleeper);
}

static void sleeping_threads_miss_no_wake_up(void)
{
	static struct sleeper sleeper;
	uint32_t seed = seed_new();
	pthread_t thread;

	CHECK(pthread_barrier_init(&met, NULL, 2) == 0);
	CHECK(pthread_create(&thread, NULL, answering_thread, &seed) == 0);
	pthread_barrier_wait(&met);
	sleeper_open(&sleeper, "host0/0000:d8:00.0");
	sleeper.seed = seed + 1;
	sleeper_connects_and_sends(&sleeper, meeting);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&met);
}

static void answering_process(int sock)
{
	static struct sleeper sleeper;

	sleeper_open(&sleeper, "dpu0/0000:03:00.0");
	hear(sock, &sleeper.seed, sizeof(sleeper.seed));
	end_listen(&sleeper.end, SF_LISTEN_AUTO);
	say_name(sock, sleeper.end.name);
	while (sleeper.end.accepts == 0)
		sleeper_wait(&sleeper);
	sleeper.conn = sleeper.end.accepted[0];
	sleeper_answers(&sleeper, messages_total());
	sleeper_close(&sleeper);
}

static void sleeping_processes_miss_no_wake_up(void)
{
	static struct sleeper sleeper;
	struct peer peer;
	uint32_t seed = seed_new();

	peer_fork(&peer, answering_process);
	say(peer.sock, &seed, sizeof(seed));
	hear_name(peer.sock, meeting);
	sleeper_open(&sleeper, "host0/0000:d8:00.0");
	sleeper.seed = seed + 1;
	sleeper_connects_and_sends(&sleeper, meeting);
	peer_end(&peer);
}

const struct conformance_case wake_cases[] = {
	CASE(an_armed_endpoint_is_rung_by_a_message, 0),
	CASE(arm_returns_true_when_something_is_due, 0),
	CASE(a_poll_that_finds_nothing_leaves_it_armed, 0),
	CASE(a_poll_that_finds_something_does_not_cancel_the_event, 0),
	CASE(an_endpoint_rings_once_per_arm, 0),
	CASE(connects_and_disconnects_ring, 0),
	CASE(ring_wakes_the_peers_armed_endpoint, 0),
	CASE(sleeping_threads_miss_no_wake_up, 0),
	CASE(sleeping_processes_miss_no_wake_up, SF_CAP_OTHER_PROCESS),
	{0},
};
