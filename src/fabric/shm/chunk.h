/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves the bytes of a mapping into a memfd and back (pages.h), chunk by chunk, while other threads and processes write to them.
 */
#ifndef SF_FABRIC_SHM_CHUNK_H
#define SF_FABRIC_SHM_CHUNK_H

#include <stdint.h>

#include "fabric/shm/extents.h"

/* Replaces private pages with the file's pages from the offset on. Returns where it ended: before `end` after a failure. */
uintptr_t sf_chunks_move(const struct sf_pages_file *file, uintptr_t start, uintptr_t end, int prot, uint64_t offset);

/* The reverse. */
uintptr_t sf_chunks_restore(const struct sf_pages_file *file, uintptr_t start, uintptr_t end, int prot, uint64_t offset);

#endif
