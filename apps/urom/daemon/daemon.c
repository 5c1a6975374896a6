/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/log_rate.h"
#include "clients.h"
#include "clock.h"
#include "cpus.h"
#include "networks.h"
#include "node.h"
#include "plugins.h"
#include "spawn.h"
#include "workers.h"

DOCA_LOG_REGISTER(UROM_DAEMON);

#define EVENTS_MAX 64
#define REPORT_MS 1000 /* between checks for suppressed lines */

/* ---- events ---- */

static void take_signal(struct daemon *daemon)
{
	struct signalfd_siginfo info;

	while (read(daemon->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			workers_reap(daemon);
			continue;
		}
		DOCA_LOG_INFO("%s: ending the workers", strsignal((int)info.ssi_signo));
		daemon->draining = true;
		workers_end_all(daemon);
	}
}

static int patience_ms(struct daemon *daemon)
{
	uint64_t now = daemon_now_ns();
	uint64_t workers = workers_expire(daemon, now), clients = clients_expire(daemon, now);
	uint64_t next = workers < clients ? workers : clients;

	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000) + 1;
}

static void daemon_loop(struct daemon *daemon)
{
	struct epoll_event events[EVENTS_MAX];

	while (!daemon->draining || daemon->num_workers != 0) {
		while (sf_comm_poll(daemon->comm))
			;
		int wait = patience_ms(daemon);
		if (sf_log_rate_report(false) && (wait < 0 || wait > REPORT_MS))
			wait = REPORT_MS;
		if (sf_comm_arm(daemon->comm))
			wait = 0;
		int num = epoll_wait(daemon->epoll_fd, events, EVENTS_MAX, wait);
		for (int i = 0; i < num; i++) {
			if (events[i].data.ptr == &daemon->signal_fd || events[i].data.ptr == &daemon->comm)
				continue;
			const struct daemon_source *source = (const struct daemon_source *)events[i].data.ptr;
			source->read(daemon, source->worker);
		}
		sf_comm_cork(daemon->comm); /* few messages for the deaths of many workers */
		take_signal(daemon);	    /* last: it frees workers that an event may refer to */
		sf_comm_uncork(daemon->comm);
	}
}

/* ---- start ---- */

static doca_error_t block_signals(struct daemon *daemon)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
		daemon->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return daemon->signal_fd >= 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

static doca_error_t fd_watch(struct daemon *daemon, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = what}};

	return epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

static doca_error_t open_comm(struct daemon *daemon)
{
	const struct sf_comm_options options = {
		.handler = &daemon_handler,
		.user = daemon,
		.body_max = UROM_CONTROL_MAX,
		.backlog_max = DAEMON_BACKLOG_MAX,
	};
	doca_error_t result = sf_comm_open(&options, &daemon->comm);

	return result == DOCA_SUCCESS ? fd_watch(daemon, sf_comm_fd(daemon->comm), &daemon->comm) : result;
}

/* A service with a secret file serves several users or machines. */
static doca_error_t listen_on(struct daemon *daemon, const struct sockaddr *address, socklen_t len,
			      struct sockaddr_storage *bound)
{
	const char *devices = daemon->devices[0] != '\0' ? daemon->devices : NULL;
	struct sf_comm_key key;

	if (daemon->local)
		return sf_comm_listen(daemon->comm, address, len, NULL, NULL, bound);
	doca_error_t result = urom_key_make(&daemon->secret, &key);
	if (result == DOCA_SUCCESS)
		result = sf_comm_listen(daemon->comm, address, len, &key, devices, bound);
	explicit_bzero(&key, sizeof(key));
	return result;
}

static doca_error_t listen_there(struct daemon *daemon)
{
	struct sockaddr_storage address, bound;
	socklen_t len;
	doca_error_t result = networks_listen_address(daemon, &address, &len);

	if (result == DOCA_SUCCESS)
		result = open_comm(daemon);
	if (result == DOCA_SUCCESS)
		result = listen_on(daemon, (const struct sockaddr *)&address, len, &bound);
	if (result != DOCA_SUCCESS)
		return result;
	uint16_t port = bound.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&bound)->sin6_port
						    : ((const struct sockaddr_in *)&bound)->sin_port;
	DOCA_LOG_INFO("listening on %s port %u, messages of %u bytes, at most %u workers, %u plugins", daemon->config.bind,
		      ntohs(port), daemon->config.message_max, daemon->config.workers_max, daemon->num_plugins);
	return DOCA_SUCCESS;
}

static doca_error_t daemon_start(struct daemon *daemon)
{
	const char *secret_file = daemon->config.secret_file;

	daemon->local = secret_file[0] == '\0';
	plugins_discover(daemon);
	daemon->cpus = cpus_of_node();
	networks_prepare(daemon);		  /* sets the environment that the spawner inherits */
	doca_error_t result = spawn_open(daemon); /* no process is forked later, which would inherit what is opened below */
	if (result == DOCA_SUCCESS)
		result = node_lock(&daemon->lock_fd);
	if (result == DOCA_SUCCESS)
		result = secret_file[0] != '\0' ? urom_secret_read(secret_file, &daemon->secret)
						: urom_secret_of_user(true, &daemon->secret);
	if (result != DOCA_SUCCESS)
		return result;
	daemon->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (daemon->epoll_fd < 0 || block_signals(daemon) != DOCA_SUCCESS ||
	    fd_watch(daemon, daemon->signal_fd, &daemon->signal_fd) != DOCA_SUCCESS) {
		DOCA_LOG_ERR("cannot start: %s", strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	return listen_there(daemon);
}

int daemon_run(struct daemon *daemon)
{
	TAILQ_INIT(&daemon->clients);
	TAILQ_INIT(&daemon->workers);
	daemon->epoll_fd = daemon->signal_fd = daemon->lock_fd = daemon->spawner_fd = -1;
	doca_error_t result = daemon_start(daemon);
	if (result == DOCA_SUCCESS)
		daemon_loop(daemon);
	for (struct daemon_client *client; (client = TAILQ_FIRST(&daemon->clients)) != NULL;) {
		TAILQ_REMOVE(&daemon->clients, client, next);
		free(client);
	}
	if (daemon->comm != NULL)
		sf_comm_close(daemon->comm);
	sf_log_rate_report(true);
	if (daemon->signal_fd >= 0)
		close(daemon->signal_fd);
	if (daemon->epoll_fd >= 0)
		close(daemon->epoll_fd);
	if (daemon->lock_fd >= 0)
		node_unlock(daemon->lock_fd);
	spawn_close(daemon);
	return result == DOCA_SUCCESS && !daemon->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
