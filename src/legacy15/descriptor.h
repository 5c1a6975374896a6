/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The export descriptor of 1.5: a JSON text around today's descriptor in base64. Programs read its keys addr and len. The text is
 * untrusted input, so unpack checks all of it.
 */
#ifndef LEGACY15_DESCRIPTOR_H
#define LEGACY15_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define LEGACY15_BYTES_MAX 2048 /* of today's descriptor */
#define LEGACY15_TEXT_MAX 4096	/* of the text, with some spaces in case a program reformatted it */

struct legacy15_descriptor {
	uint64_t addr, len; /* of the range, in the exporter */
	size_t num_bytes;
	uint8_t bytes[LEGACY15_BYTES_MAX]; /* today's descriptor */
};

/* The caller frees *text; *text_len counts its NUL. NO_MEMORY, logged. */
doca_error_t legacy15_descriptor_pack(const struct legacy15_descriptor *descriptor, char **text, size_t *text_len);

/* The text ends at its NUL, or after text_len bytes. INVALID_VALUE, logged, if it is not a descriptor. NO_MEMORY, logged. */
doca_error_t legacy15_descriptor_unpack(const char *text, size_t text_len, struct legacy15_descriptor *descriptor);

#endif
