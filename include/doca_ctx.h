/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_ctx.h
 * A context is one running instance of a library (a Comch server, a consumer, a DMA engine). The library creates it; what
 * all contexts have in common is here: starting, stopping, the state in between.
 *
 *     doca_comch_server_create(dev, rep, "name", &server);
 *     ctx = doca_comch_server_as_ctx(server);
 *     doca_pe_connect_ctx(pe, ctx);                  then the library's own configuration
 *     result = doca_ctx_start(ctx);                  DOCA_SUCCESS, or DOCA_ERROR_IN_PROGRESS
 *     while (...) doca_pe_progress(pe);              all callbacks run in here
 *     doca_ctx_stop(ctx);                            then progress until IDLE, free tasks on the way
 *     doca_comch_server_destroy(server);
 *
 * States: a context is configured in IDLE; tasks are allocated and submitted in RUNNING. Libraries that need a peer to
 * start pass through STARTING; doca_ctx_start() then returns DOCA_ERROR_IN_PROGRESS, and progress brings RUNNING, or IDLE
 * when the start failed. STOPPING ends when no task is in flight, every allocated task was freed, and the library has said
 * goodbye to its peers. A fatal error stops a context without doca_ctx_stop(). After IDLE it may be configured anew and
 * started again.
 *
 * The state callback runs once for each transition, after it: doca_ctx_get_state() inside it gives the new state. It may do
 * whatever the new state allows, doca_ctx_stop() included; in IDLE it may even destroy the context.
 *
 * Threads: a context belongs to the thread of its progress engine. (Core guide, sections "DOCA Context" and "Progress
 * Engine")
 */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;

/** An instance of a library. Part of the library's own object, and lives as long. */
struct doca_ctx;

/** Where a context is in its life. */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0, /**< not started, or stopped: configure, start, destroy */
	DOCA_CTX_STATE_STARTING = 1, /**< started, waiting for a peer or a device: progress, stop */
	DOCA_CTX_STATE_RUNNING = 2, /**< tasks may be allocated and submitted */
	DOCA_CTX_STATE_STOPPING = 3, /**< flushing: progress, free tasks */
};

/**
 * Told of every transition of a context. Runs inside doca_ctx_start(), doca_ctx_stop() or doca_pe_progress(), on the
 * caller's thread; never on another.
 *
 * @param user_data   the context's, see doca_ctx_set_user_data()
 * @param ctx         the context
 * @param prev_state  the state before; IDLE after STARTING tells a failed start
 * @param next_state  the state now
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data, struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state, enum doca_ctx_states next_state);

/**
 * Starts a context: its configuration is final, and everything its data path needs is allocated. Allowed in IDLE.
 *
 * DOCA_SUCCESS means RUNNING, and DOCA_ERROR_IN_PROGRESS means STARTING, at once and before the function returns. Which of
 * the two a context gives is fixed by its library.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_IN_PROGRESS: the start goes on by doca_pe_progress()
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL, or the configuration lacks something
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_CONNECTED: neither a progress engine nor a GPU data path was set
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do this
 * - DOCA_ERROR_ALREADY_EXIST: there is one of that name already
 * - DOCA_ERROR_NO_MEMORY: not enough memory or descriptors
 * - Others as the library documents: for UROM, as doca_urom_service_as_ctx(), as doca_urom_worker_as_ctx() and
 *   as doca_urom_domain_as_ctx(). The context stays IDLE then.
 */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Stops a context, from any state. Tasks in flight are flushed: each still gets its error callback, or its success callback
 * if it had happened. In STOPPING the context waits for that and for its tasks to be freed. May be called again to ask
 * whether it is done.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_IN_PROGRESS: the context is STOPPING; call doca_pe_progress() until it is IDLE. Always so from inside its
 *   own callbacks
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL
 */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/**
 * Counts the tasks that were submitted and whose callback has not returned yet. A task is still counted in its own
 * callback.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param num_inflight_tasks  set to the count
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks);

/**
 * Puts the data path of a context on a GPU: kernels, not this thread, then send and receive. Allowed in IDLE; replaces an
 * earlier choice. The context may be connected to a progress engine as well, which then moves its state. The GPU cannot be
 * destroyed until the context is.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param gpu_dev  from doca_gpu_create()
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/**
 * Sets what callbacks of the context and of its tasks get as ctx_user_data. Allowed in IDLE.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param user_data  the program's own
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/**
 * Gets what doca_ctx_set_user_data() set.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param user_data  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/**
 * Sets the callback for transitions. One a context, the last one counts. Allowed in IDLE.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param cb  the callback
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb);

/**
 * Gets the state of a context.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param state  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/**
 * Starts the tasks that doca_task_submit_ex() took without DOCA_TASK_SUBMIT_FLAG_FLUSH. Not allowed in IDLE, where it is
 * ignored with a log line.
 *
 * @param ctx   the context
 */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/**
 * Puts the data path of a context on a DPA. There is none here.
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param dpa_dev  the DPA
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_NOT_SUPPORTED: always, when the arguments are right
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

/**
 * Chooses the interrupt vector that completions use. The devices here have none, see
 * doca_ctx_cap_get_num_completion_vectors().
 *
 * @param ctx   the context, from a library's *_as_ctx function
 * @param comp_vector  index of the vector
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_NOT_SUPPORTED: always, when the arguments are right
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/**
 * Gets the number of completion vectors of a device: 0.
 *
 * @param devinfo  the device
 * @param num_comp_vectors  set to the number
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo, uint32_t *num_comp_vectors);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H_ */
