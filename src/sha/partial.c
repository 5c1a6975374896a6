/* SPDX-License-Identifier: BSD-3-Clause */
#include "sha/partial.h"

#include "base/log.h"
#include "sha/sha.h"

doca_error_t sf_sha_partial_copy(struct doca_sha_task_partial_hash *to, const struct doca_sha_task_partial_hash *from)
{
	doca_error_t result = sha_task_check_setter((const struct sha_task *)to, to, __func__);

	if (result == DOCA_SUCCESS)
		result = sha_task_check_setter((const struct sha_task *)from, from, __func__);
	if (result == DOCA_SUCCESS && to->common.base.ctx != from->common.base.ctx) {
		SF_LOG_ERR("a partial hash can continue only in a task of the same context");
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS)
		return result;
	to->common.state = from->common.state;
	to->common.algorithm = from->common.algorithm;
	to->common.phase = from->common.phase;
	to->common.is_final = from->common.is_final;
	to->common.dst = from->common.dst;
	return DOCA_SUCCESS;
}

doca_error_t sf_sha_partial_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf)
{
	doca_error_t result = sha_task_check_setter((const struct sha_task *)task, dst_buf, __func__);

	if (result == DOCA_SUCCESS)
		task->common.dst = dst_buf;
	return result;
}

void sf_sha_overwrite(struct doca_sha *sha)
{
	sha->overwrites = true;
}
