/* SPDX-License-Identifier: BSD-3-Clause */
/* A service that shuts down or meets the limits of its machine: what clients see, and that the service keeps working. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault_rig.h"
#include "support/wait.h"

#define ANY DOCA_UROM_WORKER_ID_ANY

static struct urom_rig rig;
static char *real_daemon;

static int open_rig(void **state)
{
	static const char *const limits[] = {"--plugin-timeout", "2", NULL};

	(void)state;
	return urom_rig_open(&rig, limits) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	setenv("UROM_DAEMON", real_daemon, 1);
	return 0;
}

/* Makes a new folder, for a daemon with other settings. */
static void start_over(void)
{
	urom_rig_close(&rig);
	strcpy(rig.folder, "/tmp/urom-test-XXXXXX");
	assert_non_null(mkdtemp(rig.folder));
}

static void __attribute__((format(printf, 3, 4))) write_file(const char *path, mode_t mode, const char *format, ...)
{
	va_list values;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	va_start(values, format);
	vfprintf(file, format, values);
	va_end(values);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void assert_goes_on(void)
{
	struct doca_urom_worker *next = fault_worker(&rig, NULL);

	assert_non_null(next);
	assert_int_equal(fault_ask(&rig, next, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, next));
}

/* ---- shutdown ---- */

static void assert_service_is_idle(void)
{
	assert_true(urom_rig_await(&rig, doca_urom_service_as_ctx(rig.service), DOCA_CTX_STATE_IDLE));
	assert_int_equal(program_wait(&rig.daemon), 0);
	rig.daemon.pid = 0;
}

static void what_is_under_way_is_answered_before_the_end(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, FAULT_PLUGIN);
	char path[128], variable[160];
	char *env[] = {variable};
	struct fault_ask ask;

	(void)state;
	snprintf(path, sizeof(path), "%s/awaited", rig.folder);
	snprintf(variable, sizeof(variable), FAULT_FILE_ENV "=%s", path);
	assert_int_equal(doca_urom_worker_set_env(worker, env, 1), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(fault_submit(&rig, worker, FAULT_WHEN_FILE, FAULT_IN_CMD, &ask), DOCA_SUCCESS);
	assert_true(program_await(&rig.daemon, "a file is waited for"));
	kill(rig.daemon.pid, SIGTERM);
	assert_true(program_await(&rig.daemon, "ending the workers"));
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_true(urom_rig_await_flag(&rig, &ask.done));
	assert_int_equal(ask.status, DOCA_SUCCESS);
	assert_true(fault_await_end(&rig, worker));
	assert_service_is_idle();
}

static void what_is_never_answered_fails_at_the_end(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	struct fault_ask ask;

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_submit(&rig, worker, FAULT_SPIN, FAULT_IN_PROGRESS, &ask), DOCA_SUCCESS);
	assert_true(program_await(&rig.daemon, "a plugin hangs now"));
	kill(rig.daemon.pid, SIGTERM);
	assert_true(fault_await_end(&rig, worker)); /* killed after using two seconds of processor time, or after ten seconds */
	assert_service_is_idle();
	assert_non_null(strstr(rig.daemon.output, "in progress of worker_fault"));
}

/* ---- the machine's limits ---- */

/* Returns one more than the highest open descriptor. */
static rlim_t files_of_daemon(void)
{
	char path[64];
	int highest = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", rig.daemon.pid);
	DIR *folder = opendir(path);
	assert_non_null(folder);
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		highest = atoi(entry->d_name) > highest ? atoi(entry->d_name) : highest;
	closedir(folder);
	return (rlim_t)highest + 1;
}

static void too_many_open_files(void **state)
{
	struct rlimit before;

	(void)state;
	assert_int_equal(prlimit(rig.daemon.pid, RLIMIT_NOFILE, NULL, &before), 0);
	for (rlim_t more = 0; more < 6; more++) { /* so that each of the descriptors that a worker needs is the missing one */
		const struct rlimit few = {files_of_daemon() + more, before.rlim_max};

		assert_int_equal(prlimit(rig.daemon.pid, RLIMIT_NOFILE, &few, NULL), 0);
		struct doca_urom_worker *worker = fault_worker(&rig, NULL);
		if (worker != NULL)
			assert_true(urom_rig_stop_worker(&rig, worker));
		assert_true(worker == NULL || more > 3);
	}
	assert_int_equal(prlimit(rig.daemon.pid, RLIMIT_NOFILE, &before, NULL), 0);
	assert_true(program_await(&rig.daemon,
				  "Too many open files; the service has too many open files: end workers, or raise its limit"));
	assert_goes_on();
}

#define WORKERS 8

/* Returns whether another process gets a worker. */
static bool other_program_gets_worker(void)
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child != 0) {
		assert_int_equal(waitpid(child, &status, 0), child);
		return status == 0;
	}
	alarm(60);
	rig.service = NULL;
	rig.dev = NULL;
	rig.pe = NULL;
	rig.service = urom_rig_service(&rig);
	if (rig.service == NULL || doca_ctx_start(doca_urom_service_as_ctx(rig.service)) != DOCA_SUCCESS)
		_exit(2);
	_exit(fault_worker(&rig, NULL) != NULL ? 0 : 1);
}

static void a_program_that_wants_all_workers(void **state)
{
	static const char *const limits[] = {"--max-workers", "8", NULL};
	struct doca_urom_worker *workers[WORKERS];

	(void)state;
	assert_true(urom_rig_open(&rig, limits));
	for (int i = 0; i < WORKERS; i++)
		workers[i] = fault_worker(&rig, NULL);
	for (int i = 0; i < WORKERS; i++)
		assert_int_equal(workers[i] != NULL, i < WORKERS - 1);
	assert_true(other_program_gets_worker());
	for (int i = 0; i < WORKERS - 1; i++)
		assert_true(urom_rig_stop_worker(&rig, workers[i]));
}

#define CROWD 200
#define WATCHED_NS UINT64_C(500000000)

/* Finds the daemon's socket in the runtime folder. */
static void find_door(struct sockaddr_un *door)
{
	DIR *folder = opendir(rig.folder);

	assert_non_null(folder);
	*door = (struct sockaddr_un){.sun_family = AF_UNIX};
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (entry->d_type == DT_SOCK)
			snprintf(door->sun_path, sizeof(door->sun_path), "%.40s/%.60s", rig.folder, entry->d_name);
	}
	closedir(folder);
	assert_true(door->sun_path[0] != '\0');
}

static uint64_t processor_time_of_daemon_ns(void)
{
	clockid_t clock;
	struct timespec ran;

	assert_int_equal(clock_getcpuclockid(rig.daemon.pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &ran), 0);
	return (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec;
}

/* More clients than the daemon has descriptors for connect and send nothing. The daemon must neither spin nor fill its log,
 * and must serve again when they leave. */
static void a_crowd_that_takes_all_descriptors(void **state)
{
	struct sockaddr_un door;
	struct rlimit before, few;
	int fds[CROWD];

	(void)state;
	find_door(&door);
	assert_int_equal(prlimit(rig.daemon.pid, RLIMIT_NOFILE, NULL, &before), 0);
	rlim_t files = files_of_daemon();
	few = (struct rlimit){files + 16, before.rlim_max};
	assert_int_equal(prlimit(rig.daemon.pid, RLIMIT_NOFILE, &few, NULL), 0);
	for (int i = 0; i < CROWD; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&door, sizeof(door)), 0);
	}
	assert_true(program_await(&rig.daemon, "cannot accept connections now: Too many open files"));
	uint64_t from = processor_time_of_daemon_ns();
	time_pass_ns(WATCHED_NS);
	uint64_t ran = processor_time_of_daemon_ns() - from;
	print_message("the daemon ran for %llu of %llu ms\n", (unsigned long long)ran / 1000000,
		      (unsigned long long)WATCHED_NS / 1000000);
	assert_true(ran < WATCHED_NS / 5);
	for (int i = 0; i < CROWD; i++)
		close(fds[i]);
	assert_true(WAIT_UNTIL(files_of_daemon() <= files));
	assert_goes_on();
	assert_true(rig.daemon.output_len < sizeof(rig.daemon.output) / 2);
	assert_int_equal(prlimit(rig.daemon.pid, RLIMIT_NOFILE, &before, NULL), 0);
}

#define NOBODY 65534
#define AS_NOBODY "setpriv --reuid=65534 --regid=65534 --clear-groups"

/* Root has no such limit, so root's daemon runs as another user. Returns false if that user cannot execute it. */
static bool restart_daemon_as_nobody(void)
{
	char command[512], path[128], theirs[] = "/tmp/urom-nobody-XXXXXX", secret[64];
	static const char shared[] = "a secret that two users have";

	snprintf(command, sizeof(command), AS_NOBODY " test -x '%s'", real_daemon);
	if (system(command) != 0)
		return false;
	start_over();
	assert_non_null(mkdtemp(theirs));
	snprintf(secret, sizeof(secret), "%s/secret", theirs);
	write_file(secret, 0600, "%s", shared);
	assert_int_equal(chown(secret, NOBODY, NOBODY) | chown(theirs, NOBODY, NOBODY), 0);
	snprintf(path, sizeof(path), "%s/secret", rig.folder);
	write_file(path, 0600, "%s", shared);
	setenv("UROM_SECRET_FILE", path, 1);
	snprintf(path, sizeof(path), "%s/daemon", rig.folder);
	write_file(path, 0700,
		   "#!/bin/sh\nexport SOFTFIELD_RUNTIME='%s' UROM_SECRET_FILE='%s'\n"
		   "exec " AS_NOBODY " '%s' \"$@\"\n",
		   theirs, secret, real_daemon);
	setenv("UROM_DAEMON", path, 1);
	assert_true(urom_rig_open(&rig, NULL));
	unsetenv("UROM_SECRET_FILE");
	snprintf(command, sizeof(command), "rm -rf '%s'", theirs);
	assert_int_equal(system(command), 0); /* the daemon has opened or read everything that it needs */
	return true;
}

static bool limit_processes(const char *limit)
{
	char command[256];

	snprintf(command, sizeof(command), "%s prlimit --pid=%d --nproc=%s", geteuid() == 0 ? AS_NOBODY : "", rig.daemon.pid,
		 limit);
	return system(command) == 0;
}

static void too_many_processes(void **state)
{
	struct rlimit before;
	char all[32];

	(void)state;
	if (geteuid() == 0 && !restart_daemon_as_nobody()) {
		print_message("user %d cannot run %s, and root may have any number of processes\n", NOBODY, real_daemon);
		skip();
	}
	assert_int_equal(getrlimit(RLIMIT_NPROC, &before), 0); /* also the daemon's limit */
	snprintf(all, sizeof(all), "%llu:", (unsigned long long)before.rlim_cur);
	assert_true(limit_processes("1:"));
	assert_null(fault_worker(&rig, NULL));
	assert_true(program_await(&rig.daemon, "the user has too many processes: end some, or raise the limit"));
	assert_true(limit_processes(before.rlim_cur == RLIM_INFINITY ? "unlimited:" : all));
	assert_goes_on();
}

/* ---- output ---- */

/* Returns whether the pipe is full; how many bytes fit depends on the sizes of the writes. */
static bool output_is_full(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", rig.daemon.pid, STDERR_FILENO);
	struct pollfd room = {open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC), POLLOUT, 0};
	assert_true(room.fd >= 0);
	int num = poll(&room, 1, 0);
	close(room.fd);
	assert_true(num >= 0);
	return num == 0;
}

static void a_worker_that_prints_into_a_full_pipe(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL), *next;
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	(void)state;
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_PRINT, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	while (!output_is_full() && sf_now_ns() < until)
		assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(output_is_full());
	for (int i = 0; i < 20; i++)
		assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	next = fault_worker(&rig, NULL);
	assert_non_null(next);
	assert_int_equal(fault_ask(&rig, next, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, next));
	assert_true(urom_rig_stop_worker(&rig, worker));
}

/* Runs the daemon from a shell, after the commands in `before`, and with its standard error redirected. */
static void run_daemon_after(const char *before, const char *redirect)
{
	char path[128];

	start_over();
	snprintf(path, sizeof(path), "%s/daemon", rig.folder);
	write_file(path, 0700, "#!/bin/sh\ncd '%s'\n%s\nexec '%s' \"$@\" %s\n", rig.folder, before, real_daemon, redirect);
	setenv("UROM_DAEMON", path, 1);
	assert_true(urom_rig_open(&rig, NULL));
}

static void redirect_daemon(const char *redirect)
{
	run_daemon_after("", redirect);
}

#define SOCKET_FD 9 /* one digit, for the shell */

/* As systemd's journal does when it is stopped. */
static void nobody_reads_a_socket_under_the_log(void **state)
{
	int ends[2];

	(void)state;
	start_over(); /* closes the rig's descriptors, so that this number is free */
	assert_int_equal(fcntl(SOCKET_FD, F_GETFD), -1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(dup2(ends[1], SOCKET_FD), SOCKET_FD);
	redirect_daemon("2>&9");
	close(SOCKET_FD);
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_PRINT, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	struct pollfd room = {ends[1], POLLOUT, 0};
	for (uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS; poll(&room, 1, 0) != 0 && sf_now_ns() < until;)
		assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_int_equal(poll(&room, 1, 0), 0);
	assert_goes_on();
	assert_true(urom_rig_stop_worker(&rig, worker));
	close(ends[0]);
	close(ends[1]);
}

static bool file_holds(const char *name, const char *text)
{
	static char content[1 << 20];
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", rig.folder, name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	size_t len = fread(content, 1, sizeof(content) - 1, file);
	fclose(file);
	content[len] = '\0';
	return strstr(content, text) != NULL;
}

static void a_worker_that_prints_without_end_is_cut_short(void **state)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	struct stat st;
	char path[128];

	(void)state;
	redirect_daemon("2>log");
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_PRINT, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	while (!file_holds("log", "printed 256 KiB within 4 seconds") && sf_now_ns() < until)
		assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_true(program_await(&rig.daemon, "has ended"));
	snprintf(path, sizeof(path), "%s/log", rig.folder);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < 1 << 20); /* the worker wrote much more, but only this is kept: one window, its last lines, and
					      another window if it was slow */
}

static void a_full_disk_under_the_log(void **state)
{
	(void)state;
	redirect_daemon("2>/dev/full");
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_PRINT, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_int_equal(fault_ask(&rig, worker, FAULT_CRASH, FAULT_IN_CMD, NULL), DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(fault_await_end(&rig, worker));
	assert_goes_on();
}

static void a_log_that_may_not_grow(void **state)
{
	(void)state;
	run_daemon_after("ulimit -f 32", "2>log"); /* 16 KiB */
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);
	assert_non_null(worker);
	assert_int_equal(fault_ask(&rig, worker, FAULT_PRINT, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker)); /* by then its output was read */
	assert_goes_on();
}

static void a_terminal_that_closes(void **state)
{
	struct doca_urom_worker *worker = fault_worker(&rig, NULL);

	(void)state;
	assert_non_null(worker);
	kill(rig.daemon.pid, SIGHUP);
	assert_int_equal(fault_ask(&rig, worker, FAULT_NONE, FAULT_IN_CMD, NULL), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	assert_goes_on();
	assert_null(strstr(rig.daemon.output, "UCX")); /* UCX treats the signal as a request for more output */
}

static void a_service_without_standard_output(void **state)
{
	(void)state;
	redirect_daemon("2>&- <&-");
	assert_goes_on();
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(what_is_under_way_is_answered_before_the_end),
		WITH_RIG(what_is_never_answered_fails_at_the_end),
		WITH_RIG(too_many_open_files),
		cmocka_unit_test_teardown(a_program_that_wants_all_workers, close_rig),
		WITH_RIG(a_crowd_that_takes_all_descriptors),
		WITH_RIG(too_many_processes),
		WITH_RIG(a_worker_that_prints_into_a_full_pipe),
		WITH_RIG(nobody_reads_a_socket_under_the_log),
		WITH_RIG(a_worker_that_prints_without_end_is_cut_short),
		WITH_RIG(a_full_disk_under_the_log),
		WITH_RIG(a_log_that_may_not_grow),
		WITH_RIG(a_terminal_that_closes),
		WITH_RIG(a_service_without_standard_output),
	};

	real_daemon = strdup(getenv("UROM_DAEMON"));
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(real_daemon);
	return failed;
}
