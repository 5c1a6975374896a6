/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the validation layer looks at in tasks. While it is on, the tasks of a pool have another class, a copy of their own whose
 * submit looks first and then calls theirs. So while it is off, submit has no branch for it.
 */
#ifndef SF_CORE_TASK_CHECKS_H
#define SF_CORE_TASK_CHECKS_H

#include "core/ctx.h"

/* A task that was refused, and what became of it. Written by the context's thread. */
struct sf_task_check {
	uint64_t refused_ns; /* 0: its last submit was not refused, or it was freed since */
	uint32_t answer;     /* doca_error_t of that submit */
	bool is_reported;    /* the status thread's */
};

struct sf_task_checks {
	const struct sf_task_class *cls; /* the tasks' own */
	struct sf_task_class *copy;	 /* the one that they have; extent bytes */
	const void *inside;		 /* the thread that is submitting, or NULL */
	bool was_refused;		 /* one of the tasks, once */
	size_t extent;
	uint32_t num_tasks;
	struct sf_task_check tasks[];
};

/* For the tasks that are going to be in the pool's memory. The pool's own, if they fit: tasks of an earlier run may still be
 * looked at. NULL: without memory tasks are not checked. */
struct sf_task_checks *sf_task_checks_renew(const struct sf_task_pool *pool);
void sf_task_checks_free(struct sf_task_checks *checks);

/* The task was freed. */
void sf_task_checks_freed(const struct doca_task *task);

/* Of the pool's tasks, how many are in flight, and how many have ended. */
struct sf_task_census {
	uint32_t num_inflight, num_idle;
};
struct sf_task_census sf_task_census_count(const struct sf_task_pool *pool);

#endif
