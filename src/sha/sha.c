/* SPDX-License-Identifier: BSD-3-Clause */
/* The SHA context, and the execution of its tasks, whole or in pieces. */
#include "sha/sha.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/profile.h"
#include "core/dev.h"
#include "mem/buf_checks.h"

/* ---- execution ---- */

static struct doca_sha *task_sha(const struct sha_task *task)
{
	return (struct doca_sha *)task->base.ctx;
}

static bool is_last_submit(const struct sha_task *task)
{
	return !task->is_partial || task->is_final;
}

/* Checks that a partial task may digest this piece now. */
static doca_error_t check_piece(const struct sha_task *task, uint64_t len)
{
	uint32_t block = sha_block_size(task->algorithm);

	if (task->phase == SHA_ENDED) {
		SF_LOG_ERR("sha partial hash: the task has its result: call doca_sha_task_partial_hash_reset before another "
			   "message");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!task->is_final && len % block != 0) {
		SF_LOG_ERR("sha partial hash: %llu bytes are not a multiple of %u, and the piece is not the final one",
			   (unsigned long long)len, block);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t find_room(struct doca_sha *sha, const struct sha_task *task, struct sf_reg_list *to)
{
	uint32_t size = sha_digest_size(task->algorithm);

	if (__builtin_expect(sha->overwrites, 0))
		return sf_reg_destination_anew(&sha->reg_cache, task->dst, size, to);
	return sf_reg_destination(&sha->reg_cache, task->dst, size, to);
}

/* Resolves the source. On an error, logged, returns the task's status. */
static doca_error_t task_resolve(struct doca_sha *sha, const struct sha_task *task, struct sf_reg_list *from)
{
	struct sf_reg_list to;
	doca_error_t result = sf_reg_source(&sha->reg_cache, task->src, from);

	if (result == DOCA_SUCCESS && task->is_partial)
		result = check_piece(task, from->len);
	if (result == DOCA_SUCCESS && is_last_submit(task))
		result = find_room(sha, task, &to);
	return result;
}

static doca_error_t digest_write(struct doca_sha *sha, struct sha_task *task, const uint8_t *digest)
{
	uint32_t size = sha_digest_size(task->algorithm);
	struct sf_reg_list to;
	doca_error_t result = find_room(sha, task, &to);

	if (result == DOCA_SUCCESS)
		result = sf_reg_write(&to, digest, size);
	if (result == DOCA_SUCCESS && sha->overwrites)
		sf_reg_empty(task->dst);
	if (result == DOCA_SUCCESS)
		sf_reg_grow(task->dst, size);
	return result;
}

static void state_update(void *state, const void *bytes, size_t len)
{
	sha_state_update(state, bytes, len);
}

/* Digests len bytes of the source, and ends the digest after the last ones. */
static doca_error_t digest_bytes(struct sha_task *task, const struct sf_reg_list *from, uint64_t at, uint64_t len,
				 uint8_t *digest)
{
	if (at == 0 && task->phase == SHA_FRESH)
		sha_state_begin(&task->state, task->algorithm);

	doca_error_t result = sf_reg_read(from, at, len, state_update, &task->state);

	if (result == DOCA_SUCCESS && at + len == from->len && is_last_submit(task))
		sha_state_end(&task->state, digest);
	return result;
}

/* Ends a submit whose bytes are all digested. */
static doca_error_t end_submit(struct sha_task *task, const uint8_t *digest)
{
	doca_error_t result = is_last_submit(task) ? digest_write(task_sha(task), task, digest) : DOCA_SUCCESS;

	if (result == DOCA_SUCCESS && task->is_partial)
		task->phase = task->is_final ? SHA_ENDED : SHA_BEGUN;
	return result;
}

static doca_error_t sha_run(struct doca_task *base)
{
	struct sha_task *task = (struct sha_task *)base;
	struct sf_reg_list from;
	uint8_t digest[SHA_DIGEST_MAX];

	if (task->done == SHA_REFUSED)
		return base->status;

	doca_error_t result = task_resolve(task_sha(task), task, &from);

	if (result != DOCA_SUCCESS)
		return result;

	if (task->done > from.len) {
		SF_LOG_ERR("sha: the source became shorter while the task was in flight: do not change its buffers before the "
			   "callback");
		return DOCA_ERROR_INVALID_VALUE;
	}

	uint64_t len = from.len - task->done < SHA_SLICE ? from.len - task->done : SHA_SLICE;

	result = digest_bytes(task, &from, task->done, len, digest);
	if (result != DOCA_SUCCESS)
		return result;
	task->done += len;
	return task->done < from.len ? DOCA_ERROR_IN_PROGRESS : end_submit(task, digest);
}

static doca_error_t sha_engine_done(struct doca_task *base, doca_error_t status)
{
	struct sha_engine_task *task = (struct sha_engine_task *)base;

	return status == DOCA_SUCCESS ? end_submit(&task->common, task->digest) : status;
}

const struct sf_offload_ops sha_task_ops = {.run = sha_run, .engine_done = sha_engine_done};

static doca_error_t run_on_engine(struct doca_task *base, uint32_t part, uint32_t thread)
{
	struct sha_engine_task *task = (struct sha_engine_task *)base;

	(void)part; /* there is only one part: a digest is sequential */
	(void)thread;
	return digest_bytes(&task->common, &task->from, 0, task->from.len, task->digest);
}

/* ---- tasks of both types ---- */

static bool is_large(const struct sha_task *task)
{
	uint64_t len = 0;
	uint32_t num = 0;

	for (const struct doca_buf *buf = task->src; buf != NULL && num < SHA_LIST_MAX && len < SHA_ENGINE_MIN;
	     buf = buf->next, num++)
		len += buf->data_len;
	return len >= SHA_ENGINE_MIN;
}

/* Passes the task to an engine thread unless it is invalid, which progress reports. */
static bool hand_over(struct doca_sha *sha, struct sha_engine_task *task)
{
	if (!is_large(&task->common))
		return false;
	task->common.base.status = task_resolve(sha, &task->common, &task->from);
	if (task->common.base.status != DOCA_SUCCESS) {
		task->common.done = SHA_REFUSED;
		return false;
	}
	sf_offload_hand_over(&sha->offload, &task->job, &task->common.base, 1, run_on_engine);
	return true;
}

static doca_error_t sha_submit(struct doca_task *base, uint32_t flags)
{
	struct sha_task *task = (struct sha_task *)base;
	struct doca_sha *sha = task_sha(task);

	(void)flags;
	task->done = 0;
	if (sha->offload.engine != NULL && hand_over(sha, (struct sha_engine_task *)task))
		return DOCA_SUCCESS;
	sf_offload_queue(&sha->offload, base);
	return DOCA_SUCCESS;
}

static doca_error_t sha_validate(const struct doca_task *base)
{
	const struct sha_task *task = (const struct sha_task *)base;
	struct sf_reg_list from;

	return task_resolve(task_sha(task), task, &from) == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* A source without data is valid: its digest is defined. */
static void sha_inspect(const struct doca_task *base)
{
	const struct sha_task *task = (const struct sha_task *)base;

	sf_buf_check_list(base, task->src);
	sf_buf_check_list(base, task->dst);
}

#define CLASS(called, type)                                                                                                      \
	{                                                                                                                        \
		.name = called, .size = sizeof(type), .submit = sha_submit, .validate = sha_validate, .inspect = sha_inspect     \
	}

static const struct sf_task_class classes[SHA_POOLS] = {
	[SHA_HASH_POOL] = CLASS("sha hash", struct sha_task),
	[SHA_PARTIAL_POOL] = CLASS("sha partial hash", struct sha_task),
};

static const struct sf_task_class engine_classes[SHA_POOLS] = {
	[SHA_HASH_POOL] = CLASS("sha hash", struct sha_engine_task),
	[SHA_PARTIAL_POOL] = CLASS("sha partial hash", struct sha_engine_task),
};

doca_error_t sha_task_configure(struct doca_sha *sha, int pool, doca_task_completion_cb_t completed,
				doca_task_completion_cb_t failed, uint8_t log_num_tasks)
{
	const struct sf_task_class *cls = &classes[pool];

	if (sha == NULL) {
		SF_LOG_ERR("sha is NULL: cannot configure %s tasks", cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_profile_require(SF_PROFILE_SHA) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (log_num_tasks > SHA_LOG_TASKS_MAX) {
		SF_LOG_ERR("2^%u %s tasks: configure at most 2^%d", log_num_tasks, cls->name, SHA_LOG_TASKS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_dev_desc(sha->dev)->engine_threads != 0)
		cls = &engine_classes[pool];
	return sf_task_pool_configure(&sha->ctx, &sha->pools[pool], cls, completed, failed, UINT32_C(1) << log_num_tasks,
				      UINT32_C(1) << SHA_LOG_TASKS_MAX);
}

doca_error_t sha_task_alloc(struct doca_sha *sha, int pool, enum doca_sha_algorithm algorithm, const struct doca_buf *src,
			    struct doca_buf *dst, union doca_data user_data, struct sha_task **out)
{
	if (sha == NULL || src == NULL || dst == NULL || out == NULL) {
		SF_LOG_ERR("%s task: %s is NULL", classes[pool].name,
			   sha == NULL	 ? "sha"
			   : src == NULL ? "src_buf"
			   : dst == NULL ? "dst_buf"
					 : "task");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sha_algorithm_is_valid(algorithm)) {
		SF_LOG_ERR("%s task: algorithm %d is unknown: use one of enum doca_sha_algorithm", classes[pool].name, algorithm);
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_task *base;
	doca_error_t result = sf_task_alloc(&sha->ctx, &sha->pools[pool], &base);

	if (result != DOCA_SUCCESS)
		return result;

	struct sha_task *task = (struct sha_task *)base;

	base->user_data = user_data;
	task->src = src;
	task->dst = dst;
	task->algorithm = algorithm;
	task->phase = SHA_FRESH;
	task->is_partial = pool == SHA_PARTIAL_POOL;
	task->is_final = false;
	*out = task;
	return DOCA_SUCCESS;
}

doca_error_t sha_task_check_setter(const struct sha_task *task, const void *value, const char *what)
{
	if (task != NULL && value != NULL && !sf_task_is_inflight(&task->base))
		return DOCA_SUCCESS;
	if (task == NULL || value == NULL)
		SF_LOG_ERR("%s: %s is NULL", what, task == NULL ? "task" : "the buffer");
	else
		SF_LOG_ERR("%s: the task is in flight: wait for its callback", what);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- the ctx ---- */

static doca_error_t sha_start(struct doca_ctx *ctx)
{
	struct doca_sha *sha = (struct doca_sha *)ctx;

	if (ctx->gpu != NULL) {
		SF_LOG_ERR("sha: GPU kernels cannot submit SHA tasks: leave the data path on the CPU");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	sf_reg_cache_init(&sha->reg_cache, sha->dev);
	return sf_offload_start(&sha->offload, ctx, sha->dev);
}

static void sha_cancel(struct doca_ctx *ctx)
{
	sf_offload_cancel(&((struct doca_sha *)ctx)->offload);
}

static bool sha_drained(struct doca_ctx *ctx)
{
	return sf_offload_drained(&((struct doca_sha *)ctx)->offload);
}

static void sha_stop(struct doca_ctx *ctx)
{
	sf_offload_stop(&((struct doca_sha *)ctx)->offload);
}

static bool sha_progress(struct doca_ctx *ctx)
{
	return sf_offload_progress(&((struct doca_sha *)ctx)->offload, ctx, &sha_task_ops);
}

static bool sha_arm(struct doca_ctx *ctx)
{
	return sf_offload_arm(&((struct doca_sha *)ctx)->offload);
}

static void sha_send_pending(struct doca_ctx *ctx)
{
	sf_offload_send_pending(&((struct doca_sha *)ctx)->offload, ctx, &sha_task_ops);
}

static const struct sf_ctx_ops sha_ops = {
	.name = "sha",
	.needs_pe = true,
	.start = sha_start,
	.cancel = sha_cancel,
	.drained = sha_drained,
	.stop = sha_stop,
	.progress = sha_progress,
	.arm = sha_arm,
	.send_pending = sha_send_pending,
};

/* ---- public ---- */

doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha)
{
	if (dev == NULL || sha == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "sha");
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_sha *created = calloc(1, sizeof(*created));

	if (created == NULL) {
		SF_LOG_ERR("no memory for a SHA context");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&created->ctx, &sha_ops, created->pools, SHA_POOLS);
	sf_dev_hold(dev);
	created->dev = dev;
	created->ctx.status.device = sf_dev_desc(dev)->key;
	sf_ctx_created(&created->ctx);
	*sha = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_destroy(struct doca_sha *sha)
{
	if (sha == NULL) {
		SF_LOG_ERR("sha is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}

	doca_error_t result = sf_ctx_fini(&sha->ctx);

	if (result != DOCA_SUCCESS)
		return result;
	sf_dev_release(sha->dev);
	free(sha);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha)
{
	return sha != NULL ? &sha->ctx : NULL;
}
