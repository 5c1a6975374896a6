/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives of kernels, for messages of another process's tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "pair.h"

static void task_sends_to_a_kernel(void **state)
{
	static const uint64_t lengths[] = {0, 1, 32, 33, 5000, 300000, LARGE};
	struct pair pair;
	uint32_t ended = 0;

	(void)state;
	for (uint32_t local = STEP_GPU_MEMORY; local <= STEP_HOST_MEMORY; local++, ended = 0) {
		open_pair(&pair, &cpu_kind);
		for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			const struct step steps[] = {
				{.what = STEP_RECV, .local = local, .local_offset = 10 * i, .len = LARGE},
				{.what = STEP_RECV_COMMIT},
				{.what = STEP_RECV_WAIT},
				{.what = STEP_VERIFY, .local = local, .local_offset = 10 * i, .len = lengths[i], .seed = 80 + i}};

			ask(&pair, (struct command){.order = FILL, .offset = 32, .len = lengths[i], .seed = 80 + i});
			gpu_rig_launch(&pair.rig, steps, 4, 1);
			ask(&pair,
			    (struct command){
				    .order = SEND, .num = 1, .offset = 32, .len = lengths[i], .has_imm = 1, .imm = 500 + i});
			assert_int_equal(ask(&pair, (struct command){.order = AWAIT_ENDS, .num = ++ended}).failed, 0);
			const struct step_result *results = gpu_rig_wait(&pair.rig);
			for (uint32_t k = 0; k < 4; k++)
				assert_int_equal(results[k].status, DOCA_SUCCESS);
			assert_int_equal(results[2].num, 1);
			assert_int_equal(results[2].imms[0], 500 + i);
			assert_int_equal(results[2].connections[0], 0);
		}
		close_pair(&pair);
	}
}

static void many_receives_come_in_order(void **state)
{
	struct pair pair;
	struct step steps[10];

	(void)state;
	memset(steps, 0, sizeof(steps));
	for (uint32_t i = 0; i < 8; i++)
		steps[i] = (struct step){.what = STEP_RECV, .local = STEP_GPU_MEMORY, .local_offset = i * 1000, .len = 1000};
	steps[8].what = STEP_RECV_COMMIT;
	steps[9].what = STEP_RECV_WAIT;
	open_pair(&pair, &cpu_kind);
	ask(&pair, (struct command){.order = FILL, .len = 1000, .seed = 4});
	for (uint32_t round = 0; round < 40; round++) {
		gpu_rig_launch(&pair.rig, steps, 10, 1);
		ask(&pair,
		    (struct command){.order = SEND, .num = 8, .len = round % 2 ? 1000 : 20, .has_imm = 1, .imm = round * 8});
		ask(&pair, (struct command){.order = AWAIT_ENDS, .num = (round + 1) * 8});
		const struct step_result *results = gpu_rig_wait(&pair.rig);
		assert_int_equal(results[9].status, DOCA_SUCCESS);
		assert_int_equal(results[9].num, 8);
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(results[9].imms[i], round * 8 + i);
	}
	close_pair(&pair);
}

/* More than are fetched together, than there are places, and than the arena has room for; some of the messages lie in it. */
static void receives_of_a_batch_go_round_the_ring(void **state)
{
	enum { ROOM = 16384, APART = ROOM + 9 };
	struct pair pair;
	struct step steps[64];
	uint32_t ended = 0;

	(void)state;
	memset(steps, 0, sizeof(steps));
	for (uint32_t i = 0; i < 45; i++)
		steps[i] = (struct step){.what = STEP_RECV, .local = STEP_GPU_MEMORY, .local_offset = i * APART, .len = ROOM};
	steps[45].what = STEP_RECV_COMMIT;
	steps[46].what = STEP_RECV_WAIT;
	open_pair(&pair, &cpu_kind);
	for (uint32_t round = 0; round < 12; round++) {
		ask(&pair, (struct command){.order = FILL, .len = 1000, .seed = round});
		for (uint32_t i = 0; i < 3; i++)
			steps[47 + i] = (struct step){.what = STEP_VERIFY,
						      .local = STEP_GPU_MEMORY,
						      .local_offset = 22 * i * APART,
						      .len = i == 1 ? 999 : 27,
						      .seed = round};
		gpu_rig_launch(&pair.rig, steps, 50, 1);
		for (uint32_t i = 0; i < 3; i++) {
			ask(&pair, (struct command){.order = SEND,
						    .num = 15,
						    .len = i == 1 ? 999 : 27,
						    .has_imm = 1,
						    .imm = round * 100 + 15 * i});
			ask(&pair, (struct command){.order = AWAIT_ENDS, .num = ended += 15});
		}
		const struct step_result *results = gpu_rig_wait(&pair.rig);
		assert_int_equal(results[46].status, DOCA_SUCCESS);
		assert_int_equal(results[46].num, 45);
		for (uint32_t i = 0; i < 45; i++)
			assert_int_equal(results[46].imms[i], round * 100 + i);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(results[47 + i].status, DOCA_SUCCESS);
	}
	close_pair(&pair);
}

/* The arena has no room for the last one until the host knows that the others were consumed. */
static void a_large_receive_gets_the_room_of_small_ones(void **state)
{
	enum { SMALL = 16384, NUM = 40, LAST = (4 << 20) - (1 << 19) };
	struct pair pair;
	struct step steps[NUM + 4];

	(void)state;
	memset(steps, 0, sizeof(steps));
	for (uint32_t i = 0; i < NUM; i++)
		steps[i] = (struct step){.what = STEP_RECV, .local = STEP_GPU_MEMORY, .local_offset = LAST, .len = SMALL};
	steps[NUM] = (struct step){.what = STEP_RECV, .local = STEP_GPU_MEMORY, .len = LAST};
	steps[NUM + 1].what = STEP_RECV_COMMIT;
	steps[NUM + 2].what = STEP_RECV_WAIT;
	open_pair(&pair, &cpu_kind);
	for (uint32_t round = 0; round < 3; round++) {
		ask(&pair, (struct command){.order = FILL, .len = LAST, .seed = round});
		steps[NUM + 3] = (struct step){.what = STEP_VERIFY, .local = STEP_GPU_MEMORY, .len = LAST, .seed = round};
		gpu_rig_launch(&pair.rig, steps, NUM + 4, 1);
		ask(&pair, (struct command){.order = SEND, .num = NUM, .len = 20, .has_imm = 1, .imm = round});
		ask(&pair, (struct command){.order = AWAIT_ENDS, .num = (NUM + 1) * round + NUM});
		ask(&pair, (struct command){.order = SEND, .num = 1, .len = LAST, .has_imm = 1, .imm = 1000});
		assert_int_equal(ask(&pair, (struct command){.order = AWAIT_ENDS, .num = (NUM + 1) * (round + 1)}).failed, 0);
		const struct step_result *results = gpu_rig_wait(&pair.rig);
		assert_int_equal(results[NUM + 2].status, DOCA_SUCCESS);
		assert_int_equal(results[NUM + 2].num, NUM + 1);
		assert_int_equal(results[NUM + 2].imms[NUM], 1000);
		assert_int_equal(results[NUM + 3].status, DOCA_SUCCESS);
	}
	close_pair(&pair);
}

static void check_receive_many(uint32_t threads, uint32_t queue_size, uint64_t len)
{
	enum { PIECES = 4, BATCH = 8 };
	const struct step step = {
		.what = STEP_RECEIVE_MANY, .local = STEP_GPU_MEMORY, .len = len, .seed = 9, .pieces = PIECES, .all = 1};
	const uint32_t total = PIECES * threads;
	struct pair pair;

	gpu_rig_prepare(&pair.rig, SIZE, READ_WRITE);
	CHECK_OK(doca_rdma_set_recv_queue_size(pair.rig.rdma, queue_size));
	finish_opening(&pair, &cpu_kind);
	ask(&pair, (struct command){.order = FILL, .len = len, .seed = 9});
	gpu_rig_launch(&pair.rig, &step, 1, threads);
	for (uint32_t sent = 0; sent < total; sent += BATCH) {
		ask(&pair, (struct command){.order = SEND, .num = BATCH, .len = len, .has_imm = 1, .imm = sent});
		assert_int_equal(ask(&pair, (struct command){.order = AWAIT_ENDS, .num = sent + BATCH}).failed, 0);
	}
	const struct step_result *results = gpu_rig_wait(&pair.rig);
	assert_int_equal(results[0].status, DOCA_SUCCESS);
	assert_int_equal(results[0].num, total);
	assert_int_equal(results[0].imms[0], total * (total - 1) / 2);
	close_pair(&pair);
}

static void threads_post_and_take_side_by_side(void **state)
{
	(void)state;
	check_receive_many(2, 16, 20);
	check_receive_many(32, 16, 31);
	check_receive_many(32, 64, 100);
	check_receive_many(MANY_THREADS, 64, 8);
}

static void a_look_for_receives_does_not_wait(void **state)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_RECV}, {.what = STEP_RECV_COMMIT}, {.what = STEP_RECV_TAKE}};

	(void)state;
	open_pair(&pair, &cpu_kind);
	RUN(&pair, steps, DOCA_SUCCESS);
	assert_int_equal(pair.rig.results[2].num, 0);
	close_pair(&pair);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(task_sends_to_a_kernel),
		cmocka_unit_test(many_receives_come_in_order),
		cmocka_unit_test(receives_of_a_batch_go_round_the_ring),
		cmocka_unit_test(a_large_receive_gets_the_room_of_small_ones),
		cmocka_unit_test(threads_post_and_take_side_by_side),
		cmocka_unit_test(a_look_for_receives_does_not_wait),
	};

	be_peer_if_asked(argc, argv);
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
