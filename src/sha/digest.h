/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a digest, computed by libcrypto. The functions of each algorithm are used, not EVP, because they keep their state
 * in the caller's memory, whereas EVP allocates for each message.
 */
#ifndef SHA_DIGEST_H
#define SHA_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/sha.h>

#include <doca_sha.h>

#define SHA_ALGORITHMS 3
#define SHA_DIGEST_MAX 64

struct sha_state {
	enum doca_sha_algorithm algorithm;
	union {
		SHA_CTX sha1;
		SHA256_CTX sha256;
		SHA512_CTX sha512;
	};
};

static inline bool sha_algorithm_is_valid(enum doca_sha_algorithm algorithm)
{
	return (unsigned int)algorithm < SHA_ALGORITHMS;
}

/* Sizes in bytes of the digest, and of the algorithm's blocks. */
uint32_t sha_digest_size(enum doca_sha_algorithm algorithm);
uint32_t sha_block_size(enum doca_sha_algorithm algorithm);

void sha_state_begin(struct sha_state *state, enum doca_sha_algorithm algorithm);
void sha_state_update(struct sha_state *state, const void *bytes, size_t len);
void sha_state_end(struct sha_state *state, uint8_t digest[SHA_DIGEST_MAX]);

#endif
