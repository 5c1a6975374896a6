/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other processes' memory in RDMA: exports that end while peers use them; and memory exported over PCI as the local operand of
 * tasks: whole pages, or malloc memory at odd addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_others.h"

/* ---- an export that ends ---- */

static void an_export_that_ends_under_large_writes(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *stopping = &side->others[0], *staying = &side->others[1];
	struct doca_buf *src = rig_source(rig, 0, LARGE);
	struct doca_buf *dst = buf_of(side, stopping->memory, stopping->at + LARGE_AT, LARGE, false);
	struct doca_buf *also = buf_of(side, staying->memory, staying->at + LARGE_AT, LARGE, false);
	uint32_t num = 1;

	CHECK_OK(rig_write(rig, stopping->connection, src, dst, 0));
	WAIT(rig->num_good == 1);
	other_command(stopping, 's');
	while (rig->num_failed == 0) {
		CHECK_OK(doca_buf_reset_data_len(dst));
		CHECK_OK(rig_write(rig, stopping->connection, src, dst, 0));
		num++;
		WAIT(rig->num_ended == num);
	}
	hear(stopping, 's'); /* it has checked its memory */
	assert_int_equal(rig->status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(rig_write(rig, staying->connection, src, also, 1));
	WAIT(rig->num_ended == num + 1);
	assert_int_equal(rig->num_failed, 1);
	assert_int_equal(rig->state, DOCA_CTX_STATE_RUNNING);
	rig_put(src);
	rig_put(dst);
	rig_put(also);
}

/* Bytes in the first page, which the owner's agent accesses if process_vm_writev is not permitted. */
static void an_export_that_has_ended(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *stopping = &side->others[0];
	struct doca_buf *src = rig_source(rig, 0, LARGE), *here = rig_room(rig, LARGE, 16);
	struct doca_buf *dst = buf_of(side, stopping->memory, stopping->at + LARGE_AT, LARGE, false);
	struct doca_buf *edge = buf_of(side, stopping->memory, stopping->at, 16, true);

	CHECK_OK(rig_write(rig, stopping->connection, src, dst, 0));
	WAIT(rig->num_good == 1);
	other_command(stopping, 's');
	hear(stopping, 's');
	CHECK_OK(rig_read(rig, stopping->connection, edge, here, 0));
	WAIT(rig->num_failed == 1);
	assert_int_equal(rig->status, DOCA_ERROR_CONNECTION_ABORTED);
	rig_put(src);
	rig_put(here);
	rig_put(dst);
	rig_put(edge);
}

/* ---- the local operand in another process ---- */

static void sent_and_written_from_there(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *src = buf_of(side, side->pages, side->pages_at, PAGES_SIZE, true);
	struct doca_buf *dst = buf_of(side, peer->memory, peer->at + PAGES_SIZE, PAGES_SIZE, false);
	struct doca_buf *from = buf_of(side, peer->memory, peer->at, 2 * PAGES_SIZE, true),
			*here = rig_room(rig, 0, 2 * PAGES_SIZE);

	other_command(peer, 'r');
	hear(peer, 'r');
	CHECK_OK(rig_send(rig, peer->connection, src, 0));
	CHECK_OK(rig_write(rig, peer->connection, src, dst, 1));
	other_command(peer, 'w');
	WAIT(rig->num_good == 2);
	hear(peer, 'w');
	CHECK_OK(rig_read(rig, peer->connection, from, here, 2));
	WAIT(rig->num_good == 3);
	for (size_t i = 0; i < PAGES_SIZE; i++) {
		CHECK(rig->memory[i] == pattern(i));
		CHECK(rig->memory[PAGES_SIZE + i] == pattern(i));
	}
	rig_put(src);
	rig_put(dst);
	rig_put(from);
	rig_put(here);
}

static void read_into_there(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *from = buf_of(side, peer->memory, peer->at + 5, 70000, true);
	struct doca_buf *word = buf_of(side, peer->memory, peer->at + 8 * 1000, 8, true);
	struct doca_buf *first = rig_room(rig, 0, 100), *list = buf_of(side, side->pages, side->pages_at + 3, 69900, false);
	struct doca_buf *result = buf_of(side, side->pages, side->pages_at + 80000, 8, false);
	uint8_t *copy = malloc(PAGES_SIZE);

	CHECK_OK(doca_buf_chain_list(first, list)); /* one half in each process */
	CHECK_OK(rig_read(rig, peer->connection, from, first, 0));
	CHECK_OK(rig_add(rig, peer->connection, word, result, 1, 1));
	WAIT(rig->num_good == 2);
	look_at_pages(side, copy);
	for (size_t i = 0; i < 69900; i++)
		CHECK(copy[3 + i] == pattern(5 + 100 + i));
	for (size_t i = 0; i < 8; i++)
		CHECK(copy[80000 + i] == pattern(8000 + i));
	CHECK(copy[2] == pattern(2) && copy[3 + 69900] == pattern(3 + 69900));
	free(copy);
	rig_put(from);
	rig_put(word);
	rig_put(first);
	rig_put(result);
}

static void received_into_there(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *first = buf_of(side, side->pages, side->pages_at + 1000, 50, false);
	struct doca_buf *second = buf_of(side, side->pages, side->pages_at + 5000, 100000, false);
	uint8_t *copy = malloc(PAGES_SIZE);

	CHECK_OK(rig_receive(rig, first, 0));
	CHECK_OK(rig_receive(rig, second, 1));
	other_command(peer, 't');
	WAIT(rig->num_received == 2);
	hear(peer, 't');
	look_at_pages(side, copy);
	for (size_t i = 0; i < 40; i++)
		CHECK(copy[1000 + i] == pattern(i));
	for (size_t i = 0; i < 100000; i++)
		CHECK(copy[5000 + i] == pattern(40 + i));
	CHECK(copy[1040] == pattern(1040) && copy[4999] == pattern(4999) && copy[105000] == pattern(105000));
	free(copy);
	rig_put(first);
	rig_put(second);
}

/* A DPU exports its host's memory to the network: the writer accesses the host's process directly. */
static void written_there_by_what_was_passed_on(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *src = rig_source(rig, 0, 70000), *dst;
	struct doca_mmap *remote;
	const void *descriptor;
	size_t len;
	uint8_t *copy = malloc(PAGES_SIZE);

	CHECK_OK(doca_mmap_export_rdma(side->pages, rig->dev, &descriptor, &len));
	CHECK_OK(doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &remote));
	dst = buf_of(side, remote, side->pages_at + 11, 70000, false);
	CHECK_OK(rig_write(rig, side->others[1].connection, src, dst, 0));
	WAIT(rig->num_good == 1);
	look_at_pages(side, copy);
	assert_memory_equal(copy + 11, rig->memory, 70000);
	CHECK(copy[10] == pattern(10) && copy[70011] == pattern(70011));
	free(copy);
	rig_put(src);
	rig_put(dst);
	CHECK_OK(doca_mmap_destroy(remote));
}

static void what_cannot_be_local(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	uint8_t *read_only_at;
	struct doca_mmap *read_only = import(side, peer, EXPORT_READ_ONLY, &read_only_at);
	struct doca_buf *network = buf_of(side, peer->memory, peer->at, 100, true);
	struct doca_buf *unwritable = buf_of(side, read_only, read_only_at, 100, false);
	struct doca_buf *source = buf_of(side, read_only, read_only_at, 100, true);

	assert_int_equal(rig_send(rig, peer->connection, network, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_receive(rig, network, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_read(rig, peer->connection, network, unwritable, 0), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(rig_receive(rig, unwritable, 0), DOCA_ERROR_NOT_PERMITTED);
	other_command(peer, 'r');
	hear(peer, 'r');
	CHECK_OK(rig_send(rig, peer->connection, source, 0)); /* readable memory can be sent */
	WAIT(rig->num_good == 1);
	rig_put(network);
	rig_put(unwritable);
	rig_put(source);
	CHECK_OK(doca_mmap_destroy(read_only));
}

/* Without a mapping nothing may learn of the end until the bytes are accessed. */
static bool is_mapped(void)
{
	const char *fabric = getenv("SOFTFIELD_FABRIC");

	return fabric != NULL && strcmp(fabric, "shm") == 0;
}

static void its_owner_ends_it(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *room = buf_of(side, side->pages, side->pages_at, 100, false);
	struct doca_buf *source = buf_of(side, side->pages, side->pages_at, 100, true);

	CHECK_OK(rig_receive(rig, room, 0)); /* posted before the end */
	other_command(&side->others[1], 'm');
	hear(&side->others[1], 'm');
	assert_int_equal(rig_send(rig, side->others[0].connection, source, 0), DOCA_ERROR_IO_FAILED);
	if (is_mapped())
		assert_int_equal(rig_receive(rig, room, 0), DOCA_ERROR_IO_FAILED);
	other_command(&side->others[0], 't');
	WAIT(rig->num_failed == 1);
	assert_int_equal(rig->status, DOCA_ERROR_IO_FAILED);
	struct doca_buf *second = rig_room(rig, 0, 100000);
	CHECK_OK(rig_receive(rig, second, 1));
	WAIT(rig->num_received == 1);
	hear(&side->others[0], 't');
	rig_put(room);
	rig_put(source);
	rig_put(second);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		peer_run(atoi(argv[1]), (size_t)atoi(argv[2]));
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_export_that_ends_under_large_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(an_export_that_has_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(sent_and_written_from_there, setup, teardown),
		cmocka_unit_test_setup_teardown(read_into_there, setup, teardown),
		cmocka_unit_test_setup_teardown(received_into_there, setup, teardown),
		cmocka_unit_test_setup_teardown(written_there_by_what_was_passed_on, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_local, setup, teardown),
		cmocka_unit_test_setup_teardown(its_owner_ends_it, setup, teardown),
	};

	const struct CMUnitTest odd_tests[] = {
		cmocka_unit_test_setup_teardown(sent_and_written_from_there, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(read_into_there, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(received_into_there, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(written_there_by_what_was_passed_on, setup_odd, teardown),
		cmocka_unit_test_setup_teardown(its_owner_ends_it, setup_odd, teardown),
	};
	int failed = cmocka_run_group_tests_name("rdma with others' memory", tests, NULL, NULL);

	return failed + cmocka_run_group_tests_name("rdma with others' memory of malloc", odd_tests, NULL, NULL);
}
