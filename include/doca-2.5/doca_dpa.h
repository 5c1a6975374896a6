/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dpa.h
 * @brief The DPA, by the names of DOCA 2.5. As today, no device has one.
 *
 * doca_devinfo_get_is_dpa_supported() reports this, and doca_dpa_create() returns DOCA_ERROR_NOT_SUPPORTED. The other functions
 * check their arguments (DOCA_ERROR_INVALID_VALUE: NULL) and return DOCA_ERROR_NOT_SUPPORTED; outputs are unchanged.
 */
#ifndef DOCA_2_5_DPA_H_
#define DOCA_2_5_DPA_H_

/* Today's function of this name differs. */
#define doca_dpa_create doca_dpa_create_of_today
#include "../doca_dpa.h"
#undef doca_dpa_create
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sync_event;

/** A kernel of the DPA, as declared to the host's compiler. */
typedef void(doca_dpa_func_t)(void);

/** Whether the device has a DPA. DOCA_ERROR_NOT_SUPPORTED: no. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_dpa_supported(const struct doca_devinfo *devinfo) DOCA_2_5_SYMBOL(doca_dpa_cap_is_supported);

/** The name of an application, as set by the DPA's compiler, and its length. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_app_name_get(struct doca_dpa_app *app, char *app_name, size_t *app_name_len)
	DOCA_2_5_SYMBOL(doca_2_5_dpa_app_name_get);

/** Opens a device's DPA with an application on it, and starts it. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa_app *app, struct doca_dpa **dpa)
	DOCA_2_5_SYMBOL(doca_2_5_dpa_create);

/** How many threads one kernel may have. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_max_threads_per_kernel(const struct doca_dpa *dpa, unsigned int *value)
	DOCA_2_5_SYMBOL(doca_2_5_dpa_get_max_threads_per_kernel);

/**
 * Launches a kernel once wait_event exceeds wait_threshold, and sets comp_event to comp_count when it has ended. Both events may
 * be NULL; the arguments after func are the kernel's.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_set(struct doca_dpa *dpa, struct doca_sync_event *wait_event, uint64_t wait_threshold,
					       struct doca_sync_event *comp_event, uint64_t comp_count, unsigned int nthreads,
					       doca_dpa_func_t *func, ...) DOCA_2_5_SYMBOL(doca_2_5_dpa_kernel_launch);

/** The same, but comp_count is added to comp_event. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_add(struct doca_dpa *dpa, struct doca_sync_event *wait_event, uint64_t wait_threshold,
					       struct doca_sync_event *comp_event, uint64_t comp_count, unsigned int nthreads,
					       doca_dpa_func_t *func, ...) DOCA_2_5_SYMBOL(doca_2_5_dpa_kernel_launch);

/** Allocates size bytes of the DPA's memory. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_mem_alloc(struct doca_dpa *dpa, size_t size, doca_dpa_dev_uintptr_t *dev_ptr)
	DOCA_2_5_SYMBOL(doca_2_5_dpa_mem_alloc);

/** Frees memory of the DPA. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_mem_free(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr) DOCA_2_5_SYMBOL(doca_2_5_dpa_mem_free);

/** Copies size bytes to the DPA's memory. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_h2d_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr, void *src_ptr, size_t size)
	DOCA_2_5_SYMBOL(doca_2_5_dpa_h2d_memcpy);

/** Copies size bytes from the DPA's memory. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_d2h_memcpy(struct doca_dpa *dpa, void *dst_ptr, doca_dpa_dev_uintptr_t src_ptr, size_t size)
	DOCA_2_5_SYMBOL(doca_2_5_dpa_d2h_memcpy);

/** Sets size bytes of the DPA's memory to a value. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_memset(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr, int value, size_t size)
	DOCA_2_5_SYMBOL(doca_2_5_dpa_memset);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_DPA_H_ */
