/* SPDX-License-Identifier: BSD-3-Clause */
/* What others see of UROM's contexts: softfield ps, and the report of a stall. The environment has SOFTFIELD_STALL_MS=200. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_log.h>

#include "support/stop.h"
#include "support/urom_rig.h"
#include "support/wait.h"

#define LINES_MAX 32
#define GRAPH "worker_graph"

static struct urom_rig rig;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[LINES_MAX][1024]; /* GUARDED_BY(lock) */
static int num_lines;

static void line_written(char *line)
{
	pthread_mutex_lock(&lock);
	if (num_lines < LINES_MAX)
		snprintf(lines[num_lines++], sizeof(lines[0]), "%s", line);
	pthread_mutex_unlock(&lock);
}

static bool has_line(const char *first, const char *second)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < num_lines; i++)
		found |= strstr(lines[i], first) != NULL && strstr(lines[i], second) != NULL;
	pthread_mutex_unlock(&lock);
	return found;
}

static int open_all(void **state)
{
	static char text[1024];
	struct doca_log_backend *backend;

	(void)state;
	assert_int_equal(doca_log_backend_create_with_buf_sdk(text, sizeof(text), line_written, &backend), DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
	assert_true(urom_rig_open(&rig, NULL));
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return 0;
}

/* Returns whether softfield ps prints a line with these words in this order. */
static bool ps_shows(const char *const words[])
{
	char line[512], command[512];
	bool found = false;
	FILE *ps;

	snprintf(command, sizeof(command), "'%s' ps", getenv("PS_TOOL"));
	ps = popen(command, "re");
	assert_non_null(ps);
	while (fgets(line, sizeof(line), ps) != NULL) {
		const char *at = line;

		for (int i = 0; words[i] != NULL && at != NULL; i++)
			at = strstr(at, words[i]);
		found |= at != NULL;
	}
	assert_int_equal(pclose(ps), 0);
	return found;
}

static void contexts_have_a_device_and_a_peer(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	char daemon[16], process[16];

	(void)state;
	assert_true(urom_rig_start_worker(&rig, worker));
	snprintf(daemon, sizeof(daemon), "%d", (int)rig.daemon.pid);
	snprintf(process, sizeof(process), "%d", (int)urom_rig_process_of(&rig, worker));
	assert_true(WAIT_UNTIL(ps_shows((const char *[]){"urom worker", "/0000:", "RUNNING", NULL})));
	assert_true(ps_shows((const char *[]){"urom service", "/0000:", "RUNNING", NULL}));
	assert_true(ps_shows((const char *[]){"urom service", "connected", daemon, "doca_urom_daemo", NULL}));
	assert_true(WAIT_UNTIL(ps_shows((const char *[]){"urom worker", "connected", process, "doca_urom_worke", NULL})));
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void a_stopped_daemon_is_named(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);
	uint64_t end = sf_now_ns() + UROM_RIG_WAIT_NS;
	char cause[128];

	(void)state;
	assert_false(has_line("urom worker", "has taken"));
	snprintf(cause, sizeof(cause),
		 "process %d (doca_urom_daemo) is stopped by a signal or a debugger: continue it (kill -CONT %d)",
		 (int)rig.daemon.pid, (int)rig.daemon.pid);
	process_stop(rig.daemon.pid);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
	while (!has_line("connect of urom worker on ", cause) && sf_now_ns() < end)
		urom_rig_progress(rig.pe);
	assert_true(has_line("connect of urom worker on ", cause));
	kill(rig.daemon.pid, SIGCONT);
	assert_true(urom_rig_await(&rig, ctx, DOCA_CTX_STATE_RUNNING));
	assert_true(urom_rig_stop_worker(&rig, worker));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contexts_have_a_device_and_a_peer),
		cmocka_unit_test(a_stopped_daemon_is_named),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
