/* SPDX-License-Identifier: BSD-3-Clause */
#include "aes_gcm/cipher.h"

#include <assert.h>

bool aes_gcm_cipher_init(struct aes_gcm_cipher *cipher, enum doca_aes_gcm_key_type type, const uint8_t *raw_key)
{
	const EVP_CIPHER *algorithm = type == DOCA_AES_GCM_KEY_128 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();

	cipher->iv_len = AES_GCM_IV_MAX; /* libcrypto's default */
	cipher->evp = EVP_CIPHER_CTX_new();
	return cipher->evp != NULL && EVP_EncryptInit_ex(cipher->evp, algorithm, NULL, raw_key, NULL) == 1;
}

void aes_gcm_cipher_fini(struct aes_gcm_cipher *cipher)
{
	EVP_CIPHER_CTX_free(cipher->evp); /* erases the key */
	cipher->evp = NULL;
}

static bool cipher_set_iv_len(struct aes_gcm_cipher *cipher, uint32_t iv_len)
{
	cipher->iv_len = iv_len;
	return EVP_CIPHER_CTX_ctrl(cipher->evp, EVP_CTRL_AEAD_SET_IVLEN, (int)iv_len, NULL) == 1;
}

bool aes_gcm_cipher_begin(struct aes_gcm_cipher *cipher, bool encrypts, const uint8_t *iv, uint32_t iv_len)
{
	assert(iv_len >= 1 && iv_len <= AES_GCM_IV_MAX);
	if (__builtin_expect(iv_len != cipher->iv_len, 0) && !cipher_set_iv_len(cipher, iv_len))
		return false;
	return EVP_CipherInit_ex(cipher->evp, NULL, NULL, NULL, iv, encrypts) == 1;
}

bool aes_gcm_cipher_add_aad(struct aes_gcm_cipher *cipher, const uint8_t *aad, size_t len)
{
	int out_len;

	return EVP_CipherUpdate(cipher->evp, NULL, &out_len, aad, (int)len) == 1;
}

bool aes_gcm_cipher_add_data(struct aes_gcm_cipher *cipher, uint8_t *out, const uint8_t *data, size_t len)
{
	int out_len;

	return EVP_CipherUpdate(cipher->evp, out, &out_len, data, (int)len) == 1;
}

static bool cipher_end(struct aes_gcm_cipher *cipher)
{
	uint8_t nothing[AES_GCM_TAG_MAX]; /* GCM has no final block, so nothing is written */
	int out_len;

	return EVP_CipherFinal_ex(cipher->evp, nothing, &out_len) == 1;
}

bool aes_gcm_cipher_tag(struct aes_gcm_cipher *cipher, uint8_t *tag, uint32_t tag_size)
{
	assert(tag_size <= AES_GCM_TAG_MAX);
	return cipher_end(cipher) && EVP_CIPHER_CTX_ctrl(cipher->evp, EVP_CTRL_AEAD_GET_TAG, (int)tag_size, tag) == 1;
}

bool aes_gcm_cipher_check(struct aes_gcm_cipher *cipher, const uint8_t *tag, uint32_t tag_size)
{
	assert(tag_size <= AES_GCM_TAG_MAX);
	return EVP_CIPHER_CTX_ctrl(cipher->evp, EVP_CTRL_AEAD_SET_TAG, (int)tag_size, (void *)(uintptr_t)tag) == 1 &&
	       cipher_end(cipher);
}
