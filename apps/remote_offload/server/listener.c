/* SPDX-License-Identifier: BSD-3-Clause */
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(SERVER::LISTENER);

#define BACKLOG 4096
/* A client whose machine disappeared is detected after two minutes. */
#define KEEPALIVE_IDLE_S 60
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES 6

static bool parse_address(const char *text, uint32_t port, struct sockaddr_storage *address, socklen_t *len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		*len = sizeof(*v4);
		return true;
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		*len = sizeof(*v6);
		return true;
	}
	return false;
}

static uint32_t port_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return 0;
	return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
						   : ((struct sockaddr_in *)&address)->sin_port);
}

/* Accepted sockets inherit these options. */
static void set_options(int fd)
{
	int on = 1, idle_s = KEEPALIVE_IDLE_S, interval_s = KEEPALIVE_INTERVAL_S, probes = KEEPALIVE_PROBES;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

doca_error_t listener_bind(struct listener *listener, const char *text, uint32_t port)
{
	struct sockaddr_storage address;
	socklen_t len;

	memset(listener, 0, sizeof(*listener));
	listener->fd = -1;
	if (!parse_address(text, port, &address, &len)) {
		DOCA_LOG_ERR("--listen-address %s is not an IP address", text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	listener->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd >= 0)
		set_options(listener->fd);
	if (listener->fd < 0 || bind(listener->fd, (struct sockaddr *)&address, len) != 0) {
		DOCA_LOG_ERR("cannot listen to port %u on %s: %s", port, text, strerror(errno));
		listener_close(listener);
		return DOCA_ERROR_IO_FAILED;
	}
	listener->port = port_of(listener->fd);
	return DOCA_SUCCESS;
}

doca_error_t listener_open(struct listener *listener)
{
	if (listener->open)
		return DOCA_SUCCESS;
	if (listen(listener->fd, BACKLOG) != 0) {
		DOCA_LOG_ERR("listening on port %u failed: %s", listener->port, strerror(errno));
		return DOCA_ERROR_IO_FAILED;
	}
	listener->open = true;
	return DOCA_SUCCESS;
}

void listener_close(struct listener *listener)
{
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
	listener->open = listener->watched = false;
}

enum listener_status listener_accept(struct listener *listener, int *fd, union peer_address *peer)
{
	for (;;) {
		socklen_t len = sizeof(*peer);

		*fd = accept4(listener->fd, &peer->any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (*fd >= 0)
			return LISTENER_ACCEPTED;
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			return LISTENER_EXHAUSTED;
		if (errno != ECONNABORTED && errno != EINTR)
			return LISTENER_NOBODY;
	}
}
