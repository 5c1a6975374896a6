/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the core library that exist in 2.5 only: handles for Windows, and arrays on a DPA. */
#include <doca_pe.h>

#include "legacy25/legacy25.h"

struct legacy_buf_arr;
struct doca_dpa;
struct doca_dpa_dev_buf_arr;

LEGACY_API doca_error_t doca_2_5_pe_set_notification_handle(struct doca_pe *pe, doca_notification_handle_t handle,
							    union doca_data completion_key)
{
	doca_error_t result = legacy_check("doca_pe_set_notification_handle", pe, pe);

	(void)handle;
	(void)completion_key;
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("doca_pe_set_notification_handle: not supported on Linux: "
		   "call doca_pe_get_notification_handle");
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_5_buf_arr_set_target_dpa(struct legacy_buf_arr *buf_arr, struct doca_dpa *dpa)
{
	doca_error_t result = legacy_check("doca_buf_arr_set_target_dpa", buf_arr, dpa);

	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("doca_buf_arr_set_target_dpa: no device here has a DPA: call doca_buf_arr_set_target_gpu");
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_5_buf_arr_get_dpa_handle(const struct legacy_buf_arr *buf_arr,
							struct doca_dpa_dev_buf_arr **dpa_buf_arr)
{
	doca_error_t result = legacy_check("doca_buf_arr_get_dpa_handle", buf_arr, dpa_buf_arr);

	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("doca_buf_arr_get_dpa_handle: the buf array is not on a DPA, and no device here has one");
	return DOCA_ERROR_BAD_STATE;
}
