/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dpa.h
 * The DPA, a BlueField's processor for data paths. No device of Softfield has one. Programs compile, check for it, and use
 * another path:
 *
 *     if (doca_dpa_cap_is_supported(devinfo) == DOCA_SUCCESS && doca_dpa_create(dev, &dpa) == DOCA_SUCCESS) {
 *             doca_dpa_set_app(dpa, app);                // made by dpacc from the device code
 *             doca_dpa_start(dpa);
 *             doca_ctx_set_datapath_on_dpa(ctx, dpa);
 *     }
 *
 * Every call checks its arguments, logs one line and fails; outputs are unchanged. Any thread may call any function. (RDMA
 * guide, "DPA Datapath")
 *
 * @retval DOCA_ERROR_NOT_SUPPORTED doca_dpa_*: always: no device has a DPA
 */
#ifndef DOCA_DPA_H_
#define DOCA_DPA_H_

#include <stdint.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdbool.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dpa_thread;

/** A DPA with an application on it. */
struct doca_dpa;

/** Where operations of a DPA report their completion. */
struct doca_dpa_completion;

/** An application for a DPA, as dpacc makes it. */
struct doca_dpa_app;

/** Handles for code on a DPA. */
typedef uint64_t doca_dpa_dev_t;

/** An address in a DPA's memory. */
typedef uint64_t doca_dpa_dev_uintptr_t;

/** A completion's handle for code on a DPA. */
typedef uint64_t doca_dpa_dev_completion_t;

/** Log levels of code on a DPA. A larger number is less severe. */
typedef enum doca_dpa_dev_log_level {
	DOCA_DPA_DEV_LOG_LEVEL_DISABLE = 10, /**< nothing */
	DOCA_DPA_DEV_LOG_LEVEL_ERROR = 30,   /**< what failed */
	DOCA_DPA_DEV_LOG_LEVEL_WARNING = 40, /**< what may go wrong */
	DOCA_DPA_DEV_LOG_LEVEL_INFO = 50,    /**< what happens */
	DOCA_DPA_DEV_LOG_LEVEL_DEBUG = 60,   /**< details */
} doca_dpa_dev_log_level_t;

/**
 * @name DPAs and their completions
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_cap_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_destroy(struct doca_dpa *dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_app(struct doca_dpa *dpa, struct doca_dpa_app *app);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_app(struct doca_dpa *dpa, struct doca_dpa_app **app);

/** @retval DOCA_ERROR_INVALID_VALUE no such level */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t log_level);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t *log_level);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_start(struct doca_dpa *dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_stop(struct doca_dpa *dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_kernel_max_run_time(const struct doca_dpa *dpa, unsigned long long *value);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_dpa_handle(struct doca_dpa *dpa, doca_dpa_dev_t *handle);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_peek_at_last_error(const struct doca_dpa *dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_core_num(struct doca_dpa *dpa, unsigned int *num_cores);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_total_num_eus_available(struct doca_dpa *dpa, unsigned int *total_num_eus);

/** @retval DOCA_ERROR_INVALID_VALUE queue_size is 0 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_create(struct doca_dpa *dpa, unsigned int queue_size, struct doca_dpa_completion **dpa_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_destroy(struct doca_dpa_completion *dpa_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_set_thread(struct doca_dpa_completion *dpa_comp, struct doca_dpa_thread *dpa_thread);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_start(struct doca_dpa_completion *dpa_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_stop(struct doca_dpa_completion *dpa_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_dpa_handle(struct doca_dpa_completion *dpa_comp, doca_dpa_dev_completion_t *handle);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_H_ */
