/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the graphs of one progress engine, as a context of it that is created with its first graph and freed with its last. */
#include <assert.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "core/pe.h"
#include "graph/graph_private.h"

#define RETRY_NS 100000 /* how soon a sleeping program wakes to retry a full context */

static struct sf_graph_engine *engine_of(struct doca_ctx *ctx)
{
	return (struct sf_graph_engine *)ctx;
}

/* ---- steps that wait for their context ---- */

static void lane_init(struct sf_graph_lane *lane, struct doca_ctx *ctx)
{
	lane->hold = (struct sf_ctx_hold){.ctx = ctx, .user_name = "a started graph"};
	TAILQ_INIT(&lane->waiting);
}

struct sf_graph_lane *sf_graph_lane_get(struct doca_ctx *ctx)
{
	struct sf_graph_lane *lane = (struct sf_graph_lane *)ctx->hold;

	if (lane == NULL) {
		lane = calloc(1, sizeof(*lane));
		if (lane == NULL)
			return NULL;
		lane_init(lane, ctx);
		ctx->hold = &lane->hold;
	}
	assert(lane->hold.ctx == ctx);
	lane->num_nodes++;
	return lane;
}

void sf_graph_lane_put(struct sf_graph_lane *lane)
{
	assert(lane->num_nodes > 0);
	if (--lane->num_nodes > 0)
		return;
	if (lane->hold.ctx != NULL)
		lane->hold.ctx->hold = NULL;
	free(lane);
}

/* Wakes a waiter on the handle: an event became due after it armed. */
static void engine_wake(struct sf_graph_engine *engine)
{
	if (engine->base.pe->armed)
		sf_ctx_kick(&engine->base);
}

static void overloaded_add(struct sf_graph_engine *engine, struct sf_graph_lane *lane)
{
	assert(!lane->is_overloaded);
	lane->is_overloaded = true;
	TAILQ_INSERT_TAIL(&engine->overloaded, lane, next);
	engine->num_overloaded++;
}

static void overloaded_remove(struct sf_graph_engine *engine, struct sf_graph_lane *lane)
{
	assert(lane->is_overloaded);
	lane->is_overloaded = false;
	TAILQ_REMOVE(&engine->overloaded, lane, next);
	assert(engine->num_overloaded > 0);
	engine->num_overloaded--;
}

void sf_graph_lane_push(struct sf_graph_lane *lane, struct sf_graph_engine *engine, struct sf_graph_step *step)
{
	assert(step->state == SF_GRAPH_STEP_WAITING);
	TAILQ_INSERT_TAIL(&lane->waiting, step, next);
	lane->num_waiting++;
	if (lane->is_overloaded)
		return;
	overloaded_add(engine, lane);
	engine_wake(engine);
}

void sf_graph_lane_remove(struct sf_graph_lane *lane, struct sf_graph_engine *engine, struct sf_graph_step *step)
{
	TAILQ_REMOVE(&lane->waiting, step, next);
	assert(lane->num_waiting > 0);
	lane->num_waiting--;
	if (lane->is_overloaded && TAILQ_EMPTY(&lane->waiting))
		overloaded_remove(engine, lane);
}

/* Starts as many steps as their context has room for, in order. */
static bool retry_in_turn(struct sf_graph_lane *lane)
{
	bool moved = false;
	struct sf_graph_step *step;

	while ((step = TAILQ_FIRST(&lane->waiting)) != NULL && sf_graph_step_retry(lane, step))
		moved = true;
	return moved;
}

/* Tries each step once: works may wait for different contexts, and a full one must not delay the others. */
static bool retry_each(struct sf_graph_lane *lane)
{
	bool moved = false;
	struct sf_graph_step *step;

	for (uint32_t n = lane->num_waiting; n > 0 && (step = TAILQ_FIRST(&lane->waiting)) != NULL; n--) {
		if (sf_graph_step_retry(lane, step)) {
			moved = true;
			continue;
		}
		TAILQ_REMOVE(&lane->waiting, step, next);
		TAILQ_INSERT_TAIL(&lane->waiting, step, next);
	}
	return moved;
}

/* No callback of the program runs in here, so only failing steps change the list during the walk. */
static bool engine_retry(struct sf_graph_engine *engine)
{
	bool moved = false;

	for (uint32_t n = engine->num_overloaded; n > 0; n--) {
		struct sf_graph_lane *lane = TAILQ_FIRST(&engine->overloaded);

		if (lane == NULL)
			break;
		overloaded_remove(engine, lane);
		moved |= lane == &engine->work ? retry_each(lane) : retry_in_turn(lane);
		if (!TAILQ_EMPTY(&lane->waiting) && !lane->is_overloaded)
			overloaded_add(engine, lane);
	}
	return moved;
}

/* ---- instances that wait for a progress call ---- */

void sf_graph_engine_due(struct sf_graph_engine *engine, struct doca_graph_instance *top)
{
	if (top->is_due)
		return;
	top->is_due = true;
	TAILQ_INSERT_TAIL(&engine->due, top, next);
	engine->num_due++;
	engine_wake(engine);
}

void sf_graph_engine_not_due(struct sf_graph_engine *engine, struct doca_graph_instance *top)
{
	if (!top->is_due)
		return;
	top->is_due = false;
	TAILQ_REMOVE(&engine->due, top, next);
	assert(engine->num_due > 0);
	engine->num_due--;
}

/* Drains the instances that are due at entry: one that its callback submits again waits for the next call. A callback may drop
 * the engine's last reference, which frees it after this call. */
static bool engine_drain(struct sf_graph_engine *engine)
{
	bool moved = false;

	for (uint32_t n = engine->num_due; n > 0; n--) {
		struct doca_graph_instance *top = TAILQ_FIRST(&engine->due);

		if (top == NULL)
			break;
		sf_graph_engine_not_due(engine, top);
		sf_graph_instance_drain(top);
		moved = true;
	}
	return moved;
}

/* ---- the context ---- */

static doca_error_t engine_start(struct doca_ctx *ctx)
{
	return DOCA_SUCCESS;
}

static void timer_set(struct sf_graph_engine *engine, long ns)
{
	struct itimerspec spec = {.it_value.tv_nsec = ns};

	timerfd_settime(engine->timer_fd, 0, &spec, NULL); /* 0 stops it; both clear an earlier expiry */
	engine->is_timer_set = ns > 0;
}

static bool engine_progress(struct doca_ctx *ctx)
{
	struct sf_graph_engine *engine = engine_of(ctx);
	bool moved = engine->num_overloaded > 0 && engine_retry(engine);

	if (engine->num_due > 0 && engine_drain(engine))
		moved = true;
	if (__builtin_expect(engine->is_timer_set, 0) && engine->num_overloaded == 0)
		timer_set(engine, 0);
	return moved;
}

/* A full context gets room by its own completions, which wake the program, or by its peer, without a notification. So while steps
 * wait, the timer limits the sleep. A progress call that finds no room leaves even an expired timer set, since the program may
 * sleep next. */
static bool engine_arm(struct doca_ctx *ctx)
{
	struct sf_graph_engine *engine = engine_of(ctx);

	if (engine->num_due > 0)
		return true;
	if (engine->num_overloaded == 0)
		return false;
	if (engine->timer_fd < 0)
		return true;
	timer_set(engine, RETRY_NS);
	return false;
}

static const struct sf_ctx_ops ops = {
	.name = "graph",
	.needs_pe = true,
	.start = engine_start,
	.progress = engine_progress,
	.arm = engine_arm,
};

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	if (engine_of(ctx)->timer_fd >= 0) {
		sf_ctx_unwatch_fd(ctx, engine_of(ctx)->timer_fd);
		close(engine_of(ctx)->timer_fd);
	}
	assert(engine_of(ctx)->num_overloaded == 0 && engine_of(ctx)->num_due == 0);
	sf_ctx_fini(ctx);
	free(engine_of(ctx));
}

/* Without a timer, for lack of descriptors, the program does not sleep while steps wait. */
static void timer_open(struct sf_graph_engine *engine)
{
	engine->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (engine->timer_fd < 0 || sf_ctx_watch_fd(&engine->base, engine->timer_fd) == DOCA_SUCCESS)
		return;
	close(engine->timer_fd);
	engine->timer_fd = -1;
}

/* Skips an engine without users: it is being stopped. */
static struct sf_graph_engine *engine_find(const struct doca_pe *pe)
{
	for (struct doca_ctx *ctx = pe->connected; ctx != NULL; ctx = ctx->next_in_pe) {
		if (ctx->ops == &ops && engine_of(ctx)->num_users > 0)
			return engine_of(ctx);
	}
	return NULL;
}

doca_error_t sf_graph_engine_get(struct doca_pe *pe, struct sf_graph_engine **engine)
{
	struct sf_graph_engine *here = engine_find(pe);

	if (here == NULL) {
		here = calloc(1, sizeof(*here));
		if (here == NULL) {
			SF_LOG_ERR("no memory for the graphs of a progress engine");
			return DOCA_ERROR_NO_MEMORY;
		}
		sf_ctx_init(&here->base, &ops, NULL, 0);
		lane_init(&here->work, NULL);
		TAILQ_INIT(&here->overloaded);
		TAILQ_INIT(&here->due);
		/* none of these can fail for an internal context */
		doca_ctx_set_state_changed_cb(&here->base, state_changed);
		doca_pe_connect_ctx(pe, &here->base);
		doca_ctx_start(&here->base);
		timer_open(here);
	}
	assert(here->base.pe == pe);
	here->num_users++;
	*engine = here;
	return DOCA_SUCCESS;
}

void sf_graph_engine_put(struct sf_graph_engine *engine)
{
	assert(engine->num_users > 0);
	if (--engine->num_users > 0)
		return;
	doca_ctx_stop(&engine->base); /* freed by state_changed, immediately or when its progress returns */
}
