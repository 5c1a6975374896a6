/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_ctx.h
 * A context is a running instance of a library: a Comch server, a consumer, a DMA engine. The library creates it. This header
 * starts and stops it.
 *
 *     doca_comch_server_create(dev, rep, "name", &server);
 *     ctx = doca_comch_server_as_ctx(server);
 *     doca_pe_connect_ctx(pe, ctx);                  then the library's own configuration
 *     result = doca_ctx_start(ctx);                  DOCA_SUCCESS, or DOCA_ERROR_IN_PROGRESS
 *     while (...) doca_pe_progress(pe);              runs all callbacks
 *     doca_ctx_stop(ctx);                            then progress until IDLE, and free tasks
 *     doca_comch_server_destroy(server);
 *
 * A context is configured in IDLE; tasks are allocated and submitted in RUNNING. A library that needs a peer to start passes
 * through STARTING: doca_ctx_start() returns DOCA_ERROR_IN_PROGRESS, and progress leads to RUNNING, or to IDLE if the start
 * fails. STOPPING ends when no task is in flight, every task was freed, and peers are disconnected. A fatal error stops a
 * context without doca_ctx_stop(). In IDLE it may be configured and started again.
 *
 * The state callback runs once after each change of state, and doca_ctx_get_state() gives the new state in it. It may do what
 * the new state allows, including doca_ctx_stop(), and destroying the context in IDLE.
 *
 * A context belongs to the thread of its progress engine. (Core guide, "DOCA Context" and "Progress Engine")
 *
 * @retval DOCA_ERROR_BAD_STATE doca_ctx_set_*: the context is not IDLE
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

/** The state of a context. */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,     /**< not started, or stopped: configure, start, destroy */
	DOCA_CTX_STATE_STARTING = 1, /**< started, waiting for a peer or a device: progress, stop */
	DOCA_CTX_STATE_RUNNING = 2,  /**< tasks may be allocated and submitted */
	DOCA_CTX_STATE_STOPPING = 3, /**< flushing: progress, free tasks */
};

/**
 * Called after each change of state, in doca_ctx_start(), doca_ctx_stop() or doca_pe_progress(), on the caller's thread. From
 * STARTING to IDLE: the start failed.
 * @param user_data of doca_ctx_set_user_data()
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data, struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state, enum doca_ctx_states next_state);

/**
 * Starts an IDLE context: allocates all that its data path needs. DOCA_SUCCESS means RUNNING, DOCA_ERROR_IN_PROGRESS STARTING;
 * which of them is fixed by the library. Any other code leaves it IDLE. UROM's contexts start as
 * doca_urom_service_as_ctx(), as doca_urom_worker_as_ctx() and as doca_urom_domain_as_ctx() describe.
 * @retval DOCA_ERROR_IN_PROGRESS doca_pe_progress() completes the start
 * @retval DOCA_ERROR_INVALID_VALUE the configuration is incomplete
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE
 * @retval DOCA_ERROR_NOT_CONNECTED neither a progress engine nor a GPU data path is set
 * @retval DOCA_ERROR_NOT_SUPPORTED the device cannot do this
 * @retval DOCA_ERROR_ALREADY_EXIST the name is in use
 * @retval DOCA_ERROR_NO_MEMORY out of memory or descriptors
 */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Stops a context in any state. Each task in flight gets its callback. May be called again to ask whether the stop is complete.
 * @retval DOCA_ERROR_IN_PROGRESS the context is STOPPING: call doca_pe_progress() until IDLE. Always so in its own callbacks
 */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/** Tasks that were submitted and whose callback has not returned. */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks);

/**
 * Lets GPU kernels, not this thread, send and receive. A progress engine may be connected as well, for state changes. The GPU
 * cannot be destroyed before the context.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/**
 * @name Attributes
 * The last call counts.
 * @{
 */

/** Sets the ctx_user_data of callbacks. */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb);

DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/** @} */

/**
 * Starts the tasks that doca_task_submit_ex() accepted without DOCA_TASK_SUBMIT_FLAG_FLUSH. In IDLE the call is logged and
 * ignored.
 */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/** @retval DOCA_ERROR_NOT_SUPPORTED always: there is no DPA */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

/** @retval DOCA_ERROR_NOT_SUPPORTED always: the devices have no completion vectors */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/**
 * Sets how many NVTX ranges a profiler shows of a task type at a time.
 * @retval DOCA_ERROR_NOT_SUPPORTED always: the libraries have no NVTX ranges
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_profiler_set_max_nranges(struct doca_ctx *ctx, uint8_t num_ranges);

/** Always 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo, uint32_t *num_comp_vectors);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H_ */
