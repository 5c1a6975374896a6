/* SPDX-License-Identifier: BSD-3-Clause */
#include "sha/digest.h"

#include <stdlib.h>

#include <openssl/err.h>

#include "base/log.h"

static const struct {
	const char *name;
	uint32_t digest_size, block_size;
} algorithms[SHA_ALGORITHMS] = {
	[DOCA_SHA_ALGORITHM_SHA1] = {"SHA1", 20, 64},
	[DOCA_SHA_ALGORITHM_SHA256] = {"SHA256", 32, 64},
	[DOCA_SHA_ALGORITHM_SHA512] = {"SHA512", 64, 128},
};

uint32_t sha_digest_size(enum doca_sha_algorithm algorithm)
{
	return algorithms[algorithm].digest_size;
}

uint32_t sha_block_size(enum doca_sha_algorithm algorithm)
{
	return algorithms[algorithm].block_size;
}

bool sha_digest_is_supported(enum doca_sha_algorithm algorithm)
{
	EVP_MD *digest = EVP_MD_fetch(NULL, algorithms[algorithm].name, NULL);

	EVP_MD_free(digest);
	ERR_clear_error();
	return digest != NULL;
}

/* Beginning once makes libcrypto allocate what it needs; beginning again does not. */
static bool states_init(struct sha_state *states, uint32_t num, int algorithm, const EVP_MD *digest)
{
	for (uint32_t i = 0; i < num; i++) {
		EVP_MD_CTX *context = EVP_MD_CTX_new();

		states[i].contexts[algorithm] = context;
		if (context == NULL || EVP_DigestInit_ex2(context, digest, NULL) != 1)
			return false;
	}
	return true;
}

struct sha_state *sha_states_create(uint32_t num)
{
	struct sha_state *states = calloc(num, sizeof(*states));
	bool good = states != NULL;

	for (int algorithm = 0; algorithm < SHA_ALGORITHMS && good; algorithm++) {
		EVP_MD *digest = EVP_MD_fetch(NULL, algorithms[algorithm].name, NULL);

		if (digest != NULL)
			good = states_init(states, num, algorithm, digest);
		EVP_MD_free(digest); /* the states hold it */
	}
	if (good)
		return states;
	SF_LOG_ERR("no memory for %u digests: configure fewer SHA tasks", num);
	sha_states_destroy(states, num);
	return NULL;
}

void sha_states_destroy(struct sha_state *states, uint32_t num)
{
	for (uint32_t i = 0; states != NULL && i < num; i++) {
		for (int algorithm = 0; algorithm < SHA_ALGORITHMS; algorithm++)
			EVP_MD_CTX_free(states[i].contexts[algorithm]);
	}
	free(states);
}

static bool check(int result, enum doca_sha_algorithm algorithm)
{
	if (__builtin_expect(result == 1, 1))
		return true;
	SF_LOG_ERR("libcrypto failed at %s: %s", algorithms[algorithm].name, ERR_reason_error_string(ERR_peek_last_error()));
	ERR_clear_error();
	return false;
}

bool sha_state_begin(struct sha_state *state, enum doca_sha_algorithm algorithm)
{
	if (state->contexts[algorithm] == NULL) {
		SF_LOG_ERR("libcrypto has no %s here: ask the capability first", algorithms[algorithm].name);
		return false;
	}
	return check(EVP_DigestInit_ex2(state->contexts[algorithm], NULL, NULL), algorithm);
}

bool sha_state_update(struct sha_state *state, enum doca_sha_algorithm algorithm, const void *bytes, size_t len)
{
	return check(EVP_DigestUpdate(state->contexts[algorithm], bytes, len), algorithm);
}

bool sha_state_end(struct sha_state *state, enum doca_sha_algorithm algorithm, uint8_t digest[SHA_DIGEST_MAX])
{
	return check(EVP_DigestFinal_ex(state->contexts[algorithm], digest, NULL), algorithm);
}

bool sha_state_copy(struct sha_state *to, const struct sha_state *from, enum doca_sha_algorithm algorithm)
{
	return check(EVP_MD_CTX_copy_ex(to->contexts[algorithm], from->contexts[algorithm]), algorithm);
}
