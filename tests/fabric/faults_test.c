/* SPDX-License-Identifier: BSD-3-Clause */
/* The injected faults: every operation still ends once, and each fault occurs. */
#include "conformance.h"

#include <stdlib.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Runs in a process of its own, because a process reads the faults from the environment once. */
static void with_faults(const char *faults, void (*run)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setenv("SOFTFIELD_FAULTS", faults, 1);
		fabric = sf_fabric_find("faulty:loop");
		alarm(60);
		run();
		exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static uint32_t closes_seen;

static void note_close(struct end *end, struct sf_conn *conn)
{
	CHECK_RESULT(end->close_reason, DOCA_ERROR_CONNECTION_ABORTED);
	closes_seen++;
}

/* Sends until the connection ends; returns how many messages arrived. */
static void send_until_closed(void)
{
	static struct send send;
	struct slot slot;
	struct pair pair;
	uint32_t again = 0, sent = 0;
	doca_error_t result;

	for (int round = 0; round < 5; round++) {
		pair_open(&pair, 4);
		pair.a.on_closed = note_close;
		CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
		while (pair.ab->state == SF_CONN_READY) {
			send_set(&send, &sent, sizeof(sent));
			result = submit(pair.ab, &send);
			again += result == DOCA_ERROR_AGAIN;
			if (result == DOCA_ERROR_AGAIN)
				continue;
			CHECK_OK(result);
			WAIT(send.done == 1);
			if (send.op.status != DOCA_SUCCESS) {
				CHECK_RESULT(send.op.status, DOCA_ERROR_CONNECTION_ABORTED);
				CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_NOT_CONNECTED);
				WAIT(pair.a.closes == 1);
				break;
			}
			WAIT(slot.done == 1);
			sent++;
			CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
		}
		CHECK(pair.ab->state == SF_CONN_CLOSED);
		WAIT(pair.b.closes == 1);
		CHECK(pair.a.closes == 1 && slot.done == 0);
		pair_close(&pair);
	}
	CHECK(closes_seen == 5 && again > 0 && sent > 0);
}

static void connections_close_and_submits_are_delayed(void **state)
{
	with_faults("seed=3; conn.again rate=0.1; peer.dead rate=0.02; poll.pause rate=0.05", send_until_closed);
}

static void count_failures(void)
{
	uint32_t failed = 0, done = 0;
	struct sf_region *import;
	struct send send;
	struct pair pair;
	uint64_t word;

	pair_open(&pair, 4);
	import = region_pass(pair.b.region, pair.a.domain);
	for (word = 1; word <= 2000; word++) {
		uint64_t before;

		memcpy(&before, pair.b.memory, sizeof(before));
		one_sided_set(&send, SF_OP_WRITE, import, import->addr, &word, sizeof(word));
		if (submit_wait(pair.ab, &send) == DOCA_SUCCESS) {
			CHECK(memcmp(pair.b.memory, &word, sizeof(word)) == 0);
			done++;
		} else {
			CHECK_RESULT(send.op.status, DOCA_ERROR_CONNECTION_ABORTED);
			CHECK(memcmp(pair.b.memory, &before, sizeof(before)) == 0);
			failed++;
		}
	}
	CHECK(failed > 100 && failed < 300 && done > 1500);
	failed = 0;
	for (word = 1; word <= 2000; word++) {
		struct sf_iov piece = {&word, sizeof(word)};
		struct sf_op op = {.kind = SF_OP_WRITE, .iov = &piece, .iov_num = 1, .remote_addr = import->addr};
		doca_error_t result = sf_region_access(import, &op);

		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_CONNECTION_ABORTED);
		CHECK((memcmp(pair.b.memory, &word, sizeof(word)) == 0) == (result == DOCA_SUCCESS));
		failed += result != DOCA_SUCCESS;
	}
	CHECK(failed > 100 && failed < 300);
	CHECK(pair.a.closes == 0);
	sf_region_close(import);
	pair_close(&pair);
}

static void one_sided_operations_fail_without_effect(void **state)
{
	with_faults("seed=4; op.fail rate=0.1; access.fail rate=0.1", count_failures);
}

static void count_rejections(void)
{
	uint32_t refused = 0;
	struct end a, b;

	end_open(&a, "host0/0000:d8:00.0", 4);
	end_open(&b, "dpu0/0000:03:00.0", 4);
	end_listen(&b, SF_LISTEN_AUTO);
	for (uint32_t i = 1; i <= 40; i++) {
		uint32_t accepts = b.accepts;
		struct sf_conn *conn = end_connect(&a, b.name);

		WAIT(a.connects == i);
		if (a.connect_status == DOCA_SUCCESS) {
			WAIT(b.accepts == accepts + 1);
			sf_conn_close(conn);
			WAIT(b.closes == accepts + 1);
			sf_conn_close(b.accepted[accepts]);
		} else {
			CHECK_RESULT(a.connect_status, DOCA_ERROR_TIME_OUT);
			CHECK(b.accepts == accepts);
			sf_conn_close(conn);
			refused++;
		}
	}
	CHECK(refused > 5 && refused < 35);
	end_close(&a);
	end_close(&b);
}

static void connects_are_rejected(void **state)
{
	with_faults("seed=5; conn.refuse rate=0.5", count_rejections);
}

static void count_memory(void)
{
	struct sf_domain *domain;
	struct sf_region *region;
	static char memory[64];
	uint32_t failed = 0;

	CHECK_OK(sf_domain_open(fabric, "host0/0000:d8:00.0", &domain));
	for (int i = 0; i < 200; i++) {
		doca_error_t result = sf_region_register(domain, memory, sizeof(memory), ALL_RIGHTS, &region);

		if (result == DOCA_SUCCESS)
			sf_region_close(region);
		else
			CHECK_RESULT(result, DOCA_ERROR_NO_MEMORY);
		failed += result != DOCA_SUCCESS;
	}
	CHECK(failed > 10 && failed < 100);
	sf_domain_close(domain);
}

static void registrations_fail(void **state)
{
	with_faults("seed=6; region.memory rate=0.25", count_memory);
}

/* Sends one message to a posted receive; returns the result of the submit. */
static doca_error_t send_one(struct pair *pair, struct send *send, struct slot *slot)
{
	static uint32_t word = 7;

	CHECK_OK(slot_post(&pair->b, slot, 0, 64));
	send_set(send, &word, sizeof(word));
	return submit(pair->ab, send);
}

static void send_arrives(struct pair *pair)
{
	static struct send send;
	struct slot slot;

	CHECK_OK(send_one(pair, &send, &slot));
	WAIT(send.done == 1 && slot.done == 1);
	CHECK_OK(send.op.status);
}

/* The fourth submit, which the rule names, ends the connection and the operation with that status. */
static void break_at_fourth(doca_error_t reason)
{
	struct send send;
	struct slot slot;
	struct pair pair;

	pair_open(&pair, 4);
	for (int i = 0; i < 3; i++)
		send_arrives(&pair);
	CHECK_OK(send_one(&pair, &send, &slot));
	WAIT(send.done == 1);
	CHECK_RESULT(send.op.status, reason);
	WAIT(pair.a.closes == 1);
	CHECK_RESULT(pair.a.close_reason, reason);
	WAIT(pair.b.closes == 1);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_NOT_CONNECTED);
	pair_close(&pair);
}

static void reset_at_fourth(void)
{
	break_at_fourth(DOCA_ERROR_CONNECTION_RESET);
}

static void dead_at_fourth(void)
{
	break_at_fourth(DOCA_ERROR_CONNECTION_ABORTED);
}

static void a_connection_is_reset_where_the_rule_says(void **state)
{
	with_faults("conn.reset after=3 peer=conformance/", reset_at_fourth);
}

static void a_peer_dies_where_the_rule_says(void **state)
{
	with_faults("peer.dead nth=4 on=host0", dead_at_fourth);
}

static void no_receive_at_second(void)
{
	struct send send;
	struct slot slot;
	struct pair pair;

	pair_open(&pair, 4);
	send_arrives(&pair);
	send.op.status = DOCA_SUCCESS;
	CHECK_RESULT(send_one(&pair, &send, &slot), DOCA_ERROR_AGAIN);
	CHECK_RESULT(send.op.status, DOCA_ERROR_EMPTY);
	CHECK_OK(submit(pair.ab, &send));
	WAIT(send.done == 1 && slot.done == 1);
	pair_close(&pair);
}

static void a_receive_is_missing(void **state)
{
	with_faults("conn.rnr nth=2", no_receive_at_second);
}

#define STOP_MS 50

static void accepted_after_a_while(void)
{
	struct send send;
	struct slot slot;
	struct pair pair;
	uint64_t begin;

	pair_open(&pair, 4);
	begin = sf_now_ms();
	CHECK_RESULT(send_one(&pair, &send, &slot), DOCA_ERROR_AGAIN);
	WAIT(submit(pair.ab, &send) == DOCA_SUCCESS);
	CHECK(sf_now_ms() - begin >= STOP_MS - 1);
	WAIT(send.done == 1 && slot.done == 1);
	pair_close(&pair);
}

static void a_stopped_peer_accepts_nothing_for_a_while(void **state)
{
	with_faults("peer.stop ms=50 nth=1", accepted_after_a_while);
}

static void completed_after_a_while(void)
{
	struct send send;
	struct slot slot;
	struct pair pair;
	uint64_t begin;

	pair_open(&pair, 4);
	begin = sf_now_ms();
	CHECK_OK(send_one(&pair, &send, &slot));
	CHECK(sf_ep_arm(pair.a.ep)); /* the completion counts as due, so the caller does not sleep */
	WAIT(send.done == 1);
	CHECK(sf_now_ms() - begin >= STOP_MS - 1);
	CHECK_OK(send.op.status);
	pair_close(&pair);
}

static void a_late_peer_delays_the_completion(void **state)
{
	with_faults("peer.late ms=50 nth=1", completed_after_a_while);
}

static void nothing_happens(void)
{
	struct pair pair;

	pair_open(&pair, 4);
	for (int i = 0; i < 50; i++)
		send_arrives(&pair);
	pair_close(&pair);
}

static void rules_about_others_do_nothing(void **state)
{
	with_faults("conn.again on=host7; peer.dead peer=elsewhere; conn.rnr after=50", nothing_happens);
}

/* A library's device uses the faulty provider without SOFTFIELD_FABRIC as soon as a rule concerns the fabric. */
static void provider_is_wrapped(void)
{
	unsetenv("SOFTFIELD_FABRIC");
	CHECK(strcmp(sf_fabric_of("host0/0000:d8:00.0")->name, "faulty:shm") == 0);
	setenv("SOFTFIELD_FABRIC", "loop", 1);
	CHECK(strcmp(sf_fabric_of("host0/0000:d8:00.0")->name, "faulty:loop") == 0);
}

static void provider_is_plain(void)
{
	unsetenv("SOFTFIELD_FABRIC");
	CHECK(strcmp(sf_fabric_of("host0/0000:d8:00.0")->name, "shm") == 0);
}

static void devices_get_the_faulty_provider_for_a_fabric_rule(void **state)
{
	with_faults("conn.again rate=0.1", provider_is_wrapped);
	with_faults("import.late rate=0.1", provider_is_wrapped);
	with_faults("submit.again rate=0.1", provider_is_plain);
	with_faults("", provider_is_plain);
}

static void open_fails(void)
{
	struct sf_domain *domain;

	CHECK_RESULT(sf_domain_open(fabric, "host0/0000:d8:00.0", &domain), DOCA_ERROR_BAD_CONFIG);
}

static void an_invalid_plan_is_rejected(void **state)
{
	with_faults("nonsense", open_fails);
	with_faults("conn.again rate", open_fails);
	with_faults("conn.again rate=x", open_fails);
	with_faults("conn.again rate=1.1", open_fails);
	with_faults("conn.again; conn.close", open_fails);
	with_faults("/nonexistent/faults", open_fails);
}

static void providers_are_found_by_name(void **state)
{
	assert_string_equal(sf_fabric_find("loop")->name, "loop");
	assert_string_equal(sf_fabric_find("faulty:shm")->name, "faulty:shm");
	assert_null(sf_fabric_find("nothing"));
	assert_null(sf_fabric_find("faulty:"));
	assert_null(sf_fabric_find("faulty:faulty:loop"));
	unsetenv("SOFTFIELD_FABRIC");
	assert_string_equal(sf_fabric_find(NULL)->name, "shm");
	setenv("SOFTFIELD_FABRIC", "loop", 1);
	assert_string_equal(sf_fabric_find(NULL)->name, "loop");
	setenv("SOFTFIELD_FABRIC", "nothing", 1);
	assert_null(sf_fabric_find(NULL));
	assert_ptr_equal(sf_fabric_find("loop"), sf_fabric_find("loop"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_close_and_submits_are_delayed),
		cmocka_unit_test(one_sided_operations_fail_without_effect),
		cmocka_unit_test(connects_are_rejected),
		cmocka_unit_test(registrations_fail),
		cmocka_unit_test(an_invalid_plan_is_rejected),
		cmocka_unit_test(a_connection_is_reset_where_the_rule_says),
		cmocka_unit_test(a_peer_dies_where_the_rule_says),
		cmocka_unit_test(a_receive_is_missing),
		cmocka_unit_test(a_stopped_peer_accepts_nothing_for_a_while),
		cmocka_unit_test(a_late_peer_delays_the_completion),
		cmocka_unit_test(rules_about_others_do_nothing),
		cmocka_unit_test(devices_get_the_faulty_provider_for_a_fabric_rule),
		cmocka_unit_test(providers_are_found_by_name),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
