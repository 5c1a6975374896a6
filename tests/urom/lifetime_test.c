/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the service that are stopped or killed: none outlives the daemon, and none holds what a new daemon needs. */
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault_rig.h"
#include "support/sanitizers.h"
#include "support/wait.h"

#define ANY DOCA_UROM_WORKER_ID_ANY

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

/* ---- processes ---- */

static pid_t parent_of(pid_t pid)
{
	char path[64], text[512] = "";
	int parent = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return -1;
	const char *end = fgets(text, sizeof(text), file) != NULL ? strrchr(text, ')') : NULL;
	fclose(file);
	return end != NULL && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

static bool runs_daemon(pid_t pid)
{
	char path[64], program[PATH_MAX] = "";

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, program, sizeof(program) - 1) > 0 && strstr(program, "doca_urom_daemon") != NULL;
}

/* Returns the daemon's child that starts its workers, or the daemon if it has none. */
static pid_t find_spawner(void)
{
	pid_t spawner = rig.daemon.pid;
	DIR *folder = opendir("/proc");

	assert_non_null(folder);
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && parent_of(pid) == rig.daemon.pid && runs_daemon(pid))
			spawner = pid;
	}
	closedir(folder);
	return spawner;
}

static void await_end_of(pid_t pid)
{
	assert_true(process_await_end(pid));
	assert_false(process_is_there(pid));
}

static void kill_daemon(void)
{
	kill(rig.daemon.pid, SIGKILL);
	assert_int_equal(program_wait(&rig.daemon), 128 + SIGKILL);
	rig.daemon.pid = 0;
	assert_true(urom_rig_await(&rig, doca_urom_service_as_ctx(rig.service), DOCA_CTX_STATE_IDLE));
}

/* A new daemon starts at the same port of the same node, and it works. */
static void assert_new_daemon_serves(void)
{
	assert_true(urom_rig_start_daemon(&rig, NULL));
	assert_int_equal(doca_ctx_start(doca_urom_service_as_ctx(rig.service)), DOCA_SUCCESS);
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

/* ---- a daemon that is killed ---- */

static void a_stopped_worker_ends_with_the_daemon(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);

	(void)state;
	assert_non_null(worker);
	pid_t pid = urom_rig_process_of(&rig, worker);
	kill(pid, SIGSTOP);
	kill_daemon();
	await_end_of(pid);
	assert_true(fault_await_end(&rig, worker));
	assert_new_daemon_serves();
}

static void what_a_plugin_started_ends_with_the_daemon(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	uint64_t child, orphan;

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_CHILD, FAULT_IN_CMD, &child), DOCA_SUCCESS);
	assert_int_equal(fault_ask(&rig, worker, FAULT_ORPHAN, FAULT_IN_CMD, &orphan), DOCA_SUCCESS);
	assert_true(process_is_there((pid_t)child) && process_is_there((pid_t)orphan));
	kill((pid_t)child, SIGSTOP);
	kill((pid_t)orphan, SIGSTOP);
	kill_daemon();
	await_end_of((pid_t)child);
	await_end_of((pid_t)orphan);
	assert_true(fault_await_end(&rig, worker));
}

static void a_stopped_spawner_ends_with_the_daemon(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	pid_t spawner = find_spawner();

	(void)state;
	assert_non_null(worker);
	assert_int_not_equal(spawner, rig.daemon.pid);
	pid_t pid = urom_rig_process_of(&rig, worker);
	kill(spawner, SIGSTOP);
	kill(pid, SIGSTOP);
	kill_daemon();
	await_end_of(pid);
	await_end_of(spawner);
	assert_true(fault_await_end(&rig, worker));
	assert_new_daemon_serves();
}

/* ---- a child that is stopped before it executes the worker's program ---- */

/* Progresses the start of the worker until the traced process has forked. Returns the child, stopped before its first
 * instruction. */
static pid_t await_fork(pid_t spawner)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	unsigned long child = 0;

	while (child == 0 && sf_now_ns() < until) {
		int status;

		urom_rig_progress(rig.pe);
		if (waitpid(spawner, &status, __WALL | WNOHANG) != spawner)
			continue;
		assert_true(WIFSTOPPED(status));
		if (status >> 16 == 0 || status >> 16 == PTRACE_EVENT_STOP) {
			ptrace(PTRACE_CONT, spawner, NULL, status >> 16 == 0 ? (void *)(uintptr_t)WSTOPSIG(status) : NULL);
			continue;
		}
		assert_int_equal(ptrace(PTRACE_GETEVENTMSG, spawner, NULL, &child), 0);
	}
	assert_int_not_equal(child, 0);
	assert_int_equal(waitpid((pid_t)child, NULL, __WALL), child);
	return (pid_t)child;
}

static void a_child_that_is_stopped_before_exec_keeps_nothing(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, FAULT_PLUGIN);
	pid_t spawner = find_spawner();

	(void)state;
	if (ptrace(PTRACE_SEIZE, spawner, NULL,
		   (void *)(uintptr_t)(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)) != 0) {
		print_message("processes cannot be traced here\n");
		skip();
	}
	assert_int_equal(doca_ctx_start(doca_urom_worker_as_ctx(worker)), DOCA_ERROR_IN_PROGRESS);
	pid_t child = await_fork(spawner);
	kill(child, SIGSTOP);
	assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, spawner, NULL, NULL), 0);
	/* The daemon does not wait for the child. */
	struct doca_urom_worker *next = fault_worker(&rig, NULL);
	assert_non_null(next);
	assert_int_equal(fault_ask(&rig, next, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	kill_daemon();
	await_end_of(child);
	assert_true(fault_await_end(&rig, worker) && fault_await_end(&rig, next));
	assert_new_daemon_serves();
}

/* ---- the spawner ---- */

static void a_stopped_spawner_is_continued(void **state)
{
	pid_t spawner = find_spawner();

	(void)state;
	assert_int_not_equal(spawner, rig.daemon.pid);
	kill(spawner, SIGSTOP);
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

/* A service that can no longer start workers logs that and exits, so that its supervisor starts it again. */
static void a_daemon_ends_with_its_spawner(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);

	(void)state;
	assert_non_null(worker);
	kill(find_spawner(), SIGKILL);
	assert_true(fault_await_end(&rig, worker));
	assert_true(urom_rig_await(&rig, doca_urom_service_as_ctx(rig.service), DOCA_CTX_STATE_IDLE));
	assert_int_equal(program_wait(&rig.daemon), EXIT_FAILURE);
	rig.daemon.pid = 0;
	assert_non_null(strstr(rig.daemon.output, "which starts the workers, ended: the service ends too, start it again"));
	assert_new_daemon_serves();
}

/* ---- a program that forks ---- */

#define FORKS 40
#define CHILD_S 30 /* seconds; after that it hangs */

static atomic_bool threads_end, thread_failed;

/* Starts another service, and stops it. */
static bool use_service(void)
{
	struct doca_urom_service *service;
	struct doca_pe *pe;

	if (doca_pe_create(&pe) != DOCA_SUCCESS || doca_urom_service_create(&service) != DOCA_SUCCESS)
		return false;
	struct doca_ctx *ctx = doca_urom_service_as_ctx(service);
	return doca_pe_connect_ctx(pe, ctx) == DOCA_SUCCESS && doca_urom_service_set_dev(service, rig.dev) == DOCA_SUCCESS &&
	       doca_ctx_start(ctx) == DOCA_SUCCESS && doca_ctx_stop(ctx) == DOCA_SUCCESS &&
	       doca_urom_service_destroy(service) == DOCA_SUCCESS && doca_pe_destroy(pe) == DOCA_SUCCESS;
}

static void *use_services(void *unused)
{
	(void)unused;
	while (!atomic_load(&threads_end)) {
		if (!use_service())
			atomic_store(&thread_failed, true);
	}
	return NULL;
}

/* Other threads are anywhere in the library during the fork. In the child no lock may stay held by a thread that does not
 * exist there. */
static void a_child_of_a_program_that_uses_services(void **state)
{
	pthread_t threads[2];

	(void)state;
	if (HAS_ASAN)
		skip(); /* its allocator does not survive a fork next to other threads: its locks stay held in the child */
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_services, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		int status = -1;
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0) {
			alarm(CHILD_S);
			_exit(use_service() ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&threads_end, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_false(atomic_load(&thread_failed));
	/* The children had copies of the connections, which must not disturb them. */
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_stopped_worker_ends_with_the_daemon),   WITH_RIG(what_a_plugin_started_ends_with_the_daemon),
		WITH_RIG(a_stopped_spawner_ends_with_the_daemon),  WITH_RIG(a_child_that_is_stopped_before_exec_keeps_nothing),
		WITH_RIG(a_stopped_spawner_is_continued),	   WITH_RIG(a_daemon_ends_with_its_spawner),
		WITH_RIG(a_child_of_a_program_that_uses_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
