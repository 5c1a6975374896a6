/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of all types and their execution. */
#include <isa-l/erasure_code.h>

#include "base/log.h"
#include "base/profile.h"
#include "core/dev.h"
#include "erasure_coding/erasure_coding.h"
#include "mem/buf_checks.h"

static struct doca_ec *task_ec(const struct ec_task *task)
{
	return (struct doca_ec *)task->base.ctx;
}

static const char *task_name(const struct ec_task *task)
{
	return task->base.cls->name;
}

/* ---- execution ---- */

static doca_error_t check_given(const struct ec_task *task)
{
	if (task->matrix == NULL || task->src == NULL || task->dst == NULL) {
		SF_LOG_ERR("%s: the task has no %s: set it", task_name(task),
			   task->matrix == NULL ? "matrix"
			   : task->src == NULL	? "source"
						: "destination");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!task->matrix_suits) {
		SF_LOG_ERR("%s: the matrix was made by doca_ec_matrix_create_%s: use it with tasks of that type", task_name(task),
			   task->matrix->kind == EC_MATRIX_UPDATE ? "update" : "recover");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t size_of_blocks(const struct ec_task *task, uint64_t len, uint32_t *size)
{
	uint32_t num = task->matrix->num_inputs;
	uint64_t each = len / num;

	if (len == 0 || each * num != len || each % EC_ALIGNMENT != 0) {
		SF_LOG_ERR(
			"%s: the source has %llu bytes, but needs %u equal blocks, each a multiple of %d bytes: pad the blocks",
			task_name(task), (unsigned long long)len, num, EC_ALIGNMENT);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (each > EC_BLOCK_MAX) {
		SF_LOG_ERR("%s: blocks of %llu bytes exceed the limit of %u: use more blocks", task_name(task),
			   (unsigned long long)each, EC_BLOCK_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*size = (uint32_t)each;
	return DOCA_SUCCESS;
}

/* Resolves the task's blocks. On an error, logged, returns the task's status. */
static doca_error_t take_apart(struct doca_ec *ec, const struct ec_task *task, struct ec_blocks *blocks)
{
	doca_error_t result = check_given(task);

	if (result == DOCA_SUCCESS)
		result = sf_reg_source(&ec->reg_cache, task->src, &blocks->from);
	if (result == DOCA_SUCCESS)
		result = size_of_blocks(task, blocks->from.len, &blocks->size);
	if (result != DOCA_SUCCESS)
		return result;
	return sf_reg_destination(&ec->reg_cache, task->dst, (uint64_t)blocks->size * task->matrix->num_outputs, &blocks->to);
}

/* Computes one slice of any task. */
static __attribute__((noinline)) doca_error_t compute_slice(struct ec_task *task)
{
	struct ec_blocks blocks;

	if (task->done == EC_REFUSED)
		return task->base.status;

	doca_error_t result = take_apart(task_ec(task), task, &blocks);

	if (result != DOCA_SUCCESS)
		return result;
	if (task->done >= blocks.size) {
		SF_LOG_ERR("%s: the source became shorter while the task was in flight: do not change its buffers before the "
			   "callback",
			   task_name(task));
		return DOCA_ERROR_INVALID_VALUE;
	}

	uint32_t left = blocks.size - task->done, len = left < task->matrix->slice ? left : task->matrix->slice;

	result = ec_slice_compute(task->matrix, &blocks, task->done, len, task_ec(task)->staging);
	if (result != DOCA_SUCCESS)
		return result;
	task->done += len;
	if (task->done < blocks.size)
		return DOCA_ERROR_IN_PROGRESS;
	sf_reg_grow(task->dst, (uint64_t)blocks.size * task->matrix->num_outputs);
	return DOCA_SUCCESS;
}

/* All blocks are contiguous. */
static inline void compute_at(const struct doca_ec_matrix *matrix, uint8_t *input, uint8_t *output, uint32_t size)
{
	uint8_t *inputs[EC_INPUTS_MAX], *outputs[EC_OUTPUTS_MAX];

	for (uint32_t i = 0; i < matrix->num_inputs; i++, input += size)
		inputs[i] = input;
	for (uint32_t i = 0; i < matrix->num_outputs; i++, output += size)
		outputs[i] = output;
	ec_encode_data((int)size, (int)matrix->num_inputs, (int)matrix->num_outputs, matrix->tables, inputs, outputs);
}

/* The common case: one buf to another, both in this process's memory, in one slice. */
static inline doca_error_t ec_run(struct doca_task *base)
{
	struct ec_task *task = (struct ec_task *)base;
	const struct doca_ec_matrix *matrix = task->matrix;
	struct doca_ec *ec = task_ec(task);
	const struct doca_buf *src = task->src;
	struct doca_buf *dst = task->dst;

	if (__builtin_expect(!task->matrix_suits || src == NULL || dst == NULL || src->next != NULL || dst->next != NULL, 0))
		return compute_slice(task);

	const struct sf_reg *from = sf_reg_known(&ec->reg_cache, src->mmap), *to = sf_reg_known(&ec->reg_cache, dst->mmap);
	size_t len = src->data_len;

	if (__builtin_expect(from == NULL || to == NULL || from->region != NULL || to->region != NULL || !to->writable ||
				     len - 1 >= EC_SLICE || !sf_reg_contains(from, src->data, len),
			     0))
		return compute_slice(task);

	uint32_t size = (uint32_t)len / matrix->num_inputs, due = size * matrix->num_outputs;
	uint8_t *end = dst->data + dst->data_len;

	if (__builtin_expect(size > matrix->slice || size * matrix->num_inputs != len || size % EC_ALIGNMENT != 0 ||
				     due > (size_t)(dst->head + dst->len - end) || !sf_reg_contains(to, end, due),
			     0))
		return compute_slice(task);
	compute_at(matrix, src->data, end, size);
	dst->data_len += due;
	return DOCA_SUCCESS;
}

/* ---- on engine threads ---- */

static doca_error_t ec_engine_done(struct doca_task *base, doca_error_t status)
{
	struct ec_engine_task *task = (struct ec_engine_task *)base;

	if (status == DOCA_SUCCESS)
		sf_reg_grow(task->common.dst, task->blocks.to.len);
	return status;
}

const struct sf_offload_ops ec_task_ops = {.run = ec_run, .engine_done = ec_engine_done};

static doca_error_t run_part(struct doca_task *base, uint32_t part, uint32_t thread)
{
	const struct ec_engine_task *task = (const struct ec_engine_task *)base;
	const struct doca_ec_matrix *matrix = task->common.matrix;
	uint32_t at = part * matrix->slice, left = task->blocks.size - at;

	return ec_slice_compute(matrix, &task->blocks, at, left < matrix->slice ? left : matrix->slice,
				task_ec(&task->common)->staging + (size_t)(1 + thread) * EC_SLICE);
}

static bool is_large(const struct ec_task *task)
{
	uint64_t len = 0;
	uint32_t num = 0;

	for (const struct doca_buf *buf = task->src; buf != NULL && num < EC_LIST_MAX && len < EC_ENGINE_MIN;
	     buf = buf->next, num++)
		len += buf->data_len;
	return len >= EC_ENGINE_MIN;
}

/* Passes the task to the engine threads unless it is invalid, which progress reports. */
static bool hand_over(struct doca_ec *ec, struct ec_engine_task *task)
{
	if (!is_large(&task->common))
		return false;
	task->common.base.status = take_apart(ec, &task->common, &task->blocks);
	if (task->common.base.status != DOCA_SUCCESS) {
		task->common.done = EC_REFUSED;
		return false;
	}

	uint32_t slice = task->common.matrix->slice;

	sf_offload_hand_over(&ec->offload, &task->job, &task->common.base, (task->blocks.size + slice - 1) / slice, run_part);
	return true;
}

/* ---- tasks of all types ---- */

static doca_error_t ec_submit(struct doca_task *base, uint32_t flags)
{
	struct ec_task *task = (struct ec_task *)base;
	struct doca_ec *ec = task_ec(task);

	(void)flags;
	task->done = 0;
	if (__builtin_expect(ec->offload.engine != NULL, 0) && hand_over(ec, (struct ec_engine_task *)task))
		return DOCA_SUCCESS;
	sf_offload_queue(&ec->offload, base);
	return DOCA_SUCCESS;
}

static doca_error_t ec_validate(const struct doca_task *base)
{
	const struct ec_task *task = (const struct ec_task *)base;
	struct ec_blocks blocks;

	return take_apart(task_ec(task), task, &blocks) == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static void ec_inspect(const struct doca_task *base)
{
	const struct ec_task *task = (const struct ec_task *)base;

	sf_buf_check_list(base, task->src);
	sf_buf_check_list(base, task->dst);
}

#define CLASS(called, type)                                                                                                      \
	{                                                                                                                        \
		.name = called, .size = sizeof(type), .submit = ec_submit, .validate = ec_validate, .inspect = ec_inspect        \
	}
#define CLASSES(type)                                                                                                            \
	{                                                                                                                        \
		[EC_CREATE_POOL] = CLASS("ec create", type), [EC_UPDATE_POOL] = CLASS("ec update", type),                        \
		[EC_RECOVER_POOL] = CLASS("ec recover", type), [EC_GALOIS_MUL_POOL] = CLASS("ec galois mul", type),              \
	}

static const struct sf_task_class classes[EC_POOLS] = CLASSES(struct ec_task);
static const struct sf_task_class engine_classes[EC_POOLS] = CLASSES(struct ec_engine_task);

doca_error_t ec_task_configure(struct doca_ec *ec, int pool, doca_task_completion_cb_t completed,
			       doca_task_completion_cb_t failed, uint32_t num_tasks)
{
	if (ec == NULL) {
		SF_LOG_ERR("ec is NULL: cannot configure %s tasks", classes[pool].name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_profile_require(SF_PROFILE_ERASURE_CODING) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_SUPPORTED;
	return sf_task_pool_configure(&ec->ctx, &ec->pools[pool],
				      sf_dev_desc(ec->dev)->engine_threads != 0 ? &engine_classes[pool] : &classes[pool],
				      completed, failed, num_tasks, EC_TASKS_MAX);
}

static bool matrix_suits(const struct doca_ec_matrix *matrix, int pool)
{
	return matrix != NULL && (matrix->kind == EC_MATRIX_CODING || pool == EC_GALOIS_MUL_POOL ||
				  pool == (matrix->kind == EC_MATRIX_UPDATE ? EC_UPDATE_POOL : EC_RECOVER_POOL));
}

doca_error_t ec_task_alloc(struct doca_ec *ec, int pool, const struct doca_ec_matrix *matrix, const struct doca_buf *src,
			   struct doca_buf *dst, union doca_data user_data, struct ec_task **out)
{
	if (ec == NULL || matrix == NULL || src == NULL || dst == NULL || out == NULL) {
		SF_LOG_ERR("%s task: %s is NULL", classes[pool].name,
			   ec == NULL	    ? "ec"
			   : matrix == NULL ? "matrix"
			   : src == NULL    ? "the source"
			   : dst == NULL    ? "the destination"
					    : "task");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!matrix_suits(matrix, pool)) {
		SF_LOG_ERR("%s task: the matrix was made by doca_ec_matrix_create_%s: use it with tasks of that type",
			   classes[pool].name, matrix->kind == EC_MATRIX_UPDATE ? "update" : "recover");
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_task *base;
	doca_error_t result = sf_task_alloc(&ec->ctx, &ec->pools[pool], &base);

	if (result != DOCA_SUCCESS)
		return result;

	struct ec_task *task = (struct ec_task *)base;

	base->user_data = user_data;
	task->matrix = matrix;
	task->matrix_suits = true;
	task->src = src;
	task->dst = dst;
	*out = task;
	return DOCA_SUCCESS;
}

/* ---- setters: not for tasks in flight, which engine threads may be using ---- */

static bool may_set(const struct ec_task *task, const char *what)
{
	if (task != NULL && !sf_task_is_inflight(&task->base))
		return true;
	SF_LOG_ERR("%s: %s", what, task == NULL ? "task is NULL" : "the task is in flight: wait for its callback");
	return false;
}

void ec_task_set_matrix(struct ec_task *task, const struct doca_ec_matrix *matrix, const char *what)
{
	if (!may_set(task, what))
		return;
	task->matrix = matrix;
	task->matrix_suits = matrix_suits(matrix, (int)(task->base.pool - task_ec(task)->pools));
}

void ec_task_set_src(struct ec_task *task, const struct doca_buf *src, const char *what)
{
	if (may_set(task, what))
		task->src = src;
}

void ec_task_set_dst(struct ec_task *task, struct doca_buf *dst, const char *what)
{
	if (may_set(task, what))
		task->dst = dst;
}
