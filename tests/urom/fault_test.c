/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins that crash, hang or flood: their worker ends, the daemon logs why, and nothing else is disturbed. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault_rig.h"
#include "urom_graph.h"
#include "support/stop.h"

#define ANY DOCA_UROM_WORKER_ID_ANY

static struct urom_rig rig;
static struct doca_urom_worker *other; /* it must keep working */

static const char *const limits[] = {"--plugin-timeout", "1", "--max-worker-memory", "64", NULL};

/* Limits for tests with many unanswered commands. */
static const char *const much_memory[] = {"--plugin-timeout", "10", "--max-worker-memory", "2048", NULL};

static int open_rig_with(const char *const *options)
{
	if (!urom_rig_open(&rig, options))
		return -1;
	other = urom_rig_worker(&rig, ANY, "worker_graph");
	return other != NULL && urom_rig_start_worker(&rig, other) ? 0 : -1;
}

static int open_rig(void **state)
{
	(void)state;
	return open_rig_with(limits);
}

static int open_large_rig(void **state)
{
	(void)state;
	return open_rig_with(much_memory);
}

static int close_rig(void **state)
{
	(void)state;
	if (other != NULL)
		(void)urom_rig_stop_worker(&rig, other);
	other = NULL;
	urom_rig_close(&rig);
	return 0;
}

/* The other worker still answers, and a new one can be started. */
static void assert_nothing_else_is_disturbed(void)
{
	assert_int_equal(urom_rig_loopback(&rig, other, 3), DOCA_SUCCESS);
	struct doca_urom_worker *next = fault_worker(&rig, NULL);
	assert_non_null(next);
	assert_int_equal(fault_ask(&rig, next, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, next));
}

/* The fault ends the worker: its task fails, its context stops, and the daemon logs the reason. */
static void assert_ends(enum fault_what what, enum fault_where where, const char *said)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	struct fault_ask asks[2];

	assert_non_null(worker);
	assert_int_equal(fault_submit(&rig, worker, what, where, &asks[0]), DOCA_SUCCESS);
	assert_int_equal(fault_submit(&rig, worker, FAULT_WHEN_FILE, FAULT_IN_CMD, &asks[1]), DOCA_SUCCESS);
	assert_true(urom_rig_await_flag(&rig, &asks[1].done));
	assert_true(asks[0].done); /* it may have been answered before the fault */
	assert_int_equal(asks[1].status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(fault_await_end(&rig, worker));
	assert_true(program_await(&rig.daemon, said));
	assert_nothing_else_is_disturbed();
}

/* ---- crashes ---- */

static void a_crash_names_signal_operation_and_plugin(void **state)
{
	(void)state;
	assert_ends(FAULT_CRASH, FAULT_IN_CMD, "was ended by signal 11 (Segmentation fault) in worker_cmd of worker_fault, /");
	assert_non_null(strstr(rig.daemon.output, "with worker_fault died: "));
	assert_true(program_await(&rig.daemon, "worker_fault.so\n"));
}

static void a_crash_in_progress(void **state)
{
	(void)state;
	assert_ends(FAULT_CRASH, FAULT_IN_PROGRESS, "signal 11 (Segmentation fault) in progress of worker_fault");
}

static void a_plugin_that_ends_the_process(void **state)
{
	(void)state;
	assert_ends(FAULT_EXIT, FAULT_IN_PROGRESS, "ended by itself with status 0 in progress of worker_fault");
}

static void assert_does_not_start(const char *at, const char *said)
{
	assert_null(fault_worker(&rig, at));
	assert_true(program_await(&rig.daemon, said));
	assert_nothing_else_is_disturbed();
}

static void a_crash_while_it_starts(void **state)
{
	(void)state;
	assert_does_not_start("load-crash", "signal 11 (Segmentation fault) in the loading of worker_fault");
	assert_does_not_start("open-crash", "signal 11 (Segmentation fault) in open of worker_fault");
	assert_does_not_start("addr-crash", "signal 11 (Segmentation fault) in addr of worker_fault");
}

static void a_crash_while_it_packs(void **state)
{
	(void)state;
	struct doca_urom_worker *worker = fault_worker(&rig, "pack-crash");
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(fault_await_end(&rig, worker));
	assert_true(program_await(&rig.daemon, "signal 11 (Segmentation fault) in notif_pack of worker_fault"));
	assert_nothing_else_is_disturbed();
}

static void a_crash_while_it_ends(void **state)
{
	(void)state;
	struct doca_urom_worker *worker = fault_worker(&rig, "close-crash");
	assert_non_null(worker);
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_true(program_await(&rig.daemon, "signal 11 (Segmentation fault) in close of worker_fault"));
	assert_nothing_else_is_disturbed();
}

static void a_plugin_that_ends_the_process_while_it_ends(void **state)
{
	(void)state;
	struct doca_urom_worker *worker = fault_worker(&rig, "close-exit");
	assert_non_null(worker);
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_true(program_await(&rig.daemon, "ended by itself with status 0 in close of worker_fault"));
	assert_nothing_else_is_disturbed();
}

static void what_a_plugin_started_ends_with_it(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	uint64_t child, until = sf_now_ns() + UROM_RIG_WAIT_NS;

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_CHILD, FAULT_IN_CMD, &child), DOCA_SUCCESS);
	assert_int_equal(kill((pid_t)child, 0), 0);
	/* The child has the connections open, too, but the host learns of the worker's end. */
	assert_int_equal(fault_ask(&rig, worker, FAULT_CRASH, FAULT_IN_CMD, NULL), DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(fault_await_end(&rig, worker));
	while (process_is_there((pid_t)child) && sf_now_ns() < until)
		;
	assert_true(sf_now_ns() < until);
	assert_nothing_else_is_disturbed();
}

/* ---- hangs ---- */

static void a_plugin_that_turns_forever(void **state)
{
	(void)state;
	assert_ends(FAULT_SPIN, FAULT_IN_CMD, "it hung in worker_cmd of worker_fault: --plugin-timeout is 1 seconds");
}

static void a_plugin_that_sleeps_forever(void **state)
{
	(void)state;
	assert_ends(FAULT_PAUSE, FAULT_IN_PROGRESS, "it hung in progress of worker_fault: --plugin-timeout is 1 seconds");
}

static void a_plugin_that_hangs_while_it_starts(void **state)
{
	(void)state;
	assert_does_not_start("open-spin", "it hung in open of worker_fault");
}

static void a_plugin_that_hangs_while_it_ends(void **state)
{
	(void)state;
	struct doca_urom_worker *worker = fault_worker(&rig, "close-spin");
	assert_non_null(worker);
	assert_true(urom_rig_stop_worker(&rig, worker)); /* the client does not wait for it */
	assert_true(program_await(&rig.daemon, "signal 9 (Killed) in close of worker_fault: it did not start or end in time"));
	assert_nothing_else_is_disturbed();
}

/* A worker that hangs is the clock: by the time it is ended, an idle and a stopped worker have been checked as often. It sleeps,
 * because one that turns takes the longer the busier the machine is, until even a stopped worker has had its time. */
static void idle_and_stopped_workers_are_left_alone(void **state)
{
	struct doca_urom_worker *stopped = fault_worker(&rig, NULL), *hangs = fault_worker(&rig, NULL);

	(void)state;
	assert_true(stopped != NULL && hangs != NULL);
	process_stop(urom_rig_process_of(&rig, stopped));
	assert_int_equal(fault_ask(&rig, hangs, FAULT_PAUSE, FAULT_IN_CMD, NULL), DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(fault_await_end(&rig, hangs));
	kill(urom_rig_process_of(&rig, stopped), SIGCONT);
	assert_int_equal(fault_ask(&rig, stopped, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, stopped));
	assert_nothing_else_is_disturbed();
}

/* ---- floods ---- */

static void notifications_without_end(void **state)
{
	(void)state;
	assert_ends(FAULT_FLOOD, FAULT_IN_CMD, "worker_fault.so created 1024 notifications more than it received commands");
}

static void notifications_in_one_call(void **state)
{
	(void)state;
	assert_ends(FAULT_FLOOD_AT_ONCE, FAULT_IN_CMD,
		    "worker_fault.so created 1024 notifications more than it received commands");
}

static uint32_t count(const char *text, const char *in)
{
	uint32_t num = 0;

	while ((in = strstr(in, text)) != NULL) {
		in += strlen(text);
		num++;
	}
	return num;
}

static void notifications_for_nobody(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_STRANGERS, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_true(program_await(&rig.daemon, "has ended")); /* behind all that it printed */
	assert_int_equal(
		count("for a dest_id that never existed", rig.daemon.output) + count("of another type", rig.daemon.output), 10);
}

static void an_answer_of_more_than_a_message_holds(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_TOO_LARGE, FAULT_IN_CMD, NULL), DOCA_ERROR_TOO_BIG);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void a_command_left_in_the_list_fails_its_task(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);

	(void)state;
	assert_non_null(worker);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fault_ask(&rig, worker, FAULT_LEAVE, FAULT_IN_CMD, NULL), DOCA_ERROR_UNEXPECTED);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(program_await(&rig.daemon, "commands left in the list"));
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void descriptors_without_end(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	uint64_t num;

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_FILES, FAULT_IN_CMD, &num), DOCA_SUCCESS);
	assert_true(num > 0);
	assert_nothing_else_is_disturbed();
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void memory_without_end(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	uint64_t mib;

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_MEMORY, FAULT_IN_CMD, &mib), DOCA_SUCCESS);
	assert_in_range(mib, 16, 64);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_ends(FAULT_MEMORY_CRASH, FAULT_IN_CMD, "MiB of memory, --max-worker-memory is 64");
}

static void the_page_that_the_daemon_reads(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	uint64_t shrunk;

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_HEARTBEAT, FAULT_IN_CMD, &shrunk), DOCA_SUCCESS);
	assert_int_equal(shrunk, 0);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void the_socket_to_the_daemon(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);

	(void)state;
	assert_non_null(worker);
	(void)fault_ask(&rig, worker, FAULT_SOCKET, FAULT_IN_CMD, NULL);
	assert_true(fault_await_end(&rig, worker));
	assert_nothing_else_is_disturbed();
}

static void packets_without_end(void **state)
{
	(void)state;
	assert_ends(FAULT_PACKETS, FAULT_IN_CMD, "killed because it sends the service more packets than a worker should");
}

/* ---- without a daemon ---- */

static void a_hanging_worker_does_not_outlive_the_daemon(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	struct fault_ask ask;

	(void)state;
	assert_non_null(worker);
	pid_t pid = urom_rig_process_of(&rig, worker);
	assert_int_equal(fault_submit(&rig, worker, FAULT_SPIN, FAULT_IN_CMD, &ask), DOCA_SUCCESS);
	assert_true(program_await(&rig.daemon, "a plugin hangs now"));
	kill(rig.daemon.pid, SIGKILL);
	assert_true(urom_rig_await_flag(&rig, &ask.done));
	assert_int_equal(ask.status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(fault_await_end(&rig, worker));
	while (process_is_there(pid) && sf_now_ns() < until)
		;
	assert_false(process_is_there(pid));
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(other), DOCA_CTX_STATE_IDLE));
	assert_int_equal(program_wait(&rig.daemon), 128 + SIGKILL);
	rig.daemon.pid = 0;
}

/* ---- a client that reads no answers ---- */

#define SLOW_TASKS 16384

/* Reads answers only as far as needed to submit. */
static doca_error_t submit_large(struct urom_rig *from, struct doca_urom_worker *slow, struct fault_ask *ask)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	doca_error_t result;

	while ((result = fault_submit(from, slow, FAULT_LARGE, FAULT_IN_CMD, ask)) == DOCA_ERROR_AGAIN && sf_now_ns() < until)
		urom_rig_progress(from->pe);
	return result;
}

static void a_slow_client_stops_no_other(void **state)
{
	struct doca_urom_worker *slow = urom_rig_worker(&rig, 42, FAULT_PLUGIN), *quick = urom_rig_worker(&rig, 42, FAULT_PLUGIN);
	struct fault_ask *asks = (struct fault_ask *)calloc(SLOW_TASKS, sizeof(*asks));
	struct urom_rig apart = rig; /* with its own progress engine */

	(void)state;
	assert_int_equal(doca_pe_create(&apart.pe), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_destroy(slow), DOCA_SUCCESS);
	slow = urom_rig_worker(&apart, 42, FAULT_PLUGIN);
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(slow, SLOW_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_urom_worker_as_ctx(slow)), DOCA_ERROR_IN_PROGRESS);
	enum doca_ctx_states now = DOCA_CTX_STATE_STARTING;
	while (now == DOCA_CTX_STATE_STARTING) { /* the service uses one engine, the worker the other */
		urom_rig_progress(rig.pe);
		(void)doca_pe_progress(apart.pe);
		(void)doca_ctx_get_state(doca_urom_worker_as_ctx(slow), &now);
	}
	assert_int_equal(now, DOCA_CTX_STATE_RUNNING);
	assert_true(urom_rig_start_worker(&rig, quick));
	for (int i = 0; i < SLOW_TASKS; i++)
		assert_int_equal(submit_large(&apart, slow, &asks[i]), DOCA_SUCCESS);
	for (int i = 0; i < 200; i++)
		assert_int_equal(fault_ask(&rig, quick, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	for (int i = 0; i < SLOW_TASKS; i++) {
		assert_true(urom_rig_await_flag(&apart, &asks[i].done));
		assert_int_equal(asks[i].status, DOCA_SUCCESS);
		assert_int_equal(asks[i].size, FAULT_LARGE_SIZE);
	}
	assert_true(urom_rig_stop_worker(&rig, quick));
	assert_int_equal(doca_ctx_stop(doca_urom_worker_as_ctx(slow)), DOCA_ERROR_IN_PROGRESS);
	while (now != DOCA_CTX_STATE_IDLE) {
		urom_rig_progress(rig.pe);
		(void)doca_pe_progress(apart.pe);
		(void)doca_ctx_get_state(doca_urom_worker_as_ctx(slow), &now);
	}
	assert_int_equal(doca_urom_worker_destroy(slow), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(apart.pe), DOCA_SUCCESS);
	free(asks);
}

/* Main function of another program: submits many commands, prints "asked", and reads no answers. */
static int slow_client(void)
{
	static struct fault_ask asks[SLOW_TASKS];

	if ((rig.service = urom_rig_service(&rig)) == NULL ||
	    doca_ctx_start(doca_urom_service_as_ctx(rig.service)) != DOCA_SUCCESS)
		return 1;
	struct doca_urom_worker *slow = urom_rig_worker(&rig, 42, FAULT_PLUGIN);
	if (slow == NULL || doca_urom_worker_set_max_inflight_tasks(slow, SLOW_TASKS) != DOCA_SUCCESS ||
	    !urom_rig_start_worker(&rig, slow))
		return 1;
	for (int i = 0; i < SLOW_TASKS; i++) {
		if (submit_large(&rig, slow, &asks[i]) != DOCA_SUCCESS)
			return 1;
	}
	printf("asked\n");
	fflush(stdout);
	for (;;)
		pause();
}

#define SLOW_CLIENTS 5

static void a_slow_client_that_dies_disturbs_no_other(void **state)
{
	const char *const args[] = {"/proc/self/exe", "slow-client", NULL};
	struct doca_urom_worker *quick = urom_rig_worker(&rig, 42, FAULT_PLUGIN);

	(void)state;
	assert_true(urom_rig_start_worker(&rig, quick));
	for (int i = 0; i < SLOW_CLIENTS; i++) {
		struct program slow;

		assert_true(program_start(&slow, args));
		assert_true(program_await(&slow, "asked"));
		for (int j = 0; j < 100; j++) /* while answers accumulate */
			assert_int_equal(fault_ask(&rig, quick, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
		kill(slow.pid, SIGKILL);
		assert_int_equal(program_wait(&slow), 128 + SIGKILL);
		for (int j = 0; j < 100; j++)
			assert_int_equal(fault_ask(&rig, quick, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	}
	assert_true(urom_rig_stop_worker(&rig, quick));
	assert_nothing_else_is_disturbed();
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_crash_names_signal_operation_and_plugin),
		WITH_RIG(a_crash_in_progress),
		WITH_RIG(a_plugin_that_ends_the_process),
		WITH_RIG(a_crash_while_it_starts),
		WITH_RIG(a_crash_while_it_packs),
		WITH_RIG(a_crash_while_it_ends),
		WITH_RIG(a_plugin_that_ends_the_process_while_it_ends),
		WITH_RIG(what_a_plugin_started_ends_with_it),
		WITH_RIG(a_plugin_that_turns_forever),
		WITH_RIG(a_plugin_that_sleeps_forever),
		WITH_RIG(a_plugin_that_hangs_while_it_starts),
		WITH_RIG(a_plugin_that_hangs_while_it_ends),
		WITH_RIG(idle_and_stopped_workers_are_left_alone),
		WITH_RIG(notifications_without_end),
		WITH_RIG(notifications_in_one_call),
		WITH_RIG(notifications_for_nobody),
		WITH_RIG(an_answer_of_more_than_a_message_holds),
		WITH_RIG(a_command_left_in_the_list_fails_its_task),
		WITH_RIG(descriptors_without_end),
		WITH_RIG(memory_without_end),
		WITH_RIG(the_page_that_the_daemon_reads),
		WITH_RIG(the_socket_to_the_daemon),
		WITH_RIG(packets_without_end),
		WITH_RIG(a_hanging_worker_does_not_outlive_the_daemon),
		cmocka_unit_test_setup_teardown(a_slow_client_stops_no_other, open_large_rig, close_rig),
		cmocka_unit_test_setup_teardown(a_slow_client_that_dies_disturbs_no_other, open_large_rig, close_rig),
	};

	if (argc == 2 && strcmp(argv[1], "slow-client") == 0)
		return slow_client();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
