/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dpa.h
 * @brief The DPA, a BlueField's processor for data paths.
 *
 * No device here has one: doca_dpa_cap_is_supported() says so first, and doca_dpa_create() answers DOCA_ERROR_NOT_SUPPORTED.
 * Programs that ask build, run, and take another way:
 *
 * @code
 *   if (doca_dpa_cap_is_supported(devinfo) == DOCA_SUCCESS && doca_dpa_create(dev, &dpa) == DOCA_SUCCESS) {
 *           doca_dpa_set_app(dpa, app);                // what dpacc made of the device code
 *           doca_dpa_start(dpa);
 *           doca_ctx_set_datapath_on_dpa(ctx, dpa);
 *   }
 * @endcode
 *
 * So a struct doca_dpa that is not NULL cannot be had. Every function that takes one, or what belongs to one, looks at its
 * arguments (DOCA_ERROR_INVALID_VALUE) and answers DOCA_ERROR_NOT_SUPPORTED, with one line in the log; outputs stay as they
 * are. Threads: any. (RDMA guide, "DPA Datapath")
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

/** A DPA with an application on it. Opaque. */
struct doca_dpa;

/** Where a DPA's operations report that they are done. Opaque. */
struct doca_dpa_completion;

/** An application for a DPA, as the DPA's compiler makes it. Opaque. */
struct doca_dpa_app;

/** A DPA in the hands of its own code. */
typedef uint64_t doca_dpa_dev_t;

/** An address in a DPA's memory. */
typedef uint64_t doca_dpa_dev_uintptr_t;

/** A completion in the hands of the DPA's code. */
typedef uint64_t doca_dpa_dev_completion_t;

/** How much a DPA's code logs. A larger number is less severe. */
typedef enum doca_dpa_dev_log_level {
	DOCA_DPA_DEV_LOG_LEVEL_DISABLE = 10, /**< nothing */
	DOCA_DPA_DEV_LOG_LEVEL_ERROR = 30,   /**< what failed */
	DOCA_DPA_DEV_LOG_LEVEL_WARNING = 40, /**< what may go wrong */
	DOCA_DPA_DEV_LOG_LEVEL_INFO = 50,    /**< what happens */
	DOCA_DPA_DEV_LOG_LEVEL_DEBUG = 60,   /**< details */
} doca_dpa_dev_log_level_t;

/**
 * @brief Has a device a DPA?
 *
 * @param devinfo the device
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED no device here has one.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * @brief Takes hold of a device's DPA. doca_dpa_destroy() would end it.
 *
 * @param dev the device, open
 * @param[out] dpa the DPA
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dev or dpa is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED the device has none.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa);

/**
 * @brief Ends a DPA, stopped or not.
 *
 * @param dpa the DPA
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_destroy(struct doca_dpa *dpa);

/**
 * @brief Says which application runs on it; before start.
 *
 * @param dpa the DPA
 * @param app the application
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or app is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_app(struct doca_dpa *dpa, struct doca_dpa_app *app);

/**
 * @brief Asks which application runs on it.
 *
 * @param dpa the DPA
 * @param[out] app the application
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or app is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_app(struct doca_dpa *dpa, struct doca_dpa_app **app);

/**
 * @brief Says how much its code logs; before start.
 *
 * @param dpa the DPA
 * @param log_level the least severe level that is shown
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa is NULL, or there is no such level.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t log_level);

/**
 * @brief Asks how much its code logs.
 *
 * @param dpa the DPA
 * @param[out] log_level the level
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or log_level is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t *log_level);

/**
 * @brief Loads the application and makes the DPA ready.
 *
 * @param dpa the DPA, with an application
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_start(struct doca_dpa *dpa);

/**
 * @brief Stops it, so that it can be configured again.
 *
 * @param dpa the DPA
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_stop(struct doca_dpa *dpa);

/**
 * @brief Asks how long one kernel may run.
 *
 * @param dpa the DPA
 * @param[out] value the time, seconds
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or value is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_kernel_max_run_time(const struct doca_dpa *dpa, unsigned long long *value);

/**
 * @brief The DPA as its own code names it; after start.
 *
 * @param dpa the DPA, started
 * @param[out] handle for kernels
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or handle is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_dpa_handle(struct doca_dpa *dpa, doca_dpa_dev_t *handle);

/**
 * @brief Asks whether its code has failed, which nothing but an end mends.
 *
 * @param dpa the DPA, started
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_peek_at_last_error(const struct doca_dpa *dpa);

/**
 * @brief Asks how many cores it has.
 *
 * @param dpa the DPA
 * @param[out] num_cores their number
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or num_cores is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_core_num(struct doca_dpa *dpa, unsigned int *num_cores);

/**
 * @brief Asks how many execution units are free for the program.
 *
 * @param dpa the DPA
 * @param[out] total_num_eus their number
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or total_num_eus is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_total_num_eus_available(struct doca_dpa *dpa, unsigned int *total_num_eus);

/**
 * @brief Makes a completion. doca_dpa_completion_destroy() would end it.
 *
 * @param dpa the DPA
 * @param queue_size how many reports it keeps, 1 at least
 * @param[out] dpa_comp the completion
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa or dpa_comp is NULL, or queue_size is 0.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_create(struct doca_dpa *dpa, unsigned int queue_size, struct doca_dpa_completion **dpa_comp);

/**
 * @brief Ends a completion.
 *
 * @param dpa_comp the completion, stopped
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa_comp is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_destroy(struct doca_dpa_completion *dpa_comp);

/**
 * @brief Says which thread of the DPA a report wakes; before start.
 *
 * @param dpa_comp the completion
 * @param dpa_thread the thread
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa_comp or dpa_thread is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_set_thread(struct doca_dpa_completion *dpa_comp, struct doca_dpa_thread *dpa_thread);

/**
 * @brief Makes it ready for reports.
 *
 * @param dpa_comp the completion
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa_comp is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_start(struct doca_dpa_completion *dpa_comp);

/**
 * @brief Stops it, so that it can be configured again.
 *
 * @param dpa_comp the completion
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa_comp is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_stop(struct doca_dpa_completion *dpa_comp);

/**
 * @brief The completion as the DPA's code names it; after start.
 *
 * @param dpa_comp the completion, started
 * @param[out] handle for kernels
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE dpa_comp or handle is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_dpa_handle(struct doca_dpa_completion *dpa_comp, doca_dpa_dev_completion_t *handle);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_H_ */
