/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA between two instances of one process: every verb that transfers bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_fixture.h"

static void send_and_receive(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 4096, 3000), *dst = rig_room(&f->b, 8192, 5000);
	size_t len;

	CHECK_OK(rig_receive(&f->b, dst, 0));
	CHECK_OK(rig_send(&f->a, f->ab, src, 0));
	WAIT(f->a.num_good == 1 && f->b.num_received == 1);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_SEND);
	assert_int_equal(f->b.len, 3000);
	assert_int_equal(f->b.immediate, 0);
	assert_ptr_equal(f->b.from, f->ba);
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	assert_int_equal(len, 3000);
	assert_memory_equal(f->b.memory + 8192, f->a.memory + 4096, 3000);
	CHECK_OK(rig_receive(&f->b, dst, 0)); /* appends */
	CHECK_OK(rig_send_imm(&f->a, f->ab, src, 0xA1B2C3D4, 0));
	WAIT(f->b.num_received == 2 || f->a.num_failed > 0);
	assert_int_equal(f->a.num_failed, 1); /* 2000 bytes are left of 5000 */
	assert_int_equal(f->a.status, DOCA_ERROR_IO_FAILED);
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	rig_put(src);
	rig_put(dst);
}

static void immediates_pass_unchanged(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 64, 40), *dst = rig_room(&f->b, 128, 40),
			*there = rig_remote_room(&f->a, 512, 40);
	size_t len;

	CHECK_OK(rig_receive(&f->b, dst, 0));
	CHECK_OK(rig_send_imm(&f->a, f->ab, src, 0xA1B2C3D4, 0));
	WAIT(f->b.num_received == 1);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
	assert_int_equal(f->b.immediate, 0xA1B2C3D4);
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	CHECK_OK(rig_write_imm(&f->a, f->ab, src, there, 0x01020304, 0));
	WAIT(f->b.num_received == 2 && f->a.num_good == 2);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	assert_int_equal(f->b.immediate, 0x01020304);
	assert_int_equal(f->b.len, 0);
	assert_memory_equal(f->b.memory + 512, f->a.memory + 64, 40);
	CHECK_OK(doca_buf_get_data_len(there, &len));
	assert_int_equal(len, 40);
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	CHECK_OK(rig_write_imm(&f->a, f->ab, NULL, NULL, 5, 0));
	WAIT(f->b.num_received == 3 && f->a.num_good == 3);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	rig_put(src);
	rig_put(dst);
	rig_put(there);
}

static void read_and_write(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 100, 70000), *there = rig_remote_room(&f->a, 4096, 200000);
	struct doca_buf *from = rig_remote_source(&f->a, 4096, 140000), *here = rig_room(&f->a, 1 << 20, 140000);
	size_t len;

	CHECK_OK(rig_write(&f->a, f->ab, src, there, 0));
	WAIT(f->a.num_good == 1);
	CHECK_OK(rig_write(&f->a, f->ab, src, there, 1)); /* appends */
	WAIT(f->a.num_good == 2);
	assert_memory_equal(f->b.memory + 4096, f->a.memory + 100, 70000);
	assert_memory_equal(f->b.memory + 74096, f->a.memory + 100, 70000);
	CHECK_OK(rig_read(&f->a, f->ab, from, here, 2));
	WAIT(f->a.num_good == 3);
	CHECK_OK(doca_buf_get_data_len(here, &len));
	assert_int_equal(len, 140000);
	assert_memory_equal(f->a.memory + (1 << 20), f->b.memory + 4096, 140000);
	rig_put(src);
	rig_put(there);
	rig_put(from);
	rig_put(here);
}

static void lists_are_gathered_and_scattered(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *dst = rig_room(&f->b, 9000, 7),
			*there = rig_remote_room(&f->a, 20000, 64);
	uint8_t expected[30];

	CHECK_OK(doca_buf_chain_list(src, rig_source(&f->a, 100, 15)));
	CHECK_OK(doca_buf_chain_list(src, rig_source(&f->a, 300, 5)));
	CHECK_OK(doca_buf_chain_list(dst, rig_room(&f->b, 9100, 100)));
	memcpy(expected, f->a.memory, 10);
	memcpy(expected + 10, f->a.memory + 100, 15);
	memcpy(expected + 25, f->a.memory + 300, 5);
	CHECK_OK(rig_receive(&f->b, dst, 0));
	CHECK_OK(rig_send(&f->a, f->ab, src, 0));
	CHECK_OK(rig_write(&f->a, f->ab, src, there, 0));
	WAIT(f->a.num_good == 2 && f->b.num_received == 1);
	assert_int_equal(f->b.len, 30);
	assert_memory_equal(f->b.memory + 9000, expected, 7);
	assert_memory_equal(f->b.memory + 9100, expected + 7, 23);
	assert_memory_equal(f->b.memory + 20000, expected, 30);
	CHECK_OK(doca_buf_chain_list(src, rig_source(&f->a, 400, 5)));
	CHECK_OK(doca_buf_chain_list(src, rig_source(&f->a, 500, 5)));
	assert_int_equal(rig_send(&f->a, f->ab, src, 0), DOCA_ERROR_INVALID_VALUE);
	rig_put(src);
	rig_put(dst);
	rig_put(there);
}

static void empty_operations_keep_their_order(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *there = rig_remote_room(&f->a, 0, 64);

	CHECK_OK(rig_write(&f->a, f->ab, src, there, 0));
	CHECK_OK(rig_write(&f->a, f->ab, NULL, NULL, 1));
	CHECK_OK(rig_read(&f->a, f->ab, NULL, NULL, 2));
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 3));
	CHECK_OK(rig_write(&f->a, f->ab, src, there, 4));
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	WAIT(f->a.num_good == 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(f->a.order[i], i);
	rig_put(src);
	rig_put(there);
}

static void atomics(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *there = rig_remote_source(&f->a, 64, 8), *result = rig_room(&f->a, 128, 8),
			*odd = rig_remote_source(&f->a, 65, 8);
	uint64_t value = 1000;
	size_t len;

	memcpy(f->b.memory + 64, &value, 8);
	CHECK_OK(rig_add(&f->a, f->ab, there, result, 7, 0));
	WAIT(f->a.num_good == 1);
	memcpy(&value, f->a.memory + 128, 8);
	assert_int_equal(value, 1000);
	CHECK_OK(doca_buf_get_data_len(result, &len));
	assert_int_equal(len, 8);
	CHECK_OK(rig_cas(&f->a, f->ab, there, result, 1, 2, 0));
	WAIT(f->a.num_good == 2);
	memcpy(&value, f->b.memory + 64, 8);
	assert_int_equal(value, 1007);
	CHECK_OK(rig_cas(&f->a, f->ab, there, result, 1007, 2, 0));
	WAIT(f->a.num_good == 3);
	memcpy(&value, f->b.memory + 64, 8);
	assert_int_equal(value, 2);
	assert_int_equal(rig_add(&f->a, f->ab, odd, result, 7, 0), DOCA_ERROR_INVALID_VALUE);
	rig_put(there);
	rig_put(result);
	rig_put(odd);
}

static void tasks_are_submitted_again_from_their_callbacks(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 8);

	f->a.resubmits = 999;
	f->b.resubmits = 999;
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	struct doca_rdma_task_send *task;
	CHECK_OK(doca_rdma_task_send_allocate_init(f->a.rdma, f->ab, NULL, (union doca_data){.u64 = 0}, &task));
	assert_ptr_equal(doca_rdma_task_send_get_rdma_connection(task), f->ab);
	CHECK_OK(doca_task_submit(doca_rdma_task_send_as_task(task)));
	WAIT(f->a.num_good == 1000 && f->b.num_received == 1000);
	rig_put(src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(send_and_receive, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(immediates_pass_unchanged, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(read_and_write, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(lists_are_gathered_and_scattered, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(empty_operations_keep_their_order, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(atomics, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(tasks_are_submitted_again_from_their_callbacks, rdma_setup, rdma_teardown),
	};

	return cmocka_run_group_tests_name("rdma tasks", tests, NULL, NULL);
}
