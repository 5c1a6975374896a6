/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ctx seam: how a library runs its tasks. A library embeds struct doca_ctx as the first member of its context and gives it
 * start, cancel, drained, stop and progress; the one state machine (ctx.c) calls them and alone writes the state.
 *
 *   IDLE --start: SUCCESS--> RUNNING
 *   IDLE --start: IN_PROGRESS--> STARTING --sf_ctx_started--> RUNNING, or --sf_ctx_fail, drained--> stop, IDLE
 *   STARTING, RUNNING --doca_ctx_stop, or a fatal sf_ctx_fail--> STOPPING --no task in flight, all freed, drained--> stop, IDLE
 *
 * Thread: a ctx belongs to the thread of its progress engine.
 */
#ifndef SF_CORE_CTX_H
#define SF_CORE_CTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "base/visibility.h"
#include "core/status.h"

struct doca_gpu;
struct sf_ctx_hold;
struct sf_faults;
struct sf_task_checks;
struct sf_task_pool;

struct sf_ctx_ops {
	const char *name;  /* for logs, such as "comch consumer" */
	bool needs_pe;	   /* start without a progress engine, and without a GPU data path, is NOT_CONNECTED */
	bool has_gpu_path; /* else start with a data path on a GPU is NOT_SUPPORTED */
	bool must_receive; /* peers wait for tasks that the program must submit here */

	/* Builds everything that the data path needs. SUCCESS: running. IN_PROGRESS: sf_ctx_started or sf_ctx_fail follows from
	 * progress, never from inside start. Any other code: nothing is left behind and the ctx stays IDLE. */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* Begins the end: later progress calls must complete every task in flight, with its result or an error. Called once per
	 * run. Does not block. */
	void (*cancel)(struct doca_ctx *ctx);
	/* After cancel: returns true once the library lets the ctx become IDLE. NULL: always. */
	bool (*drained)(struct doca_ctx *ctx);
	/* Releases what start built. No task is in flight or allocated. The ctx is IDLE right after. */
	void (*stop)(struct doca_ctx *ctx);
	/* Does what is due and returns whether anything was. NULL for a ctx that polls nothing. Runs user callbacks. */
	bool (*progress)(struct doca_ctx *ctx);
	/* Event-driven mode: requests that sf_ctx_event_fd is written when something becomes due. Returns true if something is
	 * due already. Progress must not disarm it, nor reset timers, because the program may sleep right after a progress call
	 * that found nothing. NULL: the ctx becomes due only by a submit on its own thread. */
	bool (*arm)(struct doca_ctx *ctx);
	/* Starts the tasks that were submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH. NULL: no task is ever held back. */
	void (*flush)(struct doca_ctx *ctx);
	/*
	 * Sends what a peer may wait for (acknowledgements, credits, tasks) and could not be sent before, for example because the
	 * peer was full. Called in any state but IDLE, outside of progress or from a callback of any ctx; it runs none itself and
	 * does not block. NULL: nothing of the kind ever waits.
	 */
	void (*send_pending)(struct doca_ctx *ctx);
};

struct doca_ctx {
	const struct sf_ctx_ops *ops;
	enum doca_ctx_states state;
	bool faults_asked;	  /* sf_faults_attach was called */
	bool is_watched;	  /* faults are attached, or the timeline is on: submits take the slow path (submit.h) */
	struct sf_faults *faults; /* NULL unless a rule of SOFTFIELD_FAULTS matches */
	bool cancelled;		  /* cancel was called in this run: STOPPING, or still STARTING and failed */
	bool has_failed;	  /* sf_ctx_fail was called in this run: the program may not know yet */
	bool in_progress_call;	  /* its progress or its STOPPING callback is running: IDLE must wait */
	struct doca_pe *pe;
	struct doca_gpu *gpu; /* data path on this GPU, or NULL */
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_changed;
	struct sf_task_pool *pools; /* the library's array, one per task type */
	uint32_t num_pools;
	/* Tasks of this run: submitted, and ended, with their callbacks returned. The difference is in flight. Two counters that
	 * only grow cost no more than one that goes up and down, and also show whether anything moves. */
	uint64_t num_submitted, num_ended;
	uint64_t num_again;	      /* submits answered with AGAIN */
	size_t num_allocated;	      /* tasks that the program has allocated, in flight or not */
	uint32_t run;		      /* counts the starts: detects a task of an earlier run */
	struct sf_ctx_hold *hold;     /* outside references, or NULL */
	struct doca_ctx *next_in_pe;  /* pe.c's */
	struct doca_ctx *next_active; /* pe.c's */
	struct sf_status_ctx status;
};

static inline size_t sf_ctx_num_inflight(const struct doca_ctx *ctx)
{
	return (size_t)(ctx->num_submitted - ctx->num_ended);
}

/* An outside reference to a ctx, such as of a graph's nodes; at most one for each ctx. It outlives the ctx, and can keep the ctx
 * from being destroyed. */
struct sf_ctx_hold {
	struct doca_ctx *ctx;  /* NULL once the ctx was destroyed */
	uint32_t num_users;    /* sf_ctx_fini returns IN_USE while there are any */
	const char *user_name; /* "a started graph": for logs */
};

/* Initialises an embedded base. pools may be NULL. */
SF_API void sf_ctx_init(struct doca_ctx *ctx, const struct sf_ctx_ops *ops, struct sf_task_pool *pools, uint32_t num_pools);

/*
 * Undoes init when the library destroys the object: disconnects from the progress engine. IN_USE, logged: the ctx is not IDLE, or
 * is held.
 */
SF_API doca_error_t sf_ctx_fini(struct doca_ctx *ctx);

/* Notifies the validation layer that the program owns the ctx from now on, until sf_ctx_fini. */
SF_API void sf_ctx_created(const struct doca_ctx *ctx);

/* Returns BAD_STATE, logged with the name of the setter, unless the ctx is IDLE. */
SF_API doca_error_t sf_ctx_check_idle(const struct doca_ctx *ctx, const char *setter);

/* Returns BAD_STATE, logged with the name of the getter, unless the ctx runs on a GPU. has_handle: its data path has a handle. */
SF_API doca_error_t sf_ctx_check_gpu_handle(const struct doca_ctx *ctx, bool has_handle, const char *getter);

/* STARTING to RUNNING, from progress. The user's callback runs inside. */
SF_API void sf_ctx_started(struct doca_ctx *ctx);

/* Reports a failed asynchronous start, or a fatal error: cancel is called, and IDLE follows by progress. From RUNNING it becomes
 * STOPPING first; a failed start stays STARTING until it is drained, because programs recognize it by IDLE following STARTING.
 * Allowed in any state but IDLE. */
SF_API void sf_ctx_fail(struct doca_ctx *ctx);

/* The eventfd of the ctx's progress engine, for sf_ep_open; -1 without one. */
SF_API int sf_ctx_event_fd(const struct doca_ctx *ctx);

/* Notifies the progress engine that progress has work although no armed event fired, for example a deferred event. */
SF_API void sf_ctx_kick(struct doca_ctx *ctx);

/*
 * Sends what waits for peers in the contexts of ctx's progress engine, and of the engine whose callback this thread runs. A
 * program may repeat submit until AGAIN clears, also in a callback, without progress. AGAIN would never clear if the peer waits
 * for data queued here: so every submit that fails with AGAIN calls this.
 */
SF_API void sf_ctx_send_pending(const struct doca_ctx *ctx);

/* Makes a descriptor of the library, such as a timerfd, wake a waiter on the ctx's progress engine: the notification handle is
 * readable while fd is. The library drains fd in progress, and unwatches it before it closes it. NOT_CONNECTED: there is no
 * progress engine; ALREADY_EXIST: it is watched already; OPERATING_SYSTEM otherwise. Thread of the ctx. */
SF_API doca_error_t sf_ctx_watch_fd(struct doca_ctx *ctx, int fd);
SF_API void sf_ctx_unwatch_fd(struct doca_ctx *ctx, int fd);

/* ---- tasks ---- */

/* One byte. A task in flight has SF_TASK_INFLIGHT or a higher value: the status thread counts it up, see task_age.h. */
enum __attribute__((packed)) sf_task_state {
	SF_TASK_FREE,
	SF_TASK_ALLOCATED,
	SF_TASK_CLAIMED,
	SF_TASK_INFLIGHT,
	SF_TASK_INFLIGHT_MAX = 255,
};

/*
 * The owner of a claimed task (a graph instance in flight) submits it instead of the program, and is notified of its end instead
 * of the callbacks. Meanwhile the program can neither free nor submit the task, but may change its arguments.
 */
struct sf_task_claim {
	/* Called from the ctx's progress when the task has ended, with task->status. It is still claimed. */
	void (*completed)(struct sf_task_claim *claim, struct doca_task *task);
};

struct sf_task_class {
	const char *name; /* "comch producer send": for logs */
	size_t size;	  /* of the library's task, whose first member is struct doca_task */
	bool may_wait;	  /* may wait for ever, as a receive does: a long time in flight is no stall */
	bool fills_up;	  /* programs allocate until none is free, and wait then: that is no error line */
	/* Starts the task. SUCCESS: it belongs to the library until sf_task_complete, which must not run inside submit. Any
	 * other code: it still belongs to the user. The ctx is RUNNING. flags are doca_task_submit_flag. */
	doca_error_t (*submit)(struct doca_task *task, uint32_t flags);
	/* What doca_task_try_submit checks first; NULL accepts. */
	doca_error_t (*validate)(const struct doca_task *task);
	/* size of the structure that it is the first member of; 0: of none */
	void (*inspect)(const struct doca_task *task);
	size_t extent; /* offset-independent type of the structure that it begins; 0: none */
};

/* The public base of every task. */
struct doca_task {
	const struct sf_task_class *cls;
	struct doca_ctx *ctx;
	struct sf_task_pool *pool;
	struct doca_task *next; /* the pool's while free, the library's while in flight */
	union doca_data user_data;
	doca_error_t status;
	enum sf_task_state state;
	bool free_later; /* freed while in flight: takes effect after its callback, unless the callback submits it again */
	struct sf_task_claim *claim; /* or NULL: the program's own */
};

static inline bool sf_task_is_inflight(const struct doca_task *task)
{
	return task->state >= SF_TASK_INFLIGHT;
}

/* The tasks of one type in one ctx: configured while IDLE, allocated by doca_ctx_start before ops->start, freed by sf_ctx_fini
 * (so that the fields of freed tasks stay readable in IDLE). A pool that was not configured stays empty. */
struct sf_task_pool {
	const struct sf_task_class *cls;
	doca_task_completion_cb_t completed, failed; /* the program's; or, while the timeline is on, ones that call those: */
	doca_task_completion_cb_t own_completed, own_failed;
	uint32_t num_tasks;
	uint32_t num_built; /* tasks in memory */
	uint32_t num_begun; /* tasks, from the first on, that were allocated since the start: the memory of the others is not
			       touched yet */
	size_t slot_built;  /* bytes of each: a class may change its size while IDLE */
	void *memory;
	struct doca_task *free;
	struct sf_task_checks *checks; /* the validation layer's, or NULL (task_checks.h) */
};

/* For a *_task_X_set_conf. BAD_STATE unless IDLE. INVALID_VALUE for a NULL callback, or a number of tasks that is 0 or over max.
 * A second call replaces the first. */
SF_API doca_error_t sf_task_pool_configure(struct doca_ctx *ctx, struct sf_task_pool *pool, const struct sf_task_class *cls,
					   doca_task_completion_cb_t completed, doca_task_completion_cb_t failed,
					   uint32_t num_tasks, uint32_t num_tasks_max);

/* For a *_alloc_init: returns a task whose base is initialised (user_data 0, status SUCCESS). BAD_STATE unless RUNNING.
 * NO_MEMORY: all are allocated, or the type was not configured. The library's own fields keep their earlier values. */
SF_API doca_error_t sf_task_alloc(struct doca_ctx *ctx, struct sf_task_pool *pool, struct doca_task **task);

/*
 * Ends a task in flight: from the ctx's progress only. Runs the user's callback (completed for SUCCESS, else failed), which may
 * free the task or submit it again; for a claimed task it runs the claim's callback.
 */
SF_API void sf_task_complete(struct doca_task *task, doca_error_t status);

/* Claims an allocated task of the program. IN_USE: it is in flight or claimed. INVALID_VALUE: it is free. Logged. */
SF_API doca_error_t sf_task_acquire(struct doca_task *task, struct sf_task_claim *claim);

/* Ends the claim. The task is not in flight. */
SF_API void sf_task_return(struct doca_task *task);

/* Same as doca_task_submit, for a claimed task. claim may be another one of the same holder. */
SF_API doca_error_t sf_task_submit_claimed(struct doca_task *task, struct sf_task_claim *claim);

#endif
