/* SPDX-License-Identifier: BSD-3-Clause */
/* What sha.c and sha_session.c share. */
#ifndef LEGACY_SHA_H
#define LEGACY_SHA_H

#include <doca_sha.h>

#include "legacy/workq.h"

struct legacy_sha {
	struct legacy_ctx ctx;
	bool overwrites;
};

/* What stands for a buf in a task without a job; never looked at. */
struct doca_buf *legacy_sha_missing_buf(struct legacy_lane *lane);

/* Puts a job into the slot's hash task. */
doca_error_t legacy_sha_load_hash(struct legacy_slot *slot, const struct doca_sha_job *job, enum doca_sha_algorithm algorithm);

/* Puts a job into the task of its session. */
doca_error_t legacy_sha_load_partial(struct legacy_slot *slot, const struct doca_sha_partial_job *job);

/* The lane goes: its sessions can be destroyed yet, and nothing else. */
void legacy_sha_sessions_end(struct legacy_lane *lane);

/* For legacy_ctx_ops.goes_on: the session is free for its next job. */
bool legacy_sha_job_ended(struct legacy_slot *slot, doca_error_t *status);

#endif
