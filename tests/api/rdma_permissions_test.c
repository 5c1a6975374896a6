/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each verb with each right missing: on the peer's instance, on its memory map, on both, on the local memory map. Checks the
 * result of the submit, the status of the task, the one line that names the rule, the state of the context, and that another
 * connection still works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/log_lines.h"
#include "support/rdma_pair.h"

#define LOCAL DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
#define READ_ONLY DOCA_ACCESS_FLAG_LOCAL_READ_ONLY

static const struct {
	const char *task; /* as the log calls it */
	uint32_t need;
	const char *flag;
} verbs[VERBS] = {
	[VERB_SEND] = {"rdma send", 0, ""},
	[VERB_SEND_IMM] = {"rdma send with immediate", 0, ""},
	[VERB_READ] = {"rdma read", DOCA_ACCESS_FLAG_RDMA_READ, "DOCA_ACCESS_FLAG_RDMA_READ"},
	[VERB_WRITE] = {"rdma write", DOCA_ACCESS_FLAG_RDMA_WRITE, "DOCA_ACCESS_FLAG_RDMA_WRITE"},
	[VERB_WRITE_IMM] = {"rdma write with immediate", DOCA_ACCESS_FLAG_RDMA_WRITE, "DOCA_ACCESS_FLAG_RDMA_WRITE"},
	[VERB_CAS] = {"rdma compare and swap", DOCA_ACCESS_FLAG_RDMA_ATOMIC, "DOCA_ACCESS_FLAG_RDMA_ATOMIC"},
	[VERB_ADD] = {"rdma fetch and add", DOCA_ACCESS_FLAG_RDMA_ATOMIC, "DOCA_ACCESS_FLAG_RDMA_ATOMIC"},
};

enum missing {
	ON_NOTHING,
	ON_INSTANCE,
	ON_MEMORY,
	ON_BOTH,
	ON_LOCAL,
	MISSING,
};

/* The line names the peer's object and the call that grants the right. */
static const struct {
	const char *by, *advice;
} sayings[MISSING] = {
	[ON_INSTANCE] = {"the peer's instance does not permit it", "there to doca_rdma_set_permissions"},
	[ON_MEMORY] = {"the peer's memory map does not permit it", "there to doca_mmap_set_permissions"},
	[ON_BOTH] = {"the peer's instance and its memory map do not permit it",
		     "doca_rdma_set_permissions and doca_mmap_set_permissions"},
	[ON_LOCAL] = {"memory map", "DOCA_ACCESS_FLAG_LOCAL_READ_WRITE"},
};

struct scenario {
	struct pair pair;
	enum verb verb;
	enum missing missing;
	struct doca_buf *here, *there;
	uint8_t a_before[PAIR_SIZE], b_before[PAIR_SIZE];
};

static void scenario_begin(struct scenario *s, enum verb verb, enum missing missing, uint32_t num_connections)
{
	struct pair *pair = &s->pair;
	uint32_t without = RIG_ALL & ~verbs[verb].need;

	pair_prepare(pair, missing == ON_LOCAL ? READ_ONLY : RIG_ALL,
		     missing == ON_INSTANCE || missing == ON_BOTH ? without : RIG_ALL,
		     missing == ON_MEMORY || missing == ON_BOTH ? without : RIG_ALL);
	pair_start(pair, num_connections);
	s->verb = verb;
	s->missing = missing;
	s->here = verb_here(verb, &pair->a, 1024, 8);
	s->there = verb_is_one_sided(verb) ? verb_there(verb, &pair->a, 2048, 8) : NULL;
	if (verb_takes_receive(verb))
		CHECK_OK(rig_receive(&pair->b, NULL, 100));
	memcpy(s->a_before, pair->a.memory, PAIR_SIZE);
	memcpy(s->b_before, pair->b.memory, PAIR_SIZE);
	log_lines_forget();
}

static void scenario_end(struct scenario *s)
{
	rig_put(s->here);
	if (s->there != NULL)
		rig_put(s->there);
	pair_fini(&s->pair);
}

static doca_error_t scenario_submit(struct scenario *s, uint32_t connection, uint64_t mark)
{
	return verb_submit(s->verb, &s->pair.a, s->pair.ab[connection], s->here, s->there, mark);
}

static void expect_memory_untouched(struct scenario *s)
{
	assert_memory_equal(s->pair.a.memory, s->a_before, PAIR_SIZE);
	assert_memory_equal(s->pair.b.memory, s->b_before, PAIR_SIZE);
}

static void expect_still_working(struct scenario *s, uint32_t connection)
{
	struct pair *pair = &s->pair;
	uint32_t good = pair->a.num_good, received = pair->b.num_received;

	if (received == pair->b.num_ended && !verb_takes_receive(s->verb))
		CHECK_OK(rig_receive(&pair->b, NULL, 101));
	CHECK_OK(rig_send_imm(&pair->a, pair->ab[connection], NULL, 5, 9));
	PAIR_WAIT(pair, pair->a.num_good == good + 1 && pair->b.num_received == received + 1);
	assert_ptr_equal(pair->b.from, pair->ba[connection]);
}

/* A right of the peer is missing: the task is accepted, and fails. */
static void denied_by_the_peer(enum verb verb, enum missing missing, uint32_t num_connections)
{
	static struct scenario s;
	struct pair *pair = &s.pair;

	scenario_begin(&s, verb, missing, num_connections);
	CHECK_OK(scenario_submit(&s, 0, 0));
	CHECK_OK(rig_read(&pair->a, pair->ab[0], NULL, NULL, 1)); /* submitted after it, and flushed */
	PAIR_WAIT(pair, pair->a.num_failed == 2);
	log_lines_expect(verbs[verb].task, sayings[missing].by, sayings[missing].advice);
	assert_int_equal(pair->a.num_good, 0);
	assert_int_equal(pair->a.order[0], 0);
	assert_int_equal(pair->a.statuses[0], DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(pair->a.statuses[1], DOCA_ERROR_BAD_STATE);
	expect_memory_untouched(&s);
	if (num_connections == 1) {
		PAIR_WAIT(pair, pair->a.state == DOCA_CTX_STATE_IDLE);
	} else {
		expect_still_working(&s, 1);
		assert_int_equal(pair->a.state, DOCA_CTX_STATE_RUNNING);
	}
	assert_int_equal(pair->b.state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(pair->b.num_failed, 0);
	scenario_end(&s);
}

static void a_right_of_the_peer_is_missing(void **state)
{
	(void)state;
	for (enum verb verb = 0; verb < VERBS; verb++) {
		for (enum missing missing = ON_INSTANCE; missing <= ON_BOTH && verbs[verb].need != 0; missing++) {
			denied_by_the_peer(verb, missing, 1);
			denied_by_the_peer(verb, missing, 2);
		}
	}
}

/* A verb that writes into local memory needs the right to: the submit fails, and the connection is unaffected. */
static void a_local_right_is_missing(void **state)
{
	static struct scenario s;

	(void)state;
	for (enum verb verb = 0; verb < VERBS; verb++) {
		if (verb_goes_out(verb))
			continue;
		scenario_begin(&s, verb, ON_LOCAL, 1);
		assert_int_equal(scenario_submit(&s, 0, 0), DOCA_ERROR_NOT_PERMITTED);
		log_lines_expect("", sayings[ON_LOCAL].by, sayings[ON_LOCAL].advice);
		expect_memory_untouched(&s);
		expect_still_working(&s, 0);
		assert_int_equal(s.pair.a.num_failed, 0);
		assert_int_equal(s.pair.a.state, DOCA_CTX_STATE_RUNNING);
		scenario_end(&s);
	}
}

static void a_receive_into_read_only_memory(void **state)
{
	static struct pair pair;
	struct doca_buf *buf;

	(void)state;
	pair_prepare(&pair, RIG_ALL, RIG_ALL, READ_ONLY | DOCA_ACCESS_FLAG_RDMA_READ);
	pair_start(&pair, 1);
	buf = rig_room(&pair.b, 0, 8);
	log_lines_forget();
	assert_int_equal(rig_receive(&pair.b, buf, 0), DOCA_ERROR_NOT_PERMITTED);
	log_lines_expect("rdma receive", "memory map lacks", "DOCA_ACCESS_FLAG_LOCAL_READ_WRITE");
	CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, 0));
	PAIR_WAIT(&pair, pair.b.num_received == 1 && pair.a.num_good == 1);
	rig_put(buf);
	pair_fini(&pair);
}

static void succeeds(enum verb verb, enum missing missing)
{
	static struct scenario s;
	struct pair *pair = &s.pair;

	scenario_begin(&s, verb, missing, 1);
	CHECK_OK(scenario_submit(&s, 0, 0));
	PAIR_WAIT(pair, pair->a.num_ended == 1);
	assert_int_equal(pair->a.statuses[0], DOCA_SUCCESS);
	assert_int_equal(log_lines_count(), 0);
	scenario_end(&s);
}

/* With all rights; with read-only memory as a source; and messages, which need no right of the peer's instance. */
static void enough_rights(void **state)
{
	static struct pair pair;

	(void)state;
	for (enum verb verb = 0; verb < VERBS; verb++) {
		if (verb != VERB_SEND && verb != VERB_SEND_IMM)
			succeeds(verb, ON_NOTHING);
		if (verb == VERB_WRITE || verb == VERB_WRITE_IMM)
			succeeds(verb, ON_LOCAL);
	}
	pair_prepare(&pair, READ_ONLY, LOCAL, LOCAL | DOCA_ACCESS_FLAG_RDMA_READ);
	pair_start(&pair, 1);
	for (enum verb verb = VERB_SEND; verb <= VERB_SEND_IMM; verb++) {
		struct doca_buf *here = rig_source(&pair.a, 1024, 8), *into = rig_room(&pair.b, 64 * verb, 8);

		CHECK_OK(rig_receive(&pair.b, into, 0));
		CHECK_OK(verb_submit(verb, &pair.a, pair.ab[0], here, NULL, 0));
		PAIR_WAIT(&pair, pair.a.num_good == verb + 1 && pair.b.num_received == verb + 1);
		assert_memory_equal(pair.b.memory + 64 * verb, pair.a.memory + 1024, 8);
		rig_put(here);
		rig_put(into);
	}
	pair_fini(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_of_the_peer_is_missing),
		cmocka_unit_test(a_local_right_is_missing),
		cmocka_unit_test(a_receive_into_read_only_memory),
		cmocka_unit_test(enough_rights),
	};

	return cmocka_run_group_tests_name("rdma permissions", tests, log_lines_setup, NULL);
}
