/* SPDX-License-Identifier: BSD-3-Clause */
/* The access tokens that a program sets for its exports. */
#include <string.h>

#include <openssl/sha.h>

#include "base/log.h"
#include "core/dev.h"
#include "mem/mmap_private.h"

#define TOKEN_MAX 32 /* bytes */

/* An importer presents a key of 128 bits, which is derived from the token of any length. */
static struct sf_key key_of(const uint8_t *token, size_t len)
{
	static const char purpose[] = "softfield export access token";
	uint8_t text[sizeof(purpose) + TOKEN_MAX], digest[SHA256_DIGEST_LENGTH];
	struct sf_key key;

	memcpy(text, purpose, sizeof(purpose));
	memcpy(text + sizeof(purpose), token, len);
	SHA256(text, sizeof(purpose) + len, digest);
	memcpy(key.bytes, digest, sizeof(key.bytes));
	return key;
}

static doca_error_t check_settable(const struct doca_mmap *mmap)
{
	if (mmap->from_export || sf_mmap_is_exported(mmap)) {
		SF_LOG_ERR("memory map was %s: set an access token before the first export",
			   mmap->from_export ? "made from an export" : "exported");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (mmap->started) {
		SF_LOG_ERR("memory map is started: set an access token before doca_mmap_start, or after doca_mmap_stop");
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_export_access_token(struct doca_mmap *mmap, const struct doca_dev *dev, const uint8_t *token,
					       size_t token_sz)
{
	if (mmap == NULL || dev == NULL || token == NULL) {
		SF_LOG_ERR("%s is NULL", mmap == NULL ? "mmap" : dev == NULL ? "dev" : "token");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (token_sz == 0 || token_sz > TOKEN_MAX) {
		SF_LOG_ERR("access token of %zu bytes: it has 1 to %d", token_sz, TOKEN_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_settable(mmap);
	if (result != DOCA_SUCCESS)
		return result;
	struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, dev);
	if (entry == NULL) {
		SF_LOG_ERR("memory map does not have device %s: add it with doca_mmap_add_dev first", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_NOT_FOUND;
	}
	entry->token = key_of(token, token_sz);
	entry->has_token = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_cap_get_max_export_access_token_size(const struct doca_devinfo *devinfo, size_t *max_sz)
{
	if (devinfo == NULL || max_sz == NULL) {
		SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "max_sz");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*max_sz = TOKEN_MAX;
	return DOCA_SUCCESS;
}
