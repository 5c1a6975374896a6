/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: one task of each kind is submitted repeatedly: after success, after failure, and on another connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_fixture.h"

#define LEN 100

static struct doca_rdma_connection *second_ab, *second_ba;

/* Two connections; a send without a receive fails immediately. */
static int two_connections(void **state)
{
	const void *a_details, *b_details;
	size_t a_size, b_size;

	(void)rdma_prepare(state);
	struct rdma_fixture *f = *state;
	CHECK_OK(doca_rdma_set_max_num_connections(f->a.rdma, 2));
	CHECK_OK(doca_rdma_set_max_num_connections(f->b.rdma, 2));
	CHECK_OK(doca_rdma_set_rnr_retry_count(f->a.rdma, 0));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	CHECK_OK(doca_rdma_export(f->a.rdma, &a_details, &a_size, &second_ab));
	CHECK_OK(doca_rdma_export(f->b.rdma, &b_details, &b_size, &second_ba));
	CHECK_OK(doca_rdma_connect(f->a.rdma, b_details, b_size, second_ab));
	CHECK_OK(doca_rdma_connect(f->b.rdma, a_details, a_size, second_ba));
	f->a.keep = true;
	return 0;
}

/* ---- one task of each kind ---- */

struct kept {
	void *task;
	struct doca_task *base;
	void (*move)(void *task, struct doca_rdma_connection *to);
	bool takes_receive;
};

#define MOVE(name)                                                                                                               \
	static void move_##name(void *task, struct doca_rdma_connection *to)                                                     \
	{                                                                                                                        \
		doca_rdma_task_##name##_set_rdma_connection(task, to);                                                           \
		assert_ptr_equal(doca_rdma_task_##name##_get_rdma_connection(task), to);                                         \
	}
MOVE(send)
MOVE(send_imm)
MOVE(read)
MOVE(write)
MOVE(write_imm)
MOVE(atomic_cmp_swp)
MOVE(atomic_fetch_add)

#define KEEP(name, receives, ...)                                                                                                \
	do {                                                                                                                     \
		struct doca_rdma_task_##name *task_;                                                                             \
		CHECK_OK(doca_rdma_task_##name##_allocate_init(f->a.rdma, f->ab, __VA_ARGS__, none, &task_));                    \
		kept[num++] = (struct kept){task_, doca_rdma_task_##name##_as_task(task_), move_##name, receives};               \
	} while (0)

static void run(struct rdma_fixture *f, const struct kept *kept, doca_error_t wanted)
{
	uint32_t ended = f->a.num_ended, received = f->b.num_received;

	if (wanted == DOCA_SUCCESS && kept->takes_receive)
		CHECK_OK(rig_receive(&f->b, NULL, 0));
	CHECK_OK(doca_task_submit(kept->base));
	WAIT(f->a.num_ended == ended + 1);
	assert_int_equal(doca_task_get_status(kept->base), wanted);
	if (wanted == DOCA_SUCCESS && kept->takes_receive)
		WAIT(f->b.num_received == received + 1);
}

static void every_kind(void **state)
{
	struct rdma_fixture *f = *state;
	union doca_data none = {.u64 = 0};
	struct doca_buf *src = rig_source(&f->a, 0, LEN), *there = rig_remote_room(&f->a, 4096, 64 * LEN),
			*from = rig_remote_source(&f->a, 16384, LEN), *here = rig_room(&f->a, 8192, 64 * LEN),
			*word = rig_remote_source(&f->a, 64, 8), *result = rig_room(&f->a, 128, 8);
	uint64_t value = 7;
	size_t before, after;
	struct kept kept[7];
	int num = 0;

	memcpy(f->b.memory + 64, &value, sizeof(value));
	KEEP(send, true, NULL);
	KEEP(send_imm, true, NULL, 1);
	KEEP(read, false, from, here);
	KEEP(write, false, src, there);
	KEEP(write_imm, true, src, there, 2);
	KEEP(atomic_cmp_swp, false, word, result, 7, 8);
	KEEP(atomic_fetch_add, false, word, result, 1);
	struct doca_rdma_task_read *read = kept[2].task;

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < num; i++)
			run(f, &kept[i], DOCA_SUCCESS);
	assert_int_equal(doca_rdma_task_read_get_result_len(read), LEN);
	memcpy(&value, f->b.memory + 64, sizeof(value));
	assert_int_equal(value, 11); /* 7 after one swap, plus three additions */

	run(f, &kept[0], DOCA_ERROR_IO_FAILED); /* no receive is posted */
	CHECK_OK(doca_buf_get_data_len(here, &before));
	for (int i = 0; i < num; i++)
		run(f, &kept[i], DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_buf_get_data_len(here, &after));
	assert_int_equal(before, after);
	assert_int_equal(doca_rdma_task_read_get_result_len(read), 0);

	for (int i = 0; i < num; i++) {
		kept[i].move(kept[i].task, second_ab);
		run(f, &kept[i], DOCA_SUCCESS);
		assert_true(f->b.from == second_ba || !kept[i].takes_receive);
	}
	assert_int_equal(doca_rdma_task_read_get_result_len(read), LEN);
	CHECK_OK(doca_buf_get_data_len(here, &after));
	assert_int_equal(after, before + LEN);
	memcpy(&value, f->b.memory + 64, sizeof(value));
	assert_int_equal(value, 12);
	assert_int_equal(f->a.state, DOCA_CTX_STATE_RUNNING);
	for (int i = 0; i < num; i++)
		doca_task_free(kept[i].base);
	rig_put(src);
	rig_put(there);
	rig_put(from);
	rig_put(here);
	rig_put(word);
	rig_put(result);
}

/* ---- a receive ---- */

static void a_receive_has_no_results_after_a_failure(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, LEN), *dst = rig_room(&f->b, 0, 2 * LEN);
	struct doca_rdma_task_receive *last;

	CHECK_OK(doca_rdma_task_receive_allocate_init(f->b.rdma, dst, (union doca_data){.u64 = 0}, &last));
	CHECK_OK(doca_task_submit(doca_rdma_task_receive_as_task(last)));
	f->a.keep = false;
	f->b.keep = true;
	CHECK_OK(rig_send_imm(&f->a, f->ab, src, 0xA1B2C3D4, 0));
	WAIT(f->b.num_received == 1);
	assert_int_equal(doca_rdma_task_receive_get_result_len(last), LEN);
	assert_int_equal(doca_rdma_task_receive_get_result_immediate_data(last), 0xA1B2C3D4);
	assert_int_equal(doca_rdma_task_receive_get_result_opcode(last), DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
	assert_ptr_equal(doca_rdma_task_receive_get_result_rdma_connection(last), f->ba);
	CHECK_OK(doca_task_submit(doca_rdma_task_receive_as_task(last)));
	assert_int_equal(doca_ctx_stop(f->b.ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f->b.num_failed == 1);
	assert_int_equal(f->b.status, DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_task_receive_get_result_len(last), 0);
	assert_int_equal(doca_rdma_task_receive_get_result_immediate_data(last), 0);
	assert_int_equal(doca_rdma_task_receive_get_result_opcode(last), DOCA_RDMA_OPCODE_RECV_SEND);
	assert_null(doca_rdma_task_receive_get_result_rdma_connection(last));
	doca_task_free(doca_rdma_task_receive_as_task(last));
	WAIT(f->b.state == DOCA_CTX_STATE_IDLE);
	rig_put(src);
	rig_put(dst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_kind, two_connections, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_receive_has_no_results_after_a_failure, two_connections, rdma_teardown),
	};

	return cmocka_run_group_tests_name("rdma tasks again", tests, NULL, NULL);
}
