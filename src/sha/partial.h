/* SPDX-License-Identifier: BSD-3-Clause */
/* Additions to partial hash tasks for the sessions of the 2.2 API: a hash can continue from a copy, and its last piece names the
 * destination. */
#ifndef SHA_PARTIAL_H
#define SHA_PARTIAL_H

#include <doca_sha.h>

#include "base/visibility.h"

/* Copies the state: algorithm, pieces so far, destination. INVALID_VALUE, logged, unless both are of one context and neither is
 * in flight. */
SF_API doca_error_t sf_sha_partial_copy(struct doca_sha_task_partial_hash *to, const struct doca_sha_task_partial_hash *from);

/* Makes digests overwrite the data of their destination instead of appending to it, as in 1.5. Call before start. */
SF_API void sf_sha_overwrite(struct doca_sha *sha);

/* As doca_sha_task_partial_hash_set_dst, but may also be called between pieces. */
SF_API doca_error_t sf_sha_partial_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf);

#endif
