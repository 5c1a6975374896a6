/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP port. It is taken at start, so that a port in use is known at once, and opened when clients can be served. */
#ifndef REMOTE_OFFLOAD_SERVER_LISTENER_H
#define REMOTE_OFFLOAD_SERVER_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "connection.h"

struct listener {
	int fd;
	uint32_t port; /* the real one where 0 was asked for */
	bool open;
	bool watched; /* in the server's epoll set */
};

doca_error_t listener_bind(struct listener *listener, const char *address, uint32_t port);
doca_error_t listener_open(struct listener *listener);
void listener_close(struct listener *listener);

enum listener_status { LISTENER_ACCEPTED, LISTENER_NOBODY, LISTENER_EXHAUSTED };

/* A non-blocking socket in *fd. EXHAUSTED: no descriptor or memory left, errno says which; try again later. */
enum listener_status listener_accept(struct listener *listener, int *fd, union peer_address *peer);

#endif
