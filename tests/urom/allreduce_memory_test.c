/* SPDX-License-Identifier: BSD-3-Clause */
/* The allreduce plugin with workers that can access the ranks' memories, with workers that cannot, and the memory that workers
 * must not touch. */
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
#include "support/stop.h"
#include "support/wait.h"

#define LARGE 300001 /* elements: several steps of each worker's part */

/* ---- by memory, and by commands ---- */

struct wanted {
	enum urom_allreduce_way way;
	doca_error_t direct; /* the result with the direct algorithm */
	uint32_t without;    /* the rank whose process does not permit access to its memory */
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
	CHECK(open_comm(rank, &comm));
	for (uint64_t which = 0; which < 24; which++) {
		enum urom_allreduce_algorithm algorithm = (enum urom_allreduce_algorithm)(which % 4);

		fill(&run, rank->index, which, counts[which / 8], (enum urom_allreduce_type)(which / 2 % 4),
		     (enum urom_allreduce_op)(which % 3), algorithm);
		if (which % 5 == 0)
			run.args.receive = run.vector;
		CHECK(begin(comm, &run) == DOCA_SUCCESS);
		CHECK(urom_rig_await_flag(&rank->rig, &run.done));
		if (algorithm == UROM_ALLREDUCE_DIRECT && wanted->direct != DOCA_SUCCESS)
			CHECK(run.result == wanted->direct);
		else
			CHECK(is_right(&run, rank->index, rank->num));
		free(run.vector);
	}
	CHECK(urom_allreduce_comm_get_way(comm) == (rank->index == wanted->without ? UROM_ALLREDUCE_BY_COMMANDS : wanted->way));
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
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
	setenv("UCX_TLS", "tcp", 1); /* for the daemon, the workers and the ranks */
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

/* If the vector is short, only some workers have a part of it, and one rank begins the next allreduce before another has
 * learned of the end of the last. */
static int one_tag(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm;
	struct run runs[2];

	(void)arg;
	CHECK(open_comm(rank, &comm));
	for (uint64_t round = 0; round < 150; round++) {
		for (uint64_t i = 0; i < 2; i++) {
			fill(&runs[i], rank->index, 7 + i, 4096 + round * 113 % 31000, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM,
			     UROM_ALLREDUCE_DIRECT);
			CHECK(begin(comm, &runs[i]) == DOCA_SUCCESS);
		}
		for (uint64_t i = 0; i < 2; i++) {
			CHECK(urom_rig_await_flag(&rank->rig, &runs[i].done));
			CHECK(is_right(&runs[i], rank->index, rank->num));
			free(runs[i].vector);
		}
	}
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
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

/* More comms than a worker keeps, one after the other and some at the same time; one is destroyed before its way is known. */
static int many_comms(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comms[4];
	struct run run;

	(void)arg;
	CHECK(urom_allreduce_init(rank->plugin, ALLREDUCE_VERSION) == DOCA_SUCCESS);
	for (uint64_t round = 0; round < 20; round++) {
		for (int i = 0; i < 4; i++) {
			CHECK(open_comm(rank, &comms[i]));
			CHECK(i == 0 || await_way(rank, comms[i]) == UROM_ALLREDUCE_BY_MEMORY);
		}
		fill(&run, rank->index, round, 5000, UROM_ALLREDUCE_DOUBLE, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_DIRECT);
		CHECK(begin(comms[round % 4], &run) == DOCA_SUCCESS);
		CHECK(urom_rig_await_flag(&rank->rig, &run.done));
		CHECK(is_right(&run, rank->index, rank->num));
		free(run.vector);
		for (int i = 0; i < 4; i++)
			CHECK(urom_allreduce_comm_destroy(comms[i]) == DOCA_SUCCESS);
		for (int i = 0; i < 4; i++)
			CHECK(open_comm(rank, &comms[0]) && urom_allreduce_comm_destroy(comms[0]) == DOCA_SUCCESS);
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

/* Sends a command as a foreign implementation of the host would. Returns its status. */
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

static struct allreduce_board victims_board; /* at the same address in the parent process, which is the victim */

static int claim(struct rank *rank, void *arg)
{
	static struct allreduce_board own_board;
	const struct allreduce_attach other = {(uint64_t)getppid(), (uint64_t)(uintptr_t)&victims_board};
	const struct allreduce_attach own = {(uint64_t)getpid(), (uint64_t)(uintptr_t)&own_board};
	const struct allreduce_attach nowhere_at_all = {(uint64_t)getpid(), 4096};
	struct allreduce_command command = {.kind = ALLREDUCE_ATTACH};
	struct allreduce_vector vector = {.place = {(uint64_t)(uintptr_t)&victims_board, (uint64_t)(uintptr_t)&victims_board,
						    (uint64_t)(uintptr_t)victims_board.guards, 1}};
	struct allreduce_attached attached;
	const struct allreduce_attach *const wrong[] = {&other, &nowhere_at_all};

	(void)arg;
	for (int i = 0; i < 2; i++) {
		command.kind = ALLREDUCE_ATTACH;
		CHECK(send_command(rank, &command, wrong[i], sizeof(*wrong[i]), &attached) == DOCA_SUCCESS);
		command.kind = ALLREDUCE_PROVE;
		command.tag = attached.attachment;
		CHECK(send_command(rank, &command, NULL, 0, NULL) != DOCA_SUCCESS);
		/* a vector without proof */
		const struct allreduce_command begin_it = {
			.kind = ALLREDUCE_VECTOR,
			.tag = 7 + (uint64_t)i,
			.shape = {1, ALLREDUCE_INT32, ALLREDUCE_SUM, ALLREDUCE_DIRECT, .piece_max = 64, .total = 256}};
		vector.attachment = attached.attachment;
		CHECK(send_command(rank, &begin_it, &vector, sizeof(vector), NULL) == DOCA_ERROR_INVALID_VALUE);
		command.kind = ALLREDUCE_DETACH;
		CHECK(send_command(rank, &command, NULL, 0, NULL) == DOCA_SUCCESS);
	}
	command = (struct allreduce_command){.kind = ALLREDUCE_ATTACH};
	CHECK(send_command(rank, &command, &own, sizeof(own), &attached) == DOCA_SUCCESS);
	memcpy(own_board.numbers[ALLREDUCE_DIRECT_RANKS_MAX], attached.number, ALLREDUCE_NUMBER_SIZE);
	command = (struct allreduce_command){.kind = ALLREDUCE_PROVE, .tag = attached.attachment};
	CHECK(send_command(rank, &command, NULL, 0, NULL) == DOCA_SUCCESS);
	/* its vector lies at an unmapped address */
	const struct allreduce_command begin_it = {
		.kind = ALLREDUCE_VECTOR,
		.tag = 9,
		.shape = {1, ALLREDUCE_INT32, ALLREDUCE_SUM, ALLREDUCE_DIRECT, .piece_max = 64, .total = 256}};
	own_board.guards[0].serial = 5;
	vector = (struct allreduce_vector){attached.attachment, {4096, 4096, (uint64_t)(uintptr_t)&own_board.guards[0], 5}};
	CHECK(send_command(rank, &begin_it, &vector, sizeof(vector), NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(own_board.guards[0].busy[0] == 0);
	/* its guard is closed */
	vector.place.serial = 6;
	struct allreduce_command again = begin_it;
	again.tag = 10;
	CHECK(send_command(rank, &again, &vector, sizeof(vector), NULL) == DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(own_board.guards[0].busy[0] == 0);
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

/* ---- memory that workers may no longer touch ---- */

struct harm {
	enum urom_allreduce_algorithm algorithm;
	bool of_process; /* true: kills the process; false: ends the worker */
};

/* Ends rank 1 in the middle: the other ranks are notified, and afterwards no worker touches their vectors. */
static int survive(struct rank *rank, void *arg)
{
	const struct harm *harm = (const struct harm *)arg;
	struct urom_allreduce_comm *comm;
	struct run run;

	CHECK(open_comm(rank, &comm));
	CHECK(await_way(rank, comm) == UROM_ALLREDUCE_BY_MEMORY);
	for (uint64_t tag = 0;; tag++) { /* until one fails */
		fill(&run, rank->index, tag, LARGE, UROM_ALLREDUCE_DOUBLE, UROM_ALLREDUCE_SUM, harm->algorithm);
		CHECK(begin(comm, &run) == DOCA_SUCCESS);
		if (tag == 3 && rank->index == 1) {
			if (harm->of_process)
				raise(SIGKILL);
			(void)doca_ctx_stop(doca_urom_worker_as_ctx(rank->worker)); /* with a task in flight */
		}
		CHECK(urom_rig_await_flag(&rank->rig, &run.done));
		if (run.result != DOCA_SUCCESS)
			break;
		free(run.vector);
	}
	CHECK(run.result == (rank->index == 1 ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_CONNECTION_ABORTED));
	size_t size = LARGE * sizeof(double);
	uint8_t *copy = (uint8_t *)malloc(size);
	memset(run.args.receive, 0x77, size); /* the vector belongs to this process again */
	uint64_t until = sf_now_ns() + 100000000;
	do
		urom_rig_progress(rank->rig.pe);
	while (sf_now_ns() < until);
	memset(copy, 0x77, size);
	CHECK(memcmp(run.args.receive, copy, size) == 0);
	free(copy);
	free(run.vector);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
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
		assert_int_equal(
			ranks_run(4, &run),
			254); /* the status of the killed rank: if another rank failed, its status would be reported instead */
}

/* Continues the process after a while, from another process. */
static void continue_process(uint32_t pid)
{
	if (fork() != 0)
		return;
	time_pass_ms(300);
	kill((pid_t)pid, SIGCONT);
	_exit(0);
}

#define MANY 4000000 /* elements: a worker needs milliseconds for them */

/* Rank 1 stops the worker of rank 0 while that accesses rank 1's vector, then stops its own worker context. It gets its vector
 * back only after the other worker has continued. */
static int catch_worker(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm;
	struct run run;
	bool caught = false;

	(void)arg;
	CHECK(open_comm(rank, &comm));
	CHECK(await_way(rank, comm) == UROM_ALLREDUCE_BY_MEMORY);
	uint32_t *busy = &comm->board->guards[0].busy[0], pid = 0;
	for (uint64_t tag = 0; tag < 50; tag++) {
		fill(&run, rank->index, tag, MANY, UROM_ALLREDUCE_FLOAT, UROM_ALLREDUCE_MAX, UROM_ALLREDUCE_DIRECT);
		CHECK(begin(comm, &run) == DOCA_SUCCESS);
		while (rank->index == 1 && !run.done && (pid = __atomic_load_n(busy, __ATOMIC_ACQUIRE)) == 0)
			(void)doca_pe_progress(rank->rig.pe);
		if (rank->index == 1 && pid != 0) {
			process_stop((pid_t)pid);
			caught = __atomic_load_n(busy, __ATOMIC_ACQUIRE) != 0;
			if (!caught)
				kill((pid_t)pid, SIGCONT);
		}
		uint64_t began = sf_now_ns();
		if (caught) {
			continue_process(pid);
			(void)doca_ctx_stop(doca_urom_worker_as_ctx(rank->worker));
		}
		CHECK(urom_rig_await_flag(&rank->rig, &run.done));
		CHECK(!caught || sf_now_ns() - began > 250000000);
		CHECK(__atomic_load_n(busy, __ATOMIC_ACQUIRE) == 0);
		free(run.vector);
		if (run.result != DOCA_SUCCESS)
			break;
	}
	CHECK(run.result == (rank->index == 1 ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_CONNECTION_ABORTED));
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void a_worker_caught_at_a_vector(void **state)
{
	const struct ranks_run run = {.process = catch_worker, .plugin = PLUGIN};

	(void)state;
	assert_int_equal(ranks_run(2, &run), 0);
}

/* ---- memory of failed allreduces ---- */

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

/* Rank 0's vector is longer, so each allreduce fails while pieces of the other ranks are in flight. */
static int fail_often(struct rank *rank, void *arg)
{
	const struct allreduce_command attach = {.kind = ALLREDUCE_ATTACH};
	const struct allreduce_attach own = {(uint64_t)getpid(), 4096};
	struct allreduce_attached attached = {.worker = 0};
	struct urom_allreduce_comm *comm;
	struct run run;
	long before = 0;

	(void)arg;
	CHECK(send_command(rank, &attach, &own, sizeof(own), &attached) == DOCA_SUCCESS);
	setenv("UCX_TLS", "tcp", 1);
	CHECK(open_comm(rank, &comm));
	for (uint64_t tag = 0; tag < 120; tag++) {
		if (tag == 20)
			before = resident_kib(attached.worker);
		fill(&run, rank->index, tag, rank->index == 0 ? LARGE / 2 : LARGE / 2 - 1000, UROM_ALLREDUCE_INT64,
		     UROM_ALLREDUCE_SUM, tag % 2 != 0 ? UROM_ALLREDUCE_RING : UROM_ALLREDUCE_TREE);
		CHECK(begin(comm, &run) == DOCA_SUCCESS);
		CHECK(urom_rig_await_flag(&rank->rig, &run.done));
		CHECK(run.result == DOCA_ERROR_INVALID_VALUE);
		free(run.vector);
	}
	CHECK(rank_barrier(rank, 0));
	CHECK(before > 0 && resident_kib(attached.worker) < before + 16384);
	CHECK(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
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
