/* SPDX-License-Identifier: BSD-3-Clause */
/* What compression can do: the same on every device. */
#include "base/log.h"
#include "compress/compress.h"

static doca_error_t check_device(const void *devinfo)
{
	if (devinfo != NULL)
		return DOCA_SUCCESS; /* every device has every type of task */
	SF_LOG_ERR("no device info given to ask for compression");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t answer(const void *asked, uint64_t value, void *place, size_t size)
{
	if (asked == NULL || place == NULL) {
		SF_LOG_ERR("no %s given to ask what compression can do", asked == NULL ? "device info or context" : "place");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (size == sizeof(uint64_t))
		*(uint64_t *)place = value;
	else
		*(uint32_t *)place = (uint32_t)value;
	return DOCA_SUCCESS;
}

doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress, uint32_t *max_num_tasks)
{
	return answer(compress, COMPRESS_TASKS_MAX, max_num_tasks, sizeof(*max_num_tasks));
}

doca_error_t doca_compress_cap_task_compress_deflate_is_supported(const struct doca_devinfo *devinfo)
{
	return check_device(devinfo);
}

doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
								      uint64_t *max_buffer_size)
{
	return answer(devinfo, COMPRESS_LEN_MAX, max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									  uint32_t *max_buf_list_len)
{
	return answer(devinfo, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_deflate_is_supported(const struct doca_devinfo *devinfo)
{
	return check_device(devinfo);
}

doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
									uint64_t *max_buffer_size)
{
	return answer(devinfo, COMPRESS_LEN_MAX, max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									    uint32_t *max_buf_list_len)
{
	return answer(devinfo, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_lz4_is_supported(const struct doca_devinfo *devinfo)
{
	return check_device(devinfo);
}

doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
	return answer(devinfo, COMPRESS_LEN_MAX, max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									uint32_t *max_buf_list_len)
{
	return answer(devinfo, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_is_supported(const struct doca_devinfo *devinfo)
{
	return check_device(devinfo);
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size(const struct doca_devinfo *devinfo,
									   uint64_t *max_buffer_size)
{
	return answer(devinfo, COMPRESS_LEN_MAX, max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									       uint32_t *max_buf_list_len)
{
	return answer(devinfo, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_is_supported(const struct doca_devinfo *devinfo)
{
	return check_device(devinfo);
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_size(const struct doca_devinfo *devinfo,
									  uint64_t *max_buffer_size)
{
	return answer(devinfo, COMPRESS_BLOCK_MAX, max_buffer_size, sizeof(*max_buffer_size));
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									      uint32_t *max_buf_list_len)
{
	return answer(devinfo, COMPRESS_LIST_MAX, max_buf_list_len, sizeof(*max_buf_list_len));
}
