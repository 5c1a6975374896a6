/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for which the peer has no receive, or one that is too short: how long they wait, and how they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "support/log_lines.h"
#include "support/rdma_pair.h"

#define RETRY_MS 10	/* of one retry, as docs/rdma.md states */
#define SLACK_MS 60000	/* a busy machine may take that much longer */
#define FOR_EVER_MS 250 /* longer than any retry count but 7 waits */
#define FOR_EVER_COUNT 7
#define MANY 500 /* messages, more than a fabric keeps in flight */

static const enum verb takers[] = {VERB_SEND, VERB_SEND_IMM, VERB_WRITE_IMM};
static const char *const names[] = {"rdma send on", "rdma send with immediate on", "rdma write with immediate on"};

static void begin(struct pair *pair, uint8_t count, uint32_t num_connections)
{
	pair_prepare(pair, RIG_ALL, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_rnr_retry_count(pair->a.rdma, count));
	pair_start(pair, num_connections);
	log_lines_forget();
}

static void without_a_receive(size_t taker, uint8_t count)
{
	static struct pair pair;
	struct doca_buf *here, *there;
	uint64_t began;
	char retries[32];

	begin(&pair, count, 2);
	here = rig_source(&pair.a, 0, 8);
	there = rig_remote_room(&pair.a, 4096, 8);
	/* The wait begins when the peer is reached and has no receive. */
	CHECK_OK(rig_write(&pair.a, pair.ab[0], here, there, 9));
	PAIR_WAIT(&pair, pair.a.num_good == 1);
	CHECK_OK(doca_buf_reset_data_len(there));
	began = sf_now_ms();
	CHECK_OK(verb_submit(takers[taker], &pair.a, pair.ab[0], here, there, 0));
	CHECK_OK(rig_read(&pair.a, pair.ab[0], NULL, NULL, 1)); /* stays behind the one that waits */
	PAIR_WAIT(&pair, pair.a.num_ended == 3);
	uint64_t took = sf_now_ms() - began;

	assert_in_range(took, (count + 1) * RETRY_MS - 1, (count + 1) * RETRY_MS + SLACK_MS);
	assert_int_equal(pair.a.statuses[1], DOCA_ERROR_IO_FAILED);
	assert_int_equal(pair.a.order[1], 0);
	assert_int_equal(pair.a.statuses[2], DOCA_ERROR_BAD_STATE);
	snprintf(retries, sizeof(retries), "in %u retries", count);
	log_lines_expect(names[taker], "the peer posted no receive", retries);
	assert_int_equal(pair.a.state, DOCA_CTX_STATE_RUNNING);
	CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[1], NULL, 2));
	PAIR_WAIT(&pair, pair.b.num_received == 1 && pair.a.num_good == 2);
	rig_put(here);
	rig_put(there);
	pair_fini(&pair);
}

static void each_count_waits_its_documented_time(void **state)
{
	(void)state;
	for (size_t taker = 0; taker < 3; taker++) {
		for (uint8_t count = 0; count < FOR_EVER_COUNT; count++)
			without_a_receive(taker, count);
	}
}

static void seven_waits_forever(void **state)
{
	static struct pair pair;
	struct doca_buf *here, *there, *into;

	(void)state;
	for (size_t taker = 0; taker < 3; taker++) {
		begin(&pair, FOR_EVER_COUNT, 1);
		into = rig_room(&pair.b, 64, 8);
		here = rig_source(&pair.a, 0, 8);
		there = rig_remote_room(&pair.a, 4096, 8);
		uint64_t began = sf_now_ms();

		CHECK_OK(verb_submit(takers[taker], &pair.a, pair.ab[0], here, there, 0));
		PAIR_WAIT(&pair, sf_now_ms() - began >= FOR_EVER_MS);
		assert_int_equal(pair.a.num_ended, 0);
		CHECK_OK(rig_receive(&pair.b, into, 0));
		PAIR_WAIT(&pair, pair.a.num_good == 1 && pair.b.num_received == 1);
		assert_int_equal(log_lines_count(), 0);
		rig_put(into);
		rig_put(here);
		rig_put(there);
		pair_fini(&pair);
	}
}

/* A receive that is posted in time is used, and the count starts again with the next message. */
static void a_receive_in_time(void **state)
{
	static struct pair pair;

	(void)state;
	begin(&pair, 6, 1);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t began = sf_now_ms();

		CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, i));
		PAIR_WAIT(&pair, sf_now_ms() - began >= 3 * RETRY_MS);
		CHECK_OK(rig_receive(&pair.b, NULL, 0));
		PAIR_WAIT(&pair, pair.a.num_ended == i + 1);
		if (pair.a.num_failed != 0) { /* this process got no CPU for so long: start again */
			assert_true(sf_now_ms() - began >= 7 * RETRY_MS);
			pair_fini(&pair);
			begin(&pair, 6, 1);
			i = UINT32_MAX;
			continue;
		}
		PAIR_WAIT(&pair, pair.a.num_good == i + 1 && pair.b.num_received == i + 1);
	}
	pair_fini(&pair);
}

/* Fails immediately, whatever the count: waiting does not make the receive longer. The receive stays posted for a message that
 * fits. */
static void longer_than_the_receive(void **state)
{
	static struct pair pair;

	(void)state;
	for (enum verb verb = VERB_SEND; verb <= VERB_SEND_IMM; verb++) {
		struct doca_buf *too_long, *fits, *into;

		begin(&pair, FOR_EVER_COUNT, 2);
		too_long = rig_source(&pair.a, 0, 101);
		fits = rig_source(&pair.a, 500, 100);
		into = rig_room(&pair.b, 1000, 100);
		CHECK_OK(rig_receive(&pair.b, into, 0));
		CHECK_OK(verb_submit(verb, &pair.a, pair.ab[0], too_long, NULL, 0));
		CHECK_OK(rig_send(&pair.a, pair.ab[0], fits, 1));
		PAIR_WAIT(&pair, pair.a.num_ended == 2);
		assert_int_equal(pair.a.statuses[0], DOCA_ERROR_IO_FAILED);
		assert_int_equal(pair.a.statuses[1], DOCA_ERROR_BAD_STATE);
		log_lines_expect(names[verb], "101 bytes are more than the peer's receive takes", "post larger ones");
		assert_int_equal(pair.a.state, DOCA_CTX_STATE_RUNNING);
		CHECK_OK(rig_send(&pair.a, pair.ab[1], fits, 2));
		PAIR_WAIT(&pair, pair.b.num_received == 1 && pair.a.num_good == 1);
		assert_memory_equal(pair.b.memory + 1000, pair.a.memory + 500, 100);
		assert_int_equal(pair.b.num_failed, 0);
		rig_put(too_long);
		rig_put(fits);
		rig_put(into);
		pair_fini(&pair);
	}
}

/* The bytes of a write with immediate go to the memory that it names, and need no room in the receive. */
static void a_write_with_immediate_uses_an_empty_receive(void **state)
{
	static struct pair pair;
	struct doca_buf *here, *there;

	(void)state;
	begin(&pair, 0, 1);
	here = rig_source(&pair.a, 0, 5000);
	there = rig_remote_room(&pair.a, 8192, 5000);
	CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_write_imm(&pair.a, pair.ab[0], here, there, 1, 0));
	PAIR_WAIT(&pair, pair.a.num_good == 1 && pair.b.num_received == 1);
	assert_memory_equal(pair.b.memory + 8192, pair.a.memory, 5000);
	rig_put(here);
	rig_put(there);
	pair_fini(&pair);
}

/* The peer has receives for all messages and does not poll for longer than the retries take: no message fails. */
static void a_slow_peer_with_receives(void **state)
{
	static struct pair pair;
	uint32_t submitted = 0;

	(void)state;
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_rnr_retry_count(pair.a.rdma, 0));
	CHECK_OK(doca_rdma_task_receive_set_conf(pair.b.rdma, rdma_rig_received, rdma_rig_receive_failed, MANY));
	pair_start(&pair, 1);
	log_lines_forget();
	for (uint32_t i = 0; i < MANY; i++)
		CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, submitted++));
	PAIR_WAIT(&pair, pair.a.num_good == 1);
	for (uint64_t began = sf_now_ms(); sf_now_ms() - began < FOR_EVER_MS;) {
		if (submitted < MANY && submitted - pair.a.num_ended < RIG_TASKS)
			CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, submitted++));
		(void)doca_pe_progress(pair.a.pe);
	}
	assert_int_equal(pair.a.num_failed, 0);
	PAIR_WAIT(&pair, pair.a.num_good == submitted && pair.b.num_received == submitted);
	assert_int_equal(log_lines_count(), 0);
	pair_fini(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_count_waits_its_documented_time),
		cmocka_unit_test(seven_waits_forever),
		cmocka_unit_test(a_receive_in_time),
		cmocka_unit_test(a_slow_peer_with_receives),
		cmocka_unit_test(longer_than_the_receive),
		cmocka_unit_test(a_write_with_immediate_uses_an_empty_receive),
	};

	return cmocka_run_group_tests_name("rdma retries", tests, log_lines_setup, NULL);
}
