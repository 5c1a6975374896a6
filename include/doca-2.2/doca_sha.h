/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sha.h
 * Hashes as jobs of a work queue (doca_ctx.h): SHA-1, SHA-256 and SHA-512, of one source or piece by piece.
 *
 *     struct doca_sha_job job = {
 *             .base = {.type = DOCA_SHA_JOB_SHA256, .ctx = doca_sha_as_ctx(sha)},
 *             .req_buf = src, .resp_buf = dst, .flags = DOCA_SHA_JOB_FLAGS_NONE};
 *     doca_workq_submit(workq, &job.base);
 *
 * The digest is appended to the destination. To hash piece by piece, create a session of the context and a queue that it was
 * added to, submit DOCA_SHA_JOB_*_PARTIAL jobs of that session one after the other, and set the flag
 * DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL in the last. Then the session may be used for another hash.
 */
#ifndef DOCA_2_2_SHA_H_
#define DOCA_2_2_SHA_H_

#include <inttypes.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;

/** Bytes of a SHA-1 digest. */
#define DOCA_SHA1_BYTE_COUNT 20
/** Bytes of a SHA-256 digest. */
#define DOCA_SHA256_BYTE_COUNT 32
/** Bytes of a SHA-512 digest. */
#define DOCA_SHA512_BYTE_COUNT 64

/** A SHA context. Opaque. */
struct doca_sha;

/**
 * Creates one, without a device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_sha **ctx) DOCA_2_2_SYMBOL(doca_2_2_sha_create);

/**
 * Destroys one.
 * @retval DOCA_ERROR_IN_USE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_destroy(struct doca_sha *ctx) DOCA_2_2_SYMBOL(doca_2_2_sha_destroy);

/**
 * Does the device support jobs of this type? Every device does.
 * @retval DOCA_ERROR_INVALID_VALUE no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type)
	DOCA_2_2_SYMBOL(doca_2_2_sha_job_get_supported);

/** Bufs that a list may have. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
	DOCA_2_2_SYMBOL(doca_sha_cap_get_max_list_buf_num_elem);

/** Bytes that a source may have. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_max_src_buffer_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
	DOCA_2_2_SYMBOL(doca_sha_cap_get_max_src_buf_size);

/**
 * Bytes of room that a destination needs.
 * @retval DOCA_ERROR_INVALID_VALUE NULL or no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_min_dst_buffer_size(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type,
					      uint32_t *min_buffer_size) DOCA_2_2_SYMBOL(doca_2_2_sha_get_min_dst_buffer_size);

/**
 * Does the device hash, rather than the program's CPU? A software device reports yes too, because programs of that time require
 * it.
 * @retval DOCA_ERROR_NOT_SUPPORTED no
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_hardware_supported(const struct doca_devinfo *devinfo)
	DOCA_2_2_SYMBOL(doca_2_2_sha_get_hardware_supported);

/** Its context, for doca_ctx.h; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *ctx) DOCA_2_2_SYMBOL(doca_2_2_as_ctx);

/**
 * Creates an empty session.
 * @param workq a queue it was added to
 * @param session the new session; once the queue is removed it can only be destroyed
 * @retval DOCA_ERROR_INVALID_VALUE not added to the queue
 * @retval DOCA_ERROR_NO_MEMORY there are as many sessions as the queue's depth
 * @retval DOCA_ERROR_BAD_STATE the context has failed: remove it from the queue and add it again
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_create(struct doca_sha *ctx, struct doca_workq *workq,
					     struct doca_sha_partial_session **session)
	DOCA_2_2_SYMBOL(doca_2_2_sha_partial_session_create);

/**
 * Destroys a session.
 * @retval DOCA_ERROR_INVALID_VALUE not of this context and queue, or a job of it has not ended
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_destroy(struct doca_sha *ctx, struct doca_workq *workq,
					      struct doca_sha_partial_session *session)
	DOCA_2_2_SYMBOL(doca_2_2_sha_partial_session_destroy);

/**
 * Copies the state of a session to another: both may continue with different pieces.
 * @retval DOCA_ERROR_INVALID_VALUE not of this context and queue, or a job of either has not ended
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_copy(struct doca_sha *ctx, struct doca_workq *workq,
					   const struct doca_sha_partial_session *from_session,
					   struct doca_sha_partial_session *to_session)
	DOCA_2_2_SYMBOL(doca_2_2_sha_partial_session_copy);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_SHA_H_ */
