/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the export descriptors of memory maps and sync events: a header that begins with these fields and ends with
 * a 64-bit checksum, followed by a payload. Both ends are little-endian machines.
 */
#ifndef SF_MEM_EXPORT_HEADER_H
#define SF_MEM_EXPORT_HEADER_H

#include <stdbool.h>
#include <string.h>

#include "base/little.h"

struct sf_export_header {
	char magic[8];
	uint16_t version;
	uint16_t kind;
};

struct sf_export_form {
	char magic[8];
	uint16_t version;
	size_t header_len;	 /* with the checksum */
	const char *wrong_magic; /* the error text for a descriptor with another magic */
};

/* Computed over header and payload, with 0 in place of the checksum. */
static inline uint64_t sf_export_checksum(const struct sf_export_form *form, const void *header, const void *payload,
					  size_t payload_len)
{
	static const uint8_t zero[sizeof(uint64_t)];
	uint64_t sum = sf_checksum(SF_CHECKSUM_BEGIN, header, form->header_len - sizeof(zero));

	sum = sf_checksum(sum, zero, sizeof(zero));
	return sf_checksum(sum, payload, payload_len);
}

/* Fills in magic, version and checksum, once all other fields are set. */
static inline void sf_export_seal(const struct sf_export_form *form, void *header, const void *payload, size_t payload_len)
{
	struct sf_export_header *start = (struct sf_export_header *)header;

	memcpy(start->magic, form->magic, sizeof(start->magic));
	start->version = form->version;
	sf_put_le64((uint8_t *)header + form->header_len - sizeof(uint64_t),
		    sf_export_checksum(form, header, payload, payload_len));
}

/* Returns true if another version of Softfield made the descriptor. */
static inline bool sf_export_is_of_other_version(const struct sf_export_form *form, const void *header)
{
	const struct sf_export_header *start = (const struct sf_export_header *)header;

	return memcmp(start->magic, form->magic, sizeof(start->magic)) == 0 && start->version != form->version;
}

/* Returns the error text for an invalid header or payload, or NULL. lengths_agree: the header's own length fields match
 * payload_len. */
static inline const char *sf_export_fault(const struct sf_export_form *form, const void *header, const void *payload,
					  size_t payload_len, bool lengths_agree)
{
	const struct sf_export_header *start = (const struct sf_export_header *)header;
	const uint8_t *checksum = (const uint8_t *)header + form->header_len - sizeof(uint64_t);

	if (memcmp(start->magic, form->magic, sizeof(start->magic)) != 0)
		return form->wrong_magic;
	if (start->version != form->version)
		return "is of another version of Softfield";
	if (!lengths_agree)
		return "was truncated, or has bytes too many";
	if (sf_get_le64(checksum) != sf_export_checksum(form, header, payload, payload_len))
		return "was altered on the way";
	return NULL;
}

#endif
