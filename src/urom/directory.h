/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data that the members of a domain have about each other. A process packs an entry: its workers with their plugins'
 * addresses, and the buffers that it shares. The entries of all processes, one behind the other, are the directory, which each
 * worker gets and its plugins look things up in.
 */
#ifndef UROM_DIRECTORY_H
#define UROM_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "base/visibility.h"

/* ---- packing ---- */

struct urom_blob {
	const void *data;
	size_t len;
};

struct urom_entry_worker {
	uint64_t domain_id;
	struct urom_blob addresses; /* as urom_addresses_* pack them */
};

struct urom_entry_buffer {
	uint64_t va, len;
	struct urom_blob memh, mkey;
};

/* Returns the packed length, or 0 if room is less. out may be NULL to count. */
SF_API size_t urom_entry_pack(const struct urom_entry_worker *workers, uint32_t num_workers,
			      const struct urom_entry_buffer *buffers, uint32_t num_buffers, void *out, size_t room);

/* Begins a directory of num entries; returns the offset of its first entry. directory may be NULL, to count only. */
SF_API size_t urom_directory_begin(void *directory, uint32_t num);
/* Reserves len bytes for the next entry, after the used ones. Returns its offset, for the caller to fill; the next
 * entry begins at its end. */
SF_API size_t urom_directory_place(void *directory, size_t used, size_t len);

/* Appends the addresses of one worker's plugins at offset used. Returns the new end, or 0 if they do not fit. */
SF_API size_t urom_addresses_append(void *addresses, size_t room, size_t used, uint64_t plugin, const void *address, size_t len);

/* ---- looking up ---- */

struct urom_directory;

/* Takes received bytes (allocated by malloc, aligned) and finally frees them. INVALID_VALUE, with a reason: it is not a
 * directory, or an id appears twice; the caller then keeps data. */
SF_API doca_error_t urom_directory_open(void *data, size_t len, struct urom_directory **directory, const char **reason);
SF_API void urom_directory_close(struct urom_directory *directory);
/* Returns whether open would accept it. */
SF_API doca_error_t urom_directory_check(const void *data, size_t len, const char **reason);

SF_API size_t urom_directory_num_workers(const struct urom_directory *directory);

/* Each returns NOT_FOUND if there is no such entry. A segment is the index of a buffer among those of the worker's process, in
 * the order in which they were added; if several hold the address, the first. */
SF_API doca_error_t urom_directory_address(const struct urom_directory *directory, uint64_t domain_id, uint64_t plugin,
					   struct urom_blob *address);
SF_API doca_error_t urom_directory_segment(const struct urom_directory *directory, uint64_t domain_id, uint64_t va, int *segment);
SF_API doca_error_t urom_directory_keys(const struct urom_directory *directory, uint64_t domain_id, int segment,
					struct urom_blob *memh, struct urom_blob *mkey);

#endif
