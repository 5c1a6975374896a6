/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/frame.h"
#include "remote_offload/log_limit.h"
#include "remote_offload/signals.h"
#include "session.h"

DOCA_LOG_REGISTER(SERVER);

#define ANSWER_SPIN_US 500
#define SECOND_SIGNAL_MS 1000
#define POLL_MS 1	    /* while queues start: their engines are polled */
#define DEADLINE_POLL_MS 20 /* while a deadline is set */
#define LOG_REPORT_MS (LOG_LIMIT_SECONDS * 1000)
#define EVENTS_MAX 8

/* Signals */

static void take_signal(struct server *server)
{
	struct signalfd_siginfo info;

	if (read(server->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	/* One key press may arrive twice, from the terminal and from a parent process: only a later one counts. */
	if (server->stop_requested) {
		if (clock_ms() - server->signalled_ms < SECOND_SIGNAL_MS)
			return;
		DOCA_LOG_WARN("second signal: exiting immediately");
		_exit(EXIT_FAILURE);
	}
	server->signalled_ms = clock_ms();
	DOCA_LOG_INFO("signal %s: shutting down", strsignal((int)info.ssi_signo));
	session_request_stop(server);
}

/* Waiting */

static int timeout_ms(const struct server *server, int accept_ms)
{
	if (server->state == SERVER_CONNECTING)
		return POLL_MS;
	if (server->state == SERVER_ABANDONING || server->state == SERVER_CLOSING)
		return DEADLINE_POLL_MS;
	return accept_ms >= 0 && accept_ms < LOG_REPORT_MS ? accept_ms : LOG_REPORT_MS;
}

/*
 * The listener is in the epoll set only while clients may be accepted: a socket that does not listen yet always reports
 * EPOLLHUP, and the loop would never sleep.
 */
static void watch_listener(struct server *server, bool wanted)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = server->listener.fd};

	if (wanted == server->listener.watched)
		return;
	if (epoll_ctl(server->epoll_fd, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, server->listener.fd, &event) == 0)
		server->listener.watched = wanted;
}

static void wait_for_events(struct server *server)
{
	struct epoll_event events[EVENTS_MAX];
	bool armed = channel_arm(&server->channel) == DOCA_SUCCESS;
	int count, accept_ms;

	watch_listener(server, clients_are_accepted(server, &accept_ms));
	count = epoll_wait(server->epoll_fd, events, EVENTS_MAX, armed ? timeout_ms(server, accept_ms) : POLL_MS);
	if (armed)
		channel_disarm(&server->channel);
	for (int i = 0; i < count; i++) {
		uint64_t value;

		if (events[i].data.fd == server->signal_fd)
			take_signal(server);
		else if (events[i].data.fd == server->listener.fd)
			clients_accept(server);
		else if (events[i].data.fd == server->notify_fd && read(server->notify_fd, &value, sizeof(value)) < 0)
			DOCA_LOG_DBG("notification not read: %s", strerror(errno));
	}
}

static void server_loop(struct server *server)
{
	while (server->state != SERVER_ENDED) {
		session_handle_events(server);
		session_progress(server);
		log_limits_report(false);
		if (server->state != SERVER_ENDED)
			wait_for_events(server);
	}
}

/* Start and stop */

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static doca_error_t fd_watch(struct server *server, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fd < 0 || epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		DOCA_LOG_ERR("events cannot be waited for: %s", strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	return DOCA_SUCCESS;
}

/* With as many CPUs again for the other programs, polling delays none of them. */
static bool has_spare_cpus(const struct server_config *config)
{
	cpu_set_t usable;
	int cpus = sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 0;

	return cpus > 2 && cpus >= 2 * (int)config->cpu_count;
}

static doca_error_t start_workers(struct server *server)
{
	const struct server_config *config = server->config;
	struct worker_limits limits = {
		.frame_max = frame_size_max(config->max_message_length),
		.depth = config->max_concurrent_messages,
		.spin_us = config->spin_us,
		.answer_spin_us = config->spin_us,
		.gpu_timeout_s = config->gpu_timeout_s,
		.idle_timeout_s = config->idle_timeout_s,
	};

	if (has_spare_cpus(config) && limits.answer_spin_us > 0 && limits.answer_spin_us < ANSWER_SPIN_US)
		limits.answer_spin_us = ANSWER_SPIN_US;

	for (uint32_t i = 0; i < config->cpu_count; i++) {
		doca_error_t result =
			worker_start(i, config->cpus[i], &limits, server->channel.dev, server->notify_fd, &server->workers[i]);

		if (result != DOCA_SUCCESS)
			return result;
		server->worker_count++;
	}
	DOCA_LOG_INFO("%u data path threads started", server->worker_count);
	return DOCA_SUCCESS;
}

static doca_error_t open_all(struct server *server)
{
	const struct server_config *config = server->config;
	doca_error_t result;

	server->signal_fd = signals_open();
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	raise_file_limit();
	result = listener_bind(&server->listener, config->listen_address, config->listen_port);
	if (result == DOCA_SUCCESS)
		result = channel_open(&server->channel, config->device_id, config->representor_id, config->channel_name);
	if (result == DOCA_SUCCESS)
		result = fd_watch(server, server->signal_fd);
	if (result == DOCA_SUCCESS)
		result = fd_watch(server, server->notify_fd);
	if (result == DOCA_SUCCESS)
		result = fd_watch(server, channel_fd(&server->channel));
	if (result == DOCA_SUCCESS)
		result = start_workers(server);
	if (result == DOCA_SUCCESS)
		result = clients_check_files(server);
	return result;
}

int server_run(const struct server_config *config)
{
	static struct server server;
	doca_error_t result;

	memset(&server, 0, sizeof(server));
	server.config = config;
	server.listener.fd = -1;
	result = open_all(&server);
	if (result == DOCA_SUCCESS) {
		session_wait(&server);
		server_loop(&server);
	}
	for (uint32_t i = 0; i < server.worker_count; i++)
		worker_stop(server.workers[i]);
	if (result == DOCA_SUCCESS)
		server_report(&server);
	for (uint32_t i = 0; i < server.worker_count; i++)
		worker_destroy(server.workers[i]);
	channel_close(&server.channel);
	listener_close(&server.listener);
	close(server.notify_fd);
	close(server.epoll_fd);
	close(server.signal_fd);
	log_limits_report(true);
	return result == DOCA_SUCCESS && !server.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
