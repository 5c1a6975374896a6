/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPA of 2.5. No device has one, so no DPA object that is passed can be valid. */
#include <doca_dpa.h>

#include "legacy25/legacy25.h"

struct doca_sync_event;

static doca_error_t dpa_reject(const char *function, const void *object, const void *argument)
{
	doca_error_t result = legacy_check(function, object, argument);

	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("%s: no device here has a DPA (doca_devinfo_get_is_dpa_supported): use the data path of the CPU or of a GPU",
		   function);
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_5_dpa_app_name_get(struct doca_dpa_app *app, char *app_name, size_t *app_name_len)
{
	(void)app_name; /* may be NULL, to ask for the length */
	return dpa_reject("doca_dpa_app_name_get", app, app_name_len);
}

LEGACY_API doca_error_t doca_2_5_dpa_create(struct doca_dev *dev, struct doca_dpa_app *app, struct doca_dpa **dpa)
{
	return dpa_reject("doca_dpa_create", dev, app != NULL ? (void *)dpa : NULL);
}

LEGACY_API doca_error_t doca_2_5_dpa_get_max_threads_per_kernel(const struct doca_dpa *dpa, unsigned int *value)
{
	return dpa_reject("doca_dpa_get_max_threads_per_kernel", dpa, value);
}

LEGACY_API doca_error_t doca_2_5_dpa_kernel_launch(struct doca_dpa *dpa, struct doca_sync_event *wait_event,
						   uint64_t wait_threshold, struct doca_sync_event *comp_event,
						   uint64_t comp_count, unsigned int nthreads, void (*func)(void), ...)
{
	(void)wait_event;
	(void)wait_threshold;
	(void)comp_event;
	(void)comp_count;
	return dpa_reject("doca_dpa_kernel_launch", dpa, func != NULL && nthreads != 0 ? dpa : NULL);
}

LEGACY_API doca_error_t doca_2_5_dpa_mem_alloc(struct doca_dpa *dpa, size_t size, doca_dpa_dev_uintptr_t *dev_ptr)
{
	return dpa_reject("doca_dpa_mem_alloc", dpa, size != 0 ? dev_ptr : NULL);
}

LEGACY_API doca_error_t doca_2_5_dpa_mem_free(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr)
{
	return dpa_reject("doca_dpa_mem_free", dpa, dev_ptr != 0 ? dpa : NULL);
}

LEGACY_API doca_error_t doca_2_5_dpa_h2d_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr, void *src_ptr, size_t size)
{
	(void)size;
	return dpa_reject("doca_dpa_h2d_memcpy", dpa, dst_ptr != 0 ? src_ptr : NULL);
}

LEGACY_API doca_error_t doca_2_5_dpa_d2h_memcpy(struct doca_dpa *dpa, void *dst_ptr, doca_dpa_dev_uintptr_t src_ptr, size_t size)
{
	(void)size;
	return dpa_reject("doca_dpa_d2h_memcpy", dpa, src_ptr != 0 ? dst_ptr : NULL);
}

LEGACY_API doca_error_t doca_2_5_dpa_memset(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr, int value, size_t size)
{
	(void)value;
	(void)size;
	return dpa_reject("doca_dpa_memset", dpa, dev_ptr != 0 ? dpa : NULL);
}
