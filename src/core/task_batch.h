/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches: many tasks of one kind that are allocated, submitted and completed as one. A library keeps a pool per batch type,
 * created in its ops->start and freed in its ops->stop; the ctx counts their tasks as its own.
 */
#ifndef SF_CORE_TASK_BATCH_H
#define SF_CORE_TASK_BATCH_H

#include "core/ctx.h"

typedef void (*sf_task_batch_cb_t)(struct doca_task_batch *batch, union doca_data batch_user_data, union doca_data ctx_user_data);

struct sf_task_batch_class {
	const char *name; /* "eth send batch": for logs */
	size_t size;	  /* of the library's struct, whose first member is struct doca_task_batch */
	/* As in sf_task_class: either the whole batch starts, or nothing does. */
	doca_error_t (*submit)(struct doca_task_batch *batch);
	doca_error_t (*validate)(const struct doca_task_batch *batch);
};

struct sf_task_batch_pool;

/* The public base of every batch. */
struct doca_task_batch {
	const struct sf_task_batch_class *cls;
	struct doca_ctx *ctx;
	struct sf_task_batch_pool *pool;
	struct doca_task_batch *next; /* in the pool's list while free, in the library's while in flight */
	union doca_data user_data;
	doca_error_t status;
	enum sf_task_state state;
	bool free_later; /* as of a task */
	uint16_t num_tasks;
};

struct sf_task_batch_pool {
	const struct sf_task_batch_class *cls;
	sf_task_batch_cb_t completed, failed;
	uint16_t num_tasks_max; /* of one batch */
	void *memory;
	struct doca_task_batch *free;
};

/* Allocates num batches of a size class. NO_MEMORY, logged; INVALID_VALUE, logged, for an invalid argument. */
SF_API doca_error_t sf_task_batch_pool_init(struct sf_task_batch_pool *pool, struct doca_ctx *ctx,
					    const struct sf_task_batch_class *cls, uint32_t num,
					    enum doca_task_batch_max_tasks_number num_tasks_max, sf_task_batch_cb_t completed,
					    sf_task_batch_cb_t failed);
SF_API void sf_task_batch_pool_fini(struct sf_task_batch_pool *pool);

/* Allocates a batch of num_tasks tasks. BAD_STATE unless RUNNING, INVALID_VALUE for 0 or too many tasks, NO_MEMORY if none is
 * free. */
SF_API doca_error_t sf_task_batch_alloc(struct sf_task_batch_pool *pool, struct doca_ctx *ctx, uint16_t num_tasks,
					struct doca_task_batch **batch);

/* Completes a batch in flight, from the ctx's progress only. Runs the callback, which may free or submit it again. */
SF_API void sf_task_batch_complete(struct doca_task_batch *batch, doca_error_t status);

#endif
