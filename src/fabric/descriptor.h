/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exported region's descriptor: the bytes that a program passes from one process to another. Each provider has its own form,
 * which differs in the magic, the size, and the bytes after the common fields.
 */
#ifndef SF_FABRIC_DESCRIPTOR_H
#define SF_FABRIC_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/key.h"

struct sf_descriptor {
	struct sf_key agent; /* of the process that owns the memory */
	struct sf_key token;
	uint64_t region;
	uint64_t addr, len;
	uint32_t rights;
};

struct sf_descriptor_form {
	const char *magic; /* four characters */
	uint32_t version;
	uint32_t more; /* extra bytes of the provider */
	const char *what;
};

#define SF_DESCRIPTOR_MORE 72 /* offset of the extra bytes */
#define SF_DESCRIPTOR_SIZE(more) (SF_DESCRIPTOR_MORE + (more) + 8)

/* Writes SF_DESCRIPTOR_SIZE(form->more) bytes. */
void sf_descriptor_pack(const struct sf_descriptor_form *form, const struct sf_descriptor *descriptor, const void *more,
			uint8_t *bytes);

/* INVALID_VALUE: of another form, truncated or altered; UNSUPPORTED_VERSION. The provider checks its extra bytes. */
doca_error_t sf_descriptor_unpack(const struct sf_descriptor_form *form, const void *bytes, size_t len,
				  struct sf_descriptor *descriptor);

#endif
