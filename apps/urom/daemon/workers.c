/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_log.h>

#include "daemon.h"

DOCA_LOG_REGISTER(UROM_DAEMON::WORKERS);

#define ANY_ID UINT64_MAX
#define WORKER_FD 3 /* its socket, in the worker */
#define PACKET_MAX (UROM_HEAD_SIZE + UROM_TEXT_MAX)

extern char **environ;

struct daemon_worker *workers_find(struct daemon *daemon, uint64_t id)
{
	struct daemon_worker *worker;
	TAILQ_FOREACH(worker, &daemon->workers, next) {
		if (worker->id == id && worker->state != WORKER_ENDING)
			return worker;
	}
	return NULL;
}

/* ---- shares ---- */

static struct daemon_share *find_share(const struct daemon_client *client, const struct daemon_worker *worker)
{
	struct daemon_share *share;
	LIST_FOREACH(share, &client->shares, of_client) {
		if (share->worker == worker)
			return share;
	}
	return NULL;
}

static doca_error_t add_share(struct daemon_client *client, struct daemon_worker *worker)
{
	struct daemon_share *share = find_share(client, worker);
	if (share == NULL) {
		share = (struct daemon_share *)calloc(1, sizeof(*share));
		if (share == NULL)
			return DOCA_ERROR_NO_MEMORY;
		share->client = client;
		share->worker = worker;
		LIST_INSERT_HEAD(&client->shares, share, of_client);
		LIST_INSERT_HEAD(&worker->shares, share, of_worker);
	}
	share->count++;
	return DOCA_SUCCESS;
}

static void drop_share(struct daemon_share *share)
{
	LIST_REMOVE(share, of_client);
	LIST_REMOVE(share, of_worker);
	free(share);
}

/* ---- the end ---- */

static void end_worker(struct daemon_worker *worker)
{
	struct urom_head end = urom_head_make(UROM_END, DOCA_SUCCESS, 0, 0);
	if (worker->state == WORKER_ENDING)
		return;
	worker->state = WORKER_ENDING;
	worker->asked = true;
	worker->until = daemon_now_ns() + DAEMON_END_NS;
	if (send(worker->fd, &end, sizeof(end), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		kill(worker->pid, SIGKILL);
}

static void end_if_unused(struct daemon_worker *worker)
{
	if (LIST_EMPTY(&worker->shares))
		end_worker(worker);
}

static void fail_wishes(struct daemon *daemon, struct daemon_worker *worker, const char *reason)
{
	for (struct daemon_wish *wish; (wish = TAILQ_FIRST(&worker->wishes)) != NULL;) {
		TAILQ_REMOVE(&worker->wishes, wish, next);
		client_answer_wish(daemon, worker, wish, DOCA_ERROR_CONNECTION_ABORTED, reason);
		free(wish);
	}
}

static void free_worker(struct daemon *daemon, struct daemon_worker *worker)
{
	for (struct daemon_share *share; (share = LIST_FIRST(&worker->shares)) != NULL;)
		drop_share(share);
	for (struct daemon_wish *wish; (wish = TAILQ_FIRST(&worker->wishes)) != NULL;) {
		TAILQ_REMOVE(&worker->wishes, wish, next);
		free(wish);
	}
	if (worker->fd >= 0)
		close(worker->fd);
	TAILQ_REMOVE(&daemon->workers, worker, next);
	daemon->num_workers--;
	free(worker);
}

/* ---- start ---- */

static bool has_plugins(const struct daemon *daemon, uint64_t plugins)
{
	for (uint64_t left = plugins; left != 0; left &= left - 1) {
		if (plugins_find(daemon, left & -left) == NULL)
			return false;
	}
	return plugins != 0;
}

/* The arguments, each plugin's as so_path:id. */
static char **make_args(const struct daemon *daemon, const struct daemon_worker *worker, char numbers[5][32])
{
	uint32_t num = 0;
	char **args = (char **)calloc(12 + UROM_PLUGINS_MAX + 1, sizeof(char *));
	if (args == NULL)
		return NULL;
	snprintf(numbers[0], sizeof(numbers[0]), "%d", WORKER_FD);
	snprintf(numbers[1], sizeof(numbers[1]), "%" PRIu64, worker->id);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", daemon->config.message_max);
	snprintf(numbers[3], sizeof(numbers[3]), "%u", daemon->config.log_level);
	const char *const fixed[] = {daemon->config.worker_program, "--fd", numbers[0], "--id", numbers[1], "--bind", daemon->config.bind,
				     "--max-msg-size", numbers[2], "--log-level", numbers[3]};
	for (; num < sizeof(fixed) / sizeof(fixed[0]); num++)
		args[num] = (char *)fixed[num];
	for (uint64_t left = worker->plugins; left != 0; left &= left - 1) {
		const struct daemon_plugin *plugin = plugins_find(daemon, left & -left);
		if (asprintf(&args[num], "%s:%" PRIu64, plugin->path, plugin->info.id) < 0)
			args[num] = NULL;
		num++;
	}
	return args;
}

static void free_args(char **args)
{
	for (uint32_t i = 11; args != NULL && args[i] != NULL; i++)
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

/* In the child, between vfork and exec: nothing but system calls. */
static void become_worker(int fd, char **args, char **env, const struct urom_spawn *spawn)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (spawn->has_cpuset && sched_setaffinity(0, UROM_CPUSET_SIZE, (const cpu_set_t *)(const void *)spawn->cpuset) != 0)
		_exit(127);
	if (fd == WORKER_FD ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, WORKER_FD) == WORKER_FD)
		execve(args[0], args, env);
	_exit(127);
}

static __attribute__((noinline)) pid_t fork_worker(int fd, char **args, char **env, const struct urom_spawn *spawn)
{
	pid_t pid = vfork();
	if (pid == 0)
		become_worker(fd, args, env, spawn);
	return pid;
}

static pid_t start_process(struct daemon *daemon, struct daemon_worker *worker, const struct urom_spawn *spawn, int fd)
{
	char numbers[5][32];
	char **args = make_args(daemon, worker, numbers), **env = make_env(spawn);
	pid_t pid = args != NULL && env != NULL ? fork_worker(fd, args, env, spawn) : -1;
	free_args(args);
	free(env);
	return pid;
}

static bool watch(struct daemon *daemon, struct daemon_worker *worker)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = worker}};
	return epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, worker->fd, &event) == 0;
}

static struct daemon_worker *start_worker(struct daemon *daemon, const struct urom_spawn *spawn)
{
	struct daemon_worker *worker = (struct daemon_worker *)calloc(1, sizeof(*worker));
	int fds[2];
	if (worker == NULL)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
		free(worker);
		return NULL;
	}
	worker->id = spawn->worker_id;
	while (worker->id == ANY_ID || workers_find(daemon, worker->id) != NULL)
		worker->id = ++daemon->last_worker_id;
	worker->plugins = spawn->plugins;
	worker->gid = spawn->gid;
	worker->has_gid = spawn->has_gid;
	worker->fd = fds[0];
	worker->state = WORKER_STARTING;
	worker->until = daemon_now_ns() + DAEMON_SPAWN_NS;
	TAILQ_INIT(&worker->wishes);
	LIST_INIT(&worker->shares);
	TAILQ_INSERT_TAIL(&daemon->workers, worker, next);
	daemon->num_workers++;
	worker->pid = watch(daemon, worker) ? start_process(daemon, worker, spawn, fds[1]) : -1;
	close(fds[1]);
	if (worker->pid > 0)
		return worker;
	free_worker(daemon, worker);
	return NULL;
}

/* ---- wishes ---- */

static const char *check(const struct daemon *daemon, const struct daemon_worker *worker, const struct urom_spawn *spawn,
			 doca_error_t *status)
{
	if (worker != NULL) {
		*status = spawn->num_env != 0 ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_INVALID_VALUE;
		if (spawn->num_env != 0)
			return "the worker runs already, so its environment cannot be set: doca_urom_worker_set_env is for new ones";
		return (spawn->plugins & ~worker->plugins) != 0 ? "the worker runs already, without one of these plugins" : NULL;
	}
	*status = DOCA_ERROR_FULL;
	if (daemon->num_workers >= daemon->config.workers_max)
		return "the service has as many workers as --max-workers says";
	*status = DOCA_ERROR_NOT_FOUND;
	return has_plugins(daemon, spawn->plugins) ? NULL : "the service has none, or not all, of these plugins";
}

static void refuse_wish(struct daemon *daemon, const struct daemon_wish *wish, uint64_t id, doca_error_t status, const char *reason)
{
	struct daemon_worker nobody = {.id = id};
	DOCA_LOG_DBG("no worker for a client: %s", reason); /* whose log says so */
	client_answer_wish(daemon, &nobody, wish, status, reason);
}

void workers_want(struct daemon *daemon, struct daemon_client *client, uint64_t request, const struct urom_spawn *spawn)
{
	struct daemon_worker *worker = spawn->worker_id != ANY_ID ? workers_find(daemon, spawn->worker_id) : NULL;
	struct daemon_wish *wish = (struct daemon_wish *)calloc(1, sizeof(*wish)), first = {.client = client, .request = request};
	doca_error_t status = DOCA_ERROR_NO_MEMORY;
	const char *reason = wish != NULL ? check(daemon, worker, spawn, &status) : "no memory";
	if (reason == NULL && worker == NULL) {
		worker = start_worker(daemon, spawn);
		status = DOCA_ERROR_OPERATING_SYSTEM;
		reason = worker == NULL ? "no process can be started" : NULL;
	}
	if (reason == NULL) {
		status = add_share(client, worker);
		reason = status != DOCA_SUCCESS ? "no memory" : NULL;
	}
	if (reason != NULL) {
		refuse_wish(daemon, &first, spawn->worker_id, status, reason);
		free(wish);
		return;
	}
	*wish = first;
	if (worker->state == WORKER_READY) {
		client_answer_wish(daemon, worker, wish, DOCA_SUCCESS, "");
		free(wish);
	} else {
		TAILQ_INSERT_TAIL(&worker->wishes, wish, next);
	}
}

void workers_release(struct daemon *daemon, struct daemon_client *client, uint64_t id)
{
	struct daemon_worker *worker = workers_find(daemon, id);
	struct daemon_share *share = worker != NULL ? find_share(client, worker) : NULL;
	if (share == NULL) /* it died meanwhile */
		return;
	if (--share->count != 0)
		return;
	drop_share(share);
	end_if_unused(worker);
}

void workers_forget(struct daemon *daemon, struct daemon_client *client)
{
	struct daemon_worker *worker;
	TAILQ_FOREACH(worker, &daemon->workers, next) {
		for (struct daemon_wish *wish = TAILQ_FIRST(&worker->wishes), *next; wish != NULL; wish = next) {
			next = TAILQ_NEXT(wish, next);
			if (wish->client != client)
				continue;
			TAILQ_REMOVE(&worker->wishes, wish, next);
			free(wish);
		}
	}
	for (struct daemon_share *share; (share = LIST_FIRST(&client->shares)) != NULL;) {
		worker = share->worker;
		drop_share(share);
		end_if_unused(worker);
	}
}

/* ---- what processes do ---- */

static void worker_is_ready(struct daemon *daemon, struct daemon_worker *worker, uint64_t port)
{
	if (worker->state != WORKER_STARTING || port == 0 || port > UINT16_MAX)
		return;
	worker->state = WORKER_READY;
	worker->port = (uint16_t)port;
	DOCA_LOG_INFO("worker %" PRIu64 " runs, process %d", worker->id, worker->pid);
	for (struct daemon_wish *wish; (wish = TAILQ_FIRST(&worker->wishes)) != NULL;) {
		TAILQ_REMOVE(&worker->wishes, wish, next);
		client_answer_wish(daemon, worker, wish, DOCA_SUCCESS, "");
		free(wish);
	}
}

void workers_read(struct daemon *daemon, struct daemon_worker *worker)
{
	uint8_t packet[PACKET_MAX];
	struct urom_head head;
	ssize_t len = recv(worker->fd, packet, sizeof(packet), MSG_DONTWAIT);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) { /* its process ends, or a plugin closed the socket: without it the worker is of no use */
		epoll_ctl(daemon->epoll_fd, EPOLL_CTL_DEL, worker->fd, NULL);
		if (worker->state != WORKER_ENDING) {
			worker->state = WORKER_ENDING;
			worker->until = daemon_now_ns() + DAEMON_END_NS;
		}
		return;
	}
	if ((size_t)len < sizeof(head) || urom_head_parse(packet, sizeof(head), &head) != DOCA_SUCCESS)
		return;
	if (head.kind == UROM_READY)
		worker_is_ready(daemon, worker, head.subject);
	else if (head.kind == UROM_FAILED)
		urom_text_parse(packet + sizeof(head), (size_t)len - sizeof(head), worker->reason);
}

static void worker_ended(struct daemon *daemon, struct daemon_worker *worker, int status)
{
	char reason[UROM_TEXT_MAX];
	struct daemon_share *share;
	if (worker->reason[0] != '\0')
		snprintf(reason, sizeof(reason), "%s", worker->reason);
	else if (WIFSIGNALED(status))
		snprintf(reason, sizeof(reason), "its process %d was ended by signal %d (%s)%s", worker->pid, WTERMSIG(status),
			 strsignal(WTERMSIG(status)), worker->killed ? ": it had not ended, or not started, in time" : "");
	else if (WEXITSTATUS(status) == 127)
		snprintf(reason, sizeof(reason), "its process cannot be started, or none of its processors is here");
	else
		snprintf(reason, sizeof(reason), "its process %d ended by itself with status %d", worker->pid, WEXITSTATUS(status));
	if (worker->asked && !worker->killed)
		DOCA_LOG_INFO("worker %" PRIu64 " has ended", worker->id);
	else
		DOCA_LOG_WARN("worker %" PRIu64 " with plugins 0x%" PRIx64 " died: %s", worker->id, worker->plugins, reason);
	fail_wishes(daemon, worker, reason);
	LIST_FOREACH(share, &worker->shares, of_worker)
		client_tell_died(daemon, share->client, worker->id, reason);
	free_worker(daemon, worker);
}

void workers_reap(struct daemon *daemon)
{
	for (struct daemon_worker *worker = TAILQ_FIRST(&daemon->workers), *next; worker != NULL; worker = next) {
		int status;
		next = TAILQ_NEXT(worker, next);
		if (waitpid(worker->pid, &status, WNOHANG) != worker->pid)
			continue;
		workers_read(daemon, worker); /* what it said last */
		worker_ended(daemon, worker, status);
	}
}

uint64_t workers_expire(struct daemon *daemon, uint64_t now)
{
	uint64_t next_time = UINT64_MAX;
	struct daemon_worker *worker;
	TAILQ_FOREACH(worker, &daemon->workers, next) {
		if (worker->state == WORKER_READY || worker->killed)
			continue;
		if (now >= worker->until) {
			worker->killed = true;
			kill(worker->pid, SIGKILL);
		} else if (worker->until < next_time) {
			next_time = worker->until;
		}
	}
	return next_time;
}

void workers_end_all(struct daemon *daemon)
{
	struct daemon_worker *worker;
	TAILQ_FOREACH(worker, &daemon->workers, next)
		end_worker(worker);
}
