/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool.h"

void bench_die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "softfield: perf: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(TOOL_FAILED);
}

int bench_channel_serve(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, channel;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) != 0)
		bench_die("cannot listen on port %s: %s", port, strerror(errno));
	fprintf(stderr, "listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
	channel = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (channel < 0)
		bench_die("cannot accept a client: %s", strerror(errno));
	close(listener);
	(void)setsockopt(channel, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return channel;
}

int bench_channel_connect(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	int channel = -1, on = 1, error = getaddrinfo(host, port, &hints, &found);

	if (error != 0)
		bench_die("no address for %s: %s", host, gai_strerror(error));
	for (struct addrinfo *at = found; at != NULL && channel < 0; at = at->ai_next) {
		channel = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (channel >= 0 && connect(channel, at->ai_addr, at->ai_addrlen) != 0) {
			error = errno;
			close(channel);
			channel = -1;
		}
	}
	freeaddrinfo(found);
	if (channel < 0)
		bench_die("cannot connect to %s:%s: %s; is the server running?", host, port, strerror(error));
	(void)setsockopt(channel, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return channel;
}

static _Noreturn void peer_ended(void)
{
	bench_die("the other side has ended: see its output");
}

void bench_channel_send(int channel, const void *data, size_t len)
{
	const char *at = (const char *)data;

	while (len != 0) {
		ssize_t sent = send(channel, at, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			peer_ended();
		at += sent;
		len -= (size_t)sent;
	}
}

void bench_channel_receive(int channel, void *data, size_t len)
{
	char *at = (char *)data;

	while (len != 0) {
		ssize_t got = recv(channel, at, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			peer_ended();
		at += got;
		len -= (size_t)got;
	}
}

void bench_channel_send_blob(int channel, const void *data, size_t len)
{
	uint32_t size = (uint32_t)len;

	bench_channel_send(channel, &size, sizeof(size));
	bench_channel_send(channel, data, len);
}

size_t bench_channel_receive_blob(int channel, uint8_t data[BENCH_BLOB_MAX])
{
	uint32_t size;

	bench_channel_receive(channel, &size, sizeof(size));
	if (size > BENCH_BLOB_MAX)
		bench_die("the other side sent a descriptor of %u bytes: does it run the same release?", size);
	bench_channel_receive(channel, data, size);
	return size;
}

void bench_channel_agree(int channel, uint64_t version, void *plan, size_t len, bool is_ours)
{
	uint64_t theirs = 0;

	bench_channel_send(channel, &version, sizeof(version));
	bench_channel_receive(channel, &theirs, sizeof(theirs));
	if (theirs != version)
		bench_die("the other side does not run this release of softfield perf");
	if (is_ours)
		bench_channel_send(channel, plan, len);
	else
		bench_channel_receive(channel, plan, len);
}

void bench_channel_meet(int channel)
{
	char byte = 1;

	bench_channel_send(channel, &byte, 1);
	bench_channel_receive(channel, &byte, 1);
}

void bench_channel_check(int channel)
{
	char byte;

	if (recv(channel, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		peer_ended();
}
