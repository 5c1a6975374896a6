/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A context of the 2.2 API: a device and the choice of a library, without a progress engine. Each queue that it is added to
 * gets a lane: one of today's contexts on that queue's progress engine, with a slot (its tasks, made beforehand) for each job
 * that may be in the queue.
 */
#ifndef LEGACY_CTX_H
#define LEGACY_CTX_H

#include <pthread.h>
#include <stdbool.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "legacy/legacy.h"

#define LEGACY_TASKS_MAX 4 /* of one slot */

struct doca_workq;
struct legacy_ctx;
struct legacy_lane;
struct sf_graph_step;

/* A job on its way: its tasks, of which load chose one, and what its event will say. */
struct legacy_slot {
	struct legacy_slot *next; /* the lane's, while free */
	struct legacy_lane *lane;
	struct doca_task *task;
	struct sf_graph_step *step; /* the job of a graph's node: it tells the graph instead of the queue */
	void *session;		    /* of a library whose jobs belong together, or NULL */
	int type;
	union doca_data user_data;
	uint64_t words[3];		    /* a library's own */
	struct doca_task *tasks[LEGACY_TASKS_MAX];
};

/* What a library is to the 2.2 API. */
struct legacy_ctx_ops {
	const char *name;
	int first_type, last_type; /* its jobs */
	uint32_t slots_max;	   /* of one lane */
	bool needs_dev;
	bool one_queue;		   /* its object itself is the context: no second lane */
	/* Can the device do any of it? NOT_SUPPORTED if not. NULL without needs_dev. */
	doca_error_t (*check_dev)(const struct doca_devinfo *devinfo);
	/* With doca_ctx_start and doca_ctx_stop; either NULL. */
	doca_error_t (*start)(struct legacy_ctx *ctx);
	doca_error_t (*stop)(struct legacy_ctx *ctx);
	/* Makes today's context on lane->pe and starts it, with lane->num_slots tasks. */
	doca_error_t (*open)(struct legacy_lane *lane);
	/* Ends it; its tasks are freed. */
	void (*close)(struct legacy_lane *lane);
	/* Makes the tasks of a slot, as many as it can; with their user data the slot. */
	doca_error_t (*slot_init)(struct legacy_lane *lane, struct legacy_slot *slot);
	/* Chooses slot->task and puts the job into it. */
	doca_error_t (*load)(struct legacy_slot *slot, const struct doca_job *job);
	/* The slot's task ended. True: it was submitted again, the job goes on. *status may be changed. NULL: nothing to do. */
	bool (*goes_on)(struct legacy_slot *slot, doca_error_t *status);
};

/* First member of every 2.2 object that is a context. */
struct legacy_ctx {
	const struct legacy_ctx_ops *ops;
	struct doca_dev *dev;
	bool started;
	pthread_mutex_t lock;
	struct legacy_lane *lanes; /* GUARDED_BY(lock), by next_in_ctx */
};

/* A context in a queue. The thread of the queue. */
struct legacy_lane {
	struct legacy_ctx *ctx;
	struct doca_workq *workq;
	struct doca_pe *pe; /* of today's context: the queue's, or the object's own */
	void *object;	    /* of today's library */
	struct legacy_slot *slots, *free;
	uint32_t num_slots;
	uint32_t num_busy;   /* slots in use */
	uint32_t num_graphs; /* of the queue, that have nodes of this context */
	uint32_t num_sessions;
	struct legacy_lane *next_in_ctx, *next_in_workq;
};

void legacy_ctx_init(struct legacy_ctx *ctx, const struct legacy_ctx_ops *ops);
/* IN_USE, logged, while started. */
doca_error_t legacy_ctx_fini(struct legacy_ctx *ctx);

/* BAD_STATE, logged, when it is started. */
doca_error_t legacy_ctx_check_stopped(const struct legacy_ctx *ctx, const char *function);

/* Stops one of today's contexts and waits until it is idle: its tasks are freed, so nothing but the engine's threads is waited
 * for. */
void legacy_ctx_end(struct doca_pe *pe, struct doca_ctx *ctx);

/* The callbacks of all tasks. */
void legacy_task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data);

#endif
