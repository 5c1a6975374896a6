/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that computes redundancy blocks. */
#include "erasure_coding/erasure_coding.h"

doca_error_t doca_ec_task_create_set_conf(struct doca_ec *ec, doca_ec_task_create_completion_cb_t successful_task_completion_cb,
					  doca_ec_task_create_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return ec_task_configure(ec, EC_CREATE_POOL, (doca_task_completion_cb_t)successful_task_completion_cb,
				 (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_ec_task_create_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					       const struct doca_buf *original_data_blocks, struct doca_buf *rdnc_blocks,
					       union doca_data user_data, struct doca_ec_task_create **task)
{
	return ec_task_alloc(ec, EC_CREATE_POOL, coding_matrix, original_data_blocks, rdnc_blocks, user_data,
			     (struct ec_task **)task);
}

struct doca_task *doca_ec_task_create_as_task(struct doca_ec_task_create *task)
{
	return task != NULL ? &task->common.base : NULL;
}

void doca_ec_task_create_set_coding_matrix(struct doca_ec_task_create *task, const struct doca_ec_matrix *coding_matrix)
{
	ec_task_set_matrix((struct ec_task *)task, coding_matrix, __func__);
}

const struct doca_ec_matrix *doca_ec_task_create_get_coding_matrix(const struct doca_ec_task_create *task)
{
	return task != NULL ? task->common.matrix : NULL;
}

void doca_ec_task_create_set_original_data_blocks(struct doca_ec_task_create *task, const struct doca_buf *original_data_blocks)
{
	ec_task_set_src((struct ec_task *)task, original_data_blocks, __func__);
}

const struct doca_buf *doca_ec_task_create_get_original_data_blocks(const struct doca_ec_task_create *task)
{
	return task != NULL ? task->common.src : NULL;
}

void doca_ec_task_create_set_rdnc_blocks(struct doca_ec_task_create *task, struct doca_buf *rdnc_blocks)
{
	ec_task_set_dst((struct ec_task *)task, rdnc_blocks, __func__);
}

struct doca_buf *doca_ec_task_create_get_rdnc_blocks(const struct doca_ec_task_create *task)
{
	return task != NULL ? task->common.dst : NULL;
}
