/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that meson.build chose for a test, by SOFTFIELD_FABRIC. */
#ifndef TESTS_SUPPORT_PROVIDER_H
#define TESTS_SUPPORT_PROVIDER_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool provider_is(const char *name)
{
	const char *provider = getenv("SOFTFIELD_FABRIC");

	return provider != NULL && strcmp(provider, name) == 0;
}

#endif
