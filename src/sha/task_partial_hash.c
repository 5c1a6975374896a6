/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that digests a message piece by piece, one submit each. */
#include "base/log.h"
#include "sha/sha.h"

doca_error_t doca_sha_task_partial_hash_set_conf(struct doca_sha *sha,
						 doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
						 doca_sha_task_partial_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks)
{
	return sha_task_configure(sha, SHA_PARTIAL_POOL, (doca_task_completion_cb_t)task_completion_cb,
				  (doca_task_completion_cb_t)task_error_cb, log_num_tasks);
}

doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
						   struct doca_buf const *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_sha_task_partial_hash **task)
{
	return sha_task_alloc(sha, SHA_PARTIAL_POOL, algorithm, src_buf, dst_buf, user_data, (struct sha_task **)task);
}

/* BAD_STATE, logged, between the first piece and the reset. */
static doca_error_t check_fresh(const struct sha_task *task, const char *what)
{
	if (task->phase == SHA_FRESH)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the task has digested a piece of a message: reset it first", what);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task)
{
	doca_error_t result = sha_task_check_setter((const struct sha_task *)task, task, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	task->common.phase = SHA_FRESH;
	task->common.is_final = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task, struct doca_buf const *src_buf)
{
	doca_error_t result = sha_task_check_setter((const struct sha_task *)task, src_buf, __func__);

	if (result == DOCA_SUCCESS)
		task->common.src = src_buf;
	return result;
}

struct doca_buf const *doca_sha_task_partial_hash_get_src(struct doca_sha_task_partial_hash const *task)
{
	return task != NULL ? task->common.src : NULL;
}

doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf)
{
	doca_error_t result = sha_task_check_setter((const struct sha_task *)task, dst_buf, __func__);

	if (result == DOCA_SUCCESS)
		result = check_fresh(&task->common, __func__);
	if (result == DOCA_SUCCESS)
		task->common.dst = dst_buf;
	return result;
}

struct doca_buf const *doca_sha_task_partial_hash_get_dst(struct doca_sha_task_partial_hash const *task)
{
	return task != NULL ? task->common.dst : NULL;
}

doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task, enum doca_sha_algorithm algorithm)
{
	doca_error_t result = sha_task_check_setter((const struct sha_task *)task, task, __func__);

	if (result == DOCA_SUCCESS && !sha_algorithm_is_valid(algorithm)) {
		SF_LOG_ERR("SHA algorithm %d is unknown: use one of enum doca_sha_algorithm", (int)algorithm);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result == DOCA_SUCCESS)
		result = check_fresh(&task->common, __func__);
	if (result == DOCA_SUCCESS)
		task->common.algorithm = algorithm;
	return result;
}

enum doca_sha_algorithm doca_sha_task_partial_hash_get_algorithm(struct doca_sha_task_partial_hash const *task)
{
	return task != NULL ? task->common.algorithm : DOCA_SHA_ALGORITHM_SHA1;
}

doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task)
{
	doca_error_t result = sha_task_check_setter((const struct sha_task *)task, task, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (task->common.phase != SHA_BEGUN) {
		SF_LOG_ERR("%s: %s", __func__,
			   task->common.phase == SHA_FRESH ? "the first piece cannot be the final one: use a hash task"
							   : "the final piece has been digested: reset the task");
		return DOCA_ERROR_BAD_STATE;
	}
	task->common.is_final = true;
	return DOCA_SUCCESS;
}

uint8_t doca_sha_task_partial_hash_get_is_final(struct doca_sha_task_partial_hash const *task)
{
	return task != NULL && task->common.is_final;
}

uint8_t doca_sha_task_partial_hash_get_has_result(struct doca_sha_task_partial_hash const *task)
{
	return task != NULL && task->common.phase == SHA_ENDED;
}

struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task)
{
	return task != NULL ? &task->common.base : NULL;
}
