/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/key.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>

#include "base/log.h"

struct sf_key sf_key_of_name(const char *name)
{
	/* FNV-1a of 128 bits, for distribution, not secrecy. The full name is compared when a peer connects. */
	const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;
	unsigned __int128 hash = (unsigned __int128)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d;
	struct sf_key key;

	for (const unsigned char *p = (const unsigned char *)name; *p != '\0'; p++)
		hash = (hash ^ *p) * prime;
	for (int i = 0; i < SF_KEY_SIZE; i++)
		key.bytes[i] = (uint8_t)(hash >> (8 * (SF_KEY_SIZE - 1 - i)));
	return key;
}

doca_error_t sf_key_random(struct sf_key *key)
{
	if (getrandom(key->bytes, sizeof(key->bytes), 0) == (ssize_t)sizeof(key->bytes))
		return DOCA_SUCCESS;
	SF_LOG_ERR("no random bytes from the kernel: %s", strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

_Bool sf_key_equal(const struct sf_key *a, const struct sf_key *b)
{
	return CRYPTO_memcmp(a->bytes, b->bytes, SF_KEY_SIZE) == 0;
}
