/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests by libcrypto: looked up once, and with states that are made beforehand, so that a task allocates nothing. */
#ifndef SHA_DIGEST_H
#define SHA_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include <doca_error.h>
#include <doca_sha.h>

#define SHA_ALGORITHMS 3
#define SHA_DIGEST_MAX 64

/* A message being digested, by whichever algorithm. */
struct sha_state {
	EVP_MD_CTX *contexts[SHA_ALGORITHMS]; /* NULL: libcrypto lacks the algorithm */
};

static inline bool sha_algorithm_is_valid(enum doca_sha_algorithm algorithm)
{
	return (unsigned int)algorithm < SHA_ALGORITHMS;
}

/* Bytes of the digest, and of the blocks that the algorithm works in. */
uint32_t sha_digest_size(enum doca_sha_algorithm algorithm);
uint32_t sha_block_size(enum doca_sha_algorithm algorithm);

/* Does libcrypto have it? */
bool sha_digest_is_supported(enum doca_sha_algorithm algorithm);

/* Makes states that are ready to begin. NULL, logged, without memory. */
struct sha_state *sha_states_create(uint32_t num);
void sha_states_destroy(struct sha_state *states, uint32_t num);

/* Nothing here allocates. false: libcrypto failed, logged. */
bool sha_state_begin(struct sha_state *state, enum doca_sha_algorithm algorithm);
bool sha_state_update(struct sha_state *state, enum doca_sha_algorithm algorithm, const void *bytes, size_t len);
bool sha_state_end(struct sha_state *state, enum doca_sha_algorithm algorithm, uint8_t digest[SHA_DIGEST_MAX]);

/* Lets to stand where from stands. May allocate. false: libcrypto failed, logged. */
bool sha_state_copy(struct sha_state *to, const struct sha_state *from, enum doca_sha_algorithm algorithm);

#endif
