/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of EC: the same on every device, unless the profile excludes EC. */
#include "base/log.h"
#include "base/profile.h"
#include "erasure_coding/erasure_coding.h"

static doca_error_t cap_supported(const struct doca_devinfo *devinfo)
{
	if (devinfo != NULL)
		return sf_profile_has(SF_PROFILE_ERASURE_CODING) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
	SF_LOG_ERR("devinfo is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_asked(const struct doca_devinfo *devinfo, const void *place)
{
	if (devinfo != NULL && place != NULL)
		return cap_supported(devinfo);
	SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "the output argument");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_ec_cap_task_galois_mul_is_supported(const struct doca_devinfo *devinfo)
{
	return cap_supported(devinfo);
}

doca_error_t doca_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo)
{
	return cap_supported(devinfo);
}

doca_error_t doca_ec_cap_task_update_is_supported(const struct doca_devinfo *devinfo)
{
	return cap_supported(devinfo);
}

doca_error_t doca_ec_cap_task_recover_is_supported(const struct doca_devinfo *devinfo)
{
	return cap_supported(devinfo);
}

doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo, uint64_t *max_block_size)
{
	doca_error_t result = check_asked(devinfo, max_block_size);

	if (result == DOCA_SUCCESS)
		*max_block_size = sf_profile_limit(SF_PROFILE_ERASURE_CODING_BLOCK_SIZE, EC_BLOCK_MAX);
	return result;
}

doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
{
	doca_error_t result = check_asked(devinfo, max_buf_list_len);

	if (result == DOCA_SUCCESS)
		*max_buf_list_len = EC_LIST_MAX;
	return result;
}
