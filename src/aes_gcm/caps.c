/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of AES-GCM: the same on every device and for both types of task, unless the profile excludes AES-GCM. */
#include "aes_gcm/aes_gcm.h"
#include "base/log.h"
#include "base/profile.h"

static doca_error_t answer_yes(const struct doca_devinfo *devinfo)
{
	if (devinfo != NULL)
		return sf_profile_has(SF_PROFILE_AES_GCM) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
	SF_LOG_ERR("devinfo is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t answer_key_type(const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type)
{
	if (key_type == DOCA_AES_GCM_KEY_128 || key_type == DOCA_AES_GCM_KEY_256)
		return answer_yes(devinfo);
	SF_LOG_ERR("AES-GCM key type %d is unknown: use one of enum doca_aes_gcm_key_type", (int)key_type);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_question(const void *asked, const void *place)
{
	if (asked != NULL && place != NULL)
		return sf_profile_has(SF_PROFILE_AES_GCM) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
	SF_LOG_ERR("%s is NULL", asked == NULL ? "devinfo or aes_gcm" : "the output argument");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t answer_u32(const void *asked, uint32_t value, uint32_t *place)
{
	doca_error_t result = check_question(asked, place);

	if (result == DOCA_SUCCESS)
		*place = value;
	return result;
}

static doca_error_t answer_len(const struct doca_devinfo *devinfo, uint64_t *place)
{
	doca_error_t result = check_question(devinfo, place);

	if (result == DOCA_SUCCESS)
		*place = sf_profile_limit(SF_PROFILE_AES_GCM_BUF_SIZE, AES_GCM_LEN_MAX);
	return result;
}

doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm, uint32_t *max_num_tasks)
{
	return answer_u32(aes_gcm, AES_GCM_TASKS_MAX, max_num_tasks);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo)
{
	return answer_yes(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len)
{
	return answer_u32(devinfo, AES_GCM_IV_MAX, max_iv_len);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo)
{
	return answer_yes(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo)
{
	return answer_yes(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
								 enum doca_aes_gcm_key_type key_type)
{
	return answer_key_type(devinfo, key_type);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
	return answer_len(devinfo, max_buffer_size);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
								     uint32_t *max_list_num_elem)
{
	return answer_u32(devinfo, AES_GCM_LIST_MAX, max_list_num_elem);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo)
{
	return answer_yes(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len)
{
	return answer_u32(devinfo, AES_GCM_IV_MAX, max_iv_len);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo)
{
	return answer_yes(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo)
{
	return answer_yes(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
								 enum doca_aes_gcm_key_type key_type)
{
	return answer_key_type(devinfo, key_type);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
	return answer_len(devinfo, max_buffer_size);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
								     uint32_t *max_list_num_elem)
{
	return answer_u32(devinfo, AES_GCM_LIST_MAX, max_list_num_elem);
}
