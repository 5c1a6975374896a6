/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that multiplies blocks by a matrix. */
#include "erasure_coding/erasure_coding.h"

doca_error_t doca_ec_task_galois_mul_set_conf(struct doca_ec *ec,
					      doca_ec_task_galois_mul_completion_cb_t successful_task_completion_cb,
					      doca_ec_task_galois_mul_completion_cb_t error_task_completion_cb,
					      uint32_t num_tasks)
{
	return ec_task_configure(ec, EC_GALOIS_MUL_POOL, (doca_task_completion_cb_t)successful_task_completion_cb,
				 (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_ec_task_galois_mul_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
						   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_ec_task_galois_mul **task)
{
	return ec_task_alloc(ec, EC_GALOIS_MUL_POOL, coding_matrix, src_buf, dst_buf, user_data, (struct ec_task **)task);
}

struct doca_task *doca_ec_task_galois_mul_as_task(struct doca_ec_task_galois_mul *task)
{
	return task != NULL ? &task->common.base : NULL;
}

void doca_ec_task_galois_mul_set_coding_matrix(struct doca_ec_task_galois_mul *task, const struct doca_ec_matrix *coding_matrix)
{
	ec_task_set_matrix((struct ec_task *)task, coding_matrix, __func__);
}

const struct doca_ec_matrix *doca_ec_task_galois_mul_get_coding_matrix(const struct doca_ec_task_galois_mul *task)
{
	return task != NULL ? task->common.matrix : NULL;
}

void doca_ec_task_galois_mul_set_src_buf(struct doca_ec_task_galois_mul *task, const struct doca_buf *src_buf)
{
	ec_task_set_src((struct ec_task *)task, src_buf, __func__);
}

const struct doca_buf *doca_ec_task_galois_mul_get_src_buf(const struct doca_ec_task_galois_mul *task)
{
	return task != NULL ? task->common.src : NULL;
}

void doca_ec_task_galois_mul_set_dst_buf(struct doca_ec_task_galois_mul *task, struct doca_buf *dst_buf)
{
	ec_task_set_dst((struct ec_task *)task, dst_buf, __func__);
}

struct doca_buf *doca_ec_task_galois_mul_get_dst_buf(const struct doca_ec_task_galois_mul *task)
{
	return task != NULL ? task->common.dst : NULL;
}
