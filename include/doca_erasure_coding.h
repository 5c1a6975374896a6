/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_erasure_coding.h
 * Erasure coding (EC): computes redundancy blocks from data blocks, and lost blocks from the remaining ones. Blocks lie in memory
 * maps, this process's own or imported ones.
 *
 *     doca_ec_create(dev, &ec);
 *     doca_pe_connect_ctx(pe, doca_ec_as_ctx(ec));
 *     doca_ec_task_create_set_conf(ec, coded, failed, 16);            // 16 tasks
 *     doca_ctx_start(doca_ec_as_ctx(ec));                             // DOCA_SUCCESS: it is RUNNING
 *     doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 10, 4, &matrix);
 *     doca_ec_task_create_allocate_init(ec, matrix, data, redundancy, user_data, &task);
 *     doca_task_submit(doca_ec_task_create_as_task(task));            // then doca_pe_progress() until a callback
 *
 * A matrix defines how output blocks are computed from input blocks, over the field GF(2^8) with the polynomial
 * x^8+x^4+x^3+x^2+1. Four types of task multiply by it; they differ in what their blocks mean:
 *
 * | task | input blocks, in this order | output blocks |
 * | ---- | --------------------------- | ------------- |
 * | create | all data blocks | all redundancy blocks |
 * | update | old and new block of each changed data block, then all redundancy blocks | all new redundancy blocks |
 * | recover | as many blocks as there are data blocks: the first that are not missing | the missing blocks |
 * | galois_mul | one for each row of the matrix | one for each column |
 *
 * The input blocks are the bytes of the source's data sections, one block after the other. The boundaries of a list's buffers
 * need not match those of blocks. All blocks have one size: the length of the source, divided by the number of input blocks. It
 * is a multiple of 64, and at most doca_ec_cap_get_max_block_size(). Output blocks are appended to the destination's data. They
 * may replace their own old versions: an update task may write to where it reads the redundancy blocks.
 *
 * A matrix of doca_ec_matrix_create() or doca_ec_matrix_create_from_raw() suits every type of task. One of
 * doca_ec_matrix_create_update() suits update and galois_mul tasks, one of doca_ec_matrix_create_recover() recover and galois_mul
 * tasks. A task refers to its matrix and buffers: they must exist, and the buffers must not change, from the submit to the
 * callback.
 *
 * doca_task_try_submit() rejects a wrong task with DOCA_ERROR_INVALID_VALUE; doca_task_submit() does not check, and the error
 * callback reports the status:
 *
 * - DOCA_ERROR_INVALID_VALUE: a source whose length is not a valid block size times the number of input blocks, too little room
 *   in the destination, a matrix of another type of task, a list that exceeds the capabilities, a buffer outside its memory map,
 *   or a memory map without the device
 * - DOCA_ERROR_NOT_PERMITTED: a memory map's access flags or a read-only export forbid it
 * - DOCA_ERROR_NOT_SUPPORTED: GPU memory that no CPU can access
 * - DOCA_ERROR_IO_FAILED: the exporter of imported memory died, destroyed its memory map, or does not answer
 * - DOCA_ERROR_BAD_STATE: flushed, because the context was stopped or another task failed first
 *
 * A failed task takes its context to STOPPING and flushes the tasks behind it. What it has written to the destination's tailroom
 * is undefined, and is not added to its data; a task that a check rejects writes nothing.
 *
 * ISA-L computes in doca_pe_progress(), in the order of submission. If the device has engine threads (the topology's
 * `engine_threads`), they compute large tasks, which may complete out of order. An EC context belongs to the thread of its
 * progress engine; a matrix may be used by any thread, and by tasks of several contexts. (Core guide, "DOCA Execution Model";
 * task functions: doca_pe.h)
 *
 * @retval DOCA_ERROR_INVALID_VALUE *_set_conf: num_tasks is 0 or above 65536, or a callback is NULL
 * @retval DOCA_ERROR_NOT_SUPPORTED *_set_conf, *_is_supported: the profile (SOFTFIELD_PROFILE) has no erasure coding
 * @retval DOCA_ERROR_BAD_STATE *_set_conf: the context is not IDLE
 * @retval DOCA_ERROR_BAD_STATE *_allocate_init: the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY *_allocate_init: all configured tasks are allocated
 * @retval DOCA_ERROR_INVALID_VALUE *_allocate_init: NULL, or the matrix is of another type of task
 */
#ifndef DOCA_ERASURE_CODING_H_
#define DOCA_ERASURE_CODING_H_

#include <inttypes.h>
#include <stddef.h>
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

/** An EC context: an object with a context (doca_ec_as_ctx). */
struct doca_ec;

/** Coefficients of output blocks. It never changes. */
struct doca_ec_matrix;

/**
 * The device cannot be closed before the context is destroyed. The memory maps of all buffers must have the device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec);

/**
 * Matrices outlive it.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE
 * @retval DOCA_ERROR_IN_USE a graph uses it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_destroy(struct doca_ec *ec);

/** Lives as long as the EC context. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec);

/**
 * @name Capabilities
 * Every device supports every type of task.
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_galois_mul_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_update_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_recover_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of a block, in a task of any number of blocks. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo, uint64_t *max_block_size);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/** @} */

/** How doca_ec_matrix_create() chooses the coefficient a(i, j) of data block i in redundancy block j; both count from 0. */
enum doca_ec_matrix_type {
	DOCA_EC_MATRIX_TYPE_CAUCHY = 1,	     /**< 1 / (i + (data_block_count + j)), + being exclusive or; recovers every loss */
	DOCA_EC_MATRIX_TYPE_VANDERMONDE = 2, /**< (i + 1) to the power of j; may fail with 4 redundancy blocks or more */
};

/**
 * @name Matrices
 * The context may be in any state. The functions copy their arrays.
 * @{
 */

/**
 * A matrix for create tasks. Data and redundancy blocks together are at most 256, and a Vandermonde matrix has at most 255 data
 * blocks.
 * @retval DOCA_ERROR_INVALID_VALUE NULL, no such type, or a wrong number of blocks
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type, size_t data_block_count,
				   size_t rdnc_block_count, struct doca_ec_matrix **matrix);

/**
 * A matrix of the caller's coefficients: data[i * rdnc_block_count + j] is that of input block i in output block j.
 * @param data_block_count number of input blocks of the task that it is for: 1 to 512
 * @param rdnc_block_count number of its output blocks: 1 to 256
 * @retval DOCA_ERROR_INVALID_VALUE NULL, or a wrong number of blocks
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data, size_t data_block_count, size_t rdnc_block_count,
					    struct doca_ec_matrix **matrix);

/**
 * A matrix for update tasks. These have two input blocks for each changed data block and one for each redundancy block, together
 * at most 512.
 * @param coding_matrix of doca_ec_matrix_create() or doca_ec_matrix_create_from_raw(); not needed afterwards
 * @param update_indices the changed data blocks, ascending
 * @retval DOCA_ERROR_INVALID_VALUE NULL, coding_matrix is another one, or the indices are none, too many, not ascending, or not
 * of data blocks
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					  uint32_t update_indices[], size_t n_updates, struct doca_ec_matrix **matrix);

/**
 * A matrix for recover tasks. Such a task reads the first data_block_count blocks that are not listed, data blocks before
 * redundancy blocks. An index from data_block_count on is a redundancy block; list those that are lost and would be read.
 * @param coding_matrix of doca_ec_matrix_create() or doca_ec_matrix_create_from_raw(); not needed afterwards
 * @param missing_indices the missing blocks, ascending; the task's output blocks, in this order
 * @param n_missing 1 to the number of redundancy blocks
 * @retval DOCA_ERROR_INVALID_VALUE NULL, coding_matrix is another one, the indices are none, too many, not ascending, or not of
 * blocks; or the blocks left do not determine the missing ones, which never happens with a Cauchy matrix
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					   uint32_t missing_indices[], size_t n_missing, struct doca_ec_matrix **matrix);

/**
 * No task that uses the matrix may be in flight.
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix);

/** @} */

/** A task that multiplies blocks by a matrix. */
struct doca_ec_task_galois_mul;

/**
 * @name Galois multiplication tasks
 * The setters of this and the other types log an error and change nothing if the task is NULL or in flight. The getters return
 * NULL for NULL.
 * @{
 */

typedef void (*doca_ec_task_galois_mul_completion_cb_t)(struct doca_ec_task_galois_mul *task, union doca_data task_user_data,
							union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_galois_mul_set_conf(struct doca_ec *ec,
					      doca_ec_task_galois_mul_completion_cb_t successful_task_completion_cb,
					      doca_ec_task_galois_mul_completion_cb_t error_task_completion_cb,
					      uint32_t num_tasks);

/** src_buf and dst_buf are a buffer or the head of a list, as in all types of task. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_galois_mul_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
						   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_ec_task_galois_mul **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_galois_mul_as_task(struct doca_ec_task_galois_mul *task);

DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_coding_matrix(struct doca_ec_task_galois_mul *task, const struct doca_ec_matrix *coding_matrix);

DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_galois_mul_get_coding_matrix(const struct doca_ec_task_galois_mul *task);

DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_src_buf(struct doca_ec_task_galois_mul *task, const struct doca_buf *src_buf);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_galois_mul_get_src_buf(const struct doca_ec_task_galois_mul *task);

DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_dst_buf(struct doca_ec_task_galois_mul *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_galois_mul_get_dst_buf(const struct doca_ec_task_galois_mul *task);

/** @} */

/** A task that computes redundancy blocks. */
struct doca_ec_task_create;

/**
 * @name Create tasks
 * @{
 */

typedef void (*doca_ec_task_create_completion_cb_t)(struct doca_ec_task_create *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_create_set_conf(struct doca_ec *ec, doca_ec_task_create_completion_cb_t successful_task_completion_cb,
					  doca_ec_task_create_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_create_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					       const struct doca_buf *original_data_blocks, struct doca_buf *rdnc_blocks,
					       union doca_data user_data, struct doca_ec_task_create **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_create_as_task(struct doca_ec_task_create *task);

DOCA_EXPERIMENTAL
void doca_ec_task_create_set_coding_matrix(struct doca_ec_task_create *task, const struct doca_ec_matrix *coding_matrix);

DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_create_get_coding_matrix(const struct doca_ec_task_create *task);

DOCA_EXPERIMENTAL
void doca_ec_task_create_set_original_data_blocks(struct doca_ec_task_create *task, const struct doca_buf *original_data_blocks);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_create_get_original_data_blocks(const struct doca_ec_task_create *task);

DOCA_EXPERIMENTAL
void doca_ec_task_create_set_rdnc_blocks(struct doca_ec_task_create *task, struct doca_buf *rdnc_blocks);

DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_create_get_rdnc_blocks(const struct doca_ec_task_create *task);

/** @} */

/** A task that updates redundancy blocks after some data blocks have changed. */
struct doca_ec_task_update;

/**
 * @name Update tasks
 * @{
 */

typedef void (*doca_ec_task_update_completion_cb_t)(struct doca_ec_task_update *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_update_set_conf(struct doca_ec *ec, doca_ec_task_update_completion_cb_t successful_task_completion_cb,
					  doca_ec_task_update_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_update_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *update_matrix,
					       const struct doca_buf *original_updated_and_rdnc_blocks,
					       struct doca_buf *updated_rdnc_blocks, union doca_data user_data,
					       struct doca_ec_task_update **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_update_as_task(struct doca_ec_task_update *task);

DOCA_EXPERIMENTAL
void doca_ec_task_update_set_update_matrix(struct doca_ec_task_update *task, const struct doca_ec_matrix *update_matrix);

DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_update_get_update_matrix(const struct doca_ec_task_update *task);

DOCA_EXPERIMENTAL
void doca_ec_task_update_set_original_updated_and_rdnc_blocks(struct doca_ec_task_update *task,
							      const struct doca_buf *original_updated_and_rdnc_blocks);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_update_get_original_updated_and_rdnc_blocks(const struct doca_ec_task_update *task);

DOCA_EXPERIMENTAL
void doca_ec_task_update_set_updated_rdnc_blocks(struct doca_ec_task_update *task, struct doca_buf *updated_rdnc_blocks);

DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_update_get_updated_rdnc_blocks(const struct doca_ec_task_update *task);

/** @} */

/** A task that computes missing blocks from the remaining ones. */
struct doca_ec_task_recover;

/**
 * @name Recover tasks
 * @{
 */

typedef void (*doca_ec_task_recover_completion_cb_t)(struct doca_ec_task_recover *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_recover_set_conf(struct doca_ec *ec, doca_ec_task_recover_completion_cb_t successful_task_completion_cb,
					   doca_ec_task_recover_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_recover_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *recover_matrix,
						const struct doca_buf *available_blocks, struct doca_buf *recovered_data_blocks,
						union doca_data user_data, struct doca_ec_task_recover **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_recover_as_task(struct doca_ec_task_recover *task);

DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_recover_matrix(struct doca_ec_task_recover *task, const struct doca_ec_matrix *recover_matrix);

DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_recover_get_recover_matrix(const struct doca_ec_task_recover *task);

DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_available_blocks(struct doca_ec_task_recover *task, const struct doca_buf *available_blocks);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_recover_get_available_blocks(const struct doca_ec_task_recover *task);

DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_recovered_data_blocks(struct doca_ec_task_recover *task, struct doca_buf *recovered_data_blocks);

DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_recover_get_recovered_data(const struct doca_ec_task_recover *task);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
