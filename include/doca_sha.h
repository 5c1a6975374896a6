/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sha.h
 * @brief SHA: digests of messages in memory maps, this process's own or imported ones.
 *
 * @code
 *   doca_sha_create(dev, &sha);
 *   doca_pe_connect_ctx(pe, doca_sha_as_ctx(sha));
 *   doca_sha_task_hash_set_conf(sha, digested, failed, 4);          // 2^4 tasks
 *   doca_ctx_start(doca_sha_as_ctx(sha));                           // DOCA_SUCCESS: it is RUNNING
 *   doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, user_data, &task);
 *   doca_task_submit(doca_sha_task_hash_as_task(task));             // then doca_pe_progress until a callback came
 * @endcode
 *
 * The message is the data sections of the source's buffers, one after the other, and may be empty. The digest (20, 32 or 64
 * bytes) is appended to the destination: it goes behind its data section, which grows by that much.
 *
 * A message that is not there in one piece is digested by a partial hash task, which is submitted once for each piece:
 *
 * @code
 *   doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, first, dst, user_data, &task);
 *   doca_task_submit(...);                                          // and after each piece's completion
 *   doca_sha_task_partial_hash_set_src(task, next);
 *   doca_sha_task_partial_hash_set_is_final_buf(task);              // before the last one only
 *   doca_task_submit(...);
 * @endcode
 *
 * Every piece but the final one is a multiple of doca_sha_cap_get_partial_hash_block_size() bytes; the final one may have any
 * length and is not the first. Its completion brings the digest. doca_sha_task_partial_hash_reset() makes the task ready for
 * another message, finished or not. Algorithm and destination cannot change in the middle of a message.
 *
 * doca_task_try_submit() answers DOCA_ERROR_INVALID_VALUE for a task that cannot succeed; doca_task_submit() does not look, and
 * the task ends in its error callback. Statuses there:
 *
 * - DOCA_ERROR_INVALID_VALUE: a piece of a wrong length, a destination with too little room behind its data, a list longer or
 *   larger than the capabilities say, a buffer that reaches out of its memory map, a memory map without the device
 * - DOCA_ERROR_NOT_PERMITTED: the source may not be read, or the destination not be written
 * - DOCA_ERROR_NOT_SUPPORTED: memory of a GPU that no CPU reaches
 * - DOCA_ERROR_IO_FAILED: imported memory whose owner died, destroyed its memory map, or does not answer
 * - DOCA_ERROR_BAD_STATE: a partial task that has its result was not reset; or the task was flushed, because the context was
 *   stopped or another task failed first
 *
 * A task that fails by itself takes its context to STOPPING: what waits behind it is flushed, and when all tasks are freed the
 * context is IDLE and can be started again.
 *
 * Digests are made by OpenSSL's libcrypto inside doca_pe_progress(), in the order of submission, large messages a slice at a
 * time; or, on a device with engine threads (the topology's `engine_threads`), large ones by those, each message by one of them,
 * and then tasks may complete out of order. Callbacks come from doca_pe_progress() in either case.
 *
 * Threads: a SHA context belongs to the thread of its progress engine. (Core guide, "DOCA Execution Model")
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

/** How a message is digested. */
enum doca_sha_algorithm {
	DOCA_SHA_ALGORITHM_SHA1 = 0,   /**< 20 bytes; blocks of 64 */
	DOCA_SHA_ALGORITHM_SHA256 = 1, /**< 32 bytes; blocks of 64 */
	DOCA_SHA_ALGORITHM_SHA512 = 2, /**< 64 bytes; blocks of 128 */
};

/**
 * Creates a SHA context on a device, which cannot be closed while the context exists.
 *
 * @param dev the device; the memory maps of all buffers must have it
 * @param[out] sha the context
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NO_MEMORY no memory.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha);

/**
 * Destroys a SHA context that is IDLE.
 *
 * @param sha the context
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE sha is NULL.
 * @retval DOCA_ERROR_IN_USE it is not IDLE, or a graph uses it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_destroy(struct doca_sha *sha);

/** The context's base. It lives as long as the SHA context. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);

/* ---- capabilities ---- */

/**
 * Can hash tasks use the algorithm? They can use every one.
 *
 * @param devinfo any device
 * @param algorithm the algorithm asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL, or there is no such algorithm.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_hash_get_supported(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm);

/**
 * Can partial hash tasks use the algorithm? They can use every one.
 *
 * @param devinfo any device
 * @param algorithm the algorithm asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL, or there is no such algorithm.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_partial_hash_get_supported(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm);

/**
 * Buffers of the longest list that can be a source or a destination.
 *
 * @param devinfo any device
 * @param[out] max_list_buf_num_elem the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_list_buf_num_elem(struct doca_devinfo const *devinfo, uint32_t *max_list_buf_num_elem);

/**
 * Bytes of the longest source of one submit, over all buffers of its list.
 *
 * @param devinfo any device
 * @param[out] max_src_buf_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_src_buf_size(struct doca_devinfo const *devinfo, uint64_t *max_src_buf_size);

/**
 * Bytes that the destination must have behind its data: those of the digest.
 *
 * @param devinfo any device
 * @param algorithm the algorithm asked about
 * @param[out] min_dst_buf_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or there is no such algorithm.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_min_dst_buf_size(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm,
					       uint32_t *min_dst_buf_size);

/**
 * What the length of every piece of a partial hash but the final one is a multiple of, in bytes.
 *
 * @param devinfo any device
 * @param algorithm the algorithm asked about
 * @param[out] partial_block_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or there is no such algorithm.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_partial_hash_block_size(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm,
						      uint32_t *partial_block_size);

/**
 * Tasks that one SHA context can be configured with, of each type.
 *
 * @param sha any SHA context
 * @param[out] max_num_tasks the answer: a number, not its logarithm
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks);

/* ---- hash ---- */

/** A task that digests a whole message. */
struct doca_sha_task_hash;

/**
 * Told when a hash task ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once
 * more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_sha_task_hash_completion_cb_t)(struct doca_sha_task_hash *task, union doca_data task_user_data,
						   union doca_data ctx_user_data);

/**
 * Sets how many hash tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param sha an IDLE context
 * @param task_completion_cb told of success
 * @param task_error_cb told of everything else
 * @param log_num_tasks the binary logarithm of the tasks that can be allocated at a time; 0 is one task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is over doca_sha_cap_get_max_num_tasks().
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha, doca_sha_task_hash_completion_cb_t task_completion_cb,
					 doca_sha_task_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks);

/**
 * Allocates a hash task. It is freed by doca_task_free(); its buffers are the program's. They are the library's from an accepted
 * submit to the callback.
 *
 * @param sha a RUNNING context
 * @param algorithm how the message is digested
 * @param src_buf the message, a buffer or the head of a list
 * @param dst_buf where the digest is appended
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or there is no such algorithm.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
					   struct doca_buf const *src_buf, struct doca_buf *dst_buf, union doca_data user_data,
					   struct doca_sha_task_hash **task);

/**
 * Sets another message, a buffer or the head of a list.
 *
 * @param task a task that is not in flight
 * @param src_buf the message
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the task is in flight.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task, struct doca_buf const *src_buf);

/** The message that was set last. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_hash_get_src(struct doca_sha_task_hash const *task);

/**
 * Sets another destination.
 *
 * @param task a task that is not in flight
 * @param dst_buf where the digest is appended
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the task is in flight.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf);

/** The destination that was set last. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_hash_get_dst(struct doca_sha_task_hash const *task);

/**
 * Sets another algorithm.
 *
 * @param task a task that is not in flight
 * @param algorithm how the message is digested
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE task is NULL or in flight, or there is no such algorithm.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task, enum doca_sha_algorithm algorithm);

/** The algorithm that was set last. SHA1 for NULL. */
DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_hash_get_algorithm(struct doca_sha_task_hash const *task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task);

/* ---- partial hash ---- */

/** A task that digests a message piece by piece. */
struct doca_sha_task_partial_hash;

/**
 * Told when a piece was digested, from doca_pe_progress(). The next one may be set and submitted from inside the callback.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_sha_task_partial_hash_completion_cb_t)(struct doca_sha_task_partial_hash *task,
							   union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Sets how many partial hash tasks there are, and who is told of their pieces' end. Configuring again replaces.
 *
 * @param sha an IDLE context
 * @param task_completion_cb told of success
 * @param task_error_cb told of everything else
 * @param log_num_tasks the binary logarithm of the tasks that can be allocated at a time; 0 is one task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is over doca_sha_cap_get_max_num_tasks().
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_conf(struct doca_sha *sha,
						 doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
						 doca_sha_task_partial_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks);

/**
 * Allocates a partial hash task, ready for a message's first piece. It is freed by doca_task_free(); its buffers are the
 * program's. They are the library's from an accepted submit to the callback.
 *
 * @param sha a RUNNING context
 * @param algorithm how the message is digested
 * @param src_buf the first piece, a buffer or the head of a list
 * @param dst_buf where the digest is appended in the end
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or there is no such algorithm.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
						   struct doca_buf const *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_sha_task_partial_hash **task);

/**
 * Makes the task ready for another message's first piece. What was digested of the last one is forgotten.
 *
 * @param task a task that is not in flight
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE task is NULL or in flight.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task);

/**
 * Sets the next piece, a buffer or the head of a list.
 *
 * @param task a task that is not in flight
 * @param src_buf the piece
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the task is in flight.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task, struct doca_buf const *src_buf);

/** The piece that was set last. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_partial_hash_get_src(struct doca_sha_task_partial_hash const *task);

/**
 * Sets another destination, between messages.
 *
 * @param task a task that is not in flight
 * @param dst_buf where the digest is appended
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the task is in flight.
 * @retval DOCA_ERROR_BAD_STATE a piece of a message was digested: reset first.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf);

/** The destination that was set last. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_partial_hash_get_dst(struct doca_sha_task_partial_hash const *task);

/**
 * Sets another algorithm, between messages.
 *
 * @param task a task that is not in flight
 * @param algorithm how the message is digested
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE task is NULL or in flight, or there is no such algorithm.
 * @retval DOCA_ERROR_BAD_STATE a piece of a message was digested: reset first.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task, enum doca_sha_algorithm algorithm);

/** The algorithm that was set last. SHA1 for NULL. */
DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_partial_hash_get_algorithm(struct doca_sha_task_partial_hash const *task);

/**
 * Says that the piece of the next submit is the message's final one.
 *
 * @param task a task that is not in flight
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE task is NULL or in flight.
 * @retval DOCA_ERROR_BAD_STATE no piece was digested yet, or the final one was.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task);

/** 1 when the piece of the next submit, or of the last one, is the final one; else 0. */
DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_is_final(struct doca_sha_task_partial_hash const *task);

/** 1 when the final piece was digested and the destination has the result; else 0. */
DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_has_result(struct doca_sha_task_partial_hash const *task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task);

#ifdef __cplusplus
}
#endif

#endif
