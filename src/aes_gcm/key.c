/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <openssl/err.h>
#include <stdlib.h>

#include "aes_gcm/aes_gcm.h"
#include "base/log.h"

static void key_free(struct doca_aes_gcm_key *key)
{
	for (uint32_t i = 0; i < key->num_ciphers; i++)
		aes_gcm_cipher_fini(&key->ciphers[i]);
	free(key);
}

static struct doca_aes_gcm_key *key_new(uint32_t num_ciphers)
{
	struct doca_aes_gcm_key *key = calloc(1, sizeof(*key) + num_ciphers * sizeof(key->ciphers[0]));

	if (key == NULL)
		SF_LOG_ERR("no memory for an AES-GCM key");
	else
		key->num_ciphers = num_ciphers;
	return key;
}

static doca_error_t check_create(const struct doca_aes_gcm *aes_gcm, const void *raw_key, enum doca_aes_gcm_key_type type,
				 struct doca_aes_gcm_key *const *key)
{
	if (aes_gcm == NULL || raw_key == NULL || key == NULL)
		SF_LOG_ERR("%s is NULL", aes_gcm == NULL ? "aes_gcm" : raw_key == NULL ? "raw_key" : "key");
	else if (type != DOCA_AES_GCM_KEY_128 && type != DOCA_AES_GCM_KEY_256)
		SF_LOG_ERR("AES-GCM key type %d is unknown: use one of enum doca_aes_gcm_key_type", (int)type);
	else
		return DOCA_SUCCESS;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key, enum doca_aes_gcm_key_type raw_key_type,
				     struct doca_aes_gcm_key **key)
{
	doca_error_t result = check_create(aes_gcm, raw_key, raw_key_type, key);

	if (result != DOCA_SUCCESS)
		return result;

	struct doca_aes_gcm_key *created = key_new(aes_gcm_num_threads(aes_gcm));

	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < created->num_ciphers; i++) {
		if (aes_gcm_cipher_init(&created->ciphers[i], raw_key_type, raw_key))
			continue;
		SF_LOG_ERR("libcrypto has no AES-GCM for a key of %d bits: does its configuration disable AES-GCM?",
			   raw_key_type == DOCA_AES_GCM_KEY_128 ? 128 : 256);
		ERR_clear_error(); /* the program shares this error queue */
		key_free(created);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	created->aes_gcm = aes_gcm;
	aes_gcm->num_keys++;
	*key = created;
	return DOCA_SUCCESS;
}

static bool pool_uses_key(const struct sf_task_pool *pool, const struct doca_aes_gcm_key *key)
{
	for (uint32_t i = 0; i < pool->num_begun; i++) {
		const struct aes_gcm_task *task =
			(const struct aes_gcm_task *)((const char *)pool->memory + pool->slot_built * i);

		if (sf_task_is_inflight(&task->base) && task->key == key)
			return true;
	}
	return false;
}

doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key)
{
	if (key == NULL) {
		SF_LOG_ERR("key is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (int pool = 0; pool < AES_GCM_POOLS; pool++) {
		if (!pool_uses_key(&key->aes_gcm->pools[pool], key))
			continue;
		SF_LOG_ERR("a task in flight uses the AES-GCM key: destroy it after the task's callback");
		return DOCA_ERROR_IN_USE;
	}
	assert(key->aes_gcm->num_keys > 0);
	key->aes_gcm->num_keys--;
	key_free(key);
	return DOCA_SUCCESS;
}
