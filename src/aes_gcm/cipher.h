/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AES-GCM by libcrypto, one message at a time. EVP allocates memory when a key is set and when a context is copied, but not for
 * another IV; so a cipher keeps its EVP context for as long as its key lives. For one thread at a time.
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
	uint32_t iv_len; /* that evp is set to */
};

/* False: libcrypto has no AES-GCM for such a key, or no memory. fini also takes a cipher whose init failed. */
bool aes_gcm_cipher_init(struct aes_gcm_cipher *cipher, enum doca_aes_gcm_key_type type, const uint8_t *raw_key);
void aes_gcm_cipher_fini(struct aes_gcm_cipher *cipher);

/* A message: begin, the AAD and then the data in pieces of any size, and its end. False: libcrypto refused; for
 * aes_gcm_cipher_check also: the tag does not match. iv has 1 to AES_GCM_IV_MAX bytes. */
bool aes_gcm_cipher_begin(struct aes_gcm_cipher *cipher, bool encrypts, const uint8_t *iv, uint32_t iv_len);
bool aes_gcm_cipher_add_aad(struct aes_gcm_cipher *cipher, const uint8_t *aad, size_t len);
bool aes_gcm_cipher_add_data(struct aes_gcm_cipher *cipher, uint8_t *out, const uint8_t *data, size_t len);
bool aes_gcm_cipher_tag(struct aes_gcm_cipher *cipher, uint8_t *tag, uint32_t tag_size);
bool aes_gcm_cipher_check(struct aes_gcm_cipher *cipher, const uint8_t *tag, uint32_t tag_size);

#endif
