/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain epoll server that uses the frames of the remote-offload applications and answers them itself: the reference for the
 * offload path. Prints "listening on port N" once it listens.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_log.h>

#include "config.h"
#include "remote_offload/options.h"
#include "worker.h"

DOCA_LOG_REGISTER(ECHO::MAIN);

static int listen_open(const struct echo_config *config)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = config->address, .sin_port = htons(config->port)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
		printf("listening on port %u\n", ntohs(address.sin_port));
		fflush(stdout);
		return fd;
	}
	DOCA_LOG_ERR("cannot listen on port %u: %s", config->port, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Distributes clients to the threads in turn until a signal arrives. */
static void accept_all(int listen_fd, int signal_fd, struct worker *workers, uint32_t count)
{
	struct pollfd fds[] = {{.fd = listen_fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	uint32_t turn = 0;
	int on = 1;

	for (;;) {
		int fd;

		poll(fds, 2, -1);
		if (fds[1].revents != 0)
			return;
		while ((fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			if (!worker_add(&workers[turn++ % count], fd))
				close(fd);
		}
		if (errno == EMFILE || errno == ENFILE) {
			DOCA_LOG_ERR("no descriptor for another client: %s", strerror(errno));
			return;
		}
	}
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static bool run(const struct echo_config *config)
{
	static struct worker workers[ECHO_THREADS_MAX];
	uint32_t count = config->cpu_count > 0 ? config->cpu_count : 1, started = 0;
	int signal_fd = signals_open();
	int listen_fd = -1;

	while (started < count &&
	       worker_start(&workers[started], config, config->cpu_count > 0 ? (int)config->cpus[started] : -1))
		started++;
	if (started == count)
		listen_fd = listen_open(config);
	if (listen_fd >= 0) {
		accept_all(listen_fd, signal_fd, workers, count);
		close(listen_fd);
	}
	for (uint32_t i = 0; i < started; i++)
		worker_stop(&workers[i]);
	close(signal_fd);
	return listen_fd >= 0;
}

int main(int argc, char **argv)
{
	static struct echo_config config;

	raise_file_limit();
	if (options_start_log() != DOCA_SUCCESS || echo_config_parse(&config, argc, argv) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	return run(&config) ? EXIT_SUCCESS : EXIT_FAILURE;
}
