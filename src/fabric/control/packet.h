/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and descriptors through a Unix socket. */
#ifndef SF_FABRIC_CONTROL_PACKET_H
#define SF_FABRIC_CONTROL_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends all of it or nothing. Returns false with errno: EAGAIN or ENOBUFS if the peer does not read. */
bool sf_packet_send(int fd, const void *bytes, size_t len, const int *fds, unsigned num);

/* Receives up to size bytes; the caller owns the descriptors. *num is the capacity in, the count out; both NULL if no
 * descriptors may come. Returns 0 at the end of the channel, or if the peer violated the protocol (too long, too many
 * descriptors); -1 with errno if there is nothing now, or ECONNRESET. */
ssize_t sf_packet_receive(int fd, void *bytes, size_t size, int *fds, unsigned *num);

#endif
