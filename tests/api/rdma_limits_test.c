/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA at its limits: lists of the maximum length and one longer, empty messages, addresses outside the export. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/log_lines.h"
#include "support/rdma_pair.h"

#define PIECE 97    /* bytes of each buffer of a list */
#define LIST_MAX 64 /* of any list here */
#define REMOTE_AT 20000

static uint32_t cap(const struct pair *pair, doca_error_t (*get)(const struct doca_devinfo *devinfo, uint32_t *len))
{
	uint32_t len = 0;

	CHECK_OK(get(doca_dev_as_devinfo(pair->a.dev), &len));
	CHECK(len > 1 && len < LIST_MAX);
	return len;
}

/* A list of num buffers, each in every second piece of the rig's memory. */
static struct doca_buf *list_of(struct rdma_rig *rig, uint32_t num, bool data)
{
	struct doca_buf *head = rdma_rig_buf(rig, false, 0, PIECE, data);

	for (uint32_t i = 1; i < num; i++)
		CHECK_OK(doca_buf_chain_list(head, rdma_rig_buf(rig, false, 2 * i * PIECE, PIECE, data)));
	return head;
}

static void expect_gathered(const uint8_t *there, const struct rdma_rig *rig, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++)
		assert_memory_equal(there + i * PIECE, rig->memory + 2 * i * PIECE, PIECE);
}

static void pair_open(struct pair *pair, uint32_t list_len, uint32_t recv_list_len)
{
	pair_prepare(pair, RIG_ALL, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_max_send_buf_list_len(pair->a.rdma, list_len));
	CHECK_OK(doca_rdma_task_receive_set_dst_buf_list_len(pair->b.rdma, recv_list_len));
	pair_start(pair, 1);
	log_lines_forget();
}

/* Each verb that accepts a list, with as many buffers as the device supports, and with one more. */
static void lists_at_the_limit(void **state)
{
	static struct pair pair;
	struct doca_buf *source, *longer, *room, *longer_room, *there, *from, *into;
	uint32_t most;

	(void)state;
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	most = cap(&pair, doca_rdma_cap_get_max_send_buf_list_len);
	assert_int_equal(doca_rdma_set_max_send_buf_list_len(pair.a.rdma, most + 1), DOCA_ERROR_INVALID_VALUE);
	pair_fini(&pair);
	pair_open(&pair, most, 1);
	source = list_of(&pair.a, most, true);
	longer = list_of(&pair.a, most + 1, true);
	there = rig_remote_room(&pair.a, REMOTE_AT, 3 * most * PIECE);
	into = rig_room(&pair.b, REMOTE_AT, most * PIECE);
	CHECK_OK(rig_write(&pair.a, pair.ab[0], source, there, 0));
	PAIR_WAIT(&pair, pair.a.num_good == 1);
	expect_gathered(pair.b.memory + REMOTE_AT, &pair.a, most);
	CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_write_imm(&pair.a, pair.ab[0], source, there, 1, 0)); /* appended */
	PAIR_WAIT(&pair, pair.a.num_good == 2);
	expect_gathered(pair.b.memory + REMOTE_AT + most * PIECE, &pair.a, most);
	memset(pair.b.memory + REMOTE_AT, 0, most * PIECE);
	CHECK_OK(rig_receive(&pair.b, into, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], source, 0));
	PAIR_WAIT(&pair, pair.a.num_good == 3 && pair.b.num_received == 2);
	assert_int_equal(pair.b.len, most * PIECE);
	expect_gathered(pair.b.memory + REMOTE_AT, &pair.a, most);
	for (enum verb verb = 0; verb < VERBS; verb++) {
		if (!verb_goes_out(verb))
			continue;
		log_lines_forget();
		assert_int_equal(verb_submit(verb, &pair.a, pair.ab[0], longer, there, 0), DOCA_ERROR_INVALID_VALUE);
		log_lines_expect("rdma", "buffers", "doca_rdma_set_max_send_buf_list_len");
	}
	rig_put(source);
	rig_put(longer);
	room = list_of(&pair.a, most, false);
	longer_room = list_of(&pair.a, most + 1, false);
	from = rig_remote_source(&pair.a, REMOTE_AT, most * PIECE);
	memset(pair.a.memory, 0, 2 * most * PIECE);
	CHECK_OK(rig_read(&pair.a, pair.ab[0], from, room, 0));
	PAIR_WAIT(&pair, pair.a.num_good == 4);
	expect_gathered(pair.b.memory + REMOTE_AT, &pair.a, most);
	rig_put(from);
	from = rig_remote_source(&pair.a, REMOTE_AT, (most + 1) * PIECE);
	assert_int_equal(rig_read(&pair.a, pair.ab[0], from, longer_room, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(pair.a.state, DOCA_CTX_STATE_RUNNING);
	rig_put(room);
	rig_put(longer_room);
	rig_put(from);
	rig_put(there);
	rig_put(into);
	pair_fini(&pair);
}

static void receive_lists_at_the_limit(void **state)
{
	static struct pair pair;
	struct doca_buf *into, *longer, *source;
	uint32_t most;

	(void)state;
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(doca_dev_as_devinfo(pair.b.dev), DOCA_RDMA_TRANSPORT_TYPE_RC,
								     &most));
	assert_int_equal(doca_rdma_task_receive_set_dst_buf_list_len(pair.b.rdma, most + 1), DOCA_ERROR_INVALID_VALUE);
	pair_fini(&pair);
	pair_open(&pair, 1, most);
	into = list_of(&pair.b, most, false);
	longer = list_of(&pair.b, most + 1, false);
	source = rig_source(&pair.a, 5000, most * PIECE);
	log_lines_forget();
	assert_int_equal(rig_receive(&pair.b, longer, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma receive", "buffers", "doca_rdma_task_receive_set_dst_buf_list_len");
	CHECK_OK(rig_receive(&pair.b, into, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], source, 0));
	PAIR_WAIT(&pair, pair.a.num_good == 1 && pair.b.num_received == 1);
	expect_gathered(pair.a.memory + 5000, &pair.b, most);
	rig_put(into);
	rig_put(longer);
	rig_put(source);
	pair_fini(&pair);
}

/* Without a buffer, and with an empty one. A verb that uses a receive uses one for an empty message too. */
static void empty_messages(void **state)
{
	static struct pair pair;
	struct doca_buf *empty, *empty_there;
	uint32_t received = 0, good = 0;

	(void)state;
	pair_open(&pair, 1, 1);
	empty = rig_source(&pair.a, 100, 0);
	empty_there = rig_remote_source(&pair.a, 100, 0);
	for (enum verb verb = 0; verb <= VERB_WRITE_IMM; verb++) {
		for (int with = 0; with < 2; with++) {
			struct doca_buf *into = rig_room(&pair.b, 0, 50);
			size_t len = 1;

			if (verb_takes_receive(verb))
				CHECK_OK(rig_receive(&pair.b, with ? into : NULL, 0));
			CHECK_OK(verb_submit(verb, &pair.a, pair.ab[0], with ? empty : NULL, with ? empty_there : NULL, 0));
			good++;
			received += verb_takes_receive(verb);
			PAIR_WAIT(&pair, pair.a.num_good == good && pair.b.num_received == received);
			CHECK_OK(doca_buf_get_data_len(into, &len));
			assert_int_equal(len, 0);
			assert_true(!verb_takes_receive(verb) || pair.b.len == 0);
			rig_put(into);
		}
	}
	for (enum verb verb = VERB_CAS; verb < VERBS; verb++) /* atomics are of 8 bytes */
		assert_int_equal(verb_submit(verb, &pair.a, pair.ab[0], NULL, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	rig_put(empty);
	rig_put(empty_there);
	pair_fini(&pair);
}

/* No buffer can be created outside the export, and a buffer inside cannot be overrun. */
static void addresses_outside_the_export(void **state)
{
	static struct pair pair;
	struct doca_buf *buf, *last, *here, *word;
	uint8_t *base, *data;

	(void)state;
	pair_open(&pair, 1, 1);
	base = pair.a.remote_memory;
	const struct {
		uint8_t *at;
		size_t len;
	} outside[] = {
		{base - 1, 1},		    /* before */
		{base - 8, 16},		    /* over the beginning */
		{base + PAIR_SIZE, 1},	    /* behind */
		{base + PAIR_SIZE - 8, 16}, /* over the end */
		{base, PAIR_SIZE + 1},	    /* all of it and more */
		{base + 8, SIZE_MAX - 4},   /* wraps around the address space */
		{base - 8, SIZE_MAX},
	};
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_int_equal(
			doca_buf_inventory_buf_get_by_addr(pair.a.inventory, pair.a.remote, outside[i].at, outside[i].len, &buf),
			DOCA_ERROR_INVALID_VALUE);
	last = rig_remote_room(&pair.a, PAIR_SIZE - 8, 8);
	here = rig_source(&pair.a, 0, 9);
	log_lines_forget();
	assert_int_equal(rig_write(&pair.a, pair.ab[0], here, last, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma write", "9 bytes at", "more than the remote buffer has");
	CHECK_OK(doca_buf_get_data(last, (void **)&data));
	assert_ptr_equal(data, base + PAIR_SIZE - 8);
	CHECK_OK(doca_buf_set_data(last, base + PAIR_SIZE - 4, 8)); /* not checked before it is used */
	assert_int_equal(rig_write(&pair.a, pair.ab[0], here, last, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_read(&pair.a, pair.ab[0], last, here, 0), DOCA_ERROR_INVALID_VALUE);
	word = rig_remote_source(&pair.a, PAIR_SIZE - 8, 8);
	CHECK_OK(doca_buf_set_data(word, base + PAIR_SIZE - 4, 4)); /* the 8 bytes of an atomic would exceed the export */
	struct doca_buf *result = rig_room(&pair.a, 64, 8);

	for (enum verb verb = VERB_CAS; verb < VERBS; verb++)
		assert_int_equal(verb_submit(verb, &pair.a, pair.ab[0], result, word, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(pair.a.state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(pair.a.num_ended, 0);
	rig_put(last);
	rig_put(here);
	rig_put(word);
	rig_put(result);
	pair_fini(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_at_the_limit),
		cmocka_unit_test(receive_lists_at_the_limit),
		cmocka_unit_test(empty_messages),
		cmocka_unit_test(addresses_outside_the_export),
	};

	return cmocka_run_group_tests_name("rdma limits", tests, log_lines_setup, NULL);
}
