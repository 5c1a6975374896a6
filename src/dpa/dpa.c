/* SPDX-License-Identifier: BSD-3-Clause */
/* No device here has a DPA, so none can be created, and no DPA object that a caller passes can be valid. */
#include <doca_dpa.h>

#include "base/log.h"

static doca_error_t null_reject(const char *function, const char *what)
{
	SF_LOG_ERR("%s: %s is NULL", function, what);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t dpa_none(const char *function)
{
	SF_LOG_ERR("%s: no device here has a DPA (doca_dpa_cap_is_supported): use the data path of the CPU or of a GPU",
		   function);
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* Rejects a call that has an object and perhaps another argument. */
static doca_error_t dpa_reject(const char *function, const void *object, const void *argument)
{
	return object == NULL || argument == NULL ? null_reject(function, object == NULL ? "the object" : "the second argument")
						  : dpa_none(function);
}

doca_error_t doca_dpa_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo == NULL ? null_reject(__func__, "devinfo") : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa)
{
	return dpa_reject(__func__, dev, dpa);
}

doca_error_t doca_dpa_destroy(struct doca_dpa *dpa)
{
	return dpa_reject(__func__, dpa, dpa);
}

doca_error_t doca_dpa_set_app(struct doca_dpa *dpa, struct doca_dpa_app *app)
{
	return dpa_reject(__func__, dpa, app);
}

doca_error_t doca_dpa_get_app(struct doca_dpa *dpa, struct doca_dpa_app **app)
{
	return dpa_reject(__func__, dpa, app);
}

doca_error_t doca_dpa_set_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t log_level)
{
	switch (log_level) {
	case DOCA_DPA_DEV_LOG_LEVEL_DISABLE:
	case DOCA_DPA_DEV_LOG_LEVEL_ERROR:
	case DOCA_DPA_DEV_LOG_LEVEL_WARNING:
	case DOCA_DPA_DEV_LOG_LEVEL_INFO:
	case DOCA_DPA_DEV_LOG_LEVEL_DEBUG:
		return dpa_reject(__func__, dpa, dpa);
	}
	SF_LOG_ERR("%s: log level %u is unknown", __func__, (unsigned int)log_level);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_dpa_get_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t *log_level)
{
	return dpa_reject(__func__, dpa, log_level);
}

doca_error_t doca_dpa_start(struct doca_dpa *dpa)
{
	return dpa_reject(__func__, dpa, dpa);
}

doca_error_t doca_dpa_stop(struct doca_dpa *dpa)
{
	return dpa_reject(__func__, dpa, dpa);
}

doca_error_t doca_dpa_get_kernel_max_run_time(const struct doca_dpa *dpa, unsigned long long *value)
{
	return dpa_reject(__func__, dpa, value);
}

doca_error_t doca_dpa_get_dpa_handle(struct doca_dpa *dpa, doca_dpa_dev_t *handle)
{
	return dpa_reject(__func__, dpa, handle);
}

doca_error_t doca_dpa_peek_at_last_error(const struct doca_dpa *dpa)
{
	return dpa_reject(__func__, dpa, dpa);
}

doca_error_t doca_dpa_get_core_num(struct doca_dpa *dpa, unsigned int *num_cores)
{
	return dpa_reject(__func__, dpa, num_cores);
}

doca_error_t doca_dpa_get_total_num_eus_available(struct doca_dpa *dpa, unsigned int *total_num_eus)
{
	return dpa_reject(__func__, dpa, total_num_eus);
}

doca_error_t doca_dpa_completion_create(struct doca_dpa *dpa, unsigned int queue_size, struct doca_dpa_completion **dpa_comp)
{
	if (queue_size == 0)
		return null_reject(__func__, "queue size");
	return dpa_reject(__func__, dpa, dpa_comp);
}

doca_error_t doca_dpa_completion_destroy(struct doca_dpa_completion *dpa_comp)
{
	return dpa_reject(__func__, dpa_comp, dpa_comp);
}

doca_error_t doca_dpa_completion_set_thread(struct doca_dpa_completion *dpa_comp, struct doca_dpa_thread *dpa_thread)
{
	return dpa_reject(__func__, dpa_comp, dpa_thread);
}

doca_error_t doca_dpa_completion_start(struct doca_dpa_completion *dpa_comp)
{
	return dpa_reject(__func__, dpa_comp, dpa_comp);
}

doca_error_t doca_dpa_completion_stop(struct doca_dpa_completion *dpa_comp)
{
	return dpa_reject(__func__, dpa_comp, dpa_comp);
}

doca_error_t doca_dpa_completion_get_dpa_handle(struct doca_dpa_completion *dpa_comp, doca_dpa_dev_completion_t *handle)
{
	return dpa_reject(__func__, dpa_comp, handle);
}
