/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket of --peer. No call waits longer than SAMPLE_PATIENCE_SECONDS. */
#ifndef SAMPLES_RDMA_SOCKET_H
#define SAMPLES_RDMA_SOCKET_H

#include <stddef.h>

#include <doca_error.h>

/* Connects to the peer at HOST:PORT, or at 127.0.0.1 for :PORT or PORT: the side that starts first listens, the other connects.
 * Both send their names, and reject another program. */
doca_error_t socket_meet(const char *place, const char *me, const char *peer, int *socket);

/* Transfer all len bytes. Print errors: IO_FAILED: the peer has closed; TIME_OUT. */
doca_error_t socket_read(int socket, void *data, size_t len);
doca_error_t socket_write(int socket, const void *data, size_t len);

#endif
