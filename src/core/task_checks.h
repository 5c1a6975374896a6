/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The validation layer's checks of tasks. While it is on, the tasks of a pool have a copy of their class, whose submit runs the
 * checks and then calls the original. So while it is off, submit has no branch for it.
 */
#ifndef SF_CORE_TASK_CHECKS_H
#define SF_CORE_TASK_CHECKS_H

#include "core/ctx.h"

/* The record of a failed submit. Written by the context's thread. */
struct sf_task_check {
	uint64_t refused_ns;  /* 0: its last submit succeeded, or it was freed since */
	uint32_t answer;      /* doca_error_t of that submit */
	bool is_reported;     /* used by the status thread */
	uint32_t num_submits; /* of the task, since the start, if its class has inspect */
};

struct sf_task_checks {
	const struct sf_task_class *cls; /* the original class */
	struct sf_task_class *copy;	 /* the class that the tasks have; extent bytes */
	const void *inside;		 /* the thread that is submitting, or NULL */
	struct sf_task_check *now;	 /* of the task that is inspected */
	bool was_refused;		 /* a submit of the pool has failed at least once */
	size_t extent;
	uint32_t num_tasks;
	struct sf_task_check tasks[];
};

/* Returns the checks for the pool's new tasks. Reuses the existing ones if they fit, because the status thread may still read
 * them. NULL without memory; then tasks are not checked. */
struct sf_task_checks *sf_task_checks_renew(const struct sf_task_pool *pool);
/* Frees the checks of a pool whose memory is still there. */
void sf_task_checks_end(struct sf_task_pool *pool);

/* Called when the task was freed. */
void sf_task_checks_freed(const struct doca_task *task);

/*
 * What tasks in flight use, such as buffers: the inspect of a task's class notes it. Of objects that share a slot of the table
 * only the last one is known. Any thread.
 */
SF_API void sf_task_use_note(const struct doca_task *task, const void *object);
/* Returns the name of the type of a task in flight that uses the object, and may not wait for ever, or NULL. */
const char *sf_task_use_find(const void *object);

/* How many of the pool's tasks are in flight, and how many have ended. */
struct sf_task_census {
	uint32_t num_inflight, num_idle;
};
struct sf_task_census sf_task_census_count(const struct sf_task_pool *pool);

#endif
