/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/secret_file.h"

#define USER_SECRET "urom-secret"
#define USER_SECRET_SIZE 32

doca_error_t urom_random(void *out, size_t len)
{
	if (getrandom(out, len, 0) == (ssize_t)len)
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom: no random bytes from the kernel: %s", strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

/* ---- the secret ---- */

static doca_error_t read_at(int folder, const char *name, const char *path, struct urom_secret *secret)
{
	size_t len = 0;
	doca_error_t result = sf_secret_file_read(folder, name, path, secret->bytes, UROM_SECRET_MAX, &len);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_TOO_BIG)
		return result;
	if (result == DOCA_ERROR_TOO_BIG || len < UROM_SECRET_MIN || len >= UROM_SECRET_MAX - 1) {
		SF_LOG_ERR("urom: the secret %s has %zu bytes: give %d to %d", path,
			   result == DOCA_SUCCESS ? len : UROM_SECRET_MAX, UROM_SECRET_MIN, UROM_SECRET_MAX - 2);
		return DOCA_ERROR_INVALID_VALUE;
	}
	secret->len = len;
	return DOCA_SUCCESS;
}

doca_error_t urom_secret_read(const char *path, struct urom_secret *secret)
{
	doca_error_t result = read_at(AT_FDCWD, path, path, secret);

	if (result == DOCA_ERROR_NOT_FOUND)
		SF_LOG_ERR("urom: there is no secret %s: create it with mode 600 and at least %d random bytes, for "
			   "daemon and clients",
			   path, UROM_SECRET_MIN);
	return result;
}

/* Written completely under another name first, so that no reader sees a partial file; the first link wins. */
static doca_error_t make_secret(int folder)
{
	uint8_t bytes[USER_SECRET_SIZE];
	char name[64];
	uint64_t number;
	doca_error_t result = urom_random(bytes, sizeof(bytes));

	if (result == DOCA_SUCCESS)
		result = urom_random(&number, sizeof(number));
	if (result != DOCA_SUCCESS)
		return result;
	for (size_t i = 0; i < sizeof(bytes); i++) /* printable, so that it can be copied to another machine by hand */
		bytes[i] = (uint8_t) "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[bytes[i] & 63];
	snprintf(name, sizeof(name), USER_SECRET ".%016llx", (unsigned long long)number);
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool whole = fd >= 0 && write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes);
	if (fd >= 0)
		close(fd);
	if (whole && linkat(folder, name, folder, USER_SECRET, 0) != 0 && errno != EEXIST)
		whole = false;
	if (!whole)
		SF_LOG_ERR("urom: cannot create a secret in the runtime folder: %s; give one by --secret-file", strerror(errno));
	(void)unlinkat(folder, name, 0);
	return whole ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t urom_secret_of_user(bool make, struct urom_secret *secret)
{
	int folder;
	doca_error_t result = sf_runtime_folder_open(&folder);

	if (result != DOCA_SUCCESS)
		return result;
	result = read_at(folder, USER_SECRET, USER_SECRET, secret);
	if (result == DOCA_ERROR_NOT_FOUND && make) {
		result = make_secret(folder);
		if (result == DOCA_SUCCESS)
			result = read_at(folder, USER_SECRET, USER_SECRET, secret);
	} else if (result == DOCA_ERROR_NOT_FOUND) {
		SF_LOG_ERR("urom: no service of this user has run on this machine, and UROM_SECRET_FILE names no secret");
	}
	close(folder);
	return result;
}

/* ---- proofs ---- */

doca_error_t urom_proof_make(const struct urom_secret *secret, enum urom_role role, const uint8_t client_nonce[UROM_NONCE_SIZE],
			     const uint8_t daemon_nonce[UROM_NONCE_SIZE], uint8_t proof[UROM_PROOF_SIZE])
{
	static const char label[] = "softfield urom 1 ";
	uint8_t text[sizeof(label) + 2 * UROM_NONCE_SIZE];
	unsigned len = UROM_PROOF_SIZE;

	memcpy(text, label, sizeof(label));
	text[sizeof(label) - 1] = role == UROM_ROLE_CLIENT ? 'c' : 'd';
	memcpy(text + sizeof(label), client_nonce, UROM_NONCE_SIZE);
	memcpy(text + sizeof(label) + UROM_NONCE_SIZE, daemon_nonce, UROM_NONCE_SIZE);
	if (HMAC(EVP_sha256(), secret->bytes, (int)secret->len, text, sizeof(text), proof, &len) != NULL &&
	    len == UROM_PROOF_SIZE)
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom: libcrypto has no HMAC-SHA256");
	return DOCA_ERROR_DRIVER;
}

doca_error_t urom_key_make(const struct urom_secret *secret, struct sf_comm_key *key)
{
	static const unsigned char text[] = "softfield urom 3 tls";
	unsigned len = sizeof(key->bytes);

	if (HMAC(EVP_sha256(), secret->bytes, (int)secret->len, text, sizeof(text), key->bytes, &len) != NULL &&
	    len == sizeof(key->bytes))
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom: libcrypto has no HMAC-SHA256");
	return DOCA_ERROR_DRIVER;
}

bool urom_bytes_equal(const void *a, const void *b, size_t len)
{
	return CRYPTO_memcmp(a, b, len) == 0;
}

doca_error_t urom_digest(const void *data, size_t len, uint8_t digest[UROM_DIGEST_SIZE])
{
	return EVP_Digest(data, len, digest, NULL, EVP_sha256(), NULL) == 1 ? DOCA_SUCCESS : DOCA_ERROR_DRIVER;
}
