/* SPDX-License-Identifier: BSD-3-Clause */
#define OPENSSL_API_COMPAT 0x10100000L /* OpenSSL 3.0 deprecates these functions in favour of EVP */

#include "sha/digest.h"

static const struct {
	uint32_t digest_size, block_size;
} sizes[SHA_ALGORITHMS] = {
	[DOCA_SHA_ALGORITHM_SHA1] = {SHA_DIGEST_LENGTH, SHA_CBLOCK},
	[DOCA_SHA_ALGORITHM_SHA256] = {SHA256_DIGEST_LENGTH, SHA256_CBLOCK},
	[DOCA_SHA_ALGORITHM_SHA512] = {SHA512_DIGEST_LENGTH, SHA512_CBLOCK},
};

uint32_t sha_digest_size(enum doca_sha_algorithm algorithm)
{
	return sizes[algorithm].digest_size;
}

uint32_t sha_block_size(enum doca_sha_algorithm algorithm)
{
	return sizes[algorithm].block_size;
}

/* None of libcrypto's calls below can fail: they always return 1. */

void sha_state_begin(struct sha_state *state, enum doca_sha_algorithm algorithm)
{
	state->algorithm = algorithm;
	switch (algorithm) {
	case DOCA_SHA_ALGORITHM_SHA1:
		(void)SHA1_Init(&state->sha1);
		break;
	case DOCA_SHA_ALGORITHM_SHA256:
		(void)SHA256_Init(&state->sha256);
		break;
	case DOCA_SHA_ALGORITHM_SHA512:
		(void)SHA512_Init(&state->sha512);
		break;
	}
}

void sha_state_update(struct sha_state *state, const void *bytes, size_t len)
{
	switch (state->algorithm) {
	case DOCA_SHA_ALGORITHM_SHA1:
		(void)SHA1_Update(&state->sha1, bytes, len);
		break;
	case DOCA_SHA_ALGORITHM_SHA256:
		(void)SHA256_Update(&state->sha256, bytes, len);
		break;
	case DOCA_SHA_ALGORITHM_SHA512:
		(void)SHA512_Update(&state->sha512, bytes, len);
		break;
	}
}

void sha_state_end(struct sha_state *state, uint8_t digest[SHA_DIGEST_MAX])
{
	switch (state->algorithm) {
	case DOCA_SHA_ALGORITHM_SHA1:
		(void)SHA1_Final(digest, &state->sha1);
		break;
	case DOCA_SHA_ALGORITHM_SHA256:
		(void)SHA256_Final(digest, &state->sha256);
		break;
	case DOCA_SHA_ALGORITHM_SHA512:
		(void)SHA512_Final(digest, &state->sha512);
		break;
	}
}
