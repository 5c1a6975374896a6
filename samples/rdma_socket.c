/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "rdma_socket.h"

#define PAUSE_MS 10
#define HANDSHAKE_SIZE 64

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- bytes ---- */

static bool wait_until(int fd, short events, double end)
{
	struct pollfd poller = {.fd = fd, .events = events};
	double left = end - now_seconds();

	return left > 0 && poll(&poller, 1, (int)(left * 1000) + 1) == 1;
}

static doca_error_t failed(const char *what, ssize_t done)
{
	fprintf(stderr, "%s the peer: %s\n", what, done == 0 ? "it has closed the socket" : strerror(errno));
	return DOCA_ERROR_IO_FAILED;
}

static doca_error_t read_until(int fd, void *data, size_t len, double end)
{
	for (size_t at = 0; at < len;) {
		if (!wait_until(fd, POLLIN, end))
			return sample_failed("reading from the peer", DOCA_ERROR_TIME_OUT);
		ssize_t done = recv(fd, (char *)data + at, len - at, 0);

		if (done < 0 && errno == EAGAIN)
			continue;
		if (done <= 0)
			return failed("reading from", done);
		at += (size_t)done;
	}
	return DOCA_SUCCESS;
}

doca_error_t socket_read(int fd, void *data, size_t len)
{
	return read_until(fd, data, len, now_seconds() + SAMPLE_PATIENCE_SECONDS);
}

doca_error_t socket_write(int fd, const void *data, size_t len)
{
	const double end = now_seconds() + SAMPLE_PATIENCE_SECONDS;

	for (size_t at = 0; at < len;) {
		if (!wait_until(fd, POLLOUT, end))
			return sample_failed("writing to the peer", DOCA_ERROR_TIME_OUT);
		ssize_t done = send(fd, (const char *)data + at, len - at, MSG_NOSIGNAL);

		if (done < 0 && errno == EAGAIN)
			continue;
		if (done <= 0)
			return failed("writing to", done);
		at += (size_t)done;
	}
	return DOCA_SUCCESS;
}

/* ---- connecting ---- */

static doca_error_t resolve(const char *place, struct addrinfo **found)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const char *colon = strrchr(place, ':'), *port = colon != NULL ? colon + 1 : place;
	char host[256] = "127.0.0.1";
	size_t len = colon != NULL ? (size_t)(colon - place) : 0;

	if (len > 2 && place[0] == '[' && place[len - 1] == ']') { /* [::1]:4000 */
		place++;
		len -= 2;
	}
	char *rest;
	unsigned long number = strtoul(port, &rest, 10);

	if (len >= sizeof(host) || number == 0 || number > UINT16_MAX || *rest != '\0')
		return sample_failed("--peer HOST:PORT", DOCA_ERROR_INVALID_VALUE);
	if (len != 0)
		snprintf(host, sizeof(host), "%.*s", (int)len, place);
	int error = getaddrinfo(host, port, &hints, found);

	if (error == 0)
		return DOCA_SUCCESS;
	fprintf(stderr, "--peer HOST:PORT: %s, port %s: %s\n", host, port, gai_strerror(error));
	return DOCA_ERROR_INVALID_VALUE;
}

/* A connect to a local port without a listener may, rarely, connect the socket to itself. */
static bool is_itself(int fd)
{
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t here_len = sizeof(here), there_len = sizeof(there);

	return getsockname(fd, (struct sockaddr *)&here, &here_len) == 0 &&
	       getpeername(fd, (struct sockaddr *)&there, &there_len) == 0 && memcmp(&here, &there, sizeof(here)) == 0;
}

static int try_connect(const struct addrinfo *address, double end)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	socklen_t len = sizeof(error);

	if (fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) != 0)
		error = errno;
	if (error == EINPROGRESS && (!wait_until(fd, POLLOUT, end) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0))
		error = ETIMEDOUT;
	if (fd >= 0 && error == 0 && !is_itself(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int try_listen(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, 4) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1; /* the peer listens there, or the host is the peer's */
}

/* Both sides send their names. */
static doca_error_t shake_hands(int fd, const char *me, const char *peer, double end)
{
	char mine[HANDSHAKE_SIZE] = {0}, theirs[HANDSHAKE_SIZE], expected[HANDSHAKE_SIZE] = {0};
	doca_error_t status;

	snprintf(mine, sizeof(mine), "softfield sample %s", me);
	status = socket_write(fd, mine, sizeof(mine));
	if (status == DOCA_SUCCESS)
		status = read_until(fd, theirs, sizeof(theirs), end);
	snprintf(expected, sizeof(expected), "softfield sample %s", peer);
	if (status == DOCA_SUCCESS && memcmp(expected, theirs, sizeof(theirs)) != 0) {
		fprintf(stderr, "the program at the other end of --peer is not %s\n", peer);
		status = DOCA_ERROR_UNEXPECTED;
	}
	return status;
}

static int accept_peer(int listener, const char *me, const char *peer, double end)
{
	while (wait_until(listener, POLLIN, end)) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0 && shake_hands(fd, me, peer, now_seconds() + 2) == DOCA_SUCCESS)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int meet_at(const struct addrinfo *address, const char *me, const char *peer, double end)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};

	while (now_seconds() < end) {
		int fd = try_connect(address, end);

		if (fd >= 0) {
			if (shake_hands(fd, me, peer, end) == DOCA_SUCCESS)
				return fd;
			close(fd);
			return -1;
		}
		int listener = try_listen(address);

		if (listener >= 0) {
			fd = accept_peer(listener, me, peer, end);
			close(listener);
			return fd;
		}
		nanosleep(&pause, NULL);
	}
	return -1;
}

doca_error_t socket_meet(const char *place, const char *me, const char *peer, int *socket)
{
	struct addrinfo *found;
	doca_error_t status = resolve(place, &found);

	if (status != DOCA_SUCCESS)
		return status;
	*socket = meet_at(found, me, peer, now_seconds() + SAMPLE_PATIENCE_SECONDS);
	freeaddrinfo(found);
	return *socket >= 0 ? DOCA_SUCCESS : sample_failed(place, DOCA_ERROR_CONNECTION_ABORTED);
}
