/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work queue of the 2.2 API: a progress engine and the events of jobs that ended. It is a context of that engine itself, which
 * is due when there are events, so that arming and waiting are the engine's.
 */
#ifndef LEGACY_WORKQ_H
#define LEGACY_WORKQ_H

#include "core/ctx.h"
#include "legacy/ctx.h"

#define LEGACY_DEPTH_MAX 65536
#define LEGACY_CTX_MAX 256 /* contexts in one queue */

struct legacy_entry {
	struct doca_event event;
	bool failed;
};

struct legacy_graph_lane;
struct sf_graph_engine;

struct doca_workq {
	struct doca_ctx base;
	struct doca_pe *pe;
	uint32_t depth;
	uint32_t num_busy; /* jobs and graph instances, from submit to retrieve */
	uint32_t num_lanes;
	bool event_driven;
	uint32_t head, num_events;
	struct legacy_lane *recent; /* the lane of the last job */
	struct legacy_lane *lanes;
	struct legacy_graph_lane *graphs;
	struct sf_graph_engine *graph_engine; /* while it has graphs */
	struct legacy_entry *events; /* depth of them, a ring */
};

/* The lane of a context in the queue, or NULL. */
struct legacy_lane *legacy_workq_lane(const struct doca_workq *workq, const struct legacy_ctx *ctx);

/* Makes a lane and fills it with slots. Undone by lane_remove, when no slot of it is busy. */
doca_error_t legacy_lane_add(struct legacy_ctx *ctx, struct doca_workq *workq);
void legacy_lane_remove(struct legacy_lane *lane);

/* Takes a slot, loads the job and submits its task. NO_MEMORY: no slot is free. */
doca_error_t legacy_lane_submit(struct legacy_lane *lane, const struct doca_job *job, struct sf_graph_step *step);

/* One more event. There is room: num_busy counts it. */
void legacy_workq_push(struct doca_workq *workq, int type, union doca_data user_data, doca_error_t status);

#endif
