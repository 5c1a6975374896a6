/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of SHA, the same on every device. */
#include "base/log.h"
#include "base/profile.h"
#include "sha/sha.h"

static doca_error_t check_algorithm(const void *devinfo, enum doca_sha_algorithm algorithm)
{
	if (devinfo == NULL || !sha_algorithm_is_valid(algorithm)) {
		if (devinfo == NULL)
			SF_LOG_ERR("devinfo is NULL");
		else
			SF_LOG_ERR("SHA algorithm %d is unknown: use one of enum doca_sha_algorithm", (int)algorithm);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t cap_answer(const void *asked, uint64_t value, void *place, size_t size)
{
	if (asked == NULL || place == NULL) {
		SF_LOG_ERR("%s is NULL", asked == NULL ? "devinfo or sha" : "the output argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_profile_has(SF_PROFILE_SHA))
		return DOCA_ERROR_NOT_SUPPORTED;
	if (size == sizeof(uint64_t))
		*(uint64_t *)place = value;
	else
		*(uint32_t *)place = (uint32_t)value;
	return DOCA_SUCCESS;
}

/* Every device supports every algorithm, unless the profile excludes SHA. */
static doca_error_t check_supported(const void *devinfo, enum doca_sha_algorithm algorithm)
{
	doca_error_t result = check_algorithm(devinfo, algorithm);

	return result == DOCA_SUCCESS && !sf_profile_has(SF_PROFILE_SHA) ? DOCA_ERROR_NOT_SUPPORTED : result;
}

doca_error_t doca_sha_cap_task_hash_get_supported(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm)
{
	return check_supported(devinfo, algorithm);
}

doca_error_t doca_sha_cap_task_partial_hash_get_supported(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm)
{
	return check_supported(devinfo, algorithm);
}

doca_error_t doca_sha_cap_get_max_list_buf_num_elem(struct doca_devinfo const *devinfo, uint32_t *max_list_buf_num_elem)
{
	return cap_answer(devinfo, SHA_LIST_MAX, max_list_buf_num_elem, sizeof(*max_list_buf_num_elem));
}

doca_error_t doca_sha_cap_get_max_src_buf_size(struct doca_devinfo const *devinfo, uint64_t *max_src_buf_size)
{
	return cap_answer(devinfo, SHA_LEN_MAX, max_src_buf_size, sizeof(*max_src_buf_size));
}

doca_error_t doca_sha_cap_get_min_dst_buf_size(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm,
					       uint32_t *min_dst_buf_size)
{
	doca_error_t result = check_algorithm(devinfo, algorithm);

	if (result != DOCA_SUCCESS)
		return result;
	return cap_answer(devinfo, sha_digest_size(algorithm), min_dst_buf_size, sizeof(*min_dst_buf_size));
}

doca_error_t doca_sha_cap_get_partial_hash_block_size(struct doca_devinfo const *devinfo, enum doca_sha_algorithm algorithm,
						      uint32_t *partial_block_size)
{
	doca_error_t result = check_algorithm(devinfo, algorithm);

	if (result != DOCA_SUCCESS)
		return result;
	return cap_answer(devinfo, sha_block_size(algorithm), partial_block_size, sizeof(*partial_block_size));
}

doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks)
{
	return cap_answer(sha, UINT64_C(1) << SHA_LOG_TASKS_MAX, max_num_tasks, sizeof(*max_num_tasks));
}
