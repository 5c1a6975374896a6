/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA connections by descriptors: their states, in any order, several of one instance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_fixture.h"
#include "support/descriptors.h"
#include "support/provider.h"

static void states_of_a_connection(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_rdma_connection *one_more;
	union doca_data data = {.u64 = 0};
	const void *details;
	size_t size;
	uint32_t id = 9;

	assert_int_equal(doca_rdma_export(f->a.rdma, &details, &size, &one_more), DOCA_ERROR_BAD_STATE);
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	assert_int_equal(doca_rdma_export(f->a.rdma, &details, &size, &one_more), DOCA_ERROR_FULL);
	CHECK_OK(doca_rdma_connection_get_id(f->ab, &id));
	assert_int_equal(id, 0);
	CHECK_OK(doca_rdma_connection_set_user_data(f->ab, (union doca_data){.u64 = 41}));
	CHECK_OK(doca_rdma_connection_get_user_data(f->ab, &data));
	assert_int_equal(data.u64, 41);
	assert_int_equal(rig_send(&f->a, f->ab, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ba), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(f->a.rdma, f->a_details, f->a_size, f->ab), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab));
	assert_int_equal(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab), DOCA_ERROR_BAD_STATE);
	rdma_rig_stop(&f->a);
	rdma_rig_start(&f->a);
	CHECK_OK(doca_rdma_export(f->a.rdma, &details, &size, &f->ab));
}

static void altered_details_are_rejected(void **state)
{
	struct rdma_fixture *f = *state;
	uint8_t copy[256];

	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	assert_true(f->b_size <= sizeof(copy));
	for (size_t len = 0; len < f->b_size; len++) {
		memcpy(copy, f->b_details, f->b_size);
		copy[len] ^= 0x10;
		assert_int_equal(doca_rdma_connect(f->a.rdma, copy, f->b_size, f->ab), DOCA_ERROR_INVALID_VALUE);
		copy[len] ^= 0x10;
		assert_int_equal(doca_rdma_connect(f->a.rdma, copy, len, f->ab), DOCA_ERROR_INVALID_VALUE);
	}
	CHECK_OK(doca_rdma_connect(f->a.rdma, copy, f->b_size, f->ab));
}

/* A message in each direction. */
static void exchange_one(struct rdma_fixture *f)
{
	const uint32_t good = f->a.num_good + f->b.num_good;

	CHECK_OK(rig_receive(&f->a, NULL, 0));
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	CHECK_OK(rig_send_imm(&f->a, f->ab, NULL, 0, 0));
	CHECK_OK(rig_send_imm(&f->b, f->ba, NULL, 0, 0));
	RDMA_RIG_WAIT(&f->a, &f->b, f->a.num_good + f->b.num_good == good + 4);
}

static void start_by_tcp(struct rdma_fixture *f)
{
	if (!provider_is("tcp"))
		skip();
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
}

/* By TCP, where an acknowledgement needs no packet of its own if the answer takes the same connection. */
static void two_connections_become_one(void **state)
{
	struct rdma_fixture *f = *state;
	uint32_t num;

	start_by_tcp(f);
	export_both(f);
	CHECK_OK(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab));
	CHECK_OK(doca_rdma_connect(f->b.rdma, f->a_details, f->a_size, f->ba));
	num = num_descriptors();
	RDMA_RIG_WAIT(&f->a, &f->b, num_descriptors() == num - 2); /* both ends of one */
	for (int i = 0; i < 10; i++)
		exchange_one(f);
	assert_int_equal(num_descriptors(), num - 2);
}

/* A side that has always something in flight keeps its own connection, until it pauses. */
static void a_side_that_sends_changes_over_later(void **state)
{
	struct rdma_fixture *f = *state;
	uint32_t num;

	start_by_tcp(f);
	connect_both(f);
	num = num_descriptors();
	CHECK_OK(rig_send_imm(&f->a, f->ab, NULL, 0, 0)); /* no receive is posted, so it stays */
	CHECK_OK(rig_send_imm(&f->b, f->ba, NULL, 0, 0));
	for (int i = 0; i < 1000; i++) {
		doca_pe_progress(f->a.pe);
		doca_pe_progress(f->b.pe);
	}
	assert_int_equal(num_descriptors(), num);
	exchange_one(f);
	CHECK_OK(rig_receive(&f->a, NULL, 0));
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	RDMA_RIG_WAIT(&f->a, &f->b, f->a.num_good + f->b.num_good == 8 && num_descriptors() == num - 2);
	exchange_one(f);
}

/* A receive that was reported on both connections, and used by one, does not count for the other: a longer message takes the
 * next. */
static void a_used_receive_is_used_on_both_connections(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *shorter = rig_source(&f->a, 0, 8), *longer = rig_source(&f->a, 64, 4000);
	struct doca_buf *first = rig_room(&f->b, 0, 8), *second = rig_room(&f->b, 64, 4000);

	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	CHECK_OK(rig_receive(&f->b, first, 0));
	connect_both(f);
	CHECK_OK(rig_send(&f->a, f->ab, shorter, 0));
	RDMA_RIG_WAIT(&f->a, &f->b, f->b.num_received == 1 && f->a.num_good == 1);
	for (int i = 0; i < 2000; i++) {
		doca_pe_progress(f->a.pe);
		doca_pe_progress(f->b.pe);
	}
	CHECK_OK(rig_receive(&f->a, NULL, 0));
	/* It arrives while both sides poll, so that the agents do nothing now. */
	CHECK_OK(rig_send_imm(&f->b, f->ba, NULL, 0, 0));
	RDMA_RIG_WAIT(&f->a, &f->b, f->a.num_received == 1 && f->b.num_good == 2);
	CHECK_OK(rig_receive(&f->b, second, 0));
	CHECK_OK(rig_send(&f->a, f->ab, longer, 0));
	RDMA_RIG_WAIT(&f->a, &f->b, f->b.num_received == 2 || f->a.num_failed != 0);
	assert_int_equal(f->a.num_failed, 0);
	rig_put(shorter);
	rig_put(longer);
	rig_put(first);
	rig_put(second);
}

/* The next statement submits tasks, although the peer connects only later. */
static void one_side_connects_long_before(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 100), *dst = rig_room(&f->b, 1000, 100);

	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	CHECK_OK(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab));
	CHECK_OK(rig_send(&f->a, f->ab, src, 1));
	CHECK_OK(rig_receive(&f->b, dst, 2));
	WAIT(f->a.num_good == 1 && f->b.num_received == 1);
	assert_ptr_equal(f->b.from, f->ba);
	assert_memory_equal(f->b.memory + 1000, f->a.memory, 100);
	CHECK_OK(doca_rdma_connect(f->b.rdma, f->a_details, f->a_size, f->ba));
	CHECK_OK(rig_receive(&f->a, NULL, 3));
	CHECK_OK(rig_send(&f->b, f->ba, NULL, 4));
	WAIT(f->a.num_received == 1 && f->b.num_good == 2);
	rig_put(src);
	rig_put(dst);
}

static void several_connections(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_rdma_connection *out[8], *in[8];
	const void *a_details, *b_details;
	size_t a_size, b_size;
	union doca_data data;

	CHECK_OK(doca_rdma_set_max_num_connections(f->a.rdma, 8));
	CHECK_OK(doca_rdma_set_max_num_connections(f->b.rdma, 8));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	for (int i = 0; i < 8; i++) {
		CHECK_OK(doca_rdma_export(f->a.rdma, &a_details, &a_size, &out[i]));
		CHECK_OK(doca_rdma_export(f->b.rdma, &b_details, &b_size, &in[i]));
		CHECK_OK(doca_rdma_connection_set_user_data(in[i], (union doca_data){.u64 = 100 + (uint64_t)i}));
		CHECK_OK(doca_rdma_connect(f->a.rdma, b_details, b_size, out[i]));
		CHECK_OK(doca_rdma_connect(f->b.rdma, a_details, a_size, in[i]));
	}
	for (uint32_t i = 0; i < 8; i++) {
		CHECK_OK(rig_receive(&f->b, NULL, 0));
		CHECK_OK(rig_send_imm(&f->a, out[i], NULL, i, 0));
		WAIT(f->b.num_received == i + 1);
		assert_ptr_equal(f->b.from, in[i]);
		CHECK_OK(doca_rdma_connection_get_user_data(f->b.from, &data));
		assert_int_equal(data.u64, 100 + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(states_of_a_connection, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(altered_details_are_rejected, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(two_connections_become_one, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_side_that_sends_changes_over_later, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_used_receive_is_used_on_both_connections, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(one_side_connects_long_before, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(several_connections, rdma_prepare, rdma_teardown),
	};

	return cmocka_run_group_tests_name("rdma connect", tests, NULL, NULL);
}
