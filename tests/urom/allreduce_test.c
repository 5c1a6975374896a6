/* SPDX-License-Identifier: BSD-3-Clause */
/* The allreduce plugin: processes as ranks, each with a worker. Their results are compared with those of a plain loop. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "allreduce_vectors.h"
#include "support/stop.h"
#include "support/wait.h"

/* ---- results ---- */

/* Several at the same time, because each spends most of its time waiting. */
static int all_kinds(struct rank *rank, void *arg)
{
	static const size_t counts[] = {1, 3, 1021, 4999};
	struct run runs[UROM_ALLREDUCE_INFLIGHT_MAX];
	struct urom_allreduce_comm *comm;

	(void)arg;
	CHECK(open_comm(rank, &comm));
	for (size_t first = 0; first < 4 * 3 * 3 * 4; first += UROM_ALLREDUCE_INFLIGHT_MAX) {
		for (size_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) {
			size_t which = first + i;

			fill(&runs[i], rank->index, which, counts[which / 36], (enum urom_allreduce_type)(which % 4),
			     (enum urom_allreduce_op)(which / 4 % 3), (enum urom_allreduce_algorithm)(which / 12 % 3));
			CHECK(begin(comm, &runs[i]) == DOCA_SUCCESS);
		}
		for (size_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) {
			CHECK(urom_rig_await_flag(&rank->rig, &runs[i].done));
			CHECK(is_right(&runs[i], rank->index, rank->num));
			free(runs[i].vector);
		}
	}
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void every_type_and_operation(void **state)
{
	const struct ranks_run run = {.process = all_kinds, .plugin = PLUGIN};

	(void)state;
	for (uint32_t num = 2; num <= 5; num++)
		assert_int_equal(ranks_run(num, &run), 0);
}

static int one_large(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm;
	struct run run;

	(void)arg;
	CHECK(open_comm(rank, &comm));
	fill(&run, rank->index, 1, (1 << 18) + 1, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_AUTO);
	CHECK(begin(comm, &run) == DOCA_SUCCESS);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_ERROR_IN_USE);
	CHECK(urom_rig_await_flag(&rank->rig, &run.done));
	CHECK(is_right(&run, rank->index, rank->num));
	free(run.vector);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void a_large_vector(void **state)
{
	static const char *const args[] = {"--max-msg-size", "65536", NULL};
	const struct ranks_run small = {.process = one_large, .plugin = PLUGIN};
	const struct ranks_run large = {.process = one_large, .plugin = PLUGIN, .message_size = BIG, .daemon_args = args};

	(void)state;
	assert_int_equal(ranks_run(1, &small), 0);
	assert_int_equal(ranks_run(3, &small), 0);
	assert_int_equal(ranks_run(4, &large), 0);
}

/* Rounding depends on the order, which is the same for all ranks that get a result. */
static int rounded(struct rank *rank, void *arg)
{
	enum urom_allreduce_algorithm algorithm = *(enum urom_allreduce_algorithm *)arg;
	struct urom_allreduce_comm *comm;
	struct run run;

	CHECK(open_comm(rank, &comm));
	fill(&run, rank->index, 1, 4001, UROM_ALLREDUCE_FLOAT, UROM_ALLREDUCE_SUM, algorithm);
	for (size_t i = 0; i < 4001; i++)
		((float *)(void *)run.vector)[i] = 1.0f / (float)(i + 1 + 977 * rank->index);
	run.args.receive = run.vector; /* in place */
	CHECK(begin(comm, &run) == DOCA_SUCCESS);
	CHECK(urom_rig_await_flag(&rank->rig, &run.done));
	CHECK(run.result == DOCA_SUCCESS);
	memcpy(rank->board->shared[rank->index], run.vector, 4001 * sizeof(float));
	CHECK(rank_barrier(rank, 0));
	CHECK(memcmp(rank->board->shared[0], run.vector, 4001 * sizeof(float)) == 0);
	for (size_t i = 0; i < 4001; i++) {
		double sum = 0;

		for (uint32_t other = 0; other < rank->num; other++)
			sum += 1.0 / (double)(i + 1 + 977 * other);
		double off = ((float *)(void *)run.vector)[i] - sum;
		CHECK(off < 1e-6 && off > -1e-6);
	}
	free(run.vector);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void every_rank_has_the_same_bits(void **state)
{
	enum urom_allreduce_algorithm algorithm = UROM_ALLREDUCE_TREE;
	const struct ranks_run run = {.process = rounded, .arg = &algorithm, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(5, &run), 0);
	algorithm = UROM_ALLREDUCE_RING;
	assert_int_equal(ranks_run(5, &run), 0);
}

/* ---- several at the same time ---- */

static int many(struct rank *rank, void *arg)
{
	struct run runs[UROM_ALLREDUCE_INFLIGHT_MAX + 1];
	struct urom_allreduce_comm *comm;

	(void)arg;
	CHECK(open_comm(rank, &comm));
	for (int round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX;
		     i++) { /* each rank begins with another tag, and in another direction */
			uint32_t which = (rank->index + (rank->index % 2 != 0 ? 8 - i : i)) % UROM_ALLREDUCE_INFLIGHT_MAX;
			fill(&runs[which], rank->index, which, 100 + which * 3001, (enum urom_allreduce_type)(which % 4),
			     UROM_ALLREDUCE_SUM, (enum urom_allreduce_algorithm)(which % 3));
			CHECK(begin(comm, &runs[which]) == DOCA_SUCCESS);
		}
		runs[8] = runs[0];
		CHECK(begin(comm, &runs[8]) == DOCA_ERROR_INVALID_VALUE); /* the tag is in flight */
		runs[8].args.tag = 8;
		CHECK(begin(comm, &runs[8]) == DOCA_ERROR_AGAIN);
		for (uint32_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) {
			CHECK(urom_rig_await_flag(&rank->rig, &runs[i].done));
			CHECK(is_right(&runs[i], rank->index, rank->num));
			free(runs[i].vector);
		}
	}
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void several_in_any_order(void **state)
{
	const struct ranks_run run = {.process = many, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(2, &run), 0);
	assert_int_equal(ranks_run(4, &run), 0);
}

/* A rank leaves as soon as it has its results, even if its last messages still wait for room in another worker's memory, which
 * is small here. */
static int leave_at_once(struct rank *rank, void *arg)
{
	struct run runs[UROM_ALLREDUCE_INFLIGHT_MAX];
	struct urom_allreduce_comm *comm;

	(void)arg;
	CHECK(open_comm(rank, &comm));
	for (uint32_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) {
		fill(&runs[i], rank->index, i, 20000, UROM_ALLREDUCE_INT64, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_TREE);
		CHECK(begin(comm, &runs[i]) == DOCA_SUCCESS);
	}
	for (uint32_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) {
		CHECK(urom_rig_await_flag(&rank->rig, &runs[i].done));
		CHECK(is_right(&runs[i], rank->index, rank->num));
		free(runs[i].vector);
	}
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void a_rank_that_is_done_strands_no_other(void **state)
{
	const struct ranks_run run = {.process = leave_at_once, .plugin = PLUGIN};

	(void)state;
	setenv("UCX_POSIX_FIFO_SIZE", "4", 1); /* messages */
	for (int i = 0; i < 3; i++)
		assert_int_equal(ranks_run(4, &run), 0);
	unsetenv("UCX_POSIX_FIFO_SIZE");
}

/* ---- what goes wrong ---- */

static int disagree(struct rank *rank, void *arg)
{
	size_t count = rank->index == 1 ? 90001 : 30001; /* more pieces than are in flight at a time */
	struct urom_allreduce_comm *comm;
	struct run run;

	CHECK(open_comm(rank, &comm));
	fill(&run, rank->index, 1, count, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, *(enum urom_allreduce_algorithm *)arg);
	CHECK(begin(comm, &run) == DOCA_SUCCESS);
	CHECK(urom_rig_await_flag(&rank->rig, &run.done));
	CHECK(run.done == 1 && run.result == DOCA_ERROR_INVALID_VALUE);
	free(run.vector);
	CHECK(rank_barrier(rank, 0));
	fill(&run, rank->index, 2, 30001, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_AUTO); /* the next one works */
	CHECK(begin(comm, &run) == DOCA_SUCCESS);
	CHECK(urom_rig_await_flag(&rank->rig, &run.done));
	CHECK(is_right(&run, rank->index, rank->num));
	free(run.vector);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void ranks_that_do_not_agree(void **state)
{
	enum urom_allreduce_algorithm algorithm = UROM_ALLREDUCE_TREE;
	const struct ranks_run run = {.process = disagree, .arg = &algorithm, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(4, &run), 0);
	algorithm = UROM_ALLREDUCE_RING;
	assert_int_equal(ranks_run(4, &run), 0);
}

static int bad_arguments(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm, *wrong;
	struct run run;

	(void)arg;
	CHECK(urom_allreduce_init(rank->plugin, 1) == DOCA_ERROR_UNSUPPORTED_VERSION);
	CHECK(open_comm(rank, &comm));
	CHECK(urom_allreduce_comm_create(rank->worker, 2, 2, 8, &wrong) == DOCA_ERROR_INVALID_VALUE);
	fill(&run, 0, 1, 10, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_AUTO);
	run.args.count = 0;
	CHECK(begin(comm, &run) == DOCA_ERROR_INVALID_VALUE);
	run.args.count = 10;
	run.args.type = (enum urom_allreduce_type)4;
	CHECK(begin(comm, &run) == DOCA_ERROR_INVALID_VALUE);
	run.args.type = UROM_ALLREDUCE_INT32;
	/* a rank that is not in the domain, then a rank of another process */
	CHECK(urom_allreduce_comm_create(rank->worker, 0, 2, 8, &wrong) == DOCA_SUCCESS);
	CHECK(begin(wrong, &run) == DOCA_SUCCESS);
	CHECK(urom_rig_await_flag(&rank->rig, &run.done));
	CHECK(run.result == DOCA_ERROR_NOT_FOUND);
	CHECK(urom_allreduce_comm_destroy(wrong) == DOCA_SUCCESS);
	CHECK(urom_allreduce_comm_create(rank->worker, 1, 2, 8, &wrong) == DOCA_SUCCESS);
	run.done = 0;
	CHECK(begin(wrong, &run) == DOCA_SUCCESS);
	CHECK(urom_rig_await_flag(&rank->rig, &run.done));
	CHECK(run.result == DOCA_ERROR_INVALID_VALUE);
	CHECK(urom_allreduce_comm_destroy(wrong) == DOCA_SUCCESS);
	free(run.vector);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void what_cannot_be(void **state)
{
	const struct ranks_run run = {.process = bad_arguments, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(1, &run), 0);
}

/* Fails immediately, instead of falling back to the slow way silently. */
static int too_early(struct rank *rank, void *arg)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rank->rig, DOCA_UROM_WORKER_ID_ANY, PLUGIN);
	struct doca_urom_worker_cmd_task *task;
	struct urom_allreduce_comm *comm;

	(void)arg;
	CHECK(urom_allreduce_init(rank->plugin, 2) == DOCA_SUCCESS);
	CHECK(worker != NULL && doca_urom_worker_set_max_inflight_tasks(worker, 1) == DOCA_SUCCESS);
	CHECK(urom_allreduce_comm_create(worker, 0, 2, 1, &comm) == DOCA_ERROR_BAD_STATE);
	CHECK(doca_ctx_start(doca_urom_worker_as_ctx(worker)) == DOCA_ERROR_IN_PROGRESS);
	CHECK(urom_allreduce_comm_create(worker, 0, 2, 1, &comm) == DOCA_ERROR_BAD_STATE);
	CHECK(urom_rig_await(&rank->rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_RUNNING));
	if (getenv("UCX_TLS") == NULL) {
		CHECK(doca_urom_worker_cmd_task_allocate_init(worker, rank->plugin, &task) == DOCA_SUCCESS);
		CHECK(urom_allreduce_comm_create(worker, 0, 2, 1, &comm) == DOCA_ERROR_NO_MEMORY);
		CHECK(doca_urom_worker_cmd_task_release(task) == DOCA_SUCCESS);
	}
	CHECK(urom_allreduce_comm_create(worker, 0, 2, 1, &comm) == DOCA_SUCCESS);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	CHECK(urom_rig_stop_worker(&rank->rig, worker));
	return 0;
}

static void a_worker_that_does_not_run_yet(void **state)
{
	const struct ranks_run run = {.process = too_early, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(1, &run), 0);
}

struct murder {
	enum urom_allreduce_algorithm algorithm;
	uint32_t victim;
};

/* All ranks except the victim have an allreduce in flight that waits for it. */
static int bereaved(struct rank *rank, void *arg)
{
	const struct murder *murder = (const struct murder *)arg;
	struct urom_allreduce_comm *comm;
	struct run run;

	CHECK(open_comm(rank, &comm));
	for (uint64_t tag = 1; tag <= 3;
	     tag++) { /* the first completes; during the second the worker dies; the third begins without it */
		if (tag == 2 && rank->index == murder->victim) {
			CHECK(rank_barrier(rank, 1));
			CHECK(urom_rig_await(&rank->rig, doca_urom_worker_as_ctx(rank->worker), DOCA_CTX_STATE_IDLE));
			break;
		}
		fill(&run, rank->index, tag, 30001, UROM_ALLREDUCE_DOUBLE, UROM_ALLREDUCE_MAX, murder->algorithm);
		CHECK(begin(comm, &run) == DOCA_SUCCESS);
		if (tag == 2)
			CHECK(rank_barrier(rank, 1));
		CHECK(urom_rig_await_flag(&rank->rig, &run.done));
		CHECK(tag == 1 ? is_right(&run, rank->index, rank->num) : run.result == DOCA_ERROR_CONNECTION_ABORTED);
		free(run.vector);
	}
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static pid_t worker_process(struct urom_rig *host, const struct ranks_board *board, uint32_t rank)
{
	char text[64];
	int pid = 0;

	snprintf(text, sizeof(text), "worker %llu runs, process ", (unsigned long long)board->worker_ids[rank]);
	assert_true(program_await(&host->daemon, text));
	assert_int_equal(sscanf(strstr(host->daemon.output, text) + strlen(text), "%d", &pid), 1);
	assert_true(pid > 1);
	return pid;
}

static void kill_worker(struct urom_rig *host, struct ranks_board *board, void *arg)
{
	const struct murder *murder = (const struct murder *)arg;
	struct rank outsider = {.board = board, .num = board->num, .rig = {.pe = NULL}};

	assert_true(WAIT_UNTIL(__atomic_load_n(&board->at_barrier[0], __ATOMIC_ACQUIRE) >= outsider.num));
	kill(worker_process(host, board, murder->victim), SIGKILL);
	__atomic_fetch_add(&board->at_barrier[0], 1, __ATOMIC_ACQ_REL);
}

static void a_worker_that_dies(void **state)
{
	struct murder murder;
	const struct ranks_run run = {.process = bereaved, .parent = kill_worker, .arg = &murder, .plugin = PLUGIN};

	(void)state;
	for (murder.algorithm = UROM_ALLREDUCE_TREE; murder.algorithm <= UROM_ALLREDUCE_DIRECT; murder.algorithm++) {
		for (murder.victim = 0; murder.victim < 4; murder.victim++)
			assert_int_equal(ranks_run(4, &run), 0);
	}
}

/* ---- a worker that dies with much in flight ---- */

#define FLOOD_COUNT (2 << 20) /* floats: enough to take a while */
#define LET_RUN_MAX_MS 100

static int flooded(struct rank *rank, void *arg)
{
	struct run runs[UROM_ALLREDUCE_INFLIGHT_MAX];
	struct urom_allreduce_comm *comm;
	uint8_t *vector = (uint8_t *)calloc(2 * FLOOD_COUNT, sizeof(float));

	(void)arg;
	CHECK(open_comm(rank, &comm));
	(void)await_way(rank, comm);
	for (uint64_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) { /* the results are not checked */
		runs[i] = (struct run){.args = {i, vector, vector + FLOOD_COUNT * sizeof(float), FLOOD_COUNT,
						UROM_ALLREDUCE_FLOAT, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_TREE}};
		CHECK(begin(comm, &runs[i]) == DOCA_SUCCESS);
	}
	CHECK(rank_barrier(rank, 1));
	for (int i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) {
		CHECK(urom_rig_await_flag(&rank->rig, &runs[i].done));
		CHECK(runs[i].result == DOCA_SUCCESS || runs[i].result == DOCA_ERROR_CONNECTION_ABORTED);
	}
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	if (rank->index == 1) { /* its worker runs, and answers */
		runs[0].args.tag = 100;
		runs[0].done = 0;
		CHECK(begin(comm, &runs[0]) == DOCA_SUCCESS);
		CHECK(urom_rig_await_flag(&rank->rig, &runs[0].done));
		CHECK(runs[0].result == DOCA_ERROR_CONNECTION_ABORTED);
		CHECK(doca_ctx_get_state(doca_urom_worker_as_ctx(rank->worker), &state) == DOCA_SUCCESS);
		CHECK(state == DOCA_CTX_STATE_RUNNING);
	}
	free(vector);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static uint64_t processor_time_ns(clockid_t clock)
{
	struct timespec used;

	assert_int_equal(clock_gettime(clock, &used), 0);
	return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

/* Waits until the process has used that much processor time, or for a sleeping one at most LET_RUN_MAX_MS. */
static void let_run(pid_t pid, uint64_t ns)
{
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	const uint64_t end = processor_time_ns(clock) + ns;
	(void)WAIT_UNTIL_WITHIN(LET_RUN_MAX_MS, processor_time_ns(clock) >= end);
}

/* Rank 1 sends all its pieces to rank 0 and gets them back. Rank 0's worker is stopped, so that a send of rank 1's worker is
 * cut in the middle. It sends something more before it is killed. */
static void flood_and_kill(struct urom_rig *host, struct ranks_board *board, void *arg)
{
	assert_true(WAIT_UNTIL(__atomic_load_n(&board->at_barrier[0], __ATOMIC_ACQUIRE) >= board->num));
	pid_t victim = worker_process(host, board, 0), survivor = worker_process(host, board, 1);
	process_stop(victim);
	let_run(survivor, LET_RUN_MAX_MS * UINT64_C(1000000));
	process_stop(survivor);
	kill(victim, SIGCONT);
	let_run(victim, *(const uint64_t *)arg);
	kill(victim, SIGKILL);
	kill(survivor, SIGCONT);
	__atomic_fetch_add(&board->at_barrier[0], 1, __ATOMIC_ACQ_REL);
}

static void a_worker_that_dies_while_much_is_under_way(void **state)
{
	uint64_t later_ns;
	const struct ranks_run run = {.process = flooded, .parent = flood_and_kill, .arg = &later_ns, .plugin = PLUGIN};

	(void)state;
	for (later_ns = 200000; later_ns < 4000000; later_ns *= 4)
		assert_int_equal(ranks_run(2, &run), 0);
}

/* ---- a worker that dies before it has answered another one for the first time ---- */

static int unanswered(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm;
	struct run run;

	(void)arg;
	CHECK(open_comm(rank, &comm));
	CHECK(rank_barrier(rank, 1));
	if (rank->index == 0) {
		CHECK(rank_barrier(rank, 1));
		CHECK(urom_rig_await(&rank->rig, doca_urom_worker_as_ctx(rank->worker), DOCA_CTX_STATE_IDLE));
	} else {
		fill(&run, rank->index, 1, 30001, UROM_ALLREDUCE_DOUBLE, UROM_ALLREDUCE_MAX, UROM_ALLREDUCE_TREE);
		CHECK(begin(comm, &run) == DOCA_SUCCESS);
		CHECK(rank_barrier(rank, 1));
		CHECK(urom_rig_await_flag(&rank->rig, &run.done));
		CHECK(run.result == DOCA_ERROR_CONNECTION_ABORTED);
		free(run.vector);
	}
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

/* Rank 0's worker is stopped before rank 1 begins, and never runs again. */
static void stop_and_kill(struct urom_rig *host, struct ranks_board *board, void *arg)
{
	(void)arg;
	assert_true(WAIT_UNTIL(__atomic_load_n(&board->at_barrier[0], __ATOMIC_ACQUIRE) >= board->num));
	pid_t victim = worker_process(host, board, 0), survivor = worker_process(host, board, 1);
	process_stop(victim);
	__atomic_fetch_add(&board->at_barrier[0], 1, __ATOMIC_ACQ_REL);
	assert_true(WAIT_UNTIL(__atomic_load_n(&board->at_barrier[1], __ATOMIC_ACQUIRE) >= board->num));
	let_run(survivor, LET_RUN_MAX_MS * UINT64_C(1000000));
	kill(victim, SIGKILL);
	__atomic_fetch_add(&board->at_barrier[1], 1, __ATOMIC_ACQ_REL);
}

static void a_worker_that_dies_before_it_answers(void **state)
{
	const struct ranks_run run = {.process = unanswered, .parent = stop_and_kill, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(2, &run), 0);
}

/* The argument: which tests, as a pattern. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_operation),
		cmocka_unit_test(a_large_vector),
		cmocka_unit_test(every_rank_has_the_same_bits),
		cmocka_unit_test(several_in_any_order),
		cmocka_unit_test(a_rank_that_is_done_strands_no_other),
		cmocka_unit_test(ranks_that_do_not_agree),
		cmocka_unit_test(what_cannot_be),
		cmocka_unit_test(a_worker_that_does_not_run_yet),
		cmocka_unit_test(a_worker_that_dies),
		cmocka_unit_test(a_worker_that_dies_while_much_is_under_way),
		cmocka_unit_test(a_worker_that_dies_before_it_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
