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
struct doca_sha_partial_session;
struct legacy_lane;
struct sf_graph_step;

/* What an event will say, from submit to retrieve. */
struct legacy_entry {
	struct legacy_entry *next; /* the lane's while free, the queue's once ended */
	struct legacy_lane *lane;  /* NULL: of a graph instance */
	union doca_data user_data;
	int type;
	doca_error_t status;
};

/* A job on its way: its tasks, of which load chose one. What every job touches is in one cache line. */
struct legacy_slot {
	struct legacy_entry entry; /* first: the lane's and the queue's lists hold entries */
	struct doca_task *task;
	struct doca_workq *workq;
	struct sf_graph_step *step; /* the job of a graph's node: it reports to the graph instead of the queue */
	void *session;		    /* a library's, while the job is more than its task: it is asked whether it goes on */
	uint64_t words[3];	    /* a library's own */
	struct doca_task *tasks[LEGACY_TASKS_MAX];
} __attribute__((aligned(64)));

/* What a library is to the 2.2 API. */
struct legacy_ctx_ops {
	const char *name;
	int first_type, last_type; /* its jobs */
	uint32_t slots_max;	   /* of one lane */
	bool needs_dev;
	bool one_queue; /* its object itself is the context: no second lane */
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
	/* The task of a slot with a session ended. True: it was submitted again, the job goes on. *status may be changed. */
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
	struct doca_pe *pe;	   /* of today's context: the queue's, or the object's own */
	void *object;		   /* of today's library */
	int first_type, num_types; /* of its jobs */
	doca_error_t (*load)(struct legacy_slot *slot, const struct doca_job *job);
	bool (*goes_on)(struct legacy_slot *slot, doca_error_t *status);
	struct legacy_entry *free;
	struct legacy_slot *slots;
	uint32_t num_slots;
	uint32_t num_graphs;			   /* of the queue, that have nodes of this context */
	struct doca_sha_partial_session *sessions; /* of a SHA lane */
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
