/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spawner: a process of the daemon that starts the workers' processes.
 *
 * A process forked from the daemon holds the daemon's listening sockets, connections and lock until it calls execve. If it is
 * stopped before that, they outlive the daemon. So the daemon forks once, before it opens any of these, and the spawner forks
 * the workers. They are still the daemon's children (CLONE_PARENT): the daemon waits for them, and PR_SET_PDEATHSIG refers to
 * the daemon.
 *
 * All processes of the spawner's session end with the daemon: workers by PR_SET_PDEATHSIG, even stopped ones. The spawner
 * ends the processes that plugins have started when the daemon's end of their socket closes.
 */
#include "spawner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compat/linux.h"
#include "cpus.h"
#include "plugins.h"

#define SOCKET_FD 3 /* in the worker, beside standard output and error, which are one pipe */
#define HEARTBEAT_FD 4
#define DOOR_FD 5
#define NUMBERS 8
#define MARK "SOFTFIELD_UROM_SERVICE="
#define SWEEPS_MAX 100
#define SWEEP_MS 10

extern char **environ;

/* One request. */
struct order {
	const struct daemon *daemon; /* copied when the spawner started */
	pid_t daemon_pid;
	struct urom_spawn spawn;
	int fds[SPAWNER_FDS];
	char mark[64]; /* of the workers' environment, and so of what their plugins start: VARIABLE=value */
};

/* ---- arguments and environment ---- */

struct numbers {
	char text[NUMBERS][32];
};

#define FIXED_ARGS 18

/* Plugins follow the options, as so_path:id. NULL: no memory. */
static char **make_args(const struct order *order, struct numbers *numbers)
{
	const struct daemon_config *config = &order->daemon->config;
	char **args = (char **)calloc(FIXED_ARGS + UROM_PLUGINS_MAX + 1, sizeof(char *));
	uint32_t num = FIXED_ARGS;

	if (args == NULL)
		return NULL;
	snprintf(numbers->text[0], sizeof(numbers->text[0]), "%d", SOCKET_FD);
	snprintf(numbers->text[1], sizeof(numbers->text[1]), "%d", HEARTBEAT_FD);
	snprintf(numbers->text[2], sizeof(numbers->text[2]), "%" PRIu64, order->spawn.worker_id);
	snprintf(numbers->text[3], sizeof(numbers->text[3]), "%u", config->message_max);
	snprintf(numbers->text[4], sizeof(numbers->text[4]), "%u", config->log_level);
	snprintf(numbers->text[5], sizeof(numbers->text[5]), "%u", config->memory_max_mib);
	snprintf(numbers->text[6], sizeof(numbers->text[6]), "%u", config->sdk_log_level);
	snprintf(numbers->text[7], sizeof(numbers->text[7]), "%d", DOOR_FD);
	const char *const fixed[FIXED_ARGS] = {
		config->worker_program, "--fd",
		numbers->text[0],	"--heartbeat-fd",
		numbers->text[1],	"--id",
		numbers->text[2],	"--door-fd",
		numbers->text[7],	"--max-msg-size",
		numbers->text[3],	"--log-level",
		numbers->text[4],	"--sdk-log-level",
		numbers->text[6],	"--max-memory",
		numbers->text[5],	"--",
	};
	memcpy((void *)args, (const void *)fixed, sizeof(fixed));
	for (uint64_t left = order->spawn.plugins; left != 0; left &= left - 1) {
		const struct daemon_plugin *plugin = plugins_find(order->daemon, left & -left);

		if (plugin == NULL || asprintf(&args[num], "%s:%" PRIu64, plugin->path, plugin->info.id) < 0)
			return NULL; /* the process ends */
		num++;
	}
	return args;
}

static bool environment_sets(const char *variable, const char *const *env, uint32_t num)
{
	size_t len = strcspn(variable, "=") + 1;

	for (uint32_t i = 0; i < num; i++) {
		if (strncmp(env[i], variable, len) == 0)
			return true;
	}
	return false;
}

/* A service that a plugin of another service has started has that one's mark in its environment. */
static bool is_mark(const char *variable)
{
	return strncmp(variable, MARK, strlen(MARK)) == 0;
}

/* The spawner's mark, then the daemon's environment, with the client's variables replacing those of the same name. */
static char **make_env(struct order *order)
{
	const struct urom_spawn *spawn = &order->spawn;
	uint32_t num = 0, kept = 0;

	while (environ[num] != NULL)
		num++;
	char **env = (char **)calloc(1 + num + spawn->num_env + 1, sizeof(char *));
	if (env == NULL)
		return NULL;
	env[kept++] = order->mark;
	for (uint32_t i = 0; i < num; i++) {
		if (!is_mark(environ[i]) && !environment_sets(environ[i], spawn->env, spawn->num_env))
			env[kept++] = environ[i];
	}
	for (uint32_t i = 0; i < spawn->num_env; i++) {
		if (!is_mark(spawn->env[i]))
			env[kept++] = (char *)spawn->env[i];
	}
	return env;
}

/* ---- the child ---- */

/* Copies it above all target numbers first, so that none is overwritten before it is copied. */
static bool fd_place(int from, int to)
{
	int above = fcntl(from, F_DUPFD_CLOEXEC, DOOR_FD + 1);

	return above >= 0 && dup2(above, to) == to;
}

static bool place_all(const int fds[SPAWNER_FDS])
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	return nothing >= 0 && fd_place(nothing, STDIN_FILENO) && fd_place(fds[SPAWNER_OUTPUT], STDOUT_FILENO) &&
	       fd_place(fds[SPAWNER_OUTPUT], STDERR_FILENO) && fd_place(fds[SPAWNER_SOCKET], SOCKET_FD) &&
	       fd_place(fds[SPAWNER_HEARTBEAT], HEARTBEAT_FD) && fd_place(fds[SPAWNER_DOOR], DOOR_FD);
}

static const char *error_advice(int error)
{
	if (error == EMFILE || error == ENFILE)
		return "; the service has too many open files: end workers, or raise its limit (ulimit -n)";
	if (error == EAGAIN)
		return "; the user has too many processes: end some, or raise the limit (ulimit -u)";
	return error == ENOMEM ? "; out of memory: end workers" : "";
}

void spawner_format_reason(char reason[UROM_TEXT_MAX], const char *what, int error)
{
	snprintf(reason, UROM_TEXT_MAX, "%s: %s%s", what, strerror(error), error_advice(error));
}

static __attribute__((noreturn)) void child_fail(const struct order *order, const char *what, int error)
{
	const struct urom_head head = urom_head_make(UROM_FAILED, DOCA_ERROR_OPERATING_SYSTEM, 0, 0);
	uint8_t packet[UROM_HEAD_SIZE + UROM_TEXT_MAX];
	char reason[UROM_TEXT_MAX];

	spawner_format_reason(reason, what, error);
	memcpy(packet, &head, sizeof(head));
	size_t len = urom_text_pack(reason, packet + sizeof(head), UROM_TEXT_MAX);
	(void)!send(order->fds[SPAWNER_SOCKET], packet, sizeof(head) + len, MSG_NOSIGNAL);
	_exit(SPAWNER_EXIT_FAILED);
}

/* If the daemon died before prctl, no signal comes: so the parent is checked as well. */
static void end_with_daemon(pid_t daemon_pid)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != daemon_pid)
		_exit(SPAWNER_EXIT_FAILED);
}

static __attribute__((noreturn)) void become_worker(struct order *order)
{
	alignas(cpu_set_t) uint8_t cpus[UROM_CPUSET_SIZE];
	struct numbers numbers;
	sigset_t none;

	end_with_daemon(order->daemon_pid);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	memcpy(cpus, order->spawn.cpuset, sizeof(cpus));
	cpus_map(order->daemon->cpus, cpus);
	if (order->spawn.has_cpuset && sched_setaffinity(0, sizeof(cpus), (const cpu_set_t *)(const void *)cpus) != 0)
		child_fail(order, "none of its CPUs can be used", errno);
	char **args = make_args(order, &numbers), **env = make_env(order);
	if (args == NULL || env == NULL)
		child_fail(order, "no process can be started", ENOMEM);
	if (!place_all(order->fds))
		child_fail(order, "cannot pass descriptors to it", errno);
	(void)sf_close_range(DOOR_FD + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC); /* on execve: they still report a failure */
	(void)setrlimit(RLIMIT_NOFILE, &order->daemon->worker_files);
	execve(args[0], args, env);
	child_fail(order, "doca_urom_worker cannot be started", errno);
}

/* ---- requests ---- */

/* Workers get the limits and CPUs that the daemon has now. */
static void follow_daemon(pid_t daemon_pid)
{
	struct rlimit limit;
	cpu_set_t cpus;

	for (int i = 0; i < RLIM_NLIMITS; i++) {
		if (i != RLIMIT_NOFILE && prlimit(daemon_pid, i, NULL, &limit) == 0)
			(void)setrlimit(i, &limit);
	}
	if (sched_getaffinity(daemon_pid, sizeof(cpus), &cpus) == 0)
		(void)sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Forks a child of the daemon. The flags are the first argument of clone on all architectures but s390. */
static void start_child(struct order *order, struct spawner_answer *answer)
{
	follow_daemon(order->daemon_pid);
	answer->pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
	if (answer->pid == 0)
		become_worker(order);
	answer->error = answer->pid < 0 ? errno : 0;
}

static bool take_fds(struct msghdr *message, int fds[SPAWNER_FDS])
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);

	if (control == NULL || control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(SPAWNER_FDS * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(control), SPAWNER_FDS * sizeof(int));
	return (message->msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
}

/* False: the daemon is gone. */
static bool request_serve(int fd, struct order *order)
{
	static uint8_t body[UROM_CONTROL_MAX];
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(SPAWNER_FDS * sizeof(int))];
	} control;
	struct iovec part = {body, sizeof(body)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct spawner_answer answer = {-1, EMFILE};
	ssize_t len = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);

	if (len < 0 && errno == EINTR)
		return true;
	if (len <= 0)
		return false;
	for (int i = 0; i < SPAWNER_FDS; i++)
		order->fds[i] = -1;
	if (take_fds(&message, order->fds) && urom_spawn_parse(body, (size_t)len, &order->spawn) == DOCA_SUCCESS)
		start_child(order, &answer);
	for (int i = 0; i < SPAWNER_FDS; i++) {
		if (order->fds[i] >= 0)
			close(order->fds[i]);
	}
	return send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) >= 0;
}

/* ---- shutdown ---- */

struct process {
	pid_t pid, parent, group;
	bool is_ours;
};

/* A shell may have sorted the variables anew. */
static bool is_marked(const struct order *order, const char *pid)
{
	char path[300], *variable = NULL;
	bool found = false;
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	FILE *file = fopen(path, "re");
	while (file != NULL && !found && getdelim(&variable, &room, '\0', file) > 0)
		found = strcmp(variable, order->mark) == 0;
	free(variable);
	if (file != NULL)
		fclose(file);
	return found;
}

/* Ours are a child that has not become a worker, which is in the spawner's group, and all whose environment has the mark. */
static bool process_read(const struct order *order, const char *pid, struct process *process)
{
	char path[300], text[512];

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	/* Parent and group follow the name, which may hold any bytes, and the state. */
	const char *end = strrchr(text, ')');
	if (end == NULL || end[1] != ' ' || end[2] == 'Z' || sscanf(end + 3, "%d %d", &process->parent, &process->group) != 2)
		return false;
	process->is_ours = process->group == getpid() || is_marked(order, pid);
	return true;
}

/* Reads all processes but the caller. The caller frees *all. */
static size_t processes_read(const struct order *order, struct process **all)
{
	DIR *folder = opendir("/proc");
	size_t num = 0, room = 0;

	*all = NULL;
	for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		struct process process = {.pid = (pid_t)strtol(entry->d_name, NULL, 10)};

		if (process.pid <= 0 || process.pid == getpid() || !process_read(order, entry->d_name, &process))
			continue;
		if (num == room) {
			struct process *more = (struct process *)reallocarray(*all, room = 2 * room + 64, sizeof(*more));

			if (more == NULL)
				break;
			*all = more;
		}
		(*all)[num++] = process;
	}
	if (folder != NULL)
		closedir(folder);
	return num;
}

/* What ours have started is ours, too. Returns true if there is more now. */
static bool ours_extend(struct process *all, size_t num)
{
	bool any = false;

	for (size_t i = 0; i < num; i++) {
		for (size_t k = 0; k < num && !all[i].is_ours; k++) {
			if (all[k].is_ours && all[k].pid == all[i].parent)
				any = all[i].is_ours = true;
		}
	}
	return any;
}

/* Returns true if there were any. */
static bool processes_sweep(const struct order *order)
{
	struct process *all;
	size_t num = processes_read(order, &all);
	bool any = false;

	while (ours_extend(all, num))
		;
	for (size_t i = 0; i < num; i++) {
		if (all[i].is_ours)
			any |= kill(all[i].pid, SIGKILL) == 0;
	}
	free(all);
	return any;
}

/* Repeats, because a process may fork before it is found. */
static void end_processes(const struct order *order)
{
	for (int i = 0; i < SWEEPS_MAX && processes_sweep(order); i++)
		(void)poll(NULL, 0, SWEEP_MS);
}

void spawner_run(const struct daemon *daemon, pid_t daemon_pid, int fd)
{
	struct order *order = (struct order *)calloc(1, sizeof(*order));
	uint64_t random = 0;
	sigset_t all;

	sigfillset(&all); /* signals to end the service are for the daemon */
	sigprocmask(SIG_SETMASK, &all, NULL);
	/*
	 * A group of its own, which a terminal's signals do not reach, but no session of its own: Linux may divide the CPUs among
	 * sessions first, and then workers were seen to wait for one for up to nine seconds beside busy processes.
	 * Not SIGKILL: SIGCONT continues a stopped spawner, which then finds its socket closed.
	 */
	if (order == NULL || setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGCONT) != 0)
		_exit(EXIT_FAILURE);
	(void)prctl(PR_SET_NAME, "urom_spawner");
	order->daemon = daemon;
	order->daemon_pid = daemon_pid;
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	snprintf(order->mark, sizeof(order->mark), MARK "%d-%016" PRIx64, getpid(), random);
	while (request_serve(fd, order))
		;
	end_processes(order);
	_exit(EXIT_SUCCESS);
}
