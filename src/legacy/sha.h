/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by sha.c and sha_session.c. */
#ifndef LEGACY_SHA_H
#define LEGACY_SHA_H

#include <doca_sha.h>

#include "legacy/workq.h"

struct legacy_sha {
	struct legacy_ctx ctx;
	bool overwrites;
};

/* The placeholder for a buf in a task without a job; never dereferenced. */
struct doca_buf *legacy_sha_missing_buf(struct legacy_lane *lane);

/* Loads a job into the slot's hash task. */
doca_error_t legacy_sha_load_hash(struct legacy_slot *slot, const struct doca_sha_job *job, enum doca_sha_algorithm algorithm);

/* Loads a job into the task of its session. */
doca_error_t legacy_sha_load_partial(struct legacy_slot *slot, const struct doca_sha_partial_job *job);

/* Called when the lane is removed: afterwards its sessions can only be destroyed. */
void legacy_sha_sessions_end(struct legacy_lane *lane);

/* Implements legacy_ctx_ops.goes_on: frees the session for its next job. */
bool legacy_sha_job_ended(struct legacy_slot *slot, doca_error_t *status);

#endif
