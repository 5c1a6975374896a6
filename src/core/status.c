/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/status.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/liveness.h"
#include "base/thread_safety.h"
#include "core/status_private.h"
#include "core/task_age.h"
#include "core/task_trace.h"

#define WALK_MAX 4096 /* maximum tasks of a context that are read */

static uint64_t num_looks; /* samples; GUARDED_BY(sf_status_lock) */

pthread_mutex_t sf_status_lock = PTHREAD_MUTEX_INITIALIZER;
struct sf_status_pes sf_status_pes = LIST_HEAD_INITIALIZER(sf_status_pes);
struct sf_status_ctxs sf_status_ctxs = LIST_HEAD_INITIALIZER(sf_status_ctxs);

/* The child does not progress the parent's contexts, so they are no stalls there. */
static SF_IN_CHILD void after_fork_child(void)
{
	struct sf_status_pe *pe;
	struct sf_status_ctx *ctx;

	while ((pe = LIST_FIRST(&sf_status_pes)) != NULL) {
		pe->is_listed = false;
		LIST_REMOVE(pe, entry);
	}
	while ((ctx = LIST_FIRST(&sf_status_ctxs)) != NULL) {
		ctx->is_listed = false;
		LIST_REMOVE(ctx, entry);
	}
	sf_status_thread_after_fork();
}

SF_FORK_LOCK(SF_FORK_TABLE, &sf_status_lock, after_fork_child);

/* ---- the lists ---- */

void sf_status_pe_add(struct doca_pe *pe)
{
	pthread_mutex_lock(&sf_status_lock);
	assert(!pe->status.is_listed);
	LIST_INSERT_HEAD(&sf_status_pes, &pe->status, entry);
	pe->status.is_listed = true;
	pthread_mutex_unlock(&sf_status_lock);
}

void sf_status_pe_remove(struct doca_pe *pe)
{
	pthread_mutex_lock(&sf_status_lock);
	if (pe->status.is_listed)
		LIST_REMOVE(&pe->status, entry);
	pe->status.is_listed = false;
	pthread_mutex_unlock(&sf_status_lock);
}

/* Notes this thread as the engine's. is_inside: it is in a progress call. */
static void thread_note(struct sf_status_pe *pe, bool is_inside)
{
	int thread = gettid();

	pe->has_progressed = is_inside || (pe->has_progressed && pe->thread == thread);
	pe->thread = thread;
}

void sf_status_ctx_add(struct doca_ctx *ctx)
{
	struct sf_status_ctx *status = &ctx->status;
	bool first;

	pthread_mutex_lock(&sf_status_lock);
	first = LIST_EMPTY(&sf_status_ctxs);
	thread_note(&ctx->pe->status, sf_pe_is_inside_here(ctx->pe));
	status->state = DOCA_CTX_STATE_STARTING; /* the caller sets the actual state next */
	status->since_ns = sf_now_ns();
	status->num_submitted = status->num_ended = status->num_again = status->num_owed = 0;
	status->state_ms = status->quiet_ms = status->again_ms = 0;
	status->reported = 0;
	status->has_reported_receives = false;
	assert(!status->is_listed);
	LIST_INSERT_HEAD(&sf_status_ctxs, status, entry);
	status->is_listed = true;
	sf_ctx_trace_follow(ctx); /* the timeline may have been switched meanwhile */
	if (first)
		sf_status_thread_wake();
	pthread_mutex_unlock(&sf_status_lock);
}

void sf_status_ctx_remove(struct doca_ctx *ctx)
{
	pthread_mutex_lock(&sf_status_lock);
	if (ctx->status.is_listed) {
		LIST_REMOVE(&ctx->status, entry);
		ctx->status.is_listed = false;
		if (LIST_EMPTY(&sf_status_ctxs))
			sf_status_thread_rest();
	}
	pthread_mutex_unlock(&sf_status_lock);
}

void sf_status_trace_follow(void)
{
	struct sf_status_ctx *ctx;

	pthread_mutex_lock(&sf_status_lock);
	LIST_FOREACH (ctx, &sf_status_ctxs, entry)
		sf_ctx_trace_follow(sf_status_ctx_of(ctx));
	pthread_mutex_unlock(&sf_status_lock);
}

void sf_status_ctx_fini(struct doca_ctx *ctx)
{
	struct sf_status_conn *conn;

	pthread_mutex_lock(&sf_status_lock);
	while ((conn = LIST_FIRST(&ctx->status.conns)) != NULL) {
		LIST_REMOVE(conn, entry);
		conn->ctx = NULL;
	}
	pthread_mutex_unlock(&sf_status_lock);
}

void sf_status_ctx_state(struct doca_ctx *ctx, enum doca_ctx_states state)
{
	struct sf_status_ctx *status = &ctx->status;

	if (!status->is_listed) /* only this thread writes it */
		return;
	pthread_mutex_lock(&sf_status_lock);
	if (sf_pe_is_inside_here(ctx->pe))
		thread_note(&ctx->pe->status, true);
	status->state = state;
	status->since_ns = sf_now_ns();
	status->state_ms = 0;
	status->reported &= ~(uint32_t)(SF_STALL_STARTING | SF_STALL_STOPPING);
	pthread_mutex_unlock(&sf_status_lock);
}

void sf_status_conn_open(struct sf_status_conn *conn, struct doca_ctx *ctx, int pid, bool is_ready)
{
	pthread_mutex_lock(&sf_status_lock);
	if (conn->ctx == NULL)
		LIST_INSERT_HEAD(&ctx->status.conns, conn, entry);
	conn->ctx = ctx;
	conn->pid = pid;
	conn->is_ready = is_ready;
	conn->is_reported = false;
	conn->since_ns = sf_now_ns();
	conn->waited_ms = 0;
	pthread_mutex_unlock(&sf_status_lock);
}

void sf_status_conn_close(struct sf_status_conn *conn)
{
	pthread_mutex_lock(&sf_status_lock);
	if (conn->ctx != NULL)
		LIST_REMOVE(conn, entry);
	conn->ctx = NULL;
	pthread_mutex_unlock(&sf_status_lock);
}

/* ---- samples ---- */

/* Threads of progress engines run concurrently. Each word is read atomically in practice, and a sum may be off by one, so
 * ThreadSanitizer must ignore these functions. */
#define SAMPLES __attribute__((no_sanitize("thread"), noinline))

SAMPLES static uint64_t engine_calls(const struct doca_pe *pe)
{
	return *(const volatile uint64_t *)&pe->num_calls;
}

SAMPLES static bool engine_is_inside(const struct doca_pe *pe)
{
	return *(const volatile bool *)&pe->in_progress;
}

SAMPLES static bool engine_is_armed(const struct doca_pe *pe)
{
	return *(const volatile bool *)&pe->armed;
}

/* Returns whether a call of the context's library is running, such as a doca_ctx_stop that frees much memory. */
SAMPLES static bool is_inside(const struct doca_ctx *ctx)
{
	return *(const volatile bool *)&ctx->in_progress_call;
}

SAMPLES static void counts_sample(const struct doca_ctx *ctx, struct sf_status_context *to)
{
	uint64_t ended = *(const volatile uint64_t *)&ctx->num_ended;
	uint64_t submitted = *(const volatile uint64_t *)&ctx->num_submitted;

	to->num_submitted = submitted;
	to->num_inflight = submitted > ended ? submitted - ended : 0;
	to->num_allocated = *(const volatile size_t *)&ctx->num_allocated;
	to->num_again = *(const volatile uint64_t *)&ctx->num_again;
}

/* Counts the tasks in flight, except those that may wait for ever, and finds the age of the oldest. Looks at tasks of pools only,
 * whose memory stays valid while the context is not IDLE. */
static uint64_t owed_look(const struct doca_ctx *ctx, uint32_t tick_ms, uint64_t *oldest_ms)
{
	uint32_t left = WALK_MAX;
	uint64_t num = 0, looks = 0;

	for (uint32_t i = 0; i < ctx->num_pools; i++) {
		const struct sf_task_pool *pool = &ctx->pools[i];

		if (pool->num_built != 0 && pool->cls != NULL && !pool->cls->may_wait)
			num += sf_task_ages_look(pool, num_looks, &left, &looks);
	}
	*oldest_ms = looks * tick_ms;
	return num;
}

/*
 * How long the engine has been in the same call, and how long its thread has slept there: the library does not sleep in a call,
 * so a callback does. If the thread is unknown, all of the process's threads must sleep.
 */
static void call_sample(struct sf_status_pe *status, bool is_long, uint64_t passed_ms)
{
	if (!is_long || !status->is_inside) {
		status->inside_ms = status->asleep_ms = 0;
	} else {
		bool is_asleep = status->has_progressed ? sf_thread_state(status->thread) == SF_PROCESS_IDLE : sf_process_rests();

		status->inside_ms += passed_ms;
		status->asleep_ms = is_asleep ? status->asleep_ms + passed_ms : 0;
	}
}

static void engine_sample(struct sf_status_pe *status, struct sf_status_engine *to, uint64_t now_ns, uint64_t passed_ms)
{
	const struct doca_pe *pe = sf_status_pe_of(status);
	uint64_t num_calls = engine_calls(pe), passed = num_calls - status->num_calls;
	bool is_inside = engine_is_inside(pe);
	bool is_long = passed == 0 && is_inside; /* still in the same call */

	call_sample(status, is_long, passed_ms);
	status->is_inside = is_inside;
	status->has_moved = passed >= SF_PE_MOVED || is_long;
	status->num_calls_all += passed / SF_PE_MOVED + passed % SF_PE_MOVED;
	to->num_calls = status->num_calls_all;
	if (passed != 0 || is_long) {
		status->last_call_ns = now_ns;
		status->idle_ms = 0;
	} else {
		status->idle_ms += passed_ms;
	}
	status->num_calls = num_calls;
	status->is_still = passed == 0;
	to->thread = (uint32_t)status->thread;
	status->is_armed = engine_is_armed(pe);
	to->is_armed = status->is_armed;
	to->last_call_ns = status->last_call_ns;
	to->inside_since_ns = status->inside_ms != 0 ? now_ns - status->inside_ms * 1000000 : 0;
}

/* Of the oldest task. It is a stall anew when another task is the oldest, which is younger. */
static void oldest_note(struct sf_status_ctx *status, uint64_t oldest_ms)
{
	if (oldest_ms < status->oldest_ms || oldest_ms == 0)
		status->reported &= ~(uint32_t)SF_STALL_OLD_TASK;
	status->oldest_ms = oldest_ms;
}

static void context_timers(struct sf_status_ctx *status, const struct doca_ctx *ctx, const struct sf_status_context *to,
			   uint64_t passed_ms)
{
	uint64_t ended = to->num_submitted - to->num_inflight;
	bool moved = ended != status->num_ended || to->num_inflight == 0 || ctx->pe->status.has_moved;

	status->quiet_ms = moved || status->num_owed == 0 ? 0 : status->quiet_ms + passed_ms;
	if (to->num_submitted != status->num_submitted || to->num_again < status->num_again)
		status->again_ms = 0;
	else if (to->num_again != status->num_again)
		status->again_ms += passed_ms;
	if (!ctx->pe->status.is_still || !is_inside(ctx))
		status->state_ms += passed_ms;
	status->num_submitted = to->num_submitted;
	status->num_ended = ended;
	status->num_again = to->num_again;
	status->num_allocated = to->num_allocated;
	status->is_in_call = is_inside(ctx);
	if (ctx->pe->status.inside_ms == 0)
		status->reported &= ~(uint32_t)SF_STALL_CALL;
	if (status->quiet_ms == 0)
		status->reported &= ~(uint32_t)SF_STALL_TASKS;
	if (status->again_ms == 0)
		status->reported &= ~(uint32_t)SF_STALL_AGAIN;
}

static void context_sample(struct sf_status_ctx *status, struct sf_status_context *to, uint64_t now_ns, uint64_t passed_ms)
{
	const struct doca_ctx *ctx = sf_status_ctx_of(status);

	context_timers(status, ctx, to, passed_ms);
	to->engine = ctx->pe->status.place;
	to->state = status->state;
	to->since_ns = status->since_ns;
	to->num_owed = status->num_owed;
	to->again_since_ns = status->again_ms != 0 ? now_ns - status->again_ms * 1000000 : 0;
	for (uint32_t i = 0; i < ctx->num_pools; i++)
		to->num_configured += ctx->pools[i].num_built;
	snprintf(to->kind, sizeof(to->kind), "%s", ctx->ops->name);
	snprintf(to->device, sizeof(to->device), "%s", status->device != NULL ? status->device : "");
	snprintf(to->name, sizeof(to->name), "%s", status->name != NULL ? status->name : "");
}

static void connections_sample(struct sf_status_ctx *status, struct sf_status_page *page, uint32_t context, uint64_t passed_ms)
{
	struct sf_status_conn *conn;

	LIST_FOREACH (conn, &status->conns, entry) {
		conn->waited_ms += passed_ms;
		if (context == SF_STATUS_CONTEXTS_MAX || page->head.num_connections == SF_STATUS_CONNECTIONS_MAX) {
			page->head.num_left_out++;
			continue;
		}
		page->connections[page->head.num_connections++] = (struct sf_status_connection){
			.context = context,
			.is_ready = conn->is_ready,
			.pid = (uint32_t)conn->pid,
			.since_ns = conn->since_ns,
		};
	}
}

void sf_status_sample(struct sf_status_page *page, uint64_t now_ns, uint64_t passed_ms)
{
	struct sf_status_engine no_engine;
	struct sf_status_context no_context;
	struct sf_status_pe *pe;
	struct sf_status_ctx *ctx;

	assert(sf_is_locked(&sf_status_lock));
	num_looks++;
	page->head.num_engines = page->head.num_contexts = page->head.num_connections = page->head.num_left_out = 0;
	LIST_FOREACH (pe, &sf_status_pes, entry) {
		pe->place = page->head.num_engines;
		page->head.num_engines += pe->place < SF_STATUS_ENGINES_MAX;
		engine_sample(pe, pe->place < SF_STATUS_ENGINES_MAX ? &page->engines[pe->place] : &no_engine, now_ns, passed_ms);
	}
	LIST_FOREACH (ctx, &sf_status_ctxs, entry) {
		bool fits = page->head.num_contexts < SF_STATUS_CONTEXTS_MAX &&
			    sf_status_ctx_of(ctx)->pe->status.place < SF_STATUS_ENGINES_MAX;
		struct sf_status_context *to = fits ? &page->contexts[page->head.num_contexts] : &no_context;

		memset(to, 0, sizeof(*to));
		counts_sample(sf_status_ctx_of(ctx), to);
		ctx->num_owed = owed_look(sf_status_ctx_of(ctx), page->head.tick_ms, &to->oldest_ms);
		oldest_note(ctx, to->oldest_ms);
		context_sample(ctx, to, now_ns, passed_ms);
		connections_sample(ctx, page, fits ? page->head.num_contexts : SF_STATUS_CONTEXTS_MAX, passed_ms);
		page->head.num_contexts += fits;
		page->head.num_left_out += !fits;
	}
}
