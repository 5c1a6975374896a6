/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sha.h
 * SHA: digests of messages in memory maps, this process's own or imported ones.
 *
 *     doca_sha_create(dev, &sha);
 *     doca_pe_connect_ctx(pe, doca_sha_as_ctx(sha));
 *     doca_sha_task_hash_set_conf(sha, digested, failed, 4);          // 2^4 tasks
 *     doca_ctx_start(doca_sha_as_ctx(sha));                           // DOCA_SUCCESS: it is RUNNING
 *     doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, user_data, &task);
 *     doca_task_submit(doca_sha_task_hash_as_task(task));             // then doca_pe_progress() until a callback
 *
 * The message is the data sections of the source's list, and may be empty. The digest is appended to the destination's data
 * section. A partial hash task digests a message piece by piece:
 *
 *     doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, first, dst, user_data, &task);
 *     doca_task_submit(...);                                          // and after each piece's completion
 *     doca_sha_task_partial_hash_set_src(task, next);
 *     doca_sha_task_partial_hash_set_is_final_buf(task);              // before the last one only
 *     doca_task_submit(...);
 *
 * Every piece but the final one has a multiple of doca_sha_cap_get_partial_hash_block_size() bytes. The final one may have any
 * length, and is not the first; its completion writes the digest. doca_sha_task_partial_hash_reset() prepares the task for
 * another message. Algorithm and destination must not change in the middle of a message.
 *
 * doca_task_try_submit() rejects a wrong task with DOCA_ERROR_INVALID_VALUE; doca_task_submit() does not check, and the error
 * callback reports the status:
 *
 * - DOCA_ERROR_INVALID_VALUE: a wrong length, too little room in the destination, a list that exceeds the capabilities, a buffer
 *   outside its memory map, or a memory map without the device
 * - DOCA_ERROR_NOT_PERMITTED: a memory map's access flags or a read-only export forbid it
 * - DOCA_ERROR_NOT_SUPPORTED: GPU memory that no CPU can access
 * - DOCA_ERROR_IO_FAILED: the exporter of imported memory died, destroyed its memory map, or does not answer
 * - DOCA_ERROR_BAD_STATE: a partial task with a result was not reset; or flushed, because the context was stopped or another
 *   task failed first
 *
 * A failed task takes its context to STOPPING and flushes the tasks behind it.
 *
 * libcrypto digests in doca_pe_progress(), in the order of submission. If the device has engine threads (the topology's
 * `engine_threads`), they digest large messages, which may complete out of order. A SHA context belongs to the thread of its
 * progress engine. (Core guide, "DOCA Execution Model"; task functions: doca_pe.h)
 *
 * @retval DOCA_ERROR_INVALID_VALUE *_set_conf: log_num_tasks is above the logarithm of doca_sha_cap_get_max_num_tasks()
 * @retval DOCA_ERROR_NOT_SUPPORTED *_set_conf, *_cap_*: the profile (SOFTFIELD_PROFILE) has no SHA
 * @retval DOCA_ERROR_BAD_STATE *_set_conf: the context is not IDLE
 * @retval DOCA_ERROR_BAD_STATE *_alloc_init: the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY *_alloc_init: all configured tasks are allocated
 * @retval DOCA_ERROR_INVALID_VALUE *_alloc_init, *_set_algorithm, *_supported, *_cap_get_min_dst_buf_size, *_block_size: no such
 *   algorithm
 * @retval DOCA_ERROR_INVALID_VALUE *_set_src, *_set_dst, *_set_algorithm, *_reset, *_is_final_buf: the task is in flight
 * @retval DOCA_ERROR_BAD_STATE *_partial_hash_set_dst, *_partial_hash_set_algorithm: a piece was digested: reset first
 */
#ifndef DOCA_SHA_H_
#define DOCA_SHA_H_

#include <inttypes.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** A SHA context: an object with a context (doca_sha_as_ctx). */
struct doca_sha;

/** The algorithm. */
enum doca_sha_algorithm {
	DOCA_SHA_ALGORITHM_SHA1 = 0,   /**< 20 bytes; blocks of 64 */
	DOCA_SHA_ALGORITHM_SHA256 = 1, /**< 32 bytes; blocks of 64 */
	DOCA_SHA_ALGORITHM_SHA512 = 2, /**< 64 bytes; blocks of 128 */
};

/**
 * The device cannot be closed before the context is destroyed. The memory maps of all buffers must have the device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha);

/** @retval DOCA_ERROR_IN_USE the context is not IDLE, or a graph uses it */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_destroy(struct doca_sha *sha);

/** Lives as long as the SHA context. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);

/**
 * @name Capabilities
 * Every device supports every algorithm, in both task types.
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_hash_get_supported(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_partial_hash_get_supported(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_list_buf_num_elem(struct doca_devinfo const *devinfo, uint32_t *max_list_buf_num_elem);

/** The most bytes in the source of one submit. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_src_buf_size(struct doca_devinfo const *devinfo, uint64_t *max_src_buf_size);

/** The length of the digest. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_min_dst_buf_size(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm,
					       uint32_t *min_dst_buf_size);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_partial_hash_block_size(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm,
						      uint32_t *partial_block_size);

/** The most tasks of each type in one context: a number, not its logarithm. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks);

/** @} */

/** A task that digests a whole message. */
struct doca_sha_task_hash;

/**
 * @name Hash tasks
 * @{
 */

typedef void (*doca_sha_task_hash_completion_cb_t)(struct doca_sha_task_hash *task, union doca_data task_user_data,
						   union doca_data ctx_user_data);

/** @param log_num_tasks binary logarithm of the number of tasks; 0 is one task */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha, doca_sha_task_hash_completion_cb_t task_completion_cb,
					 doca_sha_task_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks);

/** src_buf and dst_buf are a buffer or the head of a list. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
					   struct doca_buf const *src_buf, struct doca_buf *dst_buf, union doca_data user_data,
					   struct doca_sha_task_hash **task);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task, struct doca_buf const *src_buf);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_hash_get_src(struct doca_sha_task_hash const *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_hash_get_dst(struct doca_sha_task_hash const *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task, enum doca_sha_algorithm algorithm);

DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_hash_get_algorithm(struct doca_sha_task_hash const *task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task);

/** @} */

/** A task that digests a message piece by piece. */
struct doca_sha_task_partial_hash;

/**
 * @name Partial hash tasks
 * The callback is called for each piece, and may set and submit the next one.
 * @{
 */

typedef void (*doca_sha_task_partial_hash_completion_cb_t)(struct doca_sha_task_partial_hash *task,
							   union doca_data task_user_data, union doca_data ctx_user_data);

/** @param log_num_tasks binary logarithm of the number of tasks; 0 is one task */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_conf(struct doca_sha *sha,
						 doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
						 doca_sha_task_partial_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks);

/** src_buf is the first piece. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
						   struct doca_buf const *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_sha_task_partial_hash **task);

/** Prepares the task for another message, and drops what was digested. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task, struct doca_buf const *src_buf);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_partial_hash_get_src(struct doca_sha_task_partial_hash const *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_partial_hash_get_dst(struct doca_sha_task_partial_hash const *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task, enum doca_sha_algorithm algorithm);

DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_partial_hash_get_algorithm(struct doca_sha_task_partial_hash const *task);

/**
 * Marks the piece of the next submit as the final one.
 * @retval DOCA_ERROR_BAD_STATE no piece was digested yet, or the final one was
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task);

DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_is_final(struct doca_sha_task_partial_hash const *task);

/** Whether the destination has the digest. */
DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_has_result(struct doca_sha_task_partial_hash const *task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
