/* SPDX-License-Identifier: BSD-3-Clause */
/* Partial hash tasks as the sessions of the 2.2 API need them beyond doca_sha.h: that hash may go on from a copy, and its last
 * piece says where the digest goes. */
#ifndef SHA_PARTIAL_H
#define SHA_PARTIAL_H

#include <doca_sha.h>

#include "base/visibility.h"

/* to stands where from stands: algorithm, pieces so far, destination. Of one context, neither in flight, else INVALID_VALUE,
 * logged. */
SF_API doca_error_t sf_sha_partial_copy(struct doca_sha_task_partial_hash *to, const struct doca_sha_task_partial_hash *from);

/* Digests go to where the data of their destination begin, over what is there, instead of behind it. Before start. For 1.5. */
SF_API void sf_sha_overwrite(struct doca_sha *sha);

/* As doca_sha_task_partial_hash_set_dst, and between pieces too. */
SF_API doca_error_t sf_sha_partial_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf);

#endif
