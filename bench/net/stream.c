/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rate of a stream between two processes without our libraries: a TCP connection over the loopback interface, plain or
 * with OpenSSL and the tcp provider's cipher. Where the kernel has TLS, it encrypts for both that are compared. The sender has as
 * many buffers as the provider has messages in flight in bench/net/run. Both sides poll, like the provider.
 *
 *   bench_stream plain|tls SIZE COUNT CPU,CPU
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tls.h"
#include "measure.h"

#define BUFFERS 4

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("sched_setaffinity");
}

static void wait_ready(int fd, bool to_write)
{
	struct pollfd ready = {.fd = fd, .events = to_write ? POLLOUT : POLLIN};

	poll(&ready, 1, -1);
}

static struct sf_tls *tls_begin(int fd, bool server)
{
	static const uint8_t key[SF_TLS_KEY_SIZE] = {1};
	struct sf_tls *tls;
	int result;

	check(sf_tls_begin(fd, server, key, "bench", &tls), "sf_tls_begin");
	while ((result = sf_tls_shake(tls)) == SF_TLS_AGAIN)
		wait_ready(fd, sf_tls_wants_write(tls));
	if (result != 0) {
		fprintf(stderr, "no handshake: %d\n", result);
		exit(1);
	}
	return tls;
}

/* Transfers a whole buffer in one direction. */
static void transfer(int fd, struct sf_tls *tls, uint8_t *bytes, size_t len, bool send_it)
{
	for (size_t at = 0; at < len;) {
		ssize_t done;

		if (tls != NULL)
			done = send_it ? sf_tls_write(tls, bytes + at, len - at) : sf_tls_read(tls, bytes + at, len - at);
		else
			done = send_it ? send(fd, bytes + at, len - at, MSG_NOSIGNAL) : recv(fd, bytes + at, len - at, 0);
		if (done > 0)
			at += (size_t)done;
		else if (tls != NULL ? done != SF_TLS_AGAIN : done == 0 || errno != EAGAIN)
			die(send_it ? "send" : "receive");
	}
}

static void stream(int fd, bool encrypted, size_t size, uint64_t count, bool sender)
{
	struct sf_tls *tls = encrypted ? tls_begin(fd, !sender) : NULL;
	uint8_t *memory = calloc(BUFFERS, size), byte = 0;

	if (memory == NULL)
		die("calloc");
	memset(memory, 1, BUFFERS * size);
	for (uint64_t i = 0; i < count; i++)
		transfer(fd, tls, memory + i % BUFFERS * size, size, sender);
	transfer(fd, tls, &byte, 1, !sender); /* all has arrived */
	sf_tls_free(tls);
	free(memory);
}

static int connected_pair(int fds[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || fds[0] < 0 || bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) != 0 ||
	    connect(fds[0], (struct sockaddr *)&address, len) != 0)
		return -1;
	fds[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	close(listener);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	setsockopt(fds[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fds[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fds[1];
}

int main(int argc, char **argv)
{
	int fds[2], cpus[2], status = 1;
	uint64_t begin, count;
	size_t size;
	pid_t child;

	if (argc != 5 || sscanf(argv[4], "%d,%d", &cpus[0], &cpus[1]) != 2) {
		fprintf(stderr, "usage: %s plain|tls SIZE COUNT CPU,CPU\n", argv[0]);
		return 2;
	}
	size = strtoull(argv[2], NULL, 0);
	count = strtoull(argv[3], NULL, 0);
	if (connected_pair(fds) < 0)
		die("a pair of connected sockets");
	child = fork();
	if (child == 0) {
		close(fds[0]);
		pin(cpus[1]);
		stream(fds[1], strcmp(argv[1], "tls") == 0, size, count, false);
		_exit(0);
	}
	close(fds[1]);
	pin(cpus[0]);
	begin = sf_now_ns();
	stream(fds[0], strcmp(argv[1], "tls") == 0, size, count, true);
	printf("%.0f bytes/s\n", (double)size * (double)count * 1e9 / (double)(sf_now_ns() - begin));
	if (waitpid(child, &status, 0) != child || status != 0)
		return 1;
	return 0;
}
