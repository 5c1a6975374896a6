/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A context of the 2.2 API: a device and a library, without a progress engine. For each queue that it is added to it gets a lane:
 * one of today's contexts on that queue's progress engine, with a slot (tasks allocated in advance) for each job that the queue
 * may hold.
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

/* The data of a job's event, from submit to retrieve. */
struct legacy_entry {
	struct legacy_entry *next; /* in the lane's list while free, in the queue's once ended */
	struct legacy_lane *lane;  /* NULL for a graph instance */
	union doca_data user_data;
	int type;
	doca_error_t status;
};

/* A job in flight: its tasks, of which load chose one. The fields that every job uses share one cache line. */
struct legacy_slot {
	struct legacy_entry entry; /* first: the lane's and the queue's lists hold entries */
	struct doca_task *task;
	struct doca_workq *workq;
	struct sf_graph_step *step; /* of a graph node's job, which reports to the graph instead of the queue */
	void *session;		    /* set by a library while the job needs more than one task: goes_on is called */
	uint64_t words[3];	    /* private to the library */
	struct doca_task *tasks[LEGACY_TASKS_MAX];
} __attribute__((aligned(64)));

/* What a library implements for the 2.2 API. */
struct legacy_ctx_ops {
	const char *name;
	int first_type, last_type; /* job types */
	uint32_t slots_max;	   /* of one lane */
	bool needs_dev;
	bool one_queue; /* its object is itself a context, so it has one lane at most */
	/* NOT_SUPPORTED if the device supports no job of the library. NULL without needs_dev. */
	doca_error_t (*check_dev)(const struct doca_devinfo *devinfo);
	/* Called by doca_ctx_start and doca_ctx_stop; may be NULL. */
	doca_error_t (*start)(struct legacy_ctx *ctx);
	doca_error_t (*stop)(struct legacy_ctx *ctx);
	/* Creates today's context on lane->pe and starts it, with lane->num_slots tasks. */
	doca_error_t (*open)(struct legacy_lane *lane);
	/* Stops and destroys it. Its tasks are freed before. */
	void (*close)(struct legacy_lane *lane);
	/* Allocates the tasks of a slot, as many as possible, with the slot as their user data. */
	doca_error_t (*slot_init)(struct legacy_lane *lane, struct legacy_slot *slot);
	/* Chooses slot->task and fills in the job. */
	doca_error_t (*load)(struct legacy_slot *slot, const struct doca_job *job);
	/* Called when the task of a slot with a session has ended. Returns true if it submitted another task for the job. May
	 * change *status. */
	bool (*goes_on)(struct legacy_slot *slot, doca_error_t *status);
	/* Writes the result of an ended job to *result or where it points. NULL: the result is the status. */
	void (*report)(const struct legacy_slot *slot, union doca_data *result);
};

/* First member of every 2.2 object that is a context. */
struct legacy_ctx {
	const struct legacy_ctx_ops *ops;
	struct doca_dev *dev;
	bool started;
	pthread_mutex_t lock;
	struct legacy_lane *lanes; /* guarded by lock, by next_in_ctx */
};

/* A context in a queue. Used by the queue's thread. */
struct legacy_lane {
	struct legacy_ctx *ctx;
	struct doca_workq *workq;
	struct doca_pe *pe;	   /* of today's context: the queue's engine, or the object's own */
	void *object;		   /* today's context object */
	int first_type, num_types; /* of the lane's jobs */
	doca_error_t (*load)(struct legacy_slot *slot, const struct doca_job *job);
	bool (*goes_on)(struct legacy_slot *slot, doca_error_t *status);
	void (*report)(const struct legacy_slot *slot, union doca_data *result);
	struct legacy_entry *free;
	struct legacy_slot *slots;
	uint32_t num_slots;
	uint32_t num_graphs;			   /* graphs of the queue with nodes of this context */
	struct doca_sha_partial_session *sessions; /* of a SHA lane */
	struct legacy_lane *next_in_ctx, *next_in_workq;
};

void legacy_ctx_init(struct legacy_ctx *ctx, const struct legacy_ctx_ops *ops);
/* IN_USE, logged, while started. */
doca_error_t legacy_ctx_fini(struct legacy_ctx *ctx);

/* BAD_STATE, logged, when it is started. */
doca_error_t legacy_ctx_check_stopped(const struct legacy_ctx *ctx, const char *function);

/* Stops one of today's contexts and waits until it is idle. Its tasks are freed, so this waits for engine threads only. */
void legacy_ctx_end(struct doca_pe *pe, struct doca_ctx *ctx);

/* The callbacks of all tasks. */
void legacy_task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data);

#endif
