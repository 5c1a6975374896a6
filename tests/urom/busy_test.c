/* SPDX-License-Identifier: BSD-3-Clause */
/* Time limits on a busy machine: a process that is slow because others use the processor is waited for, while one that hangs
 * is ended. */
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

#include "fault_rig.h"
#include "support/stop.h"

#define HOGS 5

static struct urom_rig rig;
static cpu_set_t all, one; /* the processors of this test, and the busy one */
static pid_t hogs[HOGS];

/* ---- a processor that other processes use, too ---- */

static void find_processors(void)
{
	int cpu = CPU_SETSIZE - 1;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
}

/* In their own sessions, because a kernel may divide the processor among sessions first. */
static void start_hogs(void)
{
	for (int i = 0; i < HOGS; i++) {
		hogs[i] = fork();
		assert_true(hogs[i] >= 0);
		if (hogs[i] > 0)
			continue;
		(void)setsid();
		(void)sched_setaffinity(0, sizeof(one), &one);
		alarm(120);
		for (;;)
			;
	}
}

static void end_hogs(void)
{
	for (int i = 0; i < HOGS; i++) {
		if (hogs[i] <= 0)
			continue;
		kill(hogs[i], SIGKILL);
		waitpid(hogs[i], NULL, 0);
		hogs[i] = 0;
	}
}

static int open_rig(void **state)
{
	static const char *const limits[] = {"--plugin-timeout", "1", NULL};

	(void)state;
	find_processors();
	return urom_rig_open(&rig, limits) ? 0 : -1;
}

static int open_patient_rig(void **state)
{
	static const char *const limits[] = {"--plugin-timeout", "60", NULL};

	(void)state;
	find_processors();
	return urom_rig_open(&rig, limits) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	end_hogs();
	unsetenv("CHATTY");
	urom_rig_close(&rig);
	return 0;
}

/* Starts a worker that shares its processor with the hogs from now on. */
static struct doca_urom_worker *slow_worker(const char *at)
{
	struct doca_urom_worker *worker = fault_worker(&rig, at);

	assert_non_null(worker);
	assert_int_equal(sched_setaffinity(urom_rig_process_of(&rig, worker), sizeof(one), &one), 0);
	start_hogs();
	return worker;
}

/* ---- workers ---- */

/* Its work is shorter than --plugin-timeout, but takes several times as long here. */
static void a_plugin_that_is_slow_is_left_alone(void **state)
{
	struct doca_urom_worker *worker = slow_worker(NULL);

	(void)state;
	assert_int_equal(fault_ask(&rig, worker, FAULT_COMPUTE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void a_plugin_that_hangs_is_ended(void **state)
{
	struct doca_urom_worker *worker = slow_worker(NULL);

	(void)state;
	assert_int_equal(fault_ask(&rig, worker, FAULT_SPIN, FAULT_IN_CMD, NULL), DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(fault_await_end(&rig, worker));
	assert_true(program_await(&rig.daemon, "it hung in worker_cmd of worker_fault: --plugin-timeout is 1 seconds"));
}

static void a_plugin_that_is_slow_to_end_is_waited_for(void **state)
{
	struct doca_urom_worker *worker = slow_worker("close-compute");

	(void)state;
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_true(program_await(&rig.daemon, " has ended\n"));
}

/* ---- a client that waits for its worker, or for the daemon ---- */

/* The worker stays in a plugin for longer than the ten seconds that a client waits for a worker that does nothing. */
static void a_slow_worker_lets_a_client_in(void **state)
{
	struct doca_urom_worker *first = slow_worker(NULL), *second;
	struct fault_ask asks[4];
	enum doca_ctx_states now = DOCA_CTX_STATE_STARTING;
	uint64_t id, from = sf_now_ns();

	(void)state;
	assert_int_equal(doca_urom_worker_get_id(first, &id), DOCA_SUCCESS);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fault_submit(&rig, first, FAULT_COMPUTE, FAULT_IN_CMD, &asks[i]), DOCA_SUCCESS);
	second = urom_rig_worker(&rig, id, FAULT_PLUGIN);
	assert_non_null(second);
	assert_int_equal(doca_ctx_start(doca_urom_worker_as_ctx(second)), DOCA_ERROR_IN_PROGRESS);
	while (now == DOCA_CTX_STATE_STARTING) {
		urom_rig_progress(rig.pe);
		assert_int_equal(doca_ctx_get_state(doca_urom_worker_as_ctx(second), &now), DOCA_SUCCESS);
	}
	assert_int_equal(now, DOCA_CTX_STATE_RUNNING);
	print_message("let in after %llu ms\n", (unsigned long long)(sf_now_ns() - from) / 1000000);
	end_hogs();
	assert_true(urom_rig_stop_worker(&rig, second));
	assert_true(urom_rig_stop_worker(&rig, first));
}

static void a_stopped_worker_lets_nobody_in(void **state)
{
	struct doca_urom_worker *first = fault_worker(&rig, NULL), *second;
	uint64_t id;

	(void)state;
	assert_non_null(first);
	assert_int_equal(doca_urom_worker_get_id(first, &id), DOCA_SUCCESS);
	process_stop(urom_rig_process_of(&rig, first));
	second = urom_rig_worker(&rig, id, FAULT_PLUGIN);
	assert_non_null(second);
	assert_false(urom_rig_start_worker(&rig, second));
	assert_true(fault_await_end(&rig, second));
	kill(urom_rig_process_of(&rig, first), SIGCONT);
	assert_true(urom_rig_stop_worker(&rig, first));
}

static doca_error_t start_service(void)
{
	struct doca_urom_service *service = urom_rig_service(&rig);
	uint64_t from = sf_now_ns();

	assert_non_null(service);
	doca_error_t result = doca_ctx_start(doca_urom_service_as_ctx(service));
	print_message("%s after %llu ms\n", doca_error_get_name(result), (unsigned long long)(sf_now_ns() - from) / 1000000);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_ctx_stop(doca_urom_service_as_ctx(service)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_service_destroy(service), DOCA_SUCCESS);
	return result;
}

/* The daemon takes longer than the two seconds of a start, but runs meanwhile. */
static void a_slow_daemon_is_waited_for(void **state)
{
	char options[256];
	const char *found = getenv("ASAN_OPTIONS");

	(void)state;
	snprintf(options, sizeof(options), "%s:verify_asan_link_order=0", found != NULL ? found : "");
	setenv("ASAN_OPTIONS", options, 1); /* AddressSanitizer requires that its library be loaded first */
	setenv("LD_PRELOAD", getenv("SLOW_ACCEPT"), 1);
	bool started = urom_rig_start_daemon(&rig, NULL);
	unsetenv("LD_PRELOAD");
	assert_true(started);
	assert_int_equal(start_service(), DOCA_SUCCESS);
}

static void a_stopped_daemon_is_not(void **state)
{
	(void)state;
	process_stop(rig.daemon.pid);
	assert_int_equal(start_service(), DOCA_ERROR_TIME_OUT);
	kill(rig.daemon.pid, SIGCONT);
	assert_int_equal(start_service(), DOCA_SUCCESS);
}

/* ---- inspecting plugins ---- */

static void a_plugin_that_is_slow_to_load_is_waited_for(void **state)
{
	char path[128];

	(void)state;
	find_processors();
	strcpy(rig.folder, "/tmp/urom-test-XXXXXX");
	assert_non_null(mkdtemp(rig.folder));
	snprintf(path, sizeof(path), "%s/worker_chatty.so", rig.folder);
	assert_int_equal(symlink(getenv("WORKER_CHATTY"), path), 0);
	const char *const options[] = {"--plugin-path", rig.folder, NULL};
	setenv("CHATTY", "compute", 1);
	start_hogs();
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0); /* the daemon runs on it, too */
	bool started = urom_rig_start_daemon(&rig, options);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_true(started);
	assert_non_null(strstr(rig.daemon.output, "worker_chatty.so, version 0x534600000001"));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)
#define WITH_PATIENT_RIG(test) cmocka_unit_test_setup_teardown(test, open_patient_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_plugin_that_is_slow_is_left_alone),
		WITH_RIG(a_plugin_that_hangs_is_ended),
		WITH_RIG(a_plugin_that_is_slow_to_end_is_waited_for),
		WITH_PATIENT_RIG(a_slow_worker_lets_a_client_in),
		WITH_PATIENT_RIG(a_stopped_worker_lets_nobody_in),
		cmocka_unit_test_teardown(a_slow_daemon_is_waited_for, close_rig),
		WITH_RIG(a_stopped_daemon_is_not),
		cmocka_unit_test_teardown(a_plugin_that_is_slow_to_load_is_waited_for, close_rig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
