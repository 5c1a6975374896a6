/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out for libcrypto too, which lets a program set its allocation functions. */
#ifndef TEST_FAILING_CRYPTO_H
#define TEST_FAILING_CRYPTO_H

#include <openssl/crypto.h>

#include "support/failing_alloc.h"

static inline void *crypto_malloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return failing_malloc(size);
}

static inline void *crypto_realloc(void *old, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return failing_realloc(old, size);
}

static inline void crypto_free(void *memory, const char *file, int line)
{
	(void)file;
	(void)line;
	failing_free(memory);
}

/* Makes libcrypto allocate as the library under test does; call it before libcrypto's first allocation. */
static inline bool failing_crypto_set(void)
{
	return CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free) == 1;
}

#endif
