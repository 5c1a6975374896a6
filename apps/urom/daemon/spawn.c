/* SPDX-License-Identifier: BSD-3-Clause */
/* The process of a worker: its arguments, environment and descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon.h"

#define SOCKET_FD 3 /* in the worker, beside standard output and error, which are one pipe */
#define PULSE_FD 4
#define NUMBERS 7

extern char **environ;

/* ---- arguments and environment ---- */

struct numbers {
	char text[NUMBERS][32];
};

#define FIXED_ARGS 18

/* Each plugin is named as so_path:id, behind all options. */
static char **make_args(const struct daemon *daemon, const struct daemon_worker *worker, struct numbers *numbers)
{
	char **args = (char **)calloc(FIXED_ARGS + UROM_PLUGINS_MAX + 1, sizeof(char *));
	uint32_t num = FIXED_ARGS;
	if (args == NULL)
		return NULL;
	snprintf(numbers->text[0], sizeof(numbers->text[0]), "%d", SOCKET_FD);
	snprintf(numbers->text[1], sizeof(numbers->text[1]), "%d", PULSE_FD);
	snprintf(numbers->text[2], sizeof(numbers->text[2]), "%" PRIu64, worker->id);
	snprintf(numbers->text[3], sizeof(numbers->text[3]), "%u", daemon->config.message_max);
	snprintf(numbers->text[4], sizeof(numbers->text[4]), "%u", daemon->config.log_level);
	snprintf(numbers->text[5], sizeof(numbers->text[5]), "%u", daemon->config.memory_max_mib);
	snprintf(numbers->text[6], sizeof(numbers->text[6]), "%u", daemon->config.sdk_log_level);
	const char *const fixed[FIXED_ARGS] = {
		daemon->config.worker_program, "--fd", numbers->text[0], "--pulse-fd", numbers->text[1], "--id", numbers->text[2],
		"--bind", daemon->config.bind, "--max-msg-size", numbers->text[3], "--log-level", numbers->text[4],
		"--sdk-log-level", numbers->text[6], "--max-memory", numbers->text[5], "--",
	};
	memcpy((void *)args, (const void *)fixed, sizeof(fixed));
	for (uint64_t left = worker->plugins; left != 0; left &= left - 1) {
		const struct daemon_plugin *plugin = plugins_find(daemon, left & -left);
		if (asprintf(&args[num], "%s:%" PRIu64, plugin->path, plugin->info.id) < 0) {
			args[num] = NULL;
			return args; /* a worker of fewer plugins than it should have: refused by whoever called */
		}
		num++;
	}
	return args;
}

static bool args_whole(char **args, const struct daemon_worker *worker)
{
	return args != NULL && args[FIXED_ARGS + __builtin_popcountll(worker->plugins) - 1] != NULL;
}

static void free_args(char **args)
{
	for (uint32_t i = FIXED_ARGS; args != NULL && args[i] != NULL; i++)
		free(args[i]);
	free(args);
}

static bool sets(const char *variable, const char *const *env, uint32_t num)
{
	size_t len = strcspn(variable, "=") + 1;
	for (uint32_t i = 0; i < num; i++) {
		if (strncmp(env[i], variable, len) == 0)
			return true;
	}
	return false;
}

/* The daemon's environment with the client's variables in place of those of the same name. */
static char **make_env(const struct urom_spawn *spawn)
{
	uint32_t num = 0, kept = 0;
	while (environ[num] != NULL)
		num++;
	char **env = (char **)calloc(num + spawn->num_env + 1, sizeof(char *));
	for (uint32_t i = 0; env != NULL && i < num; i++) {
		if (!sets(environ[i], spawn->env, spawn->num_env))
			env[kept++] = environ[i];
	}
	for (uint32_t i = 0; env != NULL && i < spawn->num_env; i++)
		env[kept++] = (char *)spawn->env[i];
	return env;
}

/* ---- descriptors ---- */

/* What the process gets, and what the daemon keeps of it: a socket, the pipe that the worker's output comes by, and its pulse. */
struct ends {
	int socket[2], output[2], pulse;
	struct pulse *page;
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_ends(struct ends *ends)
{
	for (int i = 0; i < 2; i++) {
		close_end(&ends->socket[i]);
		close_end(&ends->output[i]);
	}
	close_end(&ends->pulse);
	if (ends->page != NULL)
		munmap(ends->page, PULSE_SIZE);
}

/* Its size is sealed: a page that a plugin could take away would end the daemon when it looks. */
static bool open_pulse(struct ends *ends)
{
	ends->pulse = memfd_create("urom-pulse", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ends->pulse < 0 || ftruncate(ends->pulse, PULSE_SIZE) != 0 ||
	    fcntl(ends->pulse, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return false;
	void *page = mmap(NULL, PULSE_SIZE, PROT_READ, MAP_SHARED, ends->pulse, 0);
	ends->page = page != MAP_FAILED ? (struct pulse *)page : NULL;
	return ends->page != NULL;
}

/* Neither end of the output blocks: what a worker says while nobody listens is lost, and costs it no time. */
static bool open_ends(struct ends *ends)
{
	*ends = (struct ends){.socket = {-1, -1}, .output = {-1, -1}, .pulse = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->socket) == 0 &&
	    pipe2(ends->output, O_CLOEXEC | O_NONBLOCK) == 0 && open_pulse(ends))
		return true;
	int error = errno;
	close_ends(ends);
	errno = error;
	return false;
}

/* ---- the process ---- */

/* The child shares our memory until it is another program: what it could not do stands here then. */
struct start {
	char **args, **env;
	const struct urom_spawn *spawn;
	const struct ends *ends;
	const struct rlimit *files;
	const char *volatile failed; /* to a compiler, who does not return has told nobody anything */
	volatile int error;
};

/* Above the numbers that it is to go to, so that none is overwritten before it is copied. */
static bool place(int from, int to)
{
	int above = fcntl(from, F_DUPFD_CLOEXEC, PULSE_FD + 1);
	return above >= 0 && dup2(above, to) == to;
}

static bool place_all(const struct ends *ends)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return nothing >= 0 && place(nothing, STDIN_FILENO) && place(ends->output[1], STDOUT_FILENO) &&
	       place(ends->output[1], STDERR_FILENO) && place(ends->socket[1], SOCKET_FD) && place(ends->pulse, PULSE_FD);
}

/* UCX's sockets are the daemon's: a worker that has them too keeps the port, and clients from seeing that a connection ended. */
static void close_others(void) { (void)close_range(PULSE_FD + 1, UINT_MAX, 0); }

/* In the child, between vfork and exec: nothing but system calls. */
static __attribute__((noreturn)) void become_worker(struct start *start)
{
	const struct urom_spawn *spawn = start->spawn;
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid(); /* a group of its own: what a plugin starts ends with it */
	if (spawn->has_cpuset && sched_setaffinity(0, UROM_CPUSET_SIZE, (const cpu_set_t *)(const void *)spawn->cpuset) != 0) {
		start->failed = "none of its processors can be used";
	} else if (!place_all(start->ends)) {
		start->failed = "it can be given no descriptors";
	} else {
		close_others();
		(void)setrlimit(RLIMIT_NOFILE, start->files);
		execve(start->args[0], start->args, start->env);
		start->failed = "doca_urom_worker cannot be started";
	}
	start->error = errno;
	_exit(127);
}

static __attribute__((noinline)) pid_t fork_worker(struct start *start)
{
	pid_t pid = vfork();
	if (pid == 0)
		become_worker(start);
	return pid;
}

static const char *advice(int error)
{
	if (error == EMFILE || error == ENFILE)
		return "; the service has too many open files: end workers, or raise its limit (ulimit -n)";
	if (error == EAGAIN)
		return "; its user has too many processes: end some, or raise the limit (ulimit -u)";
	return error == ENOMEM ? "; there is no memory: end workers" : "";
}

static void say_why(char reason[UROM_TEXT_MAX], const char *what, int error)
{
	snprintf(reason, UROM_TEXT_MAX, "%s: %s%s", what, strerror(error), advice(error));
}

static pid_t start_process(const struct daemon *daemon, const struct daemon_worker *worker, const struct urom_spawn *wanted,
			   const struct ends *ends, char reason[UROM_TEXT_MAX])
{
	struct numbers numbers;
	struct start start = {make_args(daemon, worker, &numbers), make_env(wanted), wanted, ends, &daemon->worker_files, NULL, 0};
	pid_t pid = -1;
	if (!args_whole(start.args, worker) || start.env == NULL) {
		say_why(reason, "no process can be started", ENOMEM);
	} else {
		pid = fork_worker(&start);
		if (pid < 0)
			say_why(reason, "no process can be started", errno);
	}
	free_args(start.args);
	free(start.env);
	if (pid < 0 || start.failed == NULL)
		return pid;
	say_why(reason, start.failed, start.error);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -1;
}

bool spawn_worker(struct daemon *daemon, struct daemon_worker *worker, const struct urom_spawn *wanted, char reason[UROM_TEXT_MAX])
{
	struct ends ends;
	if (!open_ends(&ends)) {
		say_why(reason, "no process can be started", errno);
		return false;
	}
	worker->pid = start_process(daemon, worker, wanted, &ends, reason);
	if (worker->pid < 0) {
		close_ends(&ends);
		return false;
	}
	close_end(&ends.socket[1]);
	close_end(&ends.output[1]);
	close_end(&ends.pulse);
	worker->fd = ends.socket[0];
	worker->output.fd = ends.output[0];
	worker->pulse = ends.page;
	return true;
}
