/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that computes missing blocks. */
#include "erasure_coding/erasure_coding.h"

doca_error_t doca_ec_task_recover_set_conf(struct doca_ec *ec, doca_ec_task_recover_completion_cb_t successful_task_completion_cb,
					   doca_ec_task_recover_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return ec_task_configure(ec, EC_RECOVER_POOL, (doca_task_completion_cb_t)successful_task_completion_cb,
				 (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_ec_task_recover_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *recover_matrix,
						const struct doca_buf *available_blocks, struct doca_buf *recovered_data_blocks,
						union doca_data user_data, struct doca_ec_task_recover **task)
{
	return ec_task_alloc(ec, EC_RECOVER_POOL, recover_matrix, available_blocks, recovered_data_blocks, user_data,
			     (struct ec_task **)task);
}

struct doca_task *doca_ec_task_recover_as_task(struct doca_ec_task_recover *task)
{
	return task != NULL ? &task->common.base : NULL;
}

void doca_ec_task_recover_set_recover_matrix(struct doca_ec_task_recover *task, const struct doca_ec_matrix *recover_matrix)
{
	ec_task_set_matrix((struct ec_task *)task, recover_matrix, __func__);
}

const struct doca_ec_matrix *doca_ec_task_recover_get_recover_matrix(const struct doca_ec_task_recover *task)
{
	return task != NULL ? task->common.matrix : NULL;
}

void doca_ec_task_recover_set_available_blocks(struct doca_ec_task_recover *task, const struct doca_buf *available_blocks)
{
	ec_task_set_src((struct ec_task *)task, available_blocks, __func__);
}

const struct doca_buf *doca_ec_task_recover_get_available_blocks(const struct doca_ec_task_recover *task)
{
	return task != NULL ? task->common.src : NULL;
}

void doca_ec_task_recover_set_recovered_data_blocks(struct doca_ec_task_recover *task, struct doca_buf *recovered_data_blocks)
{
	ec_task_set_dst((struct ec_task *)task, recovered_data_blocks, __func__);
}

struct doca_buf *doca_ec_task_recover_get_recovered_data(const struct doca_ec_task_recover *task)
{
	return task != NULL ? task->common.dst : NULL;
}
