/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA and SHA. */
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_sha.h>

#include "abuse.h"

#define CONTEXTS_MAX 2 /* of each library */

/* ---- DMA ---- */

static void dma_create(void)
{
	struct doca_dma *dma;

	if (object_count(DMA) >= CONTEXTS_MAX || !has_room(CTX))
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_dma **place = or_null(&dma);

	expect_if(true);
	if (CALL(doca_dma_create, dev, place) != DOCA_SUCCESS)
		return;
	object_add(DMA, dma);
	ctx_add(doca_dma_as_ctx(dma));
}

static void dma_destroy(void)
{
	struct doca_dma *dma = pick(DMA);
	struct doca_ctx *ctx = doca_dma_as_ctx(dma);

	refuse_if(ctx != NULL && !ctx_is_idle(ctx));
	if (CALL(doca_dma_destroy, dma) != DOCA_SUCCESS)
		return;
	object_drop(CTX, ctx);
	object_drop(DMA, dma);
}

static void dma_as_ctx(void)
{
	(void)CALL_VALUE(doca_dma_as_ctx, (struct doca_dma *)pick(DMA));
}

static void dma_cap_supported(void)
{
	struct doca_devinfo *info = pick(DEVINFO);

	expect_if(true);
	CALL(doca_dma_cap_task_memcpy_is_supported, info);
}

/* A capability, or a number of a context, whose getter always succeeds. */
#define NUMBER(name, function, kind, object_type, type) CALL_GETTER(name, function, kind, object_type, type, true)
NUMBER(dma_max_tasks, doca_dma_cap_get_max_num_tasks, DMA, struct doca_dma, uint32_t)
NUMBER(dma_max_list, doca_dma_cap_task_memcpy_get_max_buf_list_len, DEVINFO, struct doca_devinfo, uint32_t)
NUMBER(dma_max_size, doca_dma_cap_task_memcpy_get_max_buf_size, DEVINFO, struct doca_devinfo, uint64_t)

NUMBER(dma_get_ordered, doca_dma_get_ordered_completions, DMA, struct doca_dma, uint8_t)

static void dma_set_ordered(void)
{
	struct doca_dma *dma = pick(DMA);
	uint8_t ordered = (uint8_t)random_below(3);

	refuse_if(ordered > 1 || (dma != NULL && !ctx_is_idle(doca_dma_as_ctx(dma))));
	expect_if(true);
	CALL(doca_dma_set_ordered_completions, dma, ordered);
}

static void dma_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	task_ended(doca_dma_task_memcpy_as_task(task));
}

static void dma_set_conf(void)
{
	struct doca_dma *dma = pick(DMA);
	doca_dma_task_memcpy_completion_cb_t completed = or_null(dma_done), failed = or_null(dma_done);
	uint32_t num = chance(6) ? UINT32_MAX : random_below(5);

	refuse_if(num == 0 || num == UINT32_MAX || (dma != NULL && !ctx_is_idle(doca_dma_as_ctx(dma))));
	expect_if(true);
	CALL(doca_dma_task_memcpy_set_conf, dma, completed, failed, num);
}

static void dma_alloc(void)
{
	struct doca_dma_task_memcpy *task;

	if (!has_room(TASK))
		return;
	struct doca_dma *dma = pick(DMA);
	struct doca_buf *src = pick_or_none(BUF), *dst = pick_or_none(BUF);
	struct doca_dma_task_memcpy **place = or_null(&task);

	refuse_if(dma != NULL && ctx_state(doca_dma_as_ctx(dma)) != DOCA_CTX_STATE_RUNNING);
	if (CALL(doca_dma_task_memcpy_alloc_init, dma, src, dst, (union doca_data){.u64 = 1}, place) != DOCA_SUCCESS)
		return;
	task_add(doca_dma_task_memcpy_as_task(task), DMA_TASK, task);
	task_uses(doca_dma_task_memcpy_as_task(task), 0, src);
	task_uses(doca_dma_task_memcpy_as_task(task), 1, dst);
}

static void dma_as_task(void)
{
	(void)CALL_VALUE(doca_dma_task_memcpy_as_task, (struct doca_dma_task_memcpy *)pick(DMA_TASK));
}

/* Picks a task whose arguments may change, or NULL; false if they may not change. */
#define PICK_SETTABLE(task, kind, as_task) (((task) = pick(kind)) == NULL || !task_is_busy(as_task(task)))

static void dma_set_src(void)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *buf = pick(BUF);

	if (!PICK_SETTABLE(task, DMA_TASK, doca_dma_task_memcpy_as_task))
		return;
	CALL_VALUE(doca_dma_task_memcpy_set_src, task, buf);
	if (task != NULL)
		task_uses(doca_dma_task_memcpy_as_task(task), 0, buf);
}

static void dma_set_dst(void)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *buf = pick(BUF);

	if (!PICK_SETTABLE(task, DMA_TASK, doca_dma_task_memcpy_as_task))
		return;
	CALL_VALUE(doca_dma_task_memcpy_set_dst, task, buf);
	if (task != NULL)
		task_uses(doca_dma_task_memcpy_as_task(task), 1, buf);
}

static void dma_get_src(void)
{
	(void)CALL_VALUE(doca_dma_task_memcpy_get_src, (struct doca_dma_task_memcpy *)pick(DMA_TASK));
}

static void dma_get_dst(void)
{
	(void)CALL_VALUE(doca_dma_task_memcpy_get_dst, (struct doca_dma_task_memcpy *)pick(DMA_TASK));
}

static void dma_gpu_handle(void)
{
	struct doca_gpu_dma *handle;
	struct doca_dma *dma = pick(DMA);
	struct doca_gpu_dma **place = or_null(&handle);

	refuse_if(dma != NULL && ctx_state(doca_dma_as_ctx(dma)) != DOCA_CTX_STATE_RUNNING);
	CALL(doca_dma_get_gpu_handle, dma, place);
}

static void dma_prepare(void)
{
	struct object *dev = object_any(DEV), *src = object_any(BUF), *dst = object_any(BUF), *gpu = object_any(GPU);
	struct doca_dma_task_memcpy *task;
	struct doca_gpu_dma *handle;
	struct doca_dma *dma;

	if (dev == NULL || CALL(doca_dma_create, dev->pointer, &dma) != DOCA_SUCCESS)
		return;
	object_add(DMA, dma);
	ctx_add(doca_dma_as_ctx(dma));
	CALL(doca_dma_task_memcpy_set_conf, dma, dma_done, dma_done, 4);
	if (gpu != NULL && chance(4)) {
		CALL(doca_ctx_set_datapath_on_gpu, doca_dma_as_ctx(dma), gpu->pointer);
		ctx_run(doca_dma_as_ctx(dma));
		CALL(doca_dma_get_gpu_handle, dma, &handle);
		return;
	}
	ctx_run(doca_dma_as_ctx(dma));
	if (src == NULL || !has_room(TASK) ||
	    CALL(doca_dma_task_memcpy_alloc_init, dma, src->pointer, dst->pointer, (union doca_data){.u64 = 1}, &task) !=
		    DOCA_SUCCESS)
		return;
	task_add(doca_dma_task_memcpy_as_task(task), DMA_TASK, task);
	task_uses(doca_dma_task_memcpy_as_task(task), 0, src->pointer);
	task_uses(doca_dma_task_memcpy_as_task(task), 1, dst->pointer);
}

static const struct call dma_calls[] = {
	{"doca_dma_create", dma_create, 2},
	{"doca_dma_destroy", dma_destroy, 1, true},
	{"doca_dma_as_ctx", dma_as_ctx},
	{"doca_dma_cap_task_memcpy_is_supported", dma_cap_supported},
	{"doca_dma_cap_get_max_num_tasks", dma_max_tasks},
	{"doca_dma_cap_task_memcpy_get_max_buf_list_len", dma_max_list},
	{"doca_dma_cap_task_memcpy_get_max_buf_size", dma_max_size},
	{"doca_dma_set_ordered_completions", dma_set_ordered},
	{"doca_dma_get_ordered_completions", dma_get_ordered},
	{"doca_dma_task_memcpy_set_conf", dma_set_conf, 2},
	{"doca_dma_task_memcpy_alloc_init", dma_alloc, 6},
	{"doca_dma_task_memcpy_as_task", dma_as_task},
	{"doca_dma_task_memcpy_set_src", dma_set_src, 2},
	{"doca_dma_task_memcpy_set_dst", dma_set_dst, 2},
	{"doca_dma_task_memcpy_get_src", dma_get_src},
	{"doca_dma_task_memcpy_get_dst", dma_get_dst},
	{"doca_dma_get_gpu_handle", dma_gpu_handle},
};
const struct group dma_group = GROUP(dma_calls, dma_prepare);

/* ---- SHA ---- */

#define ALGORITHMS 3 /* a fourth number is invalid */

static void sha_create(void)
{
	struct doca_sha *sha;

	if (object_count(SHA) >= CONTEXTS_MAX || !has_room(CTX))
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_sha **place = or_null(&sha);

	expect_if(true);
	if (CALL(doca_sha_create, dev, place) != DOCA_SUCCESS)
		return;
	object_add(SHA, sha);
	ctx_add(doca_sha_as_ctx(sha));
}

static void sha_destroy(void)
{
	struct doca_sha *sha = pick(SHA);
	struct doca_ctx *ctx = doca_sha_as_ctx(sha);

	refuse_if(ctx != NULL && !ctx_is_idle(ctx));
	if (CALL(doca_sha_destroy, sha) != DOCA_SUCCESS)
		return;
	object_drop(CTX, ctx);
	object_drop(SHA, sha);
}

static void sha_as_ctx(void)
{
	(void)CALL_VALUE(doca_sha_as_ctx, (struct doca_sha *)pick(SHA));
}

NUMBER(sha_max_list, doca_sha_cap_get_max_list_buf_num_elem, DEVINFO, struct doca_devinfo, uint32_t)
NUMBER(sha_max_src, doca_sha_cap_get_max_src_buf_size, DEVINFO, struct doca_devinfo, uint64_t)
NUMBER(sha_max_tasks, doca_sha_cap_get_max_num_tasks, SHA, struct doca_sha, uint32_t)

static enum doca_sha_algorithm any_algorithm(void)
{
	uint32_t algorithm = random_below(ALGORITHMS + 1);

	refuse_if(algorithm == ALGORITHMS);
	return (enum doca_sha_algorithm)algorithm;
}

#define SHA_SUPPORTED(name, function)                                                                                            \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		enum doca_sha_algorithm algorithm = any_algorithm();                                                             \
		expect_if(true);                                                                                                 \
		CALL(function, info, algorithm);                                                                                 \
	}
SHA_SUPPORTED(sha_cap_hash, doca_sha_cap_task_hash_get_supported)
SHA_SUPPORTED(sha_cap_partial, doca_sha_cap_task_partial_hash_get_supported)

#define SHA_NUMBER(name, function)                                                                                               \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		uint32_t value;                                                                                                  \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		uint32_t *place = or_null(&value);                                                                               \
		enum doca_sha_algorithm algorithm = any_algorithm();                                                             \
		expect_if(true);                                                                                                 \
		CALL(function, info, algorithm, place);                                                                          \
	}
SHA_NUMBER(sha_min_dst, doca_sha_cap_get_min_dst_buf_size)
SHA_NUMBER(sha_block, doca_sha_cap_get_partial_hash_block_size)

/* Calls that exist for a hash and for a partial hash: `task` is one of these words. */
#define SHA_TASK(task, kind)                                                                                                     \
	static void task##_done(struct doca_sha_task_##task *ended, union doca_data task_data, union doca_data ctx_data)         \
	{                                                                                                                        \
		task_ended(doca_sha_task_##task##_as_task(ended));                                                               \
	}                                                                                                                        \
	static void task##_set_conf(void)                                                                                        \
	{                                                                                                                        \
		struct doca_sha *sha = pick(SHA);                                                                                \
		doca_sha_task_##task##_completion_cb_t completed = or_null(task##_done), failed = or_null(task##_done);          \
		uint8_t log_num = chance(6) ? UINT8_MAX : (uint8_t)random_below(3);                                              \
		refuse_if(log_num == UINT8_MAX || (sha != NULL && !ctx_is_idle(doca_sha_as_ctx(sha))));                          \
		expect_if(true);                                                                                                 \
		CALL(doca_sha_task_##task##_set_conf, sha, completed, failed, log_num);                                          \
	}                                                                                                                        \
	static void task##_alloc(void)                                                                                           \
	{                                                                                                                        \
		struct doca_sha_task_##task *made;                                                                               \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_sha *sha = pick(SHA);                                                                                \
		struct doca_buf *src = pick(BUF), *dst = pick(BUF);                                                              \
		struct doca_sha_task_##task **place = or_null(&made);                                                            \
		enum doca_sha_algorithm algorithm = any_algorithm();                                                             \
		refuse_if(sha != NULL && ctx_state(doca_sha_as_ctx(sha)) != DOCA_CTX_STATE_RUNNING);                             \
		if (CALL(doca_sha_task_##task##_alloc_init, sha, algorithm, src, dst, (union doca_data){.u64 = 1}, place) !=     \
		    DOCA_SUCCESS)                                                                                                \
			return;                                                                                                  \
		task_add(doca_sha_task_##task##_as_task(made), kind, made);                                                      \
		task_uses(doca_sha_task_##task##_as_task(made), 0, src);                                                         \
		task_uses(doca_sha_task_##task##_as_task(made), 1, dst);                                                         \
	}                                                                                                                        \
	static void task##_as_task(void)                                                                                         \
	{                                                                                                                        \
		(void)CALL_VALUE(doca_sha_task_##task##_as_task, (struct doca_sha_task_##task *)pick(kind));                     \
	}                                                                                                                        \
	static void task##_set_src(void)                                                                                         \
	{                                                                                                                        \
		struct doca_sha_task_##task *picked;                                                                             \
		struct doca_buf *buf = pick(BUF);                                                                                \
		if (PICK_SETTABLE(picked, kind, doca_sha_task_##task##_as_task) &&                                               \
		    CALL(doca_sha_task_##task##_set_src, picked, buf) == DOCA_SUCCESS)                                           \
			task_uses(doca_sha_task_##task##_as_task(picked), 0, buf);                                               \
	}                                                                                                                        \
	static void task##_set_dst(void)                                                                                         \
	{                                                                                                                        \
		struct doca_sha_task_##task *picked;                                                                             \
		struct doca_buf *buf = pick(BUF);                                                                                \
		if (PICK_SETTABLE(picked, kind, doca_sha_task_##task##_as_task) &&                                               \
		    CALL(doca_sha_task_##task##_set_dst, picked, buf) == DOCA_SUCCESS)                                           \
			task_uses(doca_sha_task_##task##_as_task(picked), 1, buf);                                               \
	}                                                                                                                        \
	static void task##_set_algorithm(void)                                                                                   \
	{                                                                                                                        \
		struct doca_sha_task_##task *picked = pick(kind);                                                                \
		enum doca_sha_algorithm algorithm = any_algorithm();                                                             \
		refuse_if(picked != NULL && object_find(TASK, doca_sha_task_##task##_as_task(picked))->flag);                    \
		CALL(doca_sha_task_##task##_set_algorithm, picked, algorithm);                                                   \
	}                                                                                                                        \
	static void task##_get_fields(void)                                                                                      \
	{                                                                                                                        \
		struct doca_sha_task_##task *picked = pick(kind);                                                                \
		(void)CALL_VALUE(doca_sha_task_##task##_get_src, picked);                                                        \
		(void)CALL_VALUE(doca_sha_task_##task##_get_dst, picked);                                                        \
		(void)CALL_VALUE(doca_sha_task_##task##_get_algorithm, picked);                                                  \
	}
SHA_TASK(hash, HASH_TASK)
SHA_TASK(partial_hash, PARTIAL_TASK)

static void partial_reset(void)
{
	struct doca_sha_task_partial_hash *task = pick(PARTIAL_TASK);

	refuse_if(task != NULL && object_find(TASK, doca_sha_task_partial_hash_as_task(task))->flag);
	CALL(doca_sha_task_partial_hash_reset, task);
}

static void partial_set_final(void)
{
	struct doca_sha_task_partial_hash *task = pick(PARTIAL_TASK);

	refuse_if(task != NULL && object_find(TASK, doca_sha_task_partial_hash_as_task(task))->flag);
	CALL(doca_sha_task_partial_hash_set_is_final_buf, task);
}

static void partial_get_progress(void)
{
	struct doca_sha_task_partial_hash *task = pick(PARTIAL_TASK);

	(void)CALL_VALUE(doca_sha_task_partial_hash_get_is_final, task);
	(void)CALL_VALUE(doca_sha_task_partial_hash_get_has_result, task);
}

static void sha_prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_sha *sha;

	if (dev == NULL || CALL(doca_sha_create, dev->pointer, &sha) != DOCA_SUCCESS)
		return;
	object_add(SHA, sha);
	ctx_add(doca_sha_as_ctx(sha));
	CALL(doca_sha_task_hash_set_conf, sha, hash_done, hash_done, 2);
	CALL(doca_sha_task_partial_hash_set_conf, sha, partial_hash_done, partial_hash_done, 2);
	ctx_run(doca_sha_as_ctx(sha));
}

static const struct call sha_calls[] = {
	{"doca_sha_create", sha_create, 2},
	{"doca_sha_destroy", sha_destroy, 1, true},
	{"doca_sha_as_ctx", sha_as_ctx},
	{"doca_sha_cap_get_max_list_buf_num_elem", sha_max_list},
	{"doca_sha_cap_get_max_src_buf_size", sha_max_src},
	{"doca_sha_cap_get_max_num_tasks", sha_max_tasks},
	{"doca_sha_cap_task_hash_get_supported", sha_cap_hash},
	{"doca_sha_cap_task_partial_hash_get_supported", sha_cap_partial},
	{"doca_sha_cap_get_min_dst_buf_size", sha_min_dst},
	{"doca_sha_cap_get_partial_hash_block_size", sha_block},
	{"doca_sha_task_hash_set_conf", hash_set_conf, 2},
	{"doca_sha_task_hash_alloc_init", hash_alloc, 5},
	{"doca_sha_task_hash_as_task", hash_as_task},
	{"doca_sha_task_hash_set_src", hash_set_src},
	{"doca_sha_task_hash_set_dst", hash_set_dst},
	{"doca_sha_task_hash_set_algorithm", hash_set_algorithm},
	{"doca_sha_task_hash_get_src", hash_get_fields},
	{"doca_sha_task_partial_hash_set_conf", partial_hash_set_conf, 2},
	{"doca_sha_task_partial_hash_alloc_init", partial_hash_alloc, 5},
	{"doca_sha_task_partial_hash_as_task", partial_hash_as_task},
	{"doca_sha_task_partial_hash_set_src", partial_hash_set_src, 2},
	{"doca_sha_task_partial_hash_set_dst", partial_hash_set_dst},
	{"doca_sha_task_partial_hash_set_algorithm", partial_hash_set_algorithm},
	{"doca_sha_task_partial_hash_get_src", partial_hash_get_fields},
	{"doca_sha_task_partial_hash_reset", partial_reset},
	{"doca_sha_task_partial_hash_set_is_final_buf", partial_set_final, 5},
	{"doca_sha_task_partial_hash_get_is_final", partial_get_progress},
};
const struct group sha_group = GROUP(sha_calls, sha_prepare);
