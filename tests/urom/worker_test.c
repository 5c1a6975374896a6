/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: start, stop and commands. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf.h>

#include "base/cpus.h"
#include "support/stop.h"
#include "support/urom_rig.h"
#include "urom_graph.h"

#define ANY DOCA_UROM_WORKER_ID_ANY
#define GRAPH "worker_graph"

static struct urom_rig rig;

static int open_rig(void **state)
{
	(void)state;
	return urom_rig_open(&rig, NULL) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return 0;
}

/* ---- start and stop ---- */

static void commands_come_back(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	uint64_t id;

	(void)state;
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(doca_urom_worker_get_id(worker, &id), DOCA_SUCCESS);
	assert_true(id != ANY);
	for (uint64_t value = 0; value < 200; value++)
		assert_int_equal(urom_rig_loopback(&rig, worker, value * UINT64_C(0x9e3779b97f4a7c15)), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_true(program_await(&rig.daemon, "has ended"));
}

static void a_worker_can_be_started_again(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);

	(void)state;
	for (int run = 0; run < 3; run++) {
		assert_true(urom_rig_start_worker(&rig, worker));
		assert_int_equal(urom_rig_loopback(&rig, worker, 7), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_stop(doca_urom_worker_as_ctx(worker)), DOCA_ERROR_IN_PROGRESS);
		assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE));
	}
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
}

static void one_process_serves_contexts_of_one_id(void **state)
{
	struct doca_urom_worker *first = urom_rig_worker(&rig, 42, GRAPH), *second = urom_rig_worker(&rig, 42, GRAPH);

	(void)state;
	assert_true(urom_rig_start_worker(&rig, first));
	assert_true(urom_rig_start_worker(&rig, second));
	assert_int_equal(urom_rig_loopback(&rig, first, 1), DOCA_SUCCESS);
	assert_int_equal(urom_rig_loopback(&rig, second, 2), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, first));
	assert_int_equal(urom_rig_loopback(&rig, second, 3), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, second));
	assert_null(strstr(rig.daemon.output, "worker 1 runs"));
}

static void an_environment_is_for_new_processes_only(void **state)
{
	char *env[] = {"UROM_TEST_A=1", "UROM_TEST_B="};
	char *bad[] = {"UROM_TEST_A"}, *blank[] = {"A=with blank"};
	struct doca_urom_worker *first = urom_rig_worker(&rig, 43, GRAPH), *second = urom_rig_worker(&rig, 43, GRAPH);
	char path[64], text[8192];

	(void)state;
	assert_int_equal(doca_urom_worker_set_env(first, bad, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_worker_set_env(first, blank, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_worker_set_env(first, env, 2), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, first));
	snprintf(path, sizeof(path), "/proc/%d/environ", urom_rig_process_of(&rig, first));
	FILE *file = fopen(path, "r");
	size_t len = fread(text, 1, sizeof(text), file);
	fclose(file);
	assert_non_null(memmem(text, len, "UROM_TEST_A=1", sizeof("UROM_TEST_A=1")));
	assert_non_null(memmem(text, len, "UCX_TCP_CONN_NB=y", sizeof("UCX_TCP_CONN_NB=y"))); /* the daemon's own */
	assert_int_equal(doca_urom_worker_set_env(second, env, 2), DOCA_SUCCESS);
	assert_false(urom_rig_start_worker(&rig, second)); /* NOT_PERMITTED: the worker already runs */
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(second), DOCA_CTX_STATE_IDLE));
	assert_int_equal(doca_urom_worker_destroy(second), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, first));
}

static void a_processor_set_holds_in_the_process(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	doca_cpu_set_t set;
	cpu_set_t has;
	int cpu = sf_usable_cpu(0);

	(void)state;
	DOCA_CPU_ZERO(&set);
	assert_int_equal(doca_urom_worker_set_cpuset(worker, set), DOCA_ERROR_INVALID_VALUE);
	DOCA_CPU_SET(cpu, &set);
	assert_int_equal(doca_urom_worker_set_cpuset(worker, set), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(sched_getaffinity(urom_rig_process_of(&rig, worker), sizeof(has), &has), 0);
	assert_int_equal(CPU_COUNT(&has), 1);
	assert_true(CPU_ISSET(cpu, &has));
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void a_processor_of_the_card_stands_for_one_of_the_machine(void **state)
{
	cpu_set_t has, usable, both;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(usable), &usable), 0);
	for (int cpu = 6; cpu < 8; cpu++) {
		struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
		doca_cpu_set_t set;

		DOCA_CPU_ZERO(&set);
		DOCA_CPU_SET(cpu, &set);
		assert_int_equal(doca_urom_worker_set_cpuset(worker, set), DOCA_SUCCESS);
		assert_true(urom_rig_start_worker(&rig, worker));
		assert_int_equal(sched_getaffinity(urom_rig_process_of(&rig, worker), sizeof(has), &has), 0);
		CPU_AND(&both, &has, &usable);
		assert_int_equal(CPU_COUNT(&has), 1);
		assert_true(CPU_EQUAL(&both, &has));
		assert_true(urom_rig_stop_worker(&rig, worker));
	}
}

static void processors_that_are_not_there(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	doca_cpu_set_t set;

	(void)state;
	DOCA_CPU_ZERO(&set);
	DOCA_CPU_SET(1000, &set);
	assert_int_equal(doca_urom_worker_set_cpuset(worker, set), DOCA_SUCCESS);
	assert_false(urom_rig_start_worker(&rig, worker));
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE));
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	assert_true(program_await(&rig.daemon, "did not start: none of its CPUs can be used: Invalid argument"));
}

/* ---- groups ---- */

static void group_listed(struct doca_urom_service_get_workers_by_gid_task *task, union doca_data task_user_data,
			 union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	(void)task;
	*(int *)task_user_data.ptr = 1;
}

static size_t workers_of_group(uint32_t gid, uint64_t *ids, size_t room)
{
	struct doca_urom_service_get_workers_by_gid_task *task;
	int done = 0;

	assert_int_equal(doca_urom_service_get_workers_by_gid_task_allocate_init(rig.service, gid, group_listed, &task),
			 DOCA_SUCCESS);
	struct doca_task *base = doca_urom_service_get_workers_by_gid_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = &done});
	assert_int_equal(doca_task_submit(base), DOCA_SUCCESS);
	assert_int_equal(doca_urom_service_get_workers_by_gid_task_release(task), DOCA_ERROR_NOT_PERMITTED);
	assert_true(urom_rig_await_flag(&rig, &done));
	assert_int_equal(doca_task_get_status(base), DOCA_SUCCESS);
	size_t num = doca_urom_service_get_workers_by_gid_task_get_workers_count(task);
	const uint64_t *found = doca_urom_service_get_workers_by_gid_task_get_worker_ids(task);
	for (size_t i = 0; i < num && i < room; i++)
		ids[i] = found[i];
	assert_int_equal(found == NULL, num == 0);
	assert_int_equal(doca_urom_service_get_workers_by_gid_task_release(task), DOCA_SUCCESS);
	return num;
}

static void groups_hold_their_workers(void **state)
{
	struct doca_urom_worker *workers[3];
	uint64_t ids[4];
	uint32_t gid;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		workers[i] = urom_rig_worker(&rig, 100 + i, GRAPH);
		if (i < 2)
			assert_int_equal(doca_urom_worker_set_gid(workers[i], 5), DOCA_SUCCESS);
		assert_true(urom_rig_start_worker(&rig, workers[i]));
	}
	assert_int_equal(doca_urom_worker_get_gid(workers[0], &gid), DOCA_SUCCESS);
	assert_int_equal(gid, 5);
	assert_int_equal(doca_urom_worker_get_gid(workers[2], &gid), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(workers_of_group(5, ids, 4), 2);
	assert_int_equal(ids[0] + ids[1], 201);
	assert_int_equal(workers_of_group(0, ids, 4), 0);
	for (int i = 0; i < 3; i++)
		assert_true(urom_rig_stop_worker(&rig, workers[i]));
	assert_int_equal(workers_of_group(5, ids, 4), 0);
}

/* ---- commands ---- */

static void payload_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	*(int *)task_user_data.ptr = 1;
	(void)task;
}

/* Submits bytes that the graph plugin does not know, so that the task fails with INVALID_VALUE. Returns the submit's result. */
static doca_error_t submit_bytes(struct doca_urom_worker *worker, uint64_t plugin, size_t len, doca_error_t *status)
{
	struct doca_urom_worker_cmd_task *task;
	int done = 0;
	void *data;

	assert_int_equal(doca_urom_worker_cmd_task_allocate_init(worker, plugin, &task), DOCA_SUCCESS);
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	assert_int_equal(doca_buf_get_data(payload, &data), DOCA_SUCCESS);
	assert_int_equal(doca_buf_set_data(payload, data, len), DOCA_SUCCESS);
	doca_urom_worker_cmd_task_set_cb(task, payload_done);
	struct doca_task *base = doca_urom_worker_cmd_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = &done});
	doca_error_t result = doca_task_submit(base);
	if (result == DOCA_SUCCESS) {
		assert_int_equal(doca_urom_worker_cmd_task_release(task), DOCA_ERROR_NOT_PERMITTED);
		assert_true(urom_rig_await_flag(&rig, &done));
		*status = doca_task_get_status(base);
	}
	assert_int_equal(doca_urom_worker_cmd_task_release(task), DOCA_SUCCESS);
	return result;
}

static void the_largest_message_and_one_byte_more(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	uint64_t plugin = urom_rig_plugin(&rig, GRAPH);
	size_t largest = 4096 - sizeof(struct urom_worker_cmd);
	doca_error_t status;

	(void)state;
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(submit_bytes(worker, plugin, largest, &status), DOCA_SUCCESS);
	assert_int_equal(status, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(submit_bytes(worker, plugin, largest + 1, &status), DOCA_ERROR_TOO_BIG);
	assert_int_equal(submit_bytes(worker, plugin, 0, &status), DOCA_SUCCESS);
	assert_int_equal(submit_bytes(worker, plugin << 1, 16, &status), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(urom_rig_loopback(&rig, worker, 9), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void as_many_tasks_as_were_asked_for(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	struct doca_urom_worker_cmd_task *tasks[5];

	(void)state;
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, 3), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, 4), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_cmd_task_allocate(worker, &tasks[0]), DOCA_ERROR_BAD_STATE);
	assert_true(urom_rig_start_worker(&rig, worker));
	for (int i = 0; i < 4; i++)
		assert_int_equal(doca_urom_worker_cmd_task_allocate(worker, &tasks[i]), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_cmd_task_allocate(worker, &tasks[4]), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 4; i++)
		assert_int_equal(doca_urom_worker_cmd_task_release(tasks[i]), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

/* ---- what goes wrong ---- */

static void a_killed_worker_fails_its_tasks_alone(void **state)
{
	struct doca_urom_worker *victim = urom_rig_worker(&rig, ANY, GRAPH), *other = urom_rig_worker(&rig, ANY, GRAPH);

	(void)state;
	assert_true(urom_rig_start_worker(&rig, victim));
	assert_true(urom_rig_start_worker(&rig, other));
	process_stop(urom_rig_process_of(&rig, victim)); /* so that the command is in flight when the worker dies */
	kill(urom_rig_process_of(&rig, victim), SIGKILL);
	assert_int_equal(urom_rig_loopback(&rig, victim, 1), DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(victim), DOCA_CTX_STATE_IDLE));
	assert_true(program_await(&rig.daemon, "signal 9"));
	assert_int_equal(urom_rig_loopback(&rig, other, 2), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, victim)); /* a new process */
	assert_int_equal(urom_rig_loopback(&rig, victim, 3), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, victim));
	assert_true(urom_rig_stop_worker(&rig, other));
}

static void a_stop_flushes_what_is_in_flight(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	struct doca_urom_worker_cmd_task *task;
	int done = 0;

	(void)state;
	assert_true(urom_rig_start_worker(&rig, worker));
	pid_t pid = urom_rig_process_of(&rig, worker);
	process_stop(pid);
	assert_int_equal(doca_urom_worker_cmd_task_allocate_init(worker, urom_rig_plugin(&rig, GRAPH), &task), DOCA_SUCCESS);
	doca_urom_worker_cmd_task_set_cb(task, payload_done);
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	assert_int_equal(doca_buf_set_data_len(payload, 16), DOCA_SUCCESS);
	struct doca_task *base = doca_urom_worker_cmd_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = &done});
	assert_int_equal(doca_task_submit(base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(doca_urom_worker_as_ctx(worker)), DOCA_ERROR_IN_PROGRESS);
	assert_true(urom_rig_await_flag(&rig, &done));
	assert_int_equal(doca_task_get_status(base), DOCA_ERROR_BAD_STATE);
	assert_null(doca_urom_worker_cmd_task_get_response(task));
	assert_int_equal(doca_urom_worker_cmd_task_release(task), DOCA_SUCCESS);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE));
	assert_true(program_await(&rig.daemon, "signal 9")); /* while stopped, it does not end in time */
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
}

static void count_answer(doca_error_t result, union doca_data cookie, uint64_t value)
{
	(void)value;
	assert_int_equal(result, DOCA_SUCCESS);
	++*(uint32_t *)cookie.ptr;
}

/* Published programs wait for one result at a time, and lose the other if a progress call brings two. */
static void a_progress_call_completes_one_command(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	uint64_t end = sf_now_ns() + UROM_RIG_WAIT_NS;
	uint32_t ended = 0;

	(void)state;
	assert_int_equal(urom_graph_init(urom_rig_plugin(&rig, GRAPH), urom_rig_plugin_version(&rig, GRAPH)), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	pid_t pid = urom_rig_process_of(&rig, worker);
	process_stop(pid); /* then all the answers arrive together */
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(urom_graph_task_loopback(worker, (union doca_data){.ptr = &ended}, i, count_answer),
				 DOCA_SUCCESS);
	kill(pid, SIGCONT);
	while (ended < 16) {
		uint32_t before = ended;

		urom_rig_progress(rig.pe);
		assert_true(ended - before <= 1);
		assert_true(sf_now_ns() < end);
	}
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void published_plugins_are_rejected_by_version(void **state)
{
	static const char *const names[] = {GRAPH, "worker_sandbox", "worker_rdmo"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_not_equal(urom_rig_plugin(&rig, names[i]), 0);
		assert_int_not_equal(urom_rig_plugin_version(&rig, names[i]), PUBLISHED_VERSION);
	}
	assert_int_equal(urom_graph_init(urom_rig_plugin(&rig, GRAPH), PUBLISHED_VERSION), DOCA_ERROR_UNSUPPORTED_VERSION);
}

static void an_answer_that_cannot_be_packed_fails_its_task(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, "worker_unpackable");

	(void)state;
	assert_non_null(worker);
	assert_int_equal(
		urom_graph_init(urom_rig_plugin(&rig, "worker_unpackable"), urom_rig_plugin_version(&rig, "worker_unpackable")),
		DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(urom_rig_loopback(&rig, worker, 1), DOCA_ERROR_TOO_BIG);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void a_plugin_that_is_not_there(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);

	(void)state;
	assert_int_equal(doca_urom_worker_set_plugins(worker, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_worker_set_plugins(worker, UINT64_C(1) << 62), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_worker_set_plugins(worker, UINT64_C(1) << 40), DOCA_SUCCESS);
	assert_false(urom_rig_start_worker(&rig, worker));
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE));
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
}

static void a_killed_client_takes_its_workers_along(void **state)
{
	(void)state;
	fflush(NULL);
	urom_rig_close(&rig);
	assert_true(urom_rig_start_daemon(&rig, NULL));
	pid_t client = fork();
	if (client == 0) {
		rig.service = urom_rig_service(&rig);
		if (rig.service == NULL || doca_ctx_start(doca_urom_service_as_ctx(rig.service)) != DOCA_SUCCESS ||
		    !urom_rig_start_worker(&rig, urom_rig_worker(&rig, ANY, GRAPH)))
			_exit(1);
		raise(SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(client, &status, 0), client);
	assert_true(WIFSIGNALED(status));
	assert_true(program_await(&rig.daemon, "has left"));
	assert_true(program_await(&rig.daemon, "worker 1 has ended"));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(commands_come_back),
		WITH_RIG(a_worker_can_be_started_again),
		WITH_RIG(one_process_serves_contexts_of_one_id),
		WITH_RIG(an_environment_is_for_new_processes_only),
		WITH_RIG(a_processor_set_holds_in_the_process),
		WITH_RIG(a_processor_of_the_card_stands_for_one_of_the_machine),
		WITH_RIG(processors_that_are_not_there),
		WITH_RIG(groups_hold_their_workers),
		WITH_RIG(the_largest_message_and_one_byte_more),
		WITH_RIG(as_many_tasks_as_were_asked_for),
		WITH_RIG(a_killed_worker_fails_its_tasks_alone),
		WITH_RIG(a_stop_flushes_what_is_in_flight),
		WITH_RIG(a_progress_call_completes_one_command),
		WITH_RIG(an_answer_that_cannot_be_packed_fails_its_task),
		WITH_RIG(published_plugins_are_rejected_by_version),
		WITH_RIG(a_plugin_that_is_not_there),
		WITH_RIG(a_killed_client_takes_its_workers_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
