/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLS 1.3 over a connected, non-blocking socket, with a key that both ends have (RFC 8446, 4.2.11: an external pre-shared key)
 * and an ephemeral key exchange. There are no certificates, tickets or early data: a peer without the key fails at the first
 * message. OpenSSL implements the cryptography, and the kernel that of the bytes after the handshake, where both can.
 *
 * One thread at a time may use an object. After a fork the child may only free inherited objects: two
 * processes must never encrypt in one session.
 */
#ifndef SF_BASE_TLS_H
#define SF_BASE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <doca_error.h>

#include "base/visibility.h"

#define SF_TLS_KEY_SIZE 32
#define SF_TLS_RECORD 16384 /* maximum bytes of a record, which is encrypted and authenticated as a unit */

struct sf_tls_key {
	uint8_t bytes[SF_TLS_KEY_SIZE];
};

/* Negative results of the functions below. */
#define SF_TLS_AGAIN (-1)   /* retry when the socket is readable, or, after sf_tls_wants_write, writable */
#define SF_TLS_CLOSED (-2)  /* the peer closed the connection, or it is broken */
#define SF_TLS_REFUSED (-3) /* the keys differ; handshake only */
#define SF_TLS_FOREIGN (-4) /* the peer does not speak TLS, or offers no key; handshake only */
#define SF_TLS_OTHER (-5)   /* the peer sent the TLS alert "protocol version"; handshake only */

struct sf_tls;

/* Creates a session. The caller keeps ownership of the socket. identity names the purpose of the key, must be equal on both
 * sides, and is not copied. NO_MEMORY or DRIVER, logged. */
SF_API doca_error_t sf_tls_begin(int fd, bool server, const uint8_t key[SF_TLS_KEY_SIZE], const char *identity,
				 struct sf_tls **tls);

/* Continues the handshake. Returns 0 when it is complete, which proves that the peer has the key. */
SF_API int sf_tls_shake(struct sf_tls *tls);

/* Reads at most one record. */
SF_API ssize_t sf_tls_read(struct sf_tls *tls, void *out, size_t room);

/* Writes at most SF_TLS_RECORD bytes; by the kernel, as many as fit. After AGAIN, the next call must begin with the same bytes,
 * and not fewer, because OpenSSL has encrypted them already. */
SF_API ssize_t sf_tls_write(struct sf_tls *tls, const void *data, size_t len);

/* Returns true if the kernel encrypts: the caller may then send to the socket instead. After the handshake. */
SF_API bool sf_tls_kernel_sends(const struct sf_tls *tls);

/* Remaining bytes of a record that was read in part. The socket does not become readable for them. */
SF_API size_t sf_tls_pending(const struct sf_tls *tls);

/* Returns whether the last AGAIN waits for room to send. */
SF_API bool sf_tls_wants_write(const struct sf_tls *tls);

/* Sends the notification that no more data follows. */
SF_API void sf_tls_end(struct sf_tls *tls);

/* Accepts NULL. */
SF_API void sf_tls_free(struct sf_tls *tls);

#endif
