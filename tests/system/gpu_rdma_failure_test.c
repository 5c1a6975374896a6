/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA from kernels that fails: what is rejected, what completes with an error and with which status, and peers that end while
 * a kernel waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "pair.h"

static void no_receive_in_all_retries(void **state)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_SEND_INLINE, .len = 4}, COMMIT, WAIT};
	const struct step late[] = {{.what = STEP_SEND_INLINE, .len = 4}};

	(void)state;
	gpu_rig_prepare(&pair.rig, SIZE, READ_WRITE);
	CHECK_OK(doca_rdma_set_rnr_retry_count(pair.rig.rdma, 0));
	finish_opening(&pair, &cpu_kind);
	RUN(&pair, steps, DOCA_ERROR_IO_FAILED);
	RUN(&pair, late, DOCA_ERROR_IO_FAILED);
	close_pair(&pair);
}

static void a_message_longer_than_the_receive(void **state)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_SEND, .local = STEP_GPU_MEMORY, .len = 101}, COMMIT, WAIT};

	(void)state;
	open_pair(&pair, &cpu_kind);
	ask(&pair, (struct command){.order = RECEIVE, .num = 1, .len = 100});
	RUN(&pair, steps, DOCA_ERROR_IO_FAILED);
	close_pair(&pair);
}

static void a_task_sends_more_than_a_kernels_receive_takes(void **state)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_RECV, .local = STEP_GPU_MEMORY, .len = 100}, {.what = STEP_RECV_COMMIT}};

	(void)state;
	open_pair(&pair, &cpu_kind);
	RUN(&pair, steps, DOCA_SUCCESS);
	ask(&pair, (struct command){.order = SEND, .num = 1, .len = 101});
	assert_int_equal(ask(&pair, (struct command){.order = AWAIT_ENDS, .num = 1}).status, DOCA_ERROR_IO_FAILED);
	close_pair(&pair);
}

static void check_refused(const struct peer_kind *kind, uint32_t what)
{
	struct pair pair;
	const struct step steps[] = {{.what = what, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .len = 8}, COMMIT, WAIT};

	open_pair(&pair, kind);
	RUN(&pair, steps, DOCA_ERROR_NOT_PERMITTED);
	close_pair(&pair);
}

static void a_right_is_missing(void **state)
{
	static const uint32_t read_only = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ;
	static const uint32_t write_only = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE;

	(void)state;
	for (uint32_t ragged = 0; ragged < 2; ragged++) {
		check_refused(&(struct peer_kind){.ragged = ragged, .permissions = read_only, .mmap_permissions = READ_WRITE},
			      STEP_WRITE);
		check_refused(&(struct peer_kind){.ragged = ragged, .permissions = READ_WRITE, .mmap_permissions = read_only},
			      STEP_WRITE);
		check_refused(&(struct peer_kind){.ragged = ragged, .permissions = write_only, .mmap_permissions = READ_WRITE},
			      STEP_READ);
		check_refused(&(struct peer_kind){.ragged = ragged, .permissions = READ_WRITE, .mmap_permissions = write_only},
			      STEP_READ);
	}
}

/* The thread may get both together. */
static void what_comes_before_a_refused_operation_completes(void **state)
{
	struct pair pair;
	static const struct step steps[] = {
		{.what = STEP_SEND_INLINE, .len = 16, .seed = 3},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .len = 300},
		COMMIT,
		WAIT,
	};
	static const uint32_t read_only = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ;

	(void)state;
	for (uint32_t ragged = 0; ragged < 2; ragged++) {
		open_pair(&pair, &(struct peer_kind){.ragged = ragged, .permissions = READ_WRITE, .mmap_permissions = read_only});
		ask(&pair, (struct command){.order = RECEIVE, .num = 1, .offset = 1 << 20, .len = 64});
		RUN(&pair, steps, DOCA_ERROR_NOT_PERMITTED);
		ask(&pair, (struct command){.order = AWAIT_ENDS, .num = 1});
		verify_peer(&pair, 1 << 20, 16, 3);
		close_pair(&pair);
	}
}

static void what_can_never_be_is_refused_at_once(void **state)
{
	struct pair pair;
	static const struct step wrong[] = {
		{.what = STEP_WRITE, .connection = 1, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .len = 8},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .len = 8},
		{.what = STEP_WRITE, .remote = STEP_REMOTE, .len = 8},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_HOST_MEMORY, .len = 8},
		{.what = STEP_WRITE, .local = STEP_REMOTE, .remote = STEP_REMOTE, .len = 8},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .remote_offset = SIZE - 7, .len = 8},
		{.what = STEP_READ, .local = STEP_GPU_MEMORY, .local_offset = SIZE - 7, .remote = STEP_REMOTE, .len = 8},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .remote_offset = UINT64_MAX - 3, .len = 8},
		{.what = STEP_SEND, .local = STEP_GPU_MEMORY, .len = SIZE + 1},
		{.what = STEP_SEND, .local = STEP_GPU_MEMORY, .len = UINT64_C(1) << 32},
		{.what = STEP_RECV, .local = STEP_GPU_MEMORY, .local_offset = 1, .len = SIZE},
		{.what = STEP_RECV, .local = STEP_REMOTE, .len = 8},
		{.what = STEP_COMMIT, .weak = 1, .position = 129},
	};

	(void)state;
	open_pair(&pair, &cpu_kind);
	const struct step_result *results = gpu_rig_run(&pair.rig, wrong, sizeof(wrong) / sizeof(wrong[0]));
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (results[i].status != DOCA_ERROR_INVALID_VALUE)
			print_error("case %u\n", i);
		assert_int_equal(results[i].status, DOCA_ERROR_INVALID_VALUE);
	}
	close_pair(&pair);
}

static void a_full_queue_says_again(void **state)
{
	struct pair pair;
	struct step steps[STEPS_MAX];

	(void)state;
	gpu_rig_prepare(&pair.rig, SIZE, READ_WRITE);
	CHECK_OK(doca_rdma_set_send_queue_size(pair.rig.rdma, 16));
	CHECK_OK(doca_rdma_set_recv_queue_size(pair.rig.rdma, 16));
	finish_opening(&pair, &cpu_kind);
	memset(steps, 0, sizeof(steps));
	for (uint32_t i = 0; i < 17; i++)
		steps[i] =
			(struct step){.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = i, .len = 1, .seed = i};
	run(&pair, steps, 17, DOCA_ERROR_AGAIN);
	for (uint32_t i = 0; i < 17; i++)
		steps[i] = (struct step){.what = STEP_RECV};
	run(&pair, steps, 17, DOCA_ERROR_AGAIN);
	const struct step go_on[] = {COMMIT, WAIT, {.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .len = 1}};
	RUN(&pair, go_on, DOCA_SUCCESS);
	close_pair(&pair);
}

/* Starts a kernel that waits for the peer's receive, or for a message from the peer. Returns when the kernel has posted its
 * operation. */
static void launch_waiting(struct pair *pair, bool receives)
{
	static const struct step send[] = {{.what = STEP_SEND_INLINE, .len = 4}, COMMIT};
	static const struct step receive[] = {{.what = STEP_RECV, .local = STEP_GPU_MEMORY, .len = 100},
					      {.what = STEP_RECV_COMMIT}};
	const struct step steps[] = {receives ? receive[0] : send[0],
				     receives ? receive[1] : send[1],
				     {.what = STEP_FILL, .local = STEP_HOST_MEMORY, .len = 1, .seed = 1},
				     {.what = receives ? STEP_RECV_WAIT : STEP_WAIT}};
	uint8_t *mark = pair->rig.host_memory;
	uint64_t begin = sf_now_ns();

	*mark = 0;
	gpu_rig_launch(&pair->rig, steps, 4, 1);
	while (__atomic_load_n(mark, __ATOMIC_ACQUIRE) != step_byte(1, 0))
		assert_false(rdma_rig_late(begin));
}

static void a_killed_peer_ends_what_waits(void **state)
{
	struct pair pair;

	(void)state;
	for (uint32_t receives = 0; receives < 2; receives++) {
		open_pair(&pair, &cpu_kind);
		launch_waiting(&pair, receives);
		kill(pair.peer, SIGKILL);
		reap(&pair, false);
		assert_int_equal(gpu_rig_wait(&pair.rig)[3].status, DOCA_ERROR_CONNECTION_ABORTED);
		gpu_rig_fini(&pair.rig);
	}
}

static void a_stop_ends_what_waits(void **state)
{
	struct pair pair;

	(void)state;
	for (uint32_t receives = 0; receives < 2; receives++) {
		open_pair(&pair, &cpu_kind);
		launch_waiting(&pair, receives);
		gpu_rig_stop(&pair.rig);
		assert_int_equal(gpu_rig_wait(&pair.rig)[3].status, DOCA_ERROR_BAD_STATE);
		close_pair(&pair);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_receive_in_all_retries),
		cmocka_unit_test(a_message_longer_than_the_receive),
		cmocka_unit_test(a_task_sends_more_than_a_kernels_receive_takes),
		cmocka_unit_test(a_right_is_missing),
		cmocka_unit_test(what_comes_before_a_refused_operation_completes),
		cmocka_unit_test(what_can_never_be_is_refused_at_once),
		cmocka_unit_test(a_full_queue_says_again),
		cmocka_unit_test(a_killed_peer_ends_what_waits),
		cmocka_unit_test(a_stop_ends_what_waits),
	};

	be_peer_if_asked(argc, argv);
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
