/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <doca_log.h>

#include "remote_offload/clock.h"

DOCA_LOG_REGISTER(CLIENT::WORKER);

#define BUFFER_SIZE (256U * 1024)
#define EVENTS_MAX 256
/* Connections that are being opened at a time: more would overflow the listen queue of the server. */
#define OPENING_MAX 64
/* How often a waiting thread checks stop, failed and the time without progress. */
#define TICK_MS 50
/* How long a thread polls for answers before it sleeps: waking it costs the server more than polling costs here. */
#define SPIN_NS 50000
/* Full buffers read from one connection before the others are served. */
#define RECEIVES_MAX 4

void control_fail(struct control *control, const char *format, ...)
{
	char line[320];
	va_list args;

	if (__atomic_exchange_n(&control->failed, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (format != NULL) {
		va_start(args, format);
		vsnprintf(line, sizeof(line), format, args);
		va_end(args);
		DOCA_LOG_ERR("%s", line);
	}
	pthread_mutex_lock(&control->phase_lock);
	pthread_cond_broadcast(&control->phase_cond);
	pthread_mutex_unlock(&control->phase_lock);
}

bool control_failed(struct control *control)
{
	return __atomic_load_n(&control->failed, __ATOMIC_ACQUIRE) != 0;
}

/* Waits for all threads, so that they start the next phase together. */
static void phase_barrier(struct control *control)
{
	uint32_t round;

	pthread_mutex_lock(&control->phase_lock);
	round = control->phase_round;
	if (++control->phase_arrived == control->config->threads) {
		control->phase_arrived = 0;
		control->phase_round++;
		pthread_cond_broadcast(&control->phase_cond);
	}
	while (round == control->phase_round && !control_failed(control))
		pthread_cond_wait(&control->phase_cond, &control->phase_lock);
	pthread_mutex_unlock(&control->phase_lock);
}

static void connection_fail(struct worker *worker)
{
	control_fail(worker->control, "%s", connection_error());
}

static void events_arm(struct worker *worker, struct connection *connection, bool out)
{
	struct epoll_event event = {.events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = connection};

	if (connection->armed_out == out)
		return;
	connection->armed_out = out;
	epoll_ctl(worker->epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
}

static void open_next(struct worker *worker)
{
	struct control *control = worker->control;
	struct connection *connection = &worker->connections[worker->opened];
	struct epoll_event event = {.events = EPOLLOUT, .data.ptr = connection};
	doca_error_t result =
		connection_open(connection, worker->first_number + worker->opened, control->messages, control->config->depth,
				(struct sockaddr *)&control->address, control->address_len, control->server);

	worker->opened++;
	if (result != DOCA_SUCCESS) {
		connection_fail(worker);
	} else if (epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, connection->fd, &event) != 0) {
		control_fail(control, "connection %u cannot be waited for: %s", connection->number, strerror(errno));
	}
}

static void opened_one(struct worker *worker, struct connection *connection)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};

	if (connection_finish_open(connection, worker->control->server) != CONNECTION_OK) {
		connection_fail(worker);
		return;
	}
	epoll_ctl(worker->epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
	connection->open = true;
	worker->connected++;
}

/* Fails the run if nothing arrived for too long. The first thread to notice logs it. */
static void check_timeout(struct worker *worker, const char *waiting_for)
{
	uint64_t limit_ns = (uint64_t)worker->control->config->timeout_s * 1000000000ULL;

	if (clock_ns() - worker->progress_ns < limit_ns || control_failed(worker->control))
		return;
	control_fail(worker->control, "nothing from %s for %u s while waiting for %s; --timeout sets how long to wait",
		     worker->control->server, worker->control->config->timeout_s, waiting_for);
}

static bool stop_wanted(const struct worker *worker)
{
	return __atomic_load_n(&worker->control->stop, __ATOMIC_ACQUIRE) != 0;
}

static void send_credited(struct worker *worker, struct connection *connection, uint64_t now_ns)
{
	switch (connection_send(connection, worker->control->messages, now_ns)) {
	case CONNECTION_OK:
		events_arm(worker, connection, false);
		break;
	case CONNECTION_BLOCKED:
		events_arm(worker, connection, true);
		break;
	case CONNECTION_FAILED:
		connection_fail(worker);
		break;
	}
}

/* Each answer allows one new request, while there are any left. */
static void requests_allow(struct worker *worker, struct connection *connection, uint64_t answers)
{
	uint64_t credits = answers < worker->remaining ? answers : worker->remaining;

	if (answers == 0)
		return;
	connection->credits += credits;
	worker->remaining -= credits;
	worker->due -= answers;
	if (worker->measuring)
		__atomic_store_n(&worker->answered, worker->answered + answers, __ATOMIC_RELAXED);
}

static void answers_receive(struct worker *worker, struct connection *connection)
{
	struct latency *latency = worker->measuring ? &worker->latency : NULL;
	uint64_t before = connection->answered;
	ssize_t len = BUFFER_SIZE;

	for (int i = 0; i < RECEIVES_MAX && len == BUFFER_SIZE; i++) {
		len = recv(connection->fd, worker->buffer, BUFFER_SIZE, 0);
		if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			break;
		if (len <= 0) {
			control_fail(worker->control, "connection %u: the server closed it with %llu requests unanswered%s%s",
				     connection->number, (unsigned long long)(connection->begun - connection->answered),
				     len < 0 ? ": " : "", len < 0 ? strerror(errno) : "");
			return;
		}
		if (connection_receive(connection, worker->control->messages, worker->buffer, (size_t)len, clock_ns(), latency) !=
		    CONNECTION_OK) {
			connection_fail(worker);
			return;
		}
	}
	requests_allow(worker, connection, connection->answered - before);
}

static void open_all(struct worker *worker)
{
	uint32_t total = worker->control->config->connections;
	struct epoll_event events[EVENTS_MAX];

	worker->progress_ns = clock_ns();
	while (worker->connected < total && !control_failed(worker->control) && !stop_wanted(worker)) {
		int count;

		while (worker->opened < total && worker->opened - worker->connected < OPENING_MAX &&
		       !control_failed(worker->control))
			open_next(worker);
		count = epoll_wait(worker->epoll_fd, events, EVENTS_MAX, TICK_MS);
		for (int i = 0; i < count && !control_failed(worker->control); i++) {
			struct connection *connection = events[i].data.ptr;

			if (connection
				    ->open) /* no request was sent yet, so this is the end of the connection or unexpected data */
				answers_receive(worker, connection);
			else
				opened_one(worker, connection);
		}
		if (count > 0)
			worker->progress_ns = clock_ns();
		else
			check_timeout(worker, "a connection");
	}
}

/* Lets requests that were begun finish. Gives no more credits, and revokes those of requests that were not begun. */
static void stop_crediting(struct worker *worker)
{
	worker->stopping = true;
	worker->due -= worker->remaining;
	worker->remaining = 0;
	for (uint32_t i = 0; i < worker->connected; i++) {
		struct connection *connection = &worker->connections[i];

		worker->due -= connection->credits - connection->begun;
		connection->credits = connection->begun;
	}
}

static void event_handle(struct worker *worker, const struct epoll_event *event)
{
	struct connection *connection = event->data.ptr;

	if (event->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		answers_receive(worker, connection);
	if (!control_failed(worker->control))
		send_credited(worker, connection, clock_ns());
}

/* Waits for answers. Polls for a while before it sleeps, and yields, so that others on this CPU can run. */
static int wait_for_answers(struct worker *worker, struct epoll_event *events)
{
	int ready = epoll_wait(worker->epoll_fd, events, EVENTS_MAX, 0);
	uint64_t until_ns;

	if (ready != 0)
		return ready;
	until_ns = clock_ns() + SPIN_NS;
	while (ready == 0 && clock_ns() < until_ns) {
		sched_yield();
		ready = epoll_wait(worker->epoll_fd, events, EVENTS_MAX, 0);
	}
	return ready != 0 ? ready : epoll_wait(worker->epoll_fd, events, EVENTS_MAX, TICK_MS);
}

/* Sends `count` requests and receives their answers. */
static void run_phase(struct worker *worker, uint64_t count)
{
	uint32_t connections = worker->control->config->connections;
	struct epoll_event events[EVENTS_MAX];

	worker->remaining = count;
	worker->due = count;
	worker->progress_ns = clock_ns();
	for (uint32_t i = 0; i < connections && !control_failed(worker->control); i++) {
		uint64_t share = (worker->remaining + connections - i - 1) / (connections - i); /* an equal part of the rest */
		uint64_t credits = share < worker->control->config->depth ? share : worker->control->config->depth;

		worker->connections[i].credits += credits;
		worker->remaining -= credits;
		send_credited(worker, &worker->connections[i], clock_ns());
	}
	while (worker->due > 0 && !control_failed(worker->control)) {
		int ready = wait_for_answers(worker, events);

		for (int i = 0; i < ready && !control_failed(worker->control); i++)
			event_handle(worker, &events[i]);
		if (!worker->stopping && stop_wanted(worker))
			stop_crediting(worker);
		if (ready > 0)
			worker->progress_ns = clock_ns();
		else
			check_timeout(worker, "answers");
	}
}

static void run_all(struct worker *worker)
{
	struct control *control = worker->control;

	open_all(worker);
	phase_barrier(control);
	if (!control_failed(control) && !stop_wanted(worker))
		run_phase(worker, control->config->warm_up);
	phase_barrier(control);
	worker->measuring = true;
	worker->start_ns = clock_ns();
	if (!control_failed(control) && !stop_wanted(worker))
		run_phase(worker, control->config->iterations);
	worker->end_ns = clock_ns();
}

static bool resources_take(struct worker *worker)
{
	worker->connections = calloc(worker->control->config->connections, sizeof(*worker->connections));
	worker->buffer = malloc(BUFFER_SIZE);
	worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	latency_reset(&worker->latency);
	if (worker->connections != NULL && worker->buffer != NULL && worker->epoll_fd >= 0)
		return true;
	control_fail(worker->control, "a thread with %u connections cannot start: %s", worker->control->config->connections,
		     strerror(errno));
	return false;
}

static void resources_give(struct worker *worker)
{
	for (uint32_t i = 0; i < worker->opened; i++)
		connection_close(&worker->connections[i]);
	if (worker->epoll_fd >= 0)
		close(worker->epoll_fd);
	free(worker->connections);
	free(worker->buffer);
}

void *worker_run(void *argument)
{
	struct worker *worker = argument;

	if (resources_take(worker))
		run_all(worker);
	resources_give(worker);
	eventfd_write(worker->control->done_fd, 1);
	return NULL;
}
