/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of compression: the same on every device, unless the profile excludes some. */
#include "base/log.h"
#include "base/profile.h"
#include "compress/compress.h"

static doca_error_t answer_feature(const void *devinfo, enum sf_profile_feature feature)
{
	if (devinfo != NULL)
		return sf_profile_has(feature) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
	SF_LOG_ERR("devinfo is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t cap_answer(const void *asked, enum sf_profile_feature feature, uint64_t value, void *place, size_t size)
{
	if (asked == NULL || place == NULL) {
		SF_LOG_ERR("%s is NULL", asked == NULL ? "devinfo or compress" : "the output argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_profile_has(feature))
		return DOCA_ERROR_NOT_SUPPORTED;
	if (size == sizeof(uint64_t))
		*(uint64_t *)place = value;
	else
		*(uint32_t *)place = (uint32_t)value;
	return DOCA_SUCCESS;
}

doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress, uint32_t *max_num_tasks)
{
	return cap_answer(compress, SF_PROFILE_DECOMPRESS_DEFLATE, COMPRESS_TASKS_MAX, max_num_tasks, sizeof(*max_num_tasks));
}

doca_error_t doca_compress_cap_task_compress_deflate_is_supported(const struct doca_devinfo *devinfo)
{
	return answer_feature(devinfo, SF_PROFILE_COMPRESS_DEFLATE);
}

doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
								      uint64_t *max_buffer_size)
{
	return cap_answer(devinfo, SF_PROFILE_COMPRESS_DEFLATE, sf_profile_limit(SF_PROFILE_COMPRESS_BUF_SIZE, COMPRESS_LEN_MAX),
			  max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									  uint32_t *max_buf_list_len)
{
	return cap_answer(devinfo, SF_PROFILE_COMPRESS_DEFLATE, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_deflate_is_supported(const struct doca_devinfo *devinfo)
{
	return answer_feature(devinfo, SF_PROFILE_DECOMPRESS_DEFLATE);
}

doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
									uint64_t *max_buffer_size)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_DEFLATE,
			  sf_profile_limit(SF_PROFILE_DECOMPRESS_BUF_SIZE, COMPRESS_LEN_MAX), max_buffer_size,
			  sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									    uint32_t *max_buf_list_len)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_DEFLATE, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_lz4_is_supported(const struct doca_devinfo *devinfo)
{
	return answer_feature(devinfo, SF_PROFILE_DECOMPRESS_LZ4);
}

doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_LZ4, sf_profile_limit(SF_PROFILE_DECOMPRESS_BUF_SIZE, COMPRESS_LEN_MAX),
			  max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									uint32_t *max_buf_list_len)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_LZ4, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_is_supported(const struct doca_devinfo *devinfo)
{
	return answer_feature(devinfo, SF_PROFILE_DECOMPRESS_LZ4);
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size(const struct doca_devinfo *devinfo,
									   uint64_t *max_buffer_size)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_LZ4, sf_profile_limit(SF_PROFILE_DECOMPRESS_BUF_SIZE, COMPRESS_LEN_MAX),
			  max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									       uint32_t *max_buf_list_len)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_LZ4, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_is_supported(const struct doca_devinfo *devinfo)
{
	return answer_feature(devinfo, SF_PROFILE_DECOMPRESS_LZ4);
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_size(const struct doca_devinfo *devinfo,
									  uint64_t *max_buffer_size)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_LZ4,
			  sf_profile_limit(SF_PROFILE_DECOMPRESS_BUF_SIZE, COMPRESS_BLOCK_MAX), max_buffer_size,
			  sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									      uint32_t *max_buf_list_len)
{
	return cap_answer(devinfo, SF_PROFILE_DECOMPRESS_LZ4, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}
