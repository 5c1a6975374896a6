/* SPDX-License-Identifier: BSD-3-Clause */
/* One worker with clients in several processes. Each process is a child of its own, because UCX does not survive a fork. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/urom_rig.h"
#include "support/wait.h"
#include "urom_graph.h"

#define GRAPH "worker_graph"
#define SANDBOX "worker_sandbox"
#define CLIENTS 4
#define COMMANDS 400
#define SHARED_ID 9
#define GROUP 5

/* State shared by the processes of a test: how far each child is, and how far the parent lets them go. */
struct board {
	_Atomic int step[CLIENTS];
	_Atomic int go;
};

static struct urom_rig host; /* the parent's, with the daemon */
static struct urom_rig rig;  /* a child's */
static struct board *board;

static int open_host(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	board = (struct board *)mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return urom_rig_start_daemon(&host, NULL) ? 0 : -1;
}

static int close_host(void **state)
{
	(void)state;
	urom_rig_close(&host);
	munmap(board, sizeof(*board));
	return 0;
}

/* ---- children ---- */

static void must(bool good, int code)
{
	if (!good)
		_exit(code);
}

static pid_t start_child(void (*run)(int), int index)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	rig.service = urom_rig_service(&rig);
	must(rig.service != NULL && doca_ctx_start(doca_urom_service_as_ctx(rig.service)) == DOCA_SUCCESS, 1);
	(void)urom_rig_plugin(&rig, GRAPH);
	run(index);
	urom_rig_close(&rig);
	_exit(0);
}

static void assert_ended_well(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The parent and the children wait with a deadline; a child progresses meanwhile. */
static void await_step(int index, int step)
{
	assert_true(WAIT_UNTIL(board->step[index] >= step));
}

static void await_go(int step)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	while (board->go < step && sf_now_ns() < until)
		urom_rig_progress(rig.pe);
	must(board->go >= step, 2);
}

static struct doca_urom_worker *start_worker(uint64_t id, const char *plugin)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, id, plugin);

	must(worker != NULL && urom_rig_start_worker(&rig, worker), 3);
	return worker;
}

/* ---- commands of several clients ---- */

struct answers {
	uint64_t first;
	int num, wrong;
};

static void answered(doca_error_t result, union doca_data cookie, uint64_t value)
{
	struct answers *answers = (struct answers *)cookie.ptr;

	answers->wrong += result != DOCA_SUCCESS || value != answers->first + (uint64_t)answers->num;
	answers->num++;
}

/* Keeps many commands in flight. Each is answered with its own value, in the order of submission. */
static void exchange(struct doca_urom_worker *worker, uint64_t first)
{
	struct answers answers = {.first = first};
	int given = 0;

	while (answers.num < COMMANDS) {
		doca_error_t result = given < COMMANDS ? urom_graph_task_loopback(worker, (union doca_data){.ptr = &answers},
										  first + (uint64_t)given, answered)
						       : DOCA_ERROR_NO_MEMORY;

		must(result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY, 4);
		given += result == DOCA_SUCCESS;
		(void)doca_pe_progress(rig.pe);
	}
	must(answers.wrong == 0, 5);
}

static void talk(int index)
{
	for (int run = 0; run < 3; run++) {
		struct doca_urom_worker *worker = start_worker(SHARED_ID, GRAPH);

		board->step[index]++;
		await_go(run + 1); /* all clients are connected */
		exchange(worker, (uint64_t)index << 32 | (uint64_t)run << 16);
		must(urom_rig_stop_worker(&rig, worker), 6);
	}
}

static void each_client_gets_its_own_answers(void **state)
{
	pid_t pids[CLIENTS];

	(void)state;
	for (int i = 0; i < CLIENTS; i++)
		pids[i] = start_child(talk, i);
	for (int run = 1; run <= 3; run++) {
		for (int i = 0; i < CLIENTS; i++)
			await_step(i, run);
		board->go = run;
	}
	for (int i = 0; i < CLIENTS; i++)
		assert_ended_well(pids[i]);
	assert_true(program_await(&host.daemon, "worker 9 has ended"));
}

static void come_and_go(int index)
{
	struct doca_urom_worker *workers[3] = {NULL};
	unsigned seed = 20261121 + (unsigned)index;

	for (int i = 0; i < 40; i++) {
		int id = rand_r(&seed) % 3;

		if (workers[id] == NULL) {
			workers[id] = start_worker((uint64_t)id, GRAPH);
			continue;
		}
		must(urom_rig_loopback(&rig, workers[id], (uint64_t)rand_r(&seed)) == DOCA_SUCCESS, 4);
		must(urom_rig_stop_worker(&rig, workers[id]), 6);
		workers[id] = NULL;
	}
	for (int id = 0; id < 3; id++)
		must(workers[id] == NULL || urom_rig_stop_worker(&rig, workers[id]), 6);
}

static void clients_come_and_go_in_any_order(void **state)
{
	pid_t pids[CLIENTS];

	(void)state;
	for (int i = 0; i < CLIENTS; i++)
		pids[i] = start_child(come_and_go, i);
	for (int i = 0; i < CLIENTS; i++)
		assert_ended_well(pids[i]);
}

/* ---- one is killed ---- */

static void hold(int index)
{
	struct doca_urom_worker *worker = start_worker(SHARED_ID, GRAPH);

	while (true) {
		board->step[index] = 1;
		exchange(worker, (uint64_t)index << 32);
	}
}

static void hold_on(int index)
{
	struct doca_urom_worker *worker = start_worker(SHARED_ID, GRAPH);

	board->step[index] = 1;
	for (uint64_t i = 0; board->go == 0; i++)
		exchange(worker, i << 16);
	exchange(worker, 7);
	board->step[index] = 2;
	await_go(2);
	must(urom_rig_stop_worker(&rig, worker), 6);
}

static void a_killed_client_leaves_the_worker_to_the_other(void **state)
{
	int status;

	(void)state;
	pid_t victim = start_child(hold, 0), other = start_child(hold_on, 1);
	await_step(0, 1);
	await_step(1, 1);
	kill(victim, SIGKILL);
	assert_int_equal(waitpid(victim, &status, 0), victim);
	assert_true(program_await(&host.daemon, "has left"));
	board->go = 1;
	await_step(1, 2);
	assert_null(strstr(host.daemon.output, "worker 9 has ended"));
	board->go = 2;
	assert_ended_well(other);
	assert_true(program_await(&host.daemon, "worker 9 has ended"));
}

/* ---- what a worker was started with ---- */

static void have_both_plugins(int index)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, SHARED_ID, GRAPH);
	uint64_t both = urom_rig_plugin(&rig, GRAPH) | urom_rig_plugin(&rig, SANDBOX);

	must(doca_urom_worker_set_plugins(worker, both) == DOCA_SUCCESS && urom_rig_start_worker(&rig, worker), 3);
	board->step[index] = 1;
	await_go(1);
	must(urom_rig_stop_worker(&rig, worker), 6);
}

static void does_not_start(struct doca_urom_worker *worker)
{
	must(!urom_rig_start_worker(&rig, worker), 7);
	must(urom_rig_await(&rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE), 7);
	must(doca_urom_worker_destroy(worker) == DOCA_SUCCESS, 7);
}

static void ask_for_other_things(int index)
{
	char *const env[] = {"UROM_TEST=1"};
	struct doca_urom_worker *worker = urom_rig_worker(&rig, SHARED_ID, SANDBOX);

	must(urom_rig_start_worker(&rig, worker), 3);				 /* a subset of the worker's plugins */
	must(urom_rig_loopback(&rig, worker, 1) == DOCA_ERROR_INVALID_VALUE, 8); /* graph was not asked for */
	must(urom_rig_stop_worker(&rig, worker), 6);
	worker = urom_rig_worker(&rig, SHARED_ID, GRAPH);
	must(doca_urom_worker_set_plugins(worker, urom_rig_plugin(&rig, GRAPH) | urom_rig_plugin(&rig, "worker_rdmo")) ==
		     DOCA_SUCCESS,
	     8);
	does_not_start(worker); /* a plugin that the worker does not have */
	worker = urom_rig_worker(&rig, SHARED_ID, GRAPH);
	must(doca_urom_worker_set_env(worker, env, 1) == DOCA_SUCCESS, 8);
	does_not_start(worker);
	worker = start_worker(SHARED_ID, GRAPH);
	must(urom_rig_loopback(&rig, worker, 1) == DOCA_SUCCESS, 8);
	must(urom_rig_stop_worker(&rig, worker), 6);
	board->step[index] = 1;
}

static void a_worker_is_as_its_first_client_made_it(void **state)
{
	(void)state;
	pid_t first = start_child(have_both_plugins, 0);
	await_step(0, 1);
	pid_t second = start_child(ask_for_other_things, 1);
	assert_ended_well(second);
	board->go = 1;
	assert_ended_well(first);
}

/* ---- groups ---- */

static void listed(struct doca_urom_service_get_workers_by_gid_task *task, union doca_data task_user_data,
		   union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	(void)task;
	*(int *)task_user_data.ptr = 1;
}

/* Returns the sum of the ids, which distinguishes the sets. */
static uint64_t sum_of_group(void)
{
	struct doca_urom_service_get_workers_by_gid_task *task;
	uint64_t sum = 0;
	int done = 0;

	must(doca_urom_service_get_workers_by_gid_task_allocate_init(rig.service, GROUP, listed, &task) == DOCA_SUCCESS, 9);
	struct doca_task *base = doca_urom_service_get_workers_by_gid_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = &done});
	must(doca_task_submit(base) == DOCA_SUCCESS && urom_rig_await_flag(&rig, &done), 9);
	for (size_t i = 0; i < doca_urom_service_get_workers_by_gid_task_get_workers_count(task); i++)
		sum += doca_urom_service_get_workers_by_gid_task_get_worker_ids(task)[i];
	(void)doca_urom_service_get_workers_by_gid_task_release(task);
	return sum;
}

static struct doca_urom_worker *start_in_group(uint64_t id)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, id, GRAPH);

	must(doca_urom_worker_set_gid(worker, GROUP) == DOCA_SUCCESS && urom_rig_start_worker(&rig, worker), 3);
	return worker;
}

static void be_in_a_group(int index)
{
	(void)start_in_group(100);
	(void)start_in_group(200);
	board->step[index] = 1;
	await_go(1);
	must(sum_of_group() == 1300, 10);
	raise(SIGKILL);
}

static void be_in_it_too(int index)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	struct doca_urom_worker *worker = start_in_group(1000);

	must(sum_of_group() == 1300, 10);
	board->step[index] = 1;
	while (sum_of_group() != 1000 && sf_now_ns() < until) /* the killed client's workers disappear */
		;
	must(sum_of_group() == 1000, 11);
	must(urom_rig_stop_worker(&rig, worker), 6);
}

static void groups_span_clients(void **state)
{
	int status;

	(void)state;
	pid_t first = start_child(be_in_a_group, 0);
	await_step(0, 1);
	pid_t second = start_child(be_in_it_too, 1);
	await_step(1, 1);
	board->go = 1;
	assert_int_equal(waitpid(first, &status, 0), first);
	assert_true(WIFSIGNALED(status));
	assert_ended_well(second);
}

#define WITH_HOST(test) cmocka_unit_test_setup_teardown(test, open_host, close_host)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_HOST(each_client_gets_its_own_answers),
		WITH_HOST(clients_come_and_go_in_any_order),
		WITH_HOST(a_killed_client_leaves_the_worker_to_the_other),
		WITH_HOST(a_worker_is_as_its_first_client_made_it),
		WITH_HOST(groups_span_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
