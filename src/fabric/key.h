/* SPDX-License-Identifier: BSD-3-Clause */
/* 128 bits that identify a process, a listener or a region, or that are a secret. */
#ifndef SF_FABRIC_KEY_H
#define SF_FABRIC_KEY_H

#include <stdint.h>

#include <doca_error.h>

#include "base/visibility.h"

#define SF_KEY_SIZE 16

struct sf_key {
	uint8_t bytes[SF_KEY_SIZE];
};

struct sf_key sf_key_of_name(const char *name);
doca_error_t sf_key_random(struct sf_key *key);
/* Constant time. */
SF_API _Bool sf_key_equal(const struct sf_key *a, const struct sf_key *b);

#endif
