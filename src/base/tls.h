/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLS 1.3 over a connected, non-blocking socket, with a key that both ends have (RFC 8446, 4.2.11: an external pre-shared key)
 * and an ephemeral key exchange. There are no certificates, tickets or early data: a peer without the key does not get past the
 * first message. The cryptography is OpenSSL's.
 *
 * One thread at a time may use an object. After a fork the child may only free those that it inherited: two processes must never
 * encrypt by one session.
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
#define SF_TLS_RECORD 16384 /* bytes that go out together, encrypted and signed as one */

struct sf_tls_key {
	uint8_t bytes[SF_TLS_KEY_SIZE];
};

/* Results of the functions below that are no numbers of bytes. */
#define SF_TLS_AGAIN (-1)   /* when the socket is readable, or also when it is writable: sf_tls_wants_write */
#define SF_TLS_CLOSED (-2)  /* by the peer, or the connection is broken */
#define SF_TLS_REFUSED (-3) /* the keys differ; of a handshake only */
#define SF_TLS_FOREIGN (-4) /* the peer does not speak TLS, or offers no key; of a handshake only */
#define SF_TLS_OTHER (-5)   /* the peer answers by TLS's alert "protocol version"; of a handshake only */

struct sf_tls;

/* The socket stays the caller's. The identity says what the key is for, and is the same at both ends; it is not copied. NO_MEMORY
 * or DRIVER, logged. */
SF_API doca_error_t sf_tls_begin(int fd, bool server, const uint8_t key[SF_TLS_KEY_SIZE], const char *identity,
				 struct sf_tls **tls);

/* Goes on with the handshake. 0: it is done, and the peer has the key. */
SF_API int sf_tls_shake(struct sf_tls *tls);

/* Bytes of one record at most. */
SF_API ssize_t sf_tls_read(struct sf_tls *tls, void *out, size_t room);

/* Takes SF_TLS_RECORD bytes at most. After AGAIN the next call must begin with the same bytes, and must not have fewer of them:
 * they are encrypted already. */
SF_API ssize_t sf_tls_write(struct sf_tls *tls, const void *data, size_t len);

/* Bytes of a record that was read in part. The socket does not report them. */
SF_API size_t sf_tls_pending(const struct sf_tls *tls);

/* Does the last result AGAIN wait for room to send? */
SF_API bool sf_tls_wants_write(const struct sf_tls *tls);

/* Says that nothing more comes. */
SF_API void sf_tls_end(struct sf_tls *tls);

/* NULL is nothing. */
SF_API void sf_tls_free(struct sf_tls *tls);

#endif
