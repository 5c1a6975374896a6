/* SPDX-License-Identifier: BSD-3-Clause */
/* Every RDMA operation with another process's malloc memory at odd addresses, exported over PCI, as its local operand: which
 * bytes arrive where, which bytes next to them stay, and what happens when that process is killed or stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_others.h"
#include "support/stop.h"

#define READS 32
#define READ_LEN 4099
#define THERE 20000 /* offset in the peer's memory that is written; the peer receives at 0 */

static void post_there(struct side *side, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++) {
		other_command(&side->others[0], 'r');
		hear(&side->others[0], 'r');
	}
}

/* Checks that [at, at + len) of the peer's memory holds the pattern from `begin` on. */
static void expect_there(struct side *side, size_t at, size_t len, size_t begin)
{
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *from = buf_of(side, peer->memory, peer->at + at, len, true), *here = rig_room(rig, SIZE / 2, len);
	uint32_t num = rig->num_good;

	CHECK_OK(rig_read(rig, peer->connection, from, here, 0));
	WAIT(rig->num_good == num + 1);
	for (size_t i = 0; i < len; i++)
		CHECK(rig->memory[SIZE / 2 + i] == pattern(begin + i));
	rig_put(from);
	rig_put(here);
}

static void sources(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *one = buf_of(side, side->pages, side->pages_at + 1, 5001, true);
	struct doca_buf *first = buf_of(side, side->pages, side->pages_at + 1, 5001, true);
	struct doca_buf *second = buf_of(side, side->pages, side->pages_at + PAGES_SIZE - 3000, 3000, true);
	struct doca_buf *dst = buf_of(side, peer->memory, peer->at + THERE, 8001, false);
	struct doca_buf *also = buf_of(side, peer->memory, peer->at + LARGE, 5001, false);
	uint32_t num;

	CHECK_OK(doca_buf_chain_list(first, second));
	CHECK_OK(rig_write(rig, peer->connection, one, also, 0));
	CHECK_OK(rig_write(rig, peer->connection, first, dst, 1));
	WAIT(rig->num_good == 2);
	expect_there(side, LARGE, 5001, 1);
	expect_there(side, THERE, 5001, 1);
	expect_there(side, THERE + 5001, 3000, PAGES_SIZE - 3000);
	CHECK_OK(doca_buf_reset_data_len(dst));
	post_there(side, 3);
	num = rig->num_good;
	CHECK_OK(rig_send(rig, peer->connection, first, 2));
	CHECK_OK(rig_send_imm(rig, peer->connection, first, 7, 3));
	CHECK_OK(rig_write_imm(rig, peer->connection, first, dst, 8, 4));
	other_command(peer, 'x');
	WAIT(rig->num_good == num + 3);
	hear(peer, 'x');
	expect_there(side, 0, 5001, 1);
	expect_there(side, THERE, 5001, 1);
	rig_put(one);
	rig_put(first);
	rig_put(dst);
	rig_put(also);
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static void atomics(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *word = buf_of(side, peer->memory, peer->at + 8000, 8, true);
	struct doca_buf *first = buf_of(side, side->pages, side->pages_at, 8, false);
	struct doca_buf *second = buf_of(side, side->pages, side->pages_at + PAGES_SIZE - 8, 8, false);
	uint8_t *copy = malloc(PAGES_SIZE), expected[8];
	size_t len;

	for (size_t i = 0; i < sizeof(expected); i++)
		expected[i] = pattern(8000 + i);
	CHECK_OK(rig_add(rig, peer->connection, word, first, 5, 0));
	CHECK_OK(rig_cas(rig, peer->connection, word, second, word_at(expected) + 5, 1, 1));
	WAIT(rig->num_good == 2);
	look_at_pages(side, copy);
	assert_int_equal(word_at(copy), word_at(expected));
	assert_int_equal(word_at(copy + PAGES_SIZE - 8), word_at(expected) + 5);
	CHECK(copy[8] == pattern(8) && copy[PAGES_SIZE - 9] == pattern(PAGES_SIZE - 9));
	CHECK_OK(doca_buf_get_data_len(second, &len));
	assert_int_equal(len, 8);
	free(copy);
	rig_put(word);
	rig_put(first);
	rig_put(second);
}

static void sync_events(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	const struct introduction *theirs = &side->others[0].introduction;
	struct doca_rdma_connection *to = side->others[0].connection;
	struct doca_sync_event_remote_net *event;
	struct doca_buf *value = buf_of(side, side->pages, side->pages_at + 3, 8, true);
	struct doca_buf *into = buf_of(side, side->pages, side->pages_at + 101, 3, false);
	struct doca_buf *rest = buf_of(side, side->pages, side->pages_at + 201, 5, false);
	struct doca_buf *old = buf_of(side, side->pages, side->pages_at + 301, 8, false);
	uint8_t *copy = malloc(PAGES_SIZE), expected[8], got[8];

	for (size_t i = 0; i < sizeof(expected); i++)
		expected[i] = pattern(3 + i);
	CHECK_OK(doca_sync_event_remote_net_create_from_export(rig->dev, theirs->bytes[EXPORT_EVENT], theirs->len[EXPORT_EVENT],
							       &event));
	CHECK_OK(doca_buf_chain_list(into, rest));
	CHECK_OK(rig_event_set(rig, to, event, value, 0));
	CHECK_OK(rig_event_get(rig, to, event, into, 1));
	CHECK_OK(rig_event_add(rig, to, event, old, 9, 2));
	WAIT(rig->num_good == 3);
	look_at_pages(side, copy);
	memcpy(got, copy + 101, 3);
	memcpy(got + 3, copy + 201, 5);
	assert_int_equal(word_at(got), word_at(expected));
	assert_int_equal(word_at(copy + 301), word_at(expected));
	CHECK(copy[100] == pattern(100) && copy[104] == pattern(104) && copy[206] == pattern(206) && copy[309] == pattern(309));
	CHECK_OK(doca_sync_event_remote_net_destroy(event));
	free(copy);
	rig_put(value);
	rig_put(into);
	rig_put(old);
}

/* Reads into adjacent places. Meanwhile writes use the same places as their source, which must not change them. */
static void many_in_flight(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *from[READS], *into[READS], *also[READS], *beside[READS];
	uint8_t *copy = malloc(PAGES_SIZE);

	for (size_t i = 0; i < READS; i++) {
		from[i] = buf_of(side, peer->memory, peer->at + 77 + i * READ_LEN, READ_LEN, true);
		into[i] = buf_of(side, side->pages, side->pages_at + i * READ_LEN, READ_LEN, false);
		also[i] = buf_of(side, side->pages, side->pages_at + i * READ_LEN, READ_LEN, true);
		beside[i] = buf_of(side, peer->memory, peer->at + LARGE + i * READ_LEN, READ_LEN, false);
		CHECK_OK(rig_read(rig, peer->connection, from[i], into[i], 2 * i));
		CHECK_OK(rig_write(rig, peer->connection, also[i], beside[i], 2 * i + 1));
	}
	WAIT(rig->num_good == 2 * READS);
	look_at_pages(side, copy);
	for (size_t i = 0; i < (size_t)READS * READ_LEN; i++)
		CHECK(copy[i] == pattern(77 + i));
	for (size_t i = (size_t)READS * READ_LEN; i < PAGES_SIZE; i++)
		CHECK(copy[i] == pattern(i));
	for (size_t i = 0; i < READS; i++) {
		rig_put(from[i]);
		rig_put(into[i]);
		rig_put(also[i]);
		rig_put(beside[i]);
	}
	free(copy);
}

/* Receives belong to the instance: the posted one ends with its message, with an error because its memory is gone. Other
 * receives work. */
static void its_owner_is_killed(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *room = buf_of(side, side->pages, side->pages_at + 5, 100, false);
	struct doca_buf *source = buf_of(side, side->pages, side->pages_at + 5, 100, true);
	struct doca_buf *own = rig_room(rig, 0, 100000);

	CHECK_OK(rig_receive(rig, room, 0));
	kill_other(&side->others[1]);
	CHECK_OK(rig_receive(rig, own, 1));
	other_command(peer, 't');
	WAIT(rig->num_ended == 2);
	hear(peer, 't');
	assert_int_equal(rig->statuses[0], DOCA_ERROR_IO_FAILED);
	assert_int_equal(rig->statuses[1], DOCA_SUCCESS);
	assert_int_equal(rig->len, 100000);
	assert_int_equal(rig_send(rig, peer->connection, source, 2), DOCA_ERROR_IO_FAILED);
	expect_there(side, 50, 1000, 50); /* the connection still works */
	rig_put(room);
	rig_put(source);
	rig_put(own);
}

static void its_owner_is_killed_under_reads(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *from = buf_of(side, peer->memory, peer->at + 9, PAGES_SIZE, true);
	struct doca_buf *into = buf_of(side, side->pages, side->pages_at, PAGES_SIZE, false);
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t num = 0; result == DOCA_SUCCESS && rig->num_failed == 0;) {
		CHECK_OK(doca_buf_reset_data_len(into));
		result = rig_read(rig, peer->connection, from, into, num);
		num += result == DOCA_SUCCESS;
		if (num == 3)
			CHECK(kill(side->others[1].pid, SIGKILL) == 0); /* while the third is in flight */
		WAIT(rig->num_ended == num);
	}
	assert_int_equal(result == DOCA_SUCCESS ? rig->status : result, DOCA_ERROR_IO_FAILED);
	CHECK(waitpid(side->others[1].pid, NULL, 0) == side->others[1].pid);
	close(side->others[1].socket);
	side->others[1].pid = 0;
	rig_put(from);
	rig_put(into);
}

/* Its memory is accessed without it where the kernel permits that; otherwise the task fails. Either way the task ends. */
static void its_owner_is_stopped(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *room = buf_of(side, side->pages, side->pages_at + 5, 100, false);
	struct doca_buf *own = rig_room(rig, 0, 100000);
	uint8_t *copy = malloc(PAGES_SIZE);

	CHECK_OK(rig_receive(rig, room, 0));
	CHECK_OK(rig_receive(rig, own, 1));
	process_stop(side->others[1].pid);
	other_command(peer, 't');
	WAIT(rig->num_ended == 2);
	hear(peer, 't');
	CHECK(kill(side->others[1].pid, SIGCONT) == 0);
	assert_int_equal(rig->statuses[1], DOCA_SUCCESS);
	look_at_pages(side, copy);
	CHECK(rig->statuses[0] == DOCA_SUCCESS || rig->statuses[0] == DOCA_ERROR_IO_FAILED);
	for (size_t i = 0; i < 40 && rig->statuses[0] == DOCA_SUCCESS; i++)
		CHECK(copy[5 + i] == pattern(i));
	CHECK(copy[4] == pattern(4) && copy[45] == pattern(45));
	free(copy);
	rig_put(room);
	rig_put(own);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		peer_run(atoi(argv[1]), (size_t)atoi(argv[2]));
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sources, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(atomics, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(sync_events, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(many_in_flight, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(its_owner_is_killed, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(its_owner_is_killed_under_reads, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(its_owner_is_stopped, setup_odd, teardown),
	};

	return cmocka_run_group_tests_name("rdma with an odd stretch of another process's malloc", tests, NULL, NULL);
}
