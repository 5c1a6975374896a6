/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and descriptors through a Unix socket. */
#ifndef SF_FABRIC_CONTROL_PACKET_H
#define SF_FABRIC_CONTROL_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All of it or nothing. False, and errno: EAGAIN or ENOBUFS, the peer does not read. */
bool sf_packet_send(int fd, const void *bytes, size_t len, const int *fds, unsigned num);

/* What is there, up to size bytes; its descriptors are the caller's. *num is room in, count out; both NULL where none can come.
 * Returns 0 at the end of the channel, or when it broke a rule (too long, too many descriptors); -1, and errno: there is
 * nothing now, or ECONNRESET. */
ssize_t sf_packet_receive(int fd, void *bytes, size_t size, int *fds, unsigned *num);

#endif
