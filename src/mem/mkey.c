/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/mkey.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"

#define GENERATION_BITS 8
#define KEYS_MAX (UINT32_C(1) << 20)
#define KEYS_FIRST 64

/* A key is its slot's index above its generation. Generations run from 1, so no key is 0. */
struct key {
	uint64_t addr, len;
	uint32_t next_free; /* index + 1; 0 ends the list */
	uint8_t generation;
	bool used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_TABLE, &lock, NULL);
static struct key *keys GUARDED_BY(lock);
static uint32_t num_keys GUARDED_BY(lock);
static uint32_t first_free GUARDED_BY(lock); /* index + 1 */

static REQUIRES(lock) bool keys_grow(void)
{
	uint32_t wanted = num_keys == 0 ? KEYS_FIRST : num_keys * 2;

	if (wanted > KEYS_MAX)
		return false;
	struct key *grown = realloc(keys, wanted * sizeof(*keys));
	if (grown == NULL)
		return false;
	keys = grown;
	assert(first_free == 0);
	for (uint32_t i = wanted; i-- > num_keys;) {
		keys[i] = (struct key){.generation = 1, .next_free = first_free};
		first_free = i + 1;
	}
	num_keys = wanted;
	return true;
}

doca_error_t sf_mkey_create(uint64_t addr, uint64_t len, uint32_t *mkey)
{
	pthread_mutex_lock(&lock);
	if (first_free == 0 && !keys_grow()) {
		uint32_t num = num_keys;

		pthread_mutex_unlock(&lock);
		SF_LOG_ERR("no memory key left: %u are in use, stop mmaps that are no longer needed", num);
		return DOCA_ERROR_NO_MEMORY;
	}
	uint32_t index = first_free - 1;
	struct key *key = &keys[index];
	first_free = key->next_free;
	assert(index < num_keys && !key->used);
	key->used = true;
	key->addr = addr;
	key->len = len;
	*mkey = index << GENERATION_BITS | key->generation;
	pthread_mutex_unlock(&lock);
	return DOCA_SUCCESS;
}

static REQUIRES(lock) struct key *key_of(uint32_t mkey)
{
	uint32_t index = mkey >> GENERATION_BITS;

	if (index >= num_keys || !keys[index].used || keys[index].generation != (uint8_t)mkey)
		return NULL;
	return &keys[index];
}

void sf_mkey_destroy(uint32_t mkey)
{
	pthread_mutex_lock(&lock);
	struct key *key = key_of(mkey);
	if (key != NULL) {
		key->used = false;
		key->generation = key->generation == UINT8_MAX ? 1 : key->generation + 1;
		key->next_free = first_free;
		first_free = (mkey >> GENERATION_BITS) + 1;
	}
	pthread_mutex_unlock(&lock);
}

doca_error_t sf_mkey_find(uint32_t mkey, uint64_t *addr, uint64_t *len)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;

	pthread_mutex_lock(&lock);
	const struct key *key = key_of(mkey);
	if (key != NULL) {
		*addr = key->addr;
		*len = key->len;
		result = DOCA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}
