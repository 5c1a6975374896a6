/* SPDX-License-Identifier: BSD-3-Clause */
/* The allreduce plugin where workers reach the ranks' memories, where they do not, and what they must leave alone. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doca_buf.h>

#include "allreduce_vectors.h"
#include "urom_allreduce_private.h"

#define LARGE 300001 /* elements: some steps of every worker's share */

/* ---- both ways ---- */

struct wanted {
	enum urom_allreduce_way way;
	doca_error_t direct; /* how a direct one ends */
	uint32_t without;    /* the rank whose process does not let its memory be reached */
};

static const struct wanted everywhere = {UROM_ALLREDUCE_BY_MEMORY, DOCA_SUCCESS, RANKS_MAX};
static const struct wanted nowhere = {UROM_ALLREDUCE_BY_COMMANDS, DOCA_ERROR_NOT_SUPPORTED, RANKS_MAX};
static const struct wanted but_one = {UROM_ALLREDUCE_BY_MEMORY, DOCA_ERROR_NOT_SUPPORTED, 1};

static int large_ones(struct rank *rank, void *arg)
{
	static const size_t counts[] = {4096, 4099, 70001};
	const struct wanted *wanted = (const struct wanted *)arg;
	struct urom_allreduce_comm *comm;
	struct run run;

	if (rank->index == wanted->without)
		setenv("UCX_TLS", "tcp", 1);
	EXPECT(open_comm(rank, &comm));
	for (uint64_t which = 0; which < 24; which++) {
		enum urom_allreduce_algorithm algorithm = (enum urom_allreduce_algorithm)(which % 4);

		fill(&run, rank->index, which, counts[which / 8], (enum urom_allreduce_type)(which / 2 % 4),
		     (enum urom_allreduce_op)(which % 3), algorithm);
		if (which % 5 == 0)
			run.args.receive = run.vector;
		EXPECT(begin(comm, &run) == DOCA_SUCCESS);
		EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
		if (algorithm == UROM_ALLREDUCE_DIRECT && wanted->direct != DOCA_SUCCESS)
			EXPECT(run.result == wanted->direct);
		else
			EXPECT(is_right(&run, rank->index, rank->num));
		free(run.vector);
	}
	EXPECT(urom_allreduce_comm_get_way(comm) == (rank->index == wanted->without ? UROM_ALLREDUCE_BY_COMMANDS : wanted->way));
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void run_large_ones(const struct wanted *wanted, uint32_t num)
{
	static const char *const args[] = {"--max-msg-size", "65536", NULL};
	const struct ranks_run run = {large_ones, .arg = (void *)(uintptr_t)wanted, .plugin = PLUGIN, .message_size = BIG,
				      .daemon_args = args};

	assert_int_equal(ranks_run(num, &run), 0);
}

static void memories_within_reach(void **state)
{
	(void)state;
	for (uint32_t num = 2; num <= 5; num++)
		run_large_ones(&everywhere, num);
}

static void memories_out_of_reach(void **state)
{
	(void)state;
	setenv("UCX_TLS", "tcp", 1); /* of the daemon, the workers and the ranks */
	run_large_ones(&nowhere, 2);
	run_large_ones(&nowhere, 4);
	unsetenv("UCX_TLS");
}

static void one_memory_out_of_reach(void **state)
{
	(void)state;
	run_large_ones(&but_one, 2);
	run_large_ones(&but_one, 4);
}

/* Of few bytes only some workers have a share, and one begins the next before another has heard of the end of the last. */
static int one_tag(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm;
	struct run runs[2];

	(void)arg;
	EXPECT(open_comm(rank, &comm));
	for (uint64_t round = 0; round < 150; round++) {
		for (uint64_t i = 0; i < 2; i++) {
			fill(&runs[i], rank->index, 7 + i, 4096 + round * 113 % 31000, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM,
			     UROM_ALLREDUCE_DIRECT);
			EXPECT(begin(comm, &runs[i]) == DOCA_SUCCESS);
		}
		for (uint64_t i = 0; i < 2; i++) {
			EXPECT(urom_rig_await_flag(&rank->rig, &runs[i].done));
			EXPECT(is_right(&runs[i], rank->index, rank->num));
			free(runs[i].vector);
		}
	}
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void the_same_tag_again_and_again(void **state)
{
	const struct ranks_run run = {.process = one_tag, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(2, &run), 0);
	assert_int_equal(ranks_run(5, &run), 0);
}

/* ---- comms ---- */

/* More than a worker keeps in mind, one after the other and some at once; one is destroyed before it is known how it goes. */
static int many_comms(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comms[4];
	struct run run;

	(void)arg;
	EXPECT(urom_allreduce_init(rank->plugin, ALLREDUCE_VERSION) == DOCA_SUCCESS);
	for (uint64_t round = 0; round < 20; round++) {
		for (int i = 0; i < 4; i++) {
			EXPECT(open_comm(rank, &comms[i]));
			EXPECT(i == 0 || await_way(rank, comms[i]) == UROM_ALLREDUCE_BY_MEMORY);
		}
		fill(&run, rank->index, round, 5000, UROM_ALLREDUCE_DOUBLE, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_DIRECT);
		EXPECT(begin(comms[round % 4], &run) == DOCA_SUCCESS);
		EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
		EXPECT(is_right(&run, rank->index, rank->num));
		free(run.vector);
		for (int i = 0; i < 4; i++)
			EXPECT(urom_allreduce_comm_destroy(comms[i]) == DOCA_SUCCESS);
		for (int i = 0; i < 4; i++)
			EXPECT(open_comm(rank, &comms[0]) && urom_allreduce_comm_destroy(comms[0]) == DOCA_SUCCESS);
	}
	return 0;
}

static void comms_come_and_go(void **state)
{
	const struct ranks_run run = {.process = many_comms, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(3, &run), 0);
}

/* ---- strangers ---- */

static int stranger_ended;
static doca_error_t command_status;

static void stranger_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	void *data;
	size_t len;
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);

	(void)task_user_data;
	command_status = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	if (ctx_user_data.ptr == NULL && response != NULL && doca_buf_get_data(response, &data) == DOCA_SUCCESS &&
	    doca_buf_get_data_len(response, &len) == DOCA_SUCCESS && len == sizeof(struct allreduce_attached))
		memcpy(*(void **)doca_urom_worker_cmd_task_get_user_data(task), data, len);
	(void)doca_urom_worker_cmd_task_release(task);
	stranger_ended = 1;
}

/* A command as a host of another make would send it; its status. */
static doca_error_t send_command(struct rank *rank, const struct allreduce_command *command, const void *body, size_t len,
				 void *answer)
{
	struct doca_urom_worker_cmd_task *task;
	void *place;

	if (doca_urom_worker_cmd_task_allocate_init(rank->worker, rank->plugin, &task) != DOCA_SUCCESS)
		return DOCA_ERROR_NO_MEMORY;
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	(void)doca_buf_get_data(payload, &place);
	memcpy(place, command, sizeof(*command));
	if (len != 0)
		memcpy((uint8_t *)place + sizeof(*command), body, len);
	(void)doca_buf_set_data(payload, place, sizeof(*command) + len);
	memcpy(doca_urom_worker_cmd_task_get_user_data(task), &answer, sizeof(answer));
	doca_urom_worker_cmd_task_set_cb(task, stranger_done);
	stranger_ended = 0;
	doca_error_t result = doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
	return result == DOCA_SUCCESS && urom_rig_await_flag(&rank->rig, &stranger_ended) ? command_status
											  : DOCA_ERROR_UNEXPECTED;
}

static struct allreduce_board victims_board; /* at the same address in the parent, which is the victim */

static int claim(struct rank *rank, void *arg)
{
	static struct allreduce_board own_board;
	const struct allreduce_attach other = {(uint64_t)getppid(), (uint64_t)(uintptr_t)&victims_board};
	const struct allreduce_attach own = {(uint64_t)getpid(), (uint64_t)(uintptr_t)&own_board};
	const struct allreduce_attach nowhere_at_all = {(uint64_t)getpid(), 4096};
	struct allreduce_command command = {.kind = ALLREDUCE_ATTACH};
	struct allreduce_vector vector = {.place = {(uint64_t)(uintptr_t)&victims_board, (uint64_t)(uintptr_t)&victims_board,
						    (uint64_t)(uintptr_t)victims_board.gates, 1}};
	struct allreduce_attached attached;
	const struct allreduce_attach *const wrong[] = {&other, &nowhere_at_all};

	(void)arg;
	for (int i = 0; i < 2; i++) {
		command.kind = ALLREDUCE_ATTACH;
		EXPECT(send_command(rank, &command, wrong[i], sizeof(*wrong[i]), &attached) == DOCA_SUCCESS);
		command.kind = ALLREDUCE_PROVE;
		command.tag = attached.attachment;
		EXPECT(send_command(rank, &command, NULL, 0, NULL) != DOCA_SUCCESS);
		/* and without proof */
		const struct allreduce_command begin_it = {
			.kind = ALLREDUCE_VECTOR,
			.tag = 7 + (uint64_t)i,
			.shape = {1, ALLREDUCE_INT32, ALLREDUCE_SUM, ALLREDUCE_DIRECT, .piece_max = 64, .total = 256}};
		vector.attachment = attached.attachment;
		EXPECT(send_command(rank, &begin_it, &vector, sizeof(vector), NULL) == DOCA_ERROR_INVALID_VALUE);
		command.kind = ALLREDUCE_DETACH;
		EXPECT(send_command(rank, &command, NULL, 0, NULL) == DOCA_SUCCESS);
	}
	command = (struct allreduce_command){.kind = ALLREDUCE_ATTACH};
	EXPECT(send_command(rank, &command, &own, sizeof(own), &attached) == DOCA_SUCCESS);
	memcpy(own_board.numbers[ALLREDUCE_DIRECT_RANKS_MAX], attached.number, ALLREDUCE_NUMBER_SIZE);
	command = (struct allreduce_command){.kind = ALLREDUCE_PROVE, .tag = attached.attachment};
	EXPECT(send_command(rank, &command, NULL, 0, NULL) == DOCA_SUCCESS);
	/* its vector lies where nothing is */
	const struct allreduce_command begin_it = {
		.kind = ALLREDUCE_VECTOR,
		.tag = 9,
		.shape = {1, ALLREDUCE_INT32, ALLREDUCE_SUM, ALLREDUCE_DIRECT, .piece_max = 64, .total = 256}};
	own_board.gates[0].serial = 5;
	vector = (struct allreduce_vector){attached.attachment, {4096, 4096, (uint64_t)(uintptr_t)&own_board.gates[0], 5}};
	EXPECT(send_command(rank, &begin_it, &vector, sizeof(vector), NULL) == DOCA_ERROR_INVALID_VALUE);
	EXPECT(own_board.gates[0].busy[0] == 0);
	/* a gate that is closed */
	vector.place.serial = 6;
	struct allreduce_command again = begin_it;
	again.tag = 10;
	EXPECT(send_command(rank, &again, &vector, sizeof(vector), NULL) == DOCA_ERROR_CONNECTION_ABORTED);
	EXPECT(own_board.gates[0].busy[0] == 0);
	return 0;
}

static void another_process_is_not_touched(void **state)
{
	const struct ranks_run run = {.process = claim, .plugin = PLUGIN};

	(void)state;
	memset(&victims_board, 0xab, sizeof(victims_board));
	assert_int_equal(ranks_run(1, &run), 0);
	for (size_t i = 0; i < sizeof(victims_board); i++)
		assert_int_equal(((const uint8_t *)&victims_board)[i], 0xab);
}

/* ---- what is not the workers' any more ---- */

struct harm {
	enum urom_allreduce_algorithm algorithm;
	bool of_process; /* or of the worker */
};

/* Ends it in the middle: the others are told, and after that nobody touches their vectors. */
static int survive(struct rank *rank, void *arg)
{
	const struct harm *harm = (const struct harm *)arg;
	struct urom_allreduce_comm *comm;
	struct run run;

	EXPECT(open_comm(rank, &comm));
	EXPECT(await_way(rank, comm) == UROM_ALLREDUCE_BY_MEMORY);
	for (uint64_t tag = 0;; tag++) { /* until one fails */
		fill(&run, rank->index, tag, LARGE, UROM_ALLREDUCE_DOUBLE, UROM_ALLREDUCE_SUM, harm->algorithm);
		EXPECT(begin(comm, &run) == DOCA_SUCCESS);
		if (tag == 3 && rank->index == 1) {
			if (harm->of_process)
				raise(SIGKILL);
			(void)doca_ctx_stop(doca_urom_worker_as_ctx(rank->worker)); /* with a task in flight */
		}
		EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
		if (run.result != DOCA_SUCCESS)
			break;
		free(run.vector);
	}
	EXPECT(run.result == (rank->index == 1 ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_CONNECTION_ABORTED));
	size_t size = LARGE * sizeof(double);
	uint8_t *copy = (uint8_t *)malloc(size);
	memset(run.args.receive, 0x77, size); /* it is this process's again */
	uint64_t until = sf_now_ns() + 100000000;
	do
		(void)doca_pe_progress(rank->rig.pe);
	while (sf_now_ns() < until);
	memset(copy, 0x77, size);
	EXPECT(memcmp(run.args.receive, copy, size) == 0);
	free(copy);
	free(run.vector);
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void a_rank_that_stops_its_worker(void **state)
{
	struct harm harm = {.of_process = false};
	const struct ranks_run run = {.process = survive, .arg = &harm, .plugin = PLUGIN};

	(void)state;
	for (harm.algorithm = UROM_ALLREDUCE_TREE; harm.algorithm <= UROM_ALLREDUCE_DIRECT; harm.algorithm++)
		assert_int_equal(ranks_run(4, &run), 0);
}

static void a_rank_that_is_killed(void **state)
{
	struct harm harm = {.of_process = true};
	const struct ranks_run run = {.process = survive, .arg = &harm, .plugin = PLUGIN};

	(void)state;
	for (harm.algorithm = UROM_ALLREDUCE_TREE; harm.algorithm <= UROM_ALLREDUCE_DIRECT; harm.algorithm++)
		assert_int_equal(ranks_run(4, &run), 254); /* that of the killed one: the others' would come first */
}

/* Ends with true when the process has been stopped. */
static bool stop_process(uint32_t pid)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	char path[64], state = '?';

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (kill((pid_t)pid, SIGSTOP) != 0)
		return false;
	while (state != 'T' && sf_now_ns() < until) {
		FILE *file = fopen(path, "r");

		if (file == NULL || fscanf(file, "%*d %*s %c", &state) != 1)
			state = '?';
		if (file != NULL)
			fclose(file);
	}
	return state == 'T';
}

/* After a while, by another process. */
static void continue_process(uint32_t pid)
{
	if (fork() != 0)
		return;
	usleep(300000);
	kill((pid_t)pid, SIGCONT);
	_exit(0);
}

#define MANY 4000000 /* elements: a worker is at them for milliseconds */

/* Rank 1 stops the worker of rank 0 while that is at its vector, and then its own: it gets its vector back when the other has
 * gone on. */
static int catch_worker(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm;
	struct run run;
	bool caught = false;

	(void)arg;
	EXPECT(open_comm(rank, &comm));
	EXPECT(await_way(rank, comm) == UROM_ALLREDUCE_BY_MEMORY);
	uint32_t *busy = &comm->board->gates[0].busy[0], pid = 0;
	for (uint64_t tag = 0; tag < 50; tag++) {
		fill(&run, rank->index, tag, MANY, UROM_ALLREDUCE_FLOAT, UROM_ALLREDUCE_MAX, UROM_ALLREDUCE_DIRECT);
		EXPECT(begin(comm, &run) == DOCA_SUCCESS);
		while (rank->index == 1 && !run.done && (pid = __atomic_load_n(busy, __ATOMIC_ACQUIRE)) == 0)
			(void)doca_pe_progress(rank->rig.pe);
		if (rank->index == 1 && pid != 0) {
			EXPECT(stop_process(pid));
			caught = __atomic_load_n(busy, __ATOMIC_ACQUIRE) != 0;
			if (!caught)
				kill((pid_t)pid, SIGCONT);
		}
		uint64_t began = sf_now_ns();
		if (caught) {
			continue_process(pid);
			(void)doca_ctx_stop(doca_urom_worker_as_ctx(rank->worker));
		}
		EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
		EXPECT(!caught || sf_now_ns() - began > 250000000);
		EXPECT(__atomic_load_n(busy, __ATOMIC_ACQUIRE) == 0);
		free(run.vector);
		if (run.result != DOCA_SUCCESS)
			break;
	}
	EXPECT(run.result == (rank->index == 1 ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_CONNECTION_ABORTED));
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void a_worker_caught_at_a_vector(void **state)
{
	const struct ranks_run run = {.process = catch_worker, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(2, &run), 0);
}

/* ---- what failed ones leave ---- */

static long resident_kib(uint64_t pid)
{
	char path[64];
	long total = 0, resident = -1;

	snprintf(path, sizeof(path), "/proc/%llu/statm", (unsigned long long)pid);
	FILE *file = fopen(path, "r");
	if (file != NULL && fscanf(file, "%ld %ld", &total, &resident) != 2)
		resident = -1;
	if (file != NULL)
		fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Rank 0's vector is longer, so each fails while pieces of the others are on their way. */
static int fail_often(struct rank *rank, void *arg)
{
	const struct allreduce_command attach = {.kind = ALLREDUCE_ATTACH};
	const struct allreduce_attach own = {(uint64_t)getpid(), 4096};
	struct allreduce_attached attached = {.worker = 0};
	struct urom_allreduce_comm *comm;
	struct run run;
	long before = 0;

	(void)arg;
	EXPECT(send_command(rank, &attach, &own, sizeof(own), &attached) == DOCA_SUCCESS);
	setenv("UCX_TLS", "tcp", 1);
	EXPECT(open_comm(rank, &comm));
	for (uint64_t tag = 0; tag < 120; tag++) {
		if (tag == 20)
			before = resident_kib(attached.worker);
		fill(&run, rank->index, tag, rank->index == 0 ? LARGE / 2 : LARGE / 2 - 1000, UROM_ALLREDUCE_INT64,
		     UROM_ALLREDUCE_SUM, tag % 2 != 0 ? UROM_ALLREDUCE_RING : UROM_ALLREDUCE_TREE);
		EXPECT(begin(comm, &run) == DOCA_SUCCESS);
		EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
		EXPECT(run.result == DOCA_ERROR_INVALID_VALUE);
		free(run.vector);
	}
	EXPECT(rank_barrier(rank, 0));
	EXPECT(before > 0 && resident_kib(attached.worker) < before + 16384);
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void failed_ones_leave_nothing(void **state)
{
	static const char *const args[] = {"--max-msg-size", "65536", NULL};
	const struct ranks_run run = {.process = fail_often, .plugin = PLUGIN, .message_size = BIG, .daemon_args = args};

	(void)state;
	assert_int_equal(ranks_run(3, &run), 0);
}

/* The argument: which tests, as a pattern. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memories_within_reach),	cmocka_unit_test(memories_out_of_reach),
		cmocka_unit_test(one_memory_out_of_reach),	cmocka_unit_test(comms_come_and_go),
		cmocka_unit_test(the_same_tag_again_and_again), cmocka_unit_test(another_process_is_not_touched),
		cmocka_unit_test(a_rank_that_stops_its_worker), cmocka_unit_test(a_rank_that_is_killed),
		cmocka_unit_test(a_worker_caught_at_a_vector),	cmocka_unit_test(failed_ones_leave_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
