/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AES-GCM by libcrypto, one message at a time. EVP allocates memory to set a key and to copy a context, but not to set an IV, so
 * a cipher keeps its EVP context for the lifetime of its key. Not thread-safe.
 */
#ifndef AES_GCM_CIPHER_H
#define AES_GCM_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include <doca_aes_gcm.h>

#define AES_GCM_IV_MAX 12
#define AES_GCM_TAG_MAX 16

struct aes_gcm_cipher {
	EVP_CIPHER_CTX *evp;
	uint32_t iv_len; /* as set in evp */
};

/* Returns false if libcrypto lacks AES-GCM for such a key, or memory. fini accepts a cipher whose init failed. */
bool aes_gcm_cipher_init(struct aes_gcm_cipher *cipher, enum doca_aes_gcm_key_type type, const uint8_t *raw_key);
void aes_gcm_cipher_fini(struct aes_gcm_cipher *cipher);

/* Process a message: begin, the AAD, the data in pieces of any size, and the tag. They return false if libcrypto fails; check
 * also if the tag does not match. iv has 1 to AES_GCM_IV_MAX bytes. */
bool aes_gcm_cipher_begin(struct aes_gcm_cipher *cipher, bool encrypts, const uint8_t *iv, uint32_t iv_len);
bool aes_gcm_cipher_add_aad(struct aes_gcm_cipher *cipher, const uint8_t *aad, size_t len);
bool aes_gcm_cipher_add_data(struct aes_gcm_cipher *cipher, uint8_t *out, const uint8_t *data, size_t len);
bool aes_gcm_cipher_tag(struct aes_gcm_cipher *cipher, uint8_t *tag, uint32_t tag_size);
bool aes_gcm_cipher_check(struct aes_gcm_cipher *cipher, const uint8_t *tag, uint32_t tag_size);

#endif
