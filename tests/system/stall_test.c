/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stall reports. In each test something stalls next to something that does not, and the only line logged is for the former. To
 * know that no other line follows, a test waits for the report of a stall that began later: the status thread checks everything
 * in one pass.
 */
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_log.h>

#include "base/log.h"
#include "base/status_page.h"
#include "core/ctx.h"
#include "support/child.h"
#include "support/comch_side.h"
#include "support/program.h"
#include "support/provider.h"
#include "support/stop.h"
#include "support/test_ctx.h"
#include "support/wait.h"

#define LIMIT_MS "300"
#define AGE "[0-9]+\\.[0-9] s"
#define LINES_MAX 16
#define DEADLINE_S 30
#define PROGRESS_MS 1 /* between two calls of a program that does not stall */

static const char *peer_program;

/* ---- the lines that the status thread logs ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t came;
	char lines[LINES_MAX][1024];
	int num;
} log_kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};

static void line_written(char *line)
{
	pthread_mutex_lock(&log_kept.lock);
	if (log_kept.num < LINES_MAX)
		snprintf(log_kept.lines[log_kept.num++], sizeof(log_kept.lines[0]), "%s", line);
	pthread_cond_broadcast(&log_kept.came);
	pthread_mutex_unlock(&log_kept.lock);
}

/* Called with the lock held. */
static int num_matching_locked(const char *pattern)
{
	regex_t regex;
	int num = 0;

	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	for (int i = 0; i < log_kept.num; i++)
		num += regexec(&regex, log_kept.lines[i], 0, NULL, 0) == 0;
	regfree(&regex);
	return num;
}

static int num_matching(const char *pattern)
{
	pthread_mutex_lock(&log_kept.lock);
	int num = num_matching_locked(pattern);
	pthread_mutex_unlock(&log_kept.lock);
	return num;
}

/* Waits at most ms milliseconds for a line that matches. */
static bool line_came(const char *pattern, uint64_t ms)
{
	uint64_t end_ns = sf_now_ns() + ms * 1000000;
	const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000)};
	bool in_time = true, came;

	pthread_mutex_lock(&log_kept.lock);
	while (!(came = num_matching_locked(pattern) != 0) && in_time)
		in_time = pthread_cond_clockwait(&log_kept.came, &log_kept.lock, CLOCK_MONOTONIC, &end) == 0;
	pthread_mutex_unlock(&log_kept.lock);
	return came;
}

static int lines_open(void **state)
{
	static char text[1024];
	struct doca_log_backend *backend;

	(void)state;
	return doca_log_backend_create_with_buf_sdk(text, sizeof(text), line_written, &backend) != DOCA_SUCCESS ||
	       doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING) != DOCA_SUCCESS;
}

static int lines_forget(void **state)
{
	(void)state;
	pthread_mutex_lock(&log_kept.lock);
	log_kept.num = 0;
	pthread_mutex_unlock(&log_kept.lock);
	return 0;
}

/* Progresses pe, if there is one, until a line matches. */
static void line_await(const char *pattern, struct doca_pe *pe)
{
	uint64_t end = sf_now_ms() + DEADLINE_S * 1000;

	while (!line_came(pattern, pe != NULL ? PROGRESS_MS : DEADLINE_S * 1000)) {
		if (pe != NULL)
			(void)doca_pe_progress(pe);
		if (sf_now_ms() > end) {
			for (int i = 0; i < log_kept.num; i++)
				print_error("%s\n", log_kept.lines[i]);
			fail_msg("no line matches %s", pattern);
		}
	}
}

/* ---- contexts of this test ---- */

struct own {
	struct test_ctx test;
	struct doca_pe *pe;
	struct sf_task_class waiting;
	struct doca_task *tasks[4];
	uint32_t num;
};

static void task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	doca_task_free(task);
}

/* Starts a context with num tasks in flight. may_wait: the tasks may wait for a peer, as receives do. */
static void own_init(struct own *own, const char *name, uint32_t num, bool may_wait)
{
	memset(own, 0, sizeof(*own));
	test_ctx_init(&own->test);
	own->test.base.status.name = name;
	own->test.base.status.device = "dpu0/test";
	own->test.hold_tasks = true;
	assert_int_equal(doca_pe_create(&own->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(own->pe, &own->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&own->test, task_ended, task_ended, 4), DOCA_SUCCESS);
	own->waiting = *own->test.pool.cls;
	own->waiting.may_wait = may_wait;
	own->test.pool.cls = &own->waiting;
	assert_int_equal(doca_ctx_start(&own->test.base), DOCA_SUCCESS);
	for (own->num = 0; own->num < num; own->num++) {
		assert_int_equal(test_task_alloc(&own->test, &own->tasks[own->num]), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(own->tasks[own->num]), DOCA_SUCCESS);
	}
}

static void own_fini(struct own *own)
{
	own->test.hold_tasks = own->test.not_drained = false;
	(void)doca_ctx_stop(&own->test.base);
	while (own->test.base.state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(own->pe);
	assert_int_equal(test_ctx_fini(&own->test), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(own->pe), DOCA_SUCCESS);
}

/* When this returns, everything that stalls now has been reported, because a stall that began later has. */
static void all_reported(struct doca_pe *pe)
{
	struct own last;

	own_init(&last, "last", 1, false);
	line_await("test \"last\" on dpu0/test has 1 task in flight, and none ended", pe);
	own_fini(&last);
}

/* ---- STOPPING ---- */

static void stopping_without_progress(void **state)
{
	struct own stuck, other;

	(void)state;
	own_init(&other, "other", 3, true);
	own_init(&stuck, "stuck", 3, false);
	assert_int_equal(doca_ctx_stop(&stuck.test.base), DOCA_ERROR_IN_PROGRESS);
	line_await("context test \"stuck\" on dpu0/test is in STOPPING for " AGE
		   ": 3 tasks are in flight; call doca_pe_progress on its progress engine \\(it was never called\\)",
		   NULL);
	all_reported(other.pe);
	assert_int_equal(num_matching("stuck"), 1);
	assert_int_equal(num_matching("other"), 0);
	own_fini(&stuck);
	own_fini(&other);
}

static void stopping_after_the_last_progress(void **state)
{
	struct own stuck;

	(void)state;
	own_init(&stuck, "stuck", 1, true);
	(void)doca_pe_progress(stuck.pe);
	all_reported(NULL); /* the progress call was recorded */
	assert_int_equal(num_matching("stuck"), 0);
	assert_int_equal(doca_ctx_stop(&stuck.test.base), DOCA_ERROR_IN_PROGRESS);
	line_await("\"stuck\" on dpu0/test is in STOPPING for " AGE
		   ": 1 task is in flight; call doca_pe_progress on its progress "
		   "engine \\(last call " AGE " ago\\)",
		   NULL);
	own_fini(&stuck);
}

static void stopping_with_tasks_to_free(void **state)
{
	struct own stuck;
	struct doca_task *task;

	(void)state;
	own_init(&stuck, "stuck", 0, false);
	assert_int_equal(test_task_alloc(&stuck.test, &task), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&stuck.test.base), DOCA_ERROR_IN_PROGRESS);
	line_await("\"stuck\" on dpu0/test is in STOPPING for " AGE ": free its 1 allocated task \\(doca_task_free\\)", stuck.pe);
	doca_task_free(task);
	own_fini(&stuck);
}

/* ---- tasks ---- */

static void task_without_progress(void **state)
{
	struct own stuck, other;

	(void)state;
	own_init(&other, "other", 3, true);
	own_init(&stuck, "stuck", 2, false);
	line_await("test \"stuck\" on dpu0/test has 2 tasks in flight, and none ended for " AGE
		   ": call doca_pe_progress on its progress engine \\(it was never called\\)",
		   other.pe);
	all_reported(other.pe);
	assert_int_equal(num_matching("stuck"), 1);
	assert_int_equal(num_matching("other"), 0);
	own_fini(&stuck);
	own_fini(&other);
}

static void peer_start(struct program *peer, const char *role, const char *name, const char *until)
{
	const char *argv[] = {peer_program, role, name, NULL};

	assert_true(program_start(peer, argv));
	assert_true(program_await(peer, until));
}

static void peer_kill(struct program *peer)
{
	kill(peer->pid, SIGCONT);
	kill(peer->pid, SIGKILL);
	(void)program_wait(peer);
}

/* Returns whether the peer has a status page, and `is` of its first engine. */
static bool page_shows(const struct program *peer, bool (*is)(const struct sf_status_page *page))
{
	static struct sf_status_page page;
	static char bytes[sizeof(page)];
	char path[4200];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/status.%d", getenv("SOFTFIELD_RUNTIME"), (int)peer->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, bytes, sizeof(bytes));
	close(fd);
	return len > 0 && sf_status_page_parse(bytes, (size_t)len, &page) && page.head.num_engines == 1 && is(&page);
}

static bool is_any(const struct sf_status_page *page)
{
	(void)page;
	return true;
}

/* The engine was not called between two samples. */
static bool is_idle(const struct sf_status_page *page)
{
	return page->engines[0].last_call_ns < page->head.sampled_ns;
}

/* The engine was in the same call at two samples. */
static bool is_inside(const struct sf_status_page *page)
{
	return page->engines[0].inside_since_ns != 0;
}

static void task_whose_peer_is_stopped(void **state)
{
	static struct program stopped, running;
	struct own stuck, flowing;
	struct sf_status_conn to_stopped = {0}, to_running = {0}, also_to_running = {0};
	char pattern[512];

	(void)state;
	peer_start(&stopped, "server", "stopped", "started\n");
	peer_start(&running, "server", "running", "started\n");
	assert_true(WAIT_UNTIL(page_shows(&stopped, is_any) && page_shows(&running, is_any)));
	process_stop(stopped.pid);
	own_init(&flowing, "flowing", 1, true);
	own_init(&stuck, "stuck", 1, false);
	sf_status_conn_open(&also_to_running, &stuck.test.base, running.pid, true);
	sf_status_conn_open(&to_stopped, &stuck.test.base, stopped.pid, true);
	sf_status_conn_open(&to_running, &flowing.test.base, running.pid, true);
	snprintf(pattern, sizeof(pattern),
		 "test \"stuck\" on dpu0/test has 1 task in flight, and none ended for " AGE ": process %d \\(status_peer\\) is "
		 "stopped by a signal or a debugger: continue it \\(kill -CONT %d\\) \\(last call " AGE " ago\\)",
		 (int)stopped.pid, (int)stopped.pid);
	line_await(pattern, stuck.pe);
	all_reported(flowing.pe);
	assert_int_equal(num_matching("stuck"), 1);
	assert_int_equal(num_matching("flowing"), 0);
	sf_status_conn_close(&also_to_running);
	sf_status_conn_close(&to_stopped);
	sf_status_conn_close(&to_running);
	own_fini(&stuck);
	own_fini(&flowing);
	peer_kill(&stopped);
	peer_kill(&running);
}

/* ---- connecting ---- */

/* For cases in which the line names the peer's process. By TCP it is known only until the peer's address has been found. */
static void skip_by_tcp(void)
{
	if (provider_is("tcp"))
		skip();
}

static void connect_to_a_process_that_does_not_progress(void **state)
{
	static struct program idle, busy;
	static struct comch_side stuck, other;
	char pattern[512];

	(void)state;
	skip_by_tcp();
	peer_start(&idle, "server", "idle", "started\n");
	peer_start(&busy, "server", "busy", "started\n");
	assert_int_equal(kill(idle.pid, SIGUSR1), 0);
	assert_true(WAIT_UNTIL(page_shows(&idle, is_idle)));
	side_init_client(&other, "busy");
	side_init_client(&stuck, "idle");
	assert_int_equal(doca_ctx_start(other.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_ctx_start(stuck.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(other.connection != NULL, other.pe, stuck.pe, NULL, NULL);
	snprintf(pattern, sizeof(pattern),
		 "connect of comch client \"idle\" on host0/[^ ]* has taken " AGE
		 ": process %d \\(status_peer\\) (must call doca_pe_progress|never called doca_pe_progress: call it there)",
		 (int)idle.pid);
	line_await(pattern, stuck.pe);
	all_reported(stuck.pe);
	assert_int_equal(num_matching("idle"), 1);
	assert_int_equal(num_matching("busy"), 0);
	peer_kill(&idle);
	SIDE_WAIT(side_state(stuck.ctx) == DOCA_CTX_STATE_IDLE, stuck.pe, NULL, NULL, NULL);
	side_fini(&stuck, NULL);
	side_fini(&other, NULL);
	peer_kill(&busy);
}

/* ---- AGAIN ---- */

static void submit_loop_on_again(void **state)
{
	struct own stuck, other;
	struct doca_task *refused;
	const char *pattern = "submit to test \"stuck\" on dpu0/test answers AGAIN for " AGE
			      ": 1 task is in flight; call doca_pe_progress on its progress engine \\(it was never called\\)";

	(void)state;
	own_init(&other, "other", 1, true);
	own_init(&stuck, "stuck", 1, true);
	stuck.test.room = 1;
	assert_int_equal(test_task_alloc(&stuck.test, &refused), DOCA_SUCCESS);
	for (uint64_t end = sf_now_ms() + DEADLINE_S * 1000; !line_came(pattern, PROGRESS_MS) && sf_now_ms() < end;)
		assert_int_equal(doca_task_submit(refused), DOCA_ERROR_AGAIN);
	all_reported(other.pe);
	assert_int_equal(num_matching(pattern), 1);
	assert_int_equal(num_matching("stuck"), 1);
	assert_int_equal(num_matching("other"), 0);
	doca_task_free(refused);
	own_fini(&stuck);
	own_fini(&other);
}

/* Two contexts of one engine: one ends a task in each call, the other has a task that does not end. */
static void task_that_is_stuck_while_others_move(void **state)
{
	struct own stuck;
	struct test_ctx moving;
	struct doca_task *task;

	(void)state;
	own_init(&stuck, "stuck", 1, false);
	test_ctx_init(&moving);
	moving.base.status.name = "moving";
	assert_int_equal(doca_pe_connect_ctx(stuck.pe, &moving.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&moving, task_ended, task_ended, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&moving.base), DOCA_SUCCESS);
	for (uint64_t end = sf_now_ms() + DEADLINE_S * 1000; !line_came("stuck", PROGRESS_MS) && sf_now_ms() < end;) {
		assert_int_equal(test_task_alloc(&moving, &task), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
		(void)doca_pe_progress(stuck.pe);
	}
	assert_int_equal(
		num_matching("test \"stuck\" on dpu0/test has had a task in flight, while others ended or moved, for " AGE
			     ": its engine is progressed and no peer is connected"),
		1);
	all_reported(stuck.pe);
	assert_int_equal(num_matching("stuck"), 1);
	assert_int_equal(num_matching("moving"), 0);
	(void)doca_ctx_stop(&moving.base);
	while (moving.base.state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(stuck.pe);
	assert_int_equal(test_ctx_fini(&moving), DOCA_SUCCESS);
	own_fini(&stuck);
}

/* ---- a callback that does not return ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool may_return;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Sleeps in the callback until the test lets it go. */
static void task_sleeps(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	pthread_mutex_lock(&gate.lock);
	while (!gate.may_return)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
	doca_task_free(task);
}

/* Runs until the task's callback has returned. */
static void *progress_main(void *argument)
{
	struct own *own = argument;

	while (own->test.base.num_allocated != 0)
		(void)doca_pe_progress(own->pe);
	return NULL;
}

static void callback_that_sleeps(void **state)
{
	struct own stuck, other;
	pthread_t thread;
	char pattern[512];

	(void)state;
	gate.may_return = false;
	own_init(&other, "other", 1, true);
	own_init(&stuck, "stuck", 0, false);
	stuck.test.pool.completed = stuck.test.pool.own_completed = task_sleeps;
	stuck.test.hold_tasks = false;
	assert_int_equal(test_task_alloc(&stuck.test, &stuck.tasks[0]), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(stuck.tasks[0]), DOCA_SUCCESS);
	assert_int_equal(pthread_create(&thread, NULL, progress_main, &stuck), 0);
	snprintf(pattern, sizeof(pattern),
		 "doca_pe_progress is in test \"stuck\" on dpu0/test and has not returned for " AGE
		 ": a callback blocks in it: return from it, and wait elsewhere; gdb -p %d -batch -ex 'thread "
		 "apply all bt' shows where it is",
		 (int)getpid());
	line_await(pattern, NULL);
	all_reported(other.pe);
	assert_int_equal(num_matching("stuck"), 1);
	assert_int_equal(num_matching("other"), 0);
	pthread_mutex_lock(&gate.lock);
	gate.may_return = true;
	pthread_cond_signal(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	own_fini(&stuck);
	own_fini(&other);
}

static void connect_to_a_process_that_sleeps_in_a_callback(void **state)
{
	static struct program asleep;
	static struct comch_side other, stuck;
	char pattern[512];

	(void)state;
	skip_by_tcp();
	peer_start(&asleep, "server", "asleep", "started\n");
	side_init_client(&other, "asleep");
	assert_int_equal(doca_ctx_start(other.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(other.connection != NULL, other.pe, NULL, NULL, NULL);
	assert_int_equal(side_send(&other, "wait", 4), DOCA_SUCCESS);
	SIDE_WAIT(other.num_sent == 1, other.pe, NULL, NULL, NULL);
	assert_true(program_await(&asleep, "asleep\n"));
	assert_true(WAIT_UNTIL(page_shows(&asleep, is_inside)));
	side_init_client(&stuck, "asleep");
	assert_int_equal(doca_ctx_start(stuck.ctx), DOCA_ERROR_IN_PROGRESS);
	snprintf(pattern, sizeof(pattern),
		 "connect of comch client \"asleep\" on host0/[^ ]* has taken " AGE
		 ": process %d \\(status_peer\\) must return from a callback, for doca_pe_progress has not returned: gdb -p %d "
		 "-batch -ex 'thread apply all bt' shows where it is \\(the call has taken " AGE "\\)",
		 (int)asleep.pid, (int)asleep.pid);
	line_await(pattern, stuck.pe);
	assert_int_equal(num_matching("asleep"), 1);
	peer_kill(&asleep);
	SIDE_WAIT(side_state(stuck.ctx) == DOCA_CTX_STATE_IDLE, stuck.pe, NULL, NULL, NULL);
	side_fini(&stuck, NULL);
	side_fini(&other, NULL);
}

/* ---- what is no stall ---- */

/* A program sleeps for an event with nothing due: it waits for its peer. */
static void a_sleeper_is_not_to_blame(void **state)
{
	struct own sleeper;

	(void)state;
	own_init(&sleeper, "sleeper", 1, false);
	(void)doca_pe_progress(sleeper.pe);
	assert_int_equal(doca_pe_clear_notification(sleeper.pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(sleeper.pe), DOCA_SUCCESS);
	line_await("\"sleeper\" on dpu0/test has 1 task in flight, and none ended for " AGE
		   ": its engine is progressed and no peer is connected: wait for a peer, or the work itself takes this long",
		   NULL);
	assert_int_equal(num_matching("call doca_pe_progress"), 0);
	own_fini(&sleeper);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stopping_without_progress, lines_forget),
		cmocka_unit_test_setup(stopping_after_the_last_progress, lines_forget),
		cmocka_unit_test_setup(stopping_with_tasks_to_free, lines_forget),
		cmocka_unit_test_setup(task_without_progress, lines_forget),
		cmocka_unit_test_setup(task_whose_peer_is_stopped, lines_forget),
		cmocka_unit_test_setup(connect_to_a_process_that_does_not_progress, lines_forget),
		cmocka_unit_test_setup(submit_loop_on_again, lines_forget),
		cmocka_unit_test_setup(task_that_is_stuck_while_others_move, lines_forget),
		cmocka_unit_test_setup(callback_that_sleeps, lines_forget),
		cmocka_unit_test_setup(connect_to_a_process_that_sleeps_in_a_callback, lines_forget),
		cmocka_unit_test_setup(a_sleeper_is_not_to_blame, lines_forget),
	};
	char folder[] = "/tmp/stall_test.XXXXXX";
	int result;

	if (argc != 2 || mkdtemp(folder) == NULL)
		return 2;
	peer_program = argv[1];
	setenv("SOFTFIELD_RUNTIME", folder, 1);
	setenv("SOFTFIELD_STALL_MS", LIMIT_MS, 1);
	result = cmocka_run_group_tests(tests, lines_open, NULL);
	(void)!system("rm -rf \"$SOFTFIELD_RUNTIME\"");
	return result;
}
