/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authentication by a shared secret. Each side proves that it knows the secret by an HMAC over both sides' random numbers and its
 * own role, so a proof is valid for one connection and one direction only.
 */
#ifndef UROM_AUTH_H
#define UROM_AUTH_H

#include <stdbool.h>

#include "urom/comm/comm.h"
#include "urom/proto.h"

#define UROM_SECRET_MIN 16 /* bytes of a secret file */
#define UROM_SECRET_MAX 4096

struct urom_secret {
	size_t len;
	uint8_t bytes[UROM_SECRET_MAX];
};

enum urom_role { UROM_ROLE_CLIENT, UROM_ROLE_DAEMON };

/* Reads a secret file: a regular file of this user that nobody else may read or write, with at least 16 bytes; a newline at its
 * end does not count. NOT_FOUND, NOT_PERMITTED or INVALID_VALUE, logged. */
SF_API doca_error_t urom_secret_read(const char *path, struct urom_secret *secret);

/* The secret of this user on this machine, in the runtime folder. make: creates it if there is none; otherwise returns
 * NOT_FOUND. */
SF_API doca_error_t urom_secret_of_user(bool make, struct urom_secret *secret);

SF_API doca_error_t urom_random(void *out, size_t len);

SF_API doca_error_t urom_proof_make(const struct urom_secret *secret, enum urom_role role,
				    const uint8_t client_nonce[UROM_NONCE_SIZE], const uint8_t daemon_nonce[UROM_NONCE_SIZE],
				    uint8_t proof[UROM_PROOF_SIZE]);

/* The key for TLS with the daemon. */
SF_API doca_error_t urom_key_make(const struct urom_secret *secret, struct sf_comm_key *key);

/* SHA-256. */
SF_API doca_error_t urom_digest(const void *data, size_t len, uint8_t digest[UROM_DIGEST_SIZE]);

/* Constant time. */
SF_API bool urom_bytes_equal(const void *a, const void *b, size_t len);

#endif
