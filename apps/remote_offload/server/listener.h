/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP port. It is bound at start, so that a port in use is an error at start, and listens once clients can be served. */
#ifndef REMOTE_OFFLOAD_SERVER_LISTENER_H
#define REMOTE_OFFLOAD_SERVER_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "connection.h"

struct listener {
	int fd;
	uint32_t port; /* the actual one if 0 was requested */
	bool open;
	bool watched; /* in the server's epoll set */
};

doca_error_t listener_bind(struct listener *listener, const char *address, uint32_t port);
doca_error_t listener_open(struct listener *listener);
void listener_close(struct listener *listener);

enum listener_status { LISTENER_ACCEPTED, LISTENER_NOBODY, LISTENER_EXHAUSTED };

/* Sets *fd to a non-blocking socket. EXHAUSTED: no descriptor or memory left, see errno; try again later. */
enum listener_status listener_accept(struct listener *listener, int *fd, union peer_address *peer);

#endif
