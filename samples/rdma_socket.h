/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket behind --peer. Nothing here waits longer than SAMPLE_PATIENCE_SECONDS. */
#ifndef SAMPLES_RDMA_SOCKET_H
#define SAMPLES_RDMA_SOCKET_H

#include <stddef.h>

#include <doca_error.h>

/* Meets the peer at HOST:PORT, :PORT or PORT, which is 127.0.0.1 then: one side listens there, the other connects, whichever
 * comes first. Both say who they are; a stranger is turned away. */
doca_error_t socket_meet(const char *place, const char *me, const char *peer, int *socket);

/* All len bytes. Logged: IO_FAILED, the peer is gone; TIME_OUT. */
doca_error_t socket_read(int socket, void *data, size_t len);
doca_error_t socket_write(int socket, const void *data, size_t len);

#endif
