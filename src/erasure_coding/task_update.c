/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that updates redundancy blocks. */
#include "erasure_coding/erasure_coding.h"

doca_error_t doca_ec_task_update_set_conf(struct doca_ec *ec, doca_ec_task_update_completion_cb_t successful_task_completion_cb,
					  doca_ec_task_update_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return ec_task_configure(ec, EC_UPDATE_POOL, (doca_task_completion_cb_t)successful_task_completion_cb,
				 (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_ec_task_update_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *update_matrix,
					       const struct doca_buf *original_updated_and_rdnc_blocks,
					       struct doca_buf *updated_rdnc_blocks, union doca_data user_data,
					       struct doca_ec_task_update **task)
{
	return ec_task_alloc(ec, EC_UPDATE_POOL, update_matrix, original_updated_and_rdnc_blocks, updated_rdnc_blocks, user_data,
			     (struct ec_task **)task);
}

struct doca_task *doca_ec_task_update_as_task(struct doca_ec_task_update *task)
{
	return task != NULL ? &task->common.base : NULL;
}

void doca_ec_task_update_set_update_matrix(struct doca_ec_task_update *task, const struct doca_ec_matrix *update_matrix)
{
	ec_task_set_matrix((struct ec_task *)task, update_matrix, __func__);
}

const struct doca_ec_matrix *doca_ec_task_update_get_update_matrix(const struct doca_ec_task_update *task)
{
	return task != NULL ? task->common.matrix : NULL;
}

void doca_ec_task_update_set_original_updated_and_rdnc_blocks(struct doca_ec_task_update *task,
							      const struct doca_buf *original_updated_and_rdnc_blocks)
{
	ec_task_set_src((struct ec_task *)task, original_updated_and_rdnc_blocks, __func__);
}

const struct doca_buf *doca_ec_task_update_get_original_updated_and_rdnc_blocks(const struct doca_ec_task_update *task)
{
	return task != NULL ? task->common.src : NULL;
}

void doca_ec_task_update_set_updated_rdnc_blocks(struct doca_ec_task_update *task, struct doca_buf *updated_rdnc_blocks)
{
	ec_task_set_dst((struct ec_task *)task, updated_rdnc_blocks, __func__);
}

struct doca_buf *doca_ec_task_update_get_updated_rdnc_blocks(const struct doca_ec_task_update *task)
{
	return task != NULL ? task->common.dst : NULL;
}
