/* SPDX-License-Identifier: BSD-3-Clause */
#include "workers.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <doca_log.h>

#include "answer.h"
#include "base/log_rate.h"
#include "clock.h"
#include "daemon.h"
#include "output.h"
#include "plugins.h"
#include "ref.h"
#include "spawn.h"
#include "supervise.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_DAEMON::WORKERS);

#define ANY_ID UINT64_MAX
#define PACKET_MAX (UROM_HEAD_SIZE + UROM_TEXT_MAX)

struct daemon_worker *workers_find(struct daemon *daemon, uint64_t id)
{
	struct daemon_worker *worker;

	TAILQ_FOREACH (worker, &daemon->workers, next) {
		if (worker->id == id && worker->state != WORKER_ENDING)
			return worker;
	}
	return NULL;
}

/* ---- the end ---- */

static void give_time(struct daemon_worker *worker, uint64_t limit_ns)
{
	worker->limit_ns = limit_ns;
	own_time_begin(&worker->time, worker->pid, false, daemon_now_ns());
}

static void kill_worker(struct daemon_worker *worker)
{
	worker->killed = true;
	kill(worker->pid, SIGKILL);
}

static void end_worker(struct daemon_worker *worker)
{
	struct urom_head end = urom_head_make(UROM_END, DOCA_SUCCESS, 0, 0);

	if (worker->state == WORKER_ENDING)
		return;
	worker->state = WORKER_ENDING;
	worker->asked = true;
	give_time(worker, DAEMON_END_NS);
	if (send(worker->fd, &end, sizeof(end), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(end))
		return;
	/* Closed, with unread messages or without: it has just died, for a reason of its own, or its time to end runs. */
	if (errno != EPIPE && errno != ECONNRESET)
		kill_worker(worker);
}

static void end_if_unused(struct daemon_worker *worker)
{
	if (LIST_EMPTY(&worker->refs))
		end_worker(worker);
}

static void fail_requests(struct daemon *daemon, struct daemon_worker *worker, const char *reason)
{
	doca_error_t status = worker->unborn ? DOCA_ERROR_OPERATING_SYSTEM : DOCA_ERROR_CONNECTION_ABORTED;

	for (struct daemon_request *request; (request = TAILQ_FIRST(&worker->requests)) != NULL;) {
		client_reject_request(daemon, worker->id, request, status, reason);
		worker_drop_request(worker, request);
	}
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

static bool worker_watch(struct daemon *daemon, struct daemon_worker *worker)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = &worker->source}};

	worker->source = (struct daemon_source){worker, workers_read};
	return epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, worker->fd, &event) == 0 && output_watch(daemon, worker);
}

/* The wanted id, or a new one where any will do or the wanted one is taken. */
static uint64_t id_choose(struct daemon *daemon, uint64_t wanted)
{
	while (wanted == ANY_ID || workers_find(daemon, wanted) != NULL)
		wanted = ++daemon->last_worker_id;
	return wanted;
}

static struct daemon_worker *start_worker(struct daemon *daemon, const struct urom_spawn *spawn, char reason[UROM_TEXT_MAX])
{
	struct daemon_worker *worker = worker_create(daemon, spawn, id_choose(daemon, spawn->worker_id));

	snprintf(reason, UROM_TEXT_MAX, "no memory");
	if (worker == NULL)
		return NULL;
	if (!spawn_worker(daemon, worker, spawn, reason)) {
		PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_WARNING, DAEMON_LINES, "worker %" PRIu64 " with %s did not start: %s",
				    worker->id, worker->names, reason);
		worker_free(daemon, worker);
		return NULL;
	}
	give_time(worker, DAEMON_SPAWN_NS);
	if (!worker_watch(daemon, worker)) { /* its end is handled like any other */
		snprintf(worker->reason, sizeof(worker->reason), "it cannot be watched: %s", strerror(errno));
		kill_worker(worker);
	}
	return worker;
}

/* ---- requests ---- */

static doca_error_t check_running(const struct daemon_worker *worker, const struct urom_spawn *spawn, char reason[UROM_TEXT_MAX])
{
	uint64_t lacks = spawn->plugins & ~worker->plugins;

	if (worker->num_requests == DAEMON_REQUESTS_MAX) {
		snprintf(reason, UROM_TEXT_MAX, "%d requests for that worker are pending already", DAEMON_REQUESTS_MAX);
		return DOCA_ERROR_FULL;
	}
	if (spawn->num_env != 0) {
		snprintf(reason, UROM_TEXT_MAX,
			 "the worker runs already: doca_urom_worker_set_env can set the environment of new ones only");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	snprintf(reason, UROM_TEXT_MAX, "the worker runs already, without the requested plugin 0x%" PRIx64, lacks);
	return lacks == 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* Counts all connections of the client's process, if it is known. */
static uint32_t num_workers_of(const struct daemon *daemon, const struct daemon_client *client)
{
	const struct daemon_client *other;
	const struct daemon_ref *ref;
	uint32_t num = 0;

	TAILQ_FOREACH (other, &daemon->clients, next) {
		if (other != client && (client->process == 0 || other->process != client->process))
			continue;
		LIST_FOREACH (ref, &other->refs, of_client)
			num++;
	}
	return num;
}

/* A client that has half of the workers leaves the last ones to others. */
static bool has_its_part(const struct daemon *daemon, const struct daemon_client *client)
{
	uint32_t max = daemon->config.workers_max;

	return daemon->num_workers >= max - max / DAEMON_WORKERS_KEPT && num_workers_of(daemon, client) > max / 2;
}

static doca_error_t spawn_check(const struct daemon *daemon, const struct daemon_client *client, const struct urom_spawn *spawn,
				char reason[UROM_TEXT_MAX])
{
	if (daemon->draining) {
		snprintf(reason, UROM_TEXT_MAX, "the service is shutting down");
		return DOCA_ERROR_SHUTDOWN;
	}
	if (daemon->num_workers >= daemon->config.workers_max) {
		snprintf(reason, UROM_TEXT_MAX,
			 "the service has reached its maximum of %u workers: end some, or start it with a larger --max-workers",
			 daemon->config.workers_max);
		return DOCA_ERROR_FULL;
	}
	if (has_its_part(daemon, client)) {
		snprintf(reason, UROM_TEXT_MAX,
			 "this program has most of the service's %u workers, the last %u are reserved for others: end some, or "
			 "start "
			 "it with a larger --max-workers",
			 daemon->config.workers_max, daemon->config.workers_max / DAEMON_WORKERS_KEPT);
		return DOCA_ERROR_FULL;
	}
	snprintf(reason, UROM_TEXT_MAX, "the service has %u plugins, which lack some of 0x%" PRIx64, daemon->num_plugins,
		 spawn->plugins);
	return has_plugins(daemon, spawn->plugins) ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

/* True if it did not read about a client for its whole time limit. */
static bool takes_no_more(struct daemon_worker *worker, uint64_t now)
{
	if (!worker->is_full)
		give_time(worker, DAEMON_ADMITTED_NS);
	worker->is_full = true;
	return own_time_left(&worker->time, worker->pid, now, worker->limit_ns) == 0;
}

/* Accepts requests until the worker's socket is full. */
static void accept_requests(struct daemon *daemon, struct daemon_worker *worker, uint64_t now)
{
	for (struct daemon_request *request; (request = TAILQ_FIRST(&worker->requests)) != NULL;) {
		struct daemon_client *client = request->client;
		doca_error_t result = client_accept_request(daemon, worker, request);

		if (result == DOCA_ERROR_AGAIN && !takes_no_more(worker, now))
			return;
		if (result == DOCA_SUCCESS)
			worker->is_full = false;
		else
			client_reject_request(daemon, worker->id, request, result,
					      "its process accepts no new clients: does a plugin hang?");
		worker_drop_request(worker, request);
		if (result != DOCA_SUCCESS)
			workers_release(daemon, client, worker->id);
	}
	worker->is_full = false;
}

static void reject_request(struct daemon *daemon, const struct daemon_request *request, uint64_t id, doca_error_t status,
			   const char *reason)
{
	PROGRAM_LOG_DBG_LIMITED("no worker for a client: %s", reason); /* the client logs it */
	client_reject_request(daemon, id, request, status, reason);
}

void workers_want(struct daemon *daemon, struct daemon_client *client, uint64_t tag, const struct urom_spawn *spawn)
{
	struct daemon_worker *worker = spawn->worker_id != ANY_ID ? workers_find(daemon, spawn->worker_id) : NULL;
	struct daemon_request *request = (struct daemon_request *)calloc(1, sizeof(*request));
	const struct daemon_request first = {.client = client, .tag = tag};
	doca_error_t status = DOCA_ERROR_NO_MEMORY;
	char reason[UROM_TEXT_MAX] = "no memory";

	if (request != NULL)
		status = worker != NULL ? check_running(worker, spawn, reason) : spawn_check(daemon, client, spawn, reason);
	if (status == DOCA_SUCCESS && worker == NULL) {
		worker = start_worker(daemon, spawn, reason);
		status = worker != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
	}
	if (status == DOCA_SUCCESS) {
		status = daemon_ref_add(client, worker);
		snprintf(reason, sizeof(reason), "no memory");
	}
	if (status != DOCA_SUCCESS) {
		reject_request(daemon, &first, spawn->worker_id, status, reason);
		free(request);
		return;
	}
	*request = first;
	TAILQ_INSERT_TAIL(&worker->requests, request, next);
	worker->num_requests++;
	if (worker->state == WORKER_READY)
		accept_requests(daemon, worker, daemon_now_ns());
}

void workers_release(struct daemon *daemon, struct daemon_client *client, uint64_t id)
{
	struct daemon_worker *worker = workers_find(daemon, id);
	struct daemon_ref *ref = worker != NULL ? daemon_ref_find(client, worker) : NULL;

	if (ref == NULL) /* the worker died meanwhile */
		return;
	if (--ref->count != 0)
		return;
	daemon_ref_drop(ref);
	end_if_unused(worker);
}

void workers_forget(struct daemon *daemon, struct daemon_client *client)
{
	struct daemon_worker *worker;

	TAILQ_FOREACH (worker, &daemon->workers, next) {
		for (struct daemon_request *request = TAILQ_FIRST(&worker->requests), *next; request != NULL; request = next) {
			next = TAILQ_NEXT(request, next);
			if (request->client == client)
				worker_drop_request(worker, request);
		}
	}
	for (struct daemon_ref *ref; (ref = LIST_FIRST(&client->refs)) != NULL;) {
		worker = ref->worker;
		daemon_ref_drop(ref);
		end_if_unused(worker);
	}
}

/* ---- events of processes ---- */

static void worker_is_ready(struct daemon *daemon, struct daemon_worker *worker)
{
	if (worker->state != WORKER_STARTING)
		return;
	worker->state = WORKER_READY;
	PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_INFO, DAEMON_LINES, "worker %" PRIu64 " runs, process %d", worker->id, worker->pid);
	accept_requests(daemon, worker, daemon_now_ns());
}

/* The worker then ends by itself, unless a plugin prevents it. */
static void worker_fails(struct daemon_worker *worker, doca_error_t status, const void *text, size_t len)
{
	urom_text_parse(text, len, worker->reason);
	if (worker->state == WORKER_ENDING)
		return;
	worker->unborn = worker->state == WORKER_STARTING && status == DOCA_ERROR_OPERATING_SYSTEM;
	worker->state = WORKER_ENDING;
	give_time(worker, DAEMON_END_NS);
}

/* For a worker whose plugin writes to the socket. */
static void worker_reject_packets(struct daemon *daemon, struct daemon_worker *worker)
{
	epoll_ctl(daemon->epoll_fd, EPOLL_CTL_DEL, worker->fd, NULL);
	snprintf(worker->reason, sizeof(worker->reason), "killed because it sends the service more packets than a worker should");
	kill_worker(worker);
}

void workers_read(struct daemon *daemon, struct daemon_worker *worker)
{
	uint8_t packet[PACKET_MAX];
	struct urom_head head;
	ssize_t len = recv(worker->fd, packet, sizeof(packet), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) { /* its process ends, or a plugin closed the socket, without which the worker is useless */
		epoll_ctl(daemon->epoll_fd, EPOLL_CTL_DEL, worker->fd, NULL);
		if (worker->state != WORKER_ENDING) {
			worker->state = WORKER_ENDING;
			give_time(worker, DAEMON_END_NS);
		}
		return;
	}
	if (++worker->num_packets > DAEMON_PACKETS_MAX) {
		worker_reject_packets(daemon, worker);
		return;
	}
	if ((size_t)len < sizeof(head) || urom_head_parse(packet, sizeof(head), &head) != DOCA_SUCCESS)
		return;
	if (head.kind == UROM_READY)
		worker_is_ready(daemon, worker);
	else if (head.kind == UROM_FAILED)
		worker_fails(worker, (doca_error_t)head.status, packet + sizeof(head), (size_t)len - sizeof(head));
}

/* path: the plugin that it was in, NULL: none. If a plugin ended the process, a client may request the end before the daemon
 * notices. */
static void log_end(const struct daemon_worker *worker, int status, const char *reason, const char *path)
{
	if (worker->asked && path == NULL && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_INFO, DAEMON_LINES, "worker %" PRIu64 " has ended", worker->id);
	else if (worker->unborn)
		PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_WARNING, DAEMON_LINES, "worker %" PRIu64 " with %s did not start: %s",
				    worker->id, worker->names, reason);
	else
		PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_WARNING, DAEMON_LINES, "worker %" PRIu64 " with %s died: %s%s%s", worker->id,
				    worker->names, reason, path != NULL ? ", " : "", path != NULL ? path : "");
}

static void worker_ended(struct daemon *daemon, struct daemon_worker *worker, int status, const struct rusage *usage)
{
	char reason[UROM_TEXT_MAX];
	const char *path;
	struct daemon_ref *ref;

	output_close(worker);
	supervise_explain(daemon, worker, status, usage, reason, &path);
	if (daemon->draining && worker->asked && path == NULL && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		snprintf(reason, sizeof(reason), "the service is shutting down");
	log_end(worker, status, reason, path);
	fail_requests(daemon, worker, reason);
	for (ref = worker->unborn ? NULL : LIST_FIRST(&worker->refs); ref != NULL; ref = LIST_NEXT(ref, of_worker))
		client_notify_died(daemon, ref->client, worker->id, reason);
	worker_free(daemon, worker);
}

static struct daemon_worker *find_process(struct daemon *daemon, pid_t pid)
{
	struct daemon_worker *worker;

	TAILQ_FOREACH (worker, &daemon->workers, next) {
		if (worker->pid == pid)
			return worker;
	}
	return NULL;
}

/* The spawner is not restarted: a new one would inherit the daemon's sockets. */
static void spawner_ended(struct daemon *daemon)
{
	DOCA_LOG_ERR("process %d, which starts the workers, ended: the service ends too, start it again", daemon->spawner_pid);
	daemon->spawner_pid = 0;
	daemon->draining = daemon->failed = true;
	workers_end_all(daemon);
}

void workers_reap(struct daemon *daemon)
{
	for (siginfo_t info = {0}; waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
	     info.si_pid = 0) {
		struct daemon_worker *worker = find_process(daemon, info.si_pid);
		struct rusage usage;
		int status;
		if (worker != NULL) /* processes that its plugins started; its pid is not reused before it is reaped */
			kill(-worker->pid, SIGKILL);
		if (wait4(info.si_pid, &status, 0, &usage) != info.si_pid)
			continue;
		if (info.si_pid == daemon->spawner_pid)
			spawner_ended(daemon);
		if (worker == NULL)
			continue;
		workers_read(daemon, worker); /* its last packets */
		worker_ended(daemon, worker, status, &usage);
	}
}

static uint64_t time_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A READY worker's requests wait for room in its socket; other workers must become ready or end. Returns the time of the next
 * call. */
static uint64_t worker_expire(struct daemon *daemon, struct daemon_worker *worker, uint64_t now)
{
	if (worker->state == WORKER_READY) {
		accept_requests(daemon, worker, now);
		return TAILQ_EMPTY(&worker->requests) ? UINT64_MAX : now + DAEMON_ADMIT_NS;
	}
	if (worker->killed)
		return UINT64_MAX;
	uint64_t again = own_time_left(&worker->time, worker->pid, now, worker->limit_ns);
	bool is_late = worker->state == WORKER_ENDING && now - worker->time.begun_ns >= DAEMON_END_MAX_NS;
	if (again != 0 && !is_late)
		return again;
	kill_worker(worker);
	return UINT64_MAX;
}

uint64_t workers_expire(struct daemon *daemon, uint64_t now)
{
	uint64_t next_time = UINT64_MAX;
	struct daemon_worker *worker;

	TAILQ_FOREACH (worker, &daemon->workers, next) {
		next_time = time_earlier(next_time, output_expire(daemon, worker, now));
		next_time = time_earlier(next_time, worker_expire(daemon, worker, now));
	}
	return time_earlier(next_time, supervise_workers(daemon, now));
}

void workers_end_all(struct daemon *daemon)
{
	struct daemon_worker *worker;

	TAILQ_FOREACH (worker, &daemon->workers, next)
		end_worker(worker);
}
