/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/trace_snapshot.h"

#include "base/clock.h"
#include "base/trace.h"
#include "core/status_private.h"

#define ITEMS_MAX 4096 /* contexts and tasks */

/* Collected under the status lock, and recorded after its release, because no other lock may be acquired under it. */
struct item {
	enum sf_trace_kind kind;
	const void *object;
	uint64_t other;
	uint32_t value;
	const char *name;
};

struct snapshot {
	struct item items[ITEMS_MAX];
	uint32_t num;
};

static void item_add(struct snapshot *to, const struct item *item)
{
	if (to->num < ITEMS_MAX)
		to->items[to->num++] = *item;
}

/* The threads of the engines go on meanwhile. A task that ends now has its own event, which is later: so this is not for
 * ThreadSanitizer. */
__attribute__((no_sanitize("thread"), noinline)) static void pool_collect(struct snapshot *to, const struct doca_ctx *ctx,
									  const struct sf_task_pool *pool)
{
	uint32_t begun = *(const volatile uint32_t *)&pool->num_begun;
	const uint32_t value = (uint32_t)pool->cls->size | (pool->cls->may_wait ? SF_TRACE_MAY_WAIT : 0);

	for (uint32_t i = 0; i < begun && to->num < ITEMS_MAX; i++) {
		const struct doca_task *task = (const struct doca_task *)((const char *)pool->memory + pool->slot_built * i);
		const struct item item = {SF_TRACE_INFLIGHT, task, (uintptr_t)ctx, value, pool->cls->name};

		if (*(const volatile enum sf_task_state *)&task->state >= SF_TASK_INFLIGHT)
			item_add(to, &item);
	}
}

static void context_collect(struct snapshot *to, const struct doca_ctx *ctx, uint64_t now_ns)
{
	const struct sf_status_ctx *status = &ctx->status;
	const struct item item = {SF_TRACE_CONTEXT, ctx, now_ns - status->since_ns, (uint32_t)status->state, ctx->ops->name};

	item_add(to, &item);
	for (uint32_t i = 0; i < ctx->num_pools; i++) {
		if (ctx->pools[i].num_built != 0 && ctx->pools[i].cls != NULL)
			pool_collect(to, ctx, &ctx->pools[i]);
	}
}

static void snapshot_record(const struct snapshot *snapshot, uint64_t ticks)
{
	for (uint32_t i = 0; i < snapshot->num; i++) {
		const struct item *item = &snapshot->items[i];

		sf_trace_record_at(ticks, item->kind, item->object, item->other, item->value, item->name);
	}
}

static void call_collect(struct snapshot *to, const struct doca_ctx *ctx)
{
	const struct sf_status_pe *pe = &ctx->pe->status;
	const struct item item = {SF_TRACE_CALL, ctx, pe->inside_ms * 1000000, pe->has_progressed ? (uint32_t)pe->thread : 0,
				  ctx->ops->name};

	if (pe->inside_ms != 0 && ctx->status.is_in_call)
		item_add(to, &item);
}

void sf_trace_calls(void)
{
	static struct snapshot snapshot; /* used by the status thread only */
	struct sf_status_ctx *status;

	snapshot.num = 0;
	pthread_mutex_lock(&sf_status_lock);
	LIST_FOREACH (status, &sf_status_ctxs, entry)
		call_collect(&snapshot, sf_status_ctx_of(status));
	pthread_mutex_unlock(&sf_status_lock);
	snapshot_record(&snapshot, sf_trace_ticks());
}

void sf_trace_snapshot(void)
{
	static struct snapshot snapshot; /* used by the status thread only */
	struct sf_status_ctx *status;
	uint64_t ticks, now_ns;

	snapshot.num = 0;
	pthread_mutex_lock(&sf_status_lock);
	ticks = sf_trace_ticks(); /* read before the samples, so that later completions have later events */
	now_ns = sf_now_ns();
	LIST_FOREACH (status, &sf_status_ctxs, entry) {
		if (status->state != DOCA_CTX_STATE_IDLE)
			context_collect(&snapshot, sf_status_ctx_of(status), now_ns);
	}
	pthread_mutex_unlock(&sf_status_lock);
	snapshot_record(&snapshot, ticks);
}
