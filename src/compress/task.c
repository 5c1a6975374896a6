/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of tasks of all types. */
#include <endian.h>

#include "base/log.h"
#include "base/profile.h"
#include "compress/compress.h"
#include "core/dev.h"
#include "mem/buf_checks.h"

static struct doca_compress *task_compress(const struct compress_task *task)
{
	return (struct doca_compress *)task->base.ctx;
}

/* ---- source and destination ---- */

static uint64_t len_max(enum compress_kind kind)
{
	return kind == DECOMPRESS_LZ4_BLOCK ? COMPRESS_BLOCK_MAX : COMPRESS_LEN_MAX;
}

static doca_error_t check_len(const struct compress_task *task, uint64_t len)
{
	enum compress_kind kind = task->stream.format.kind;

	if (len > len_max(kind)) {
		SF_LOG_ERR("%s: the source has %llu bytes, more than the limit of %llu: split it", task->base.cls->name,
			   (unsigned long long)len, (unsigned long long)len_max(kind));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len == 0 && kind != COMPRESS_DEFLATE) {
		SF_LOG_ERR("%s: the source has no data: set its data section", task->base.cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static uint64_t room_of(const struct doca_buf *buf)
{
	uint64_t room = 0;

	for (uint32_t num = 0; buf != NULL && num <= COMPRESS_LIST_MAX && room < SF_REG_LEN_MAX; buf = buf->next, num++)
		room += sf_buf_tailroom(buf);
	return room < SF_REG_LEN_MAX ? room : SF_REG_LEN_MAX;
}

/* Resolves both buffers. On an error, logged, returns the task's status. */
static doca_error_t take_apart(const struct compress_task *task, struct sf_reg_list *from, struct sf_reg_list *to)
{
	struct doca_compress *compress = task_compress(task);
	doca_error_t result = sf_reg_source(&compress->reg_cache, task->src, from);

	if (result == DOCA_SUCCESS)
		result = check_len(task, from->len);
	if (result == DOCA_SUCCESS)
		result = sf_reg_destination(&compress->reg_cache, task->dst, room_of(task->dst), to);
	return result;
}

/* ---- in progress ---- */

/* Called when the stream has ended without an error. */
static doca_error_t end_task(struct compress_task *task)
{
	struct compress_stream *stream = &task->stream;
	bool has_xxh = stream->format.kind == DECOMPRESS_LZ4_STREAM || stream->format.kind == DECOMPRESS_LZ4_BLOCK;

	task->crc = stream->crc;
	task->sum = has_xxh ? htobe32(XXH32_digest(&stream->xxh)) : stream->adler; /* xxHash's canonical bytes, as on the card */
	sf_reg_grow(task->dst, stream->out);
	return DOCA_SUCCESS;
}

static doca_error_t compress_run(struct doca_task *base)
{
	struct compress_task *task = (struct compress_task *)base;
	struct compress_coder *coder = task_compress(task)->coders;
	struct sf_reg_list from, to;

	if (task->is_refused)
		return base->status;

	doca_error_t result = take_apart(task, &from, &to);

	if (result == DOCA_SUCCESS && !task->begun)
		result = compress_stream_begin(&task->stream, coder, &from);
	task->begun = true;
	if (result == DOCA_SUCCESS)
		result = compress_stream_run(&task->stream, coder, &from, &to);
	return result == DOCA_SUCCESS ? end_task(task) : result;
}

/* ---- on an engine thread ---- */

static doca_error_t compress_engine_done(struct doca_task *base, doca_error_t status)
{
	return status == DOCA_SUCCESS ? end_task((struct compress_task *)base) : status;
}

const struct sf_offload_ops compress_task_ops = {.run = compress_run, .engine_done = compress_engine_done};

/* Cancelled between slices, so that a stop need not wait for the whole task. */
static doca_error_t run_on_engine(struct doca_task *base, uint32_t part, uint32_t thread)
{
	struct compress_engine_task *task = (struct compress_engine_task *)base;
	struct doca_compress *compress = task_compress(&task->common);
	struct compress_coder *coder = &compress->coders[1 + thread];
	struct compress_stream *stream = &task->common.stream;
	doca_error_t result = compress_stream_begin(stream, coder, &task->from);

	(void)part;
	if (result != DOCA_SUCCESS)
		return result;
	do
		result = compress_stream_run(stream, coder, &task->from, &task->to);
	while (result == DOCA_ERROR_IN_PROGRESS && !atomic_load_explicit(&compress->offload.cancelled, memory_order_relaxed));
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_ERROR_BAD_STATE : result;
}

static bool is_large(const struct compress_task *task)
{
	uint64_t len = 0;
	uint32_t num = 0;

	for (const struct doca_buf *buf = task->src; buf != NULL && num < COMPRESS_LIST_MAX && len < COMPRESS_ENGINE_MIN;
	     buf = buf->next, num++)
		len += buf->data_len;
	return len >= COMPRESS_ENGINE_MIN;
}

/* Passes the task to an engine thread unless it is invalid, which progress reports. */
static bool hand_over(struct doca_compress *compress, struct compress_engine_task *task)
{
	struct compress_task *common = &task->common;

	if (!is_large(common))
		return false;
	common->base.status = take_apart(common, &task->from, &task->to);
	if (common->base.status != DOCA_SUCCESS) {
		common->is_refused = true;
		return false;
	}
	sf_offload_hand_over(&compress->offload, &task->job, &common->base, 1, run_on_engine);
	return true;
}

/* ---- the types ---- */

static doca_error_t compress_submit(struct doca_task *base, uint32_t flags)
{
	struct compress_task *task = (struct compress_task *)base;
	struct doca_compress *compress = task_compress(task);

	(void)flags;
	task->begun = task->is_refused = false;
	task->crc = task->sum = 0;
	if (compress->offload.engine != NULL && hand_over(compress, (struct compress_engine_task *)task))
		return DOCA_SUCCESS;
	sf_offload_queue(&compress->offload, base);
	return DOCA_SUCCESS;
}

static doca_error_t compress_validate(const struct doca_task *base)
{
	struct sf_reg_list from, to;

	return take_apart((const struct compress_task *)base, &from, &to) == DOCA_SUCCESS ? DOCA_SUCCESS
											  : DOCA_ERROR_INVALID_VALUE;
}

static void compress_inspect(const struct doca_task *base)
{
	const struct compress_task *task = (const struct compress_task *)base;

	sf_buf_check_list(base, task->src);
	sf_buf_check_list(base, task->dst);
}

#define CLASS(called, type)                                                                                                      \
	{                                                                                                                        \
		.name = called, .size = sizeof(type), .submit = compress_submit, .validate = compress_validate,                  \
		.inspect = compress_inspect                                                                                      \
	}
#define CLASSES(type)                                                                                                            \
	{                                                                                                                        \
		[COMPRESS_DEFLATE] = CLASS("compress deflate", type), [DECOMPRESS_DEFLATE] = CLASS("decompress deflate", type),  \
		[DECOMPRESS_LZ4] = CLASS("decompress lz4", type),                                                                \
		[DECOMPRESS_LZ4_STREAM] = CLASS("decompress lz4 stream", type),                                                  \
		[DECOMPRESS_LZ4_BLOCK] = CLASS("decompress lz4 block", type),                                                    \
	}

static const struct sf_task_class classes[COMPRESS_KINDS] = CLASSES(struct compress_task);
static const struct sf_task_class engine_classes[COMPRESS_KINDS] = CLASSES(struct compress_engine_task);

static uint32_t num_of_others(const struct doca_compress *compress, enum compress_kind kind)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < COMPRESS_KINDS; i++)
		num += i != (uint32_t)kind ? compress->pools[i].num_tasks : 0;
	return num;
}

/* The profile's feature that each kind needs. */
static const enum sf_profile_feature features[COMPRESS_KINDS] = {
	SF_PROFILE_COMPRESS_DEFLATE, SF_PROFILE_DECOMPRESS_DEFLATE, SF_PROFILE_DECOMPRESS_LZ4,
	SF_PROFILE_DECOMPRESS_LZ4,   SF_PROFILE_DECOMPRESS_LZ4,
};

doca_error_t compress_task_configure(struct doca_compress *compress, enum compress_kind kind, doca_task_completion_cb_t completed,
				     doca_task_completion_cb_t failed, uint32_t num_tasks)
{
	const struct sf_task_class *cls = &classes[kind];

	if (compress == NULL) {
		SF_LOG_ERR("compress is NULL: cannot configure %s tasks", cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_profile_require(features[kind]) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_SUPPORTED;

	uint32_t others = num_of_others(compress, kind);

	if (num_tasks > COMPRESS_TASKS_MAX - others && num_tasks <= COMPRESS_TASKS_MAX) {
		SF_LOG_ERR("%u %s tasks and %u of other types: configure at most %u in total", num_tasks, cls->name, others,
			   COMPRESS_TASKS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_dev_desc(compress->dev)->engine_threads != 0)
		cls = &engine_classes[kind];
	return sf_task_pool_configure(&compress->ctx, &compress->pools[kind], cls, completed, failed, num_tasks,
				      COMPRESS_TASKS_MAX);
}

static const char *missing_of(const void *compress, const void *src, const void *dst)
{
	return compress == NULL ? "compress" : src == NULL ? "src_buff" : dst == NULL ? "dst_buff" : "task";
}

doca_error_t compress_task_alloc(struct doca_compress *compress, enum compress_kind kind, const struct doca_buf *src,
				 struct doca_buf *dst, union doca_data user_data, struct compress_task **out)
{
	if (compress == NULL || src == NULL || dst == NULL || out == NULL) {
		SF_LOG_ERR("%s task: %s is NULL", classes[kind].name, missing_of(compress, src, dst));
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_task *base;
	doca_error_t result = sf_task_alloc(&compress->ctx, &compress->pools[kind], &base);

	if (result != DOCA_SUCCESS)
		return result;

	struct compress_task *task = (struct compress_task *)base;

	base->user_data = user_data;
	task->src = src;
	task->dst = dst;
	task->crc = task->sum = 0;
	task->stream.format = (struct compress_format){.kind = kind};
	*out = task;
	return DOCA_SUCCESS;
}

bool compress_task_may_set(const struct compress_task *task, const void *value, const char *setter)
{
	if (task != NULL && value != NULL && !sf_task_is_inflight(&task->base))
		return true;
	if (task == NULL || value == NULL)
		SF_LOG_ERR("%s: %s is NULL; nothing is set", setter, task == NULL ? "task" : "the buffer");
	else
		SF_LOG_ERR("%s: the task is in flight; nothing is set", setter);
	return false;
}
