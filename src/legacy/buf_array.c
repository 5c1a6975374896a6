/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of bufs: the 2.2 API sets the number of elements after create, so today's array is made at start. */
#include <stdlib.h>

#include <doca_buf_array.h>

#include "legacy/legacy.h"

struct legacy_buf_arr {
	struct doca_mmap *mmap;
	struct doca_gpu *gpu;
	size_t size;
	uint32_t num_elem, start_offset;
	struct doca_buf_arr *array; /* NULL while stopped */
};

static doca_error_t check_stopped(const struct legacy_buf_arr *array, const char *function)
{
	if (array->array == NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the buf array is started", function);
	return DOCA_ERROR_BAD_STATE;
}

LEGACY_API doca_error_t doca_2_2_buf_arr_create(struct doca_mmap *mmap, struct legacy_buf_arr **buf_arr)
{
	doca_error_t result = legacy_check("doca_buf_arr_create", buf_arr, mmap);
	struct legacy_buf_arr *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a buf array");
		return DOCA_ERROR_NO_MEMORY;
	}
	created->mmap = mmap;
	*buf_arr = created;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_buf_arr_set_target_gpu(struct legacy_buf_arr *buf_arr, struct doca_gpu *gpu)
{
	doca_error_t result = legacy_check("doca_buf_arr_set_target_gpu", buf_arr, gpu);

	if (result == DOCA_SUCCESS)
		result = check_stopped(buf_arr, "doca_buf_arr_set_target_gpu");
	if (result == DOCA_SUCCESS)
		buf_arr->gpu = gpu;
	return result;
}

LEGACY_API doca_error_t doca_2_2_buf_arr_set_params(struct legacy_buf_arr *buf_arr, size_t size, uint32_t num_elem,
						    uint32_t start_offset)
{
	doca_error_t result = legacy_check("doca_buf_arr_set_params", buf_arr, buf_arr);

	if (result == DOCA_SUCCESS)
		result = check_stopped(buf_arr, "doca_buf_arr_set_params");
	if (result == DOCA_SUCCESS && (size == 0 || num_elem == 0)) {
		SF_LOG_ERR("a buf array of %u elements of %zu bytes: both must be at least 1", num_elem, size);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS)
		return result;
	buf_arr->size = size;
	buf_arr->num_elem = num_elem;
	buf_arr->start_offset = start_offset;
	return DOCA_SUCCESS;
}

static doca_error_t array_start(const struct legacy_buf_arr *buf_arr, struct doca_buf_arr *array)
{
	doca_error_t result = doca_buf_arr_set_params(array, buf_arr->mmap, buf_arr->size, buf_arr->start_offset);

	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_set_target_gpu(array, buf_arr->gpu);
	return result == DOCA_SUCCESS ? doca_buf_arr_start(array) : result;
}

LEGACY_API doca_error_t doca_2_2_buf_arr_start(struct legacy_buf_arr *buf_arr)
{
	doca_error_t result = legacy_check("doca_buf_arr_start", buf_arr, buf_arr);
	struct doca_buf_arr *array;

	if (result == DOCA_SUCCESS)
		result = check_stopped(buf_arr, "doca_buf_arr_start");
	if (result == DOCA_SUCCESS && (buf_arr->size == 0 || buf_arr->gpu == NULL)) {
		SF_LOG_ERR("doca_buf_arr_start: the buf array has no %s", buf_arr->size == 0 ? "parameters" : "target");
		result = DOCA_ERROR_BAD_STATE;
	}
	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_create(buf_arr->num_elem, &array);
	if (result != DOCA_SUCCESS)
		return result;
	result = array_start(buf_arr, array);
	if (result == DOCA_SUCCESS)
		buf_arr->array = array;
	else
		doca_buf_arr_destroy(array);
	return result;
}

LEGACY_API doca_error_t doca_2_2_buf_arr_stop(struct legacy_buf_arr *buf_arr)
{
	doca_error_t result = legacy_check("doca_buf_arr_stop", buf_arr, buf_arr);

	if (result != DOCA_SUCCESS || buf_arr->array == NULL)
		return result;
	result = doca_buf_arr_stop(buf_arr->array);
	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_destroy(buf_arr->array);
	if (result == DOCA_SUCCESS)
		buf_arr->array = NULL;
	return result;
}

LEGACY_API doca_error_t doca_2_2_buf_arr_destroy(struct legacy_buf_arr *buf_arr)
{
	doca_error_t result = doca_2_2_buf_arr_stop(buf_arr);

	if (result == DOCA_SUCCESS)
		free(buf_arr);
	return result;
}

LEGACY_API doca_error_t doca_2_2_buf_arr_get_gpu_handle(const struct legacy_buf_arr *buf_arr,
							struct doca_gpu_buf_arr **gpu_buf_arr)
{
	doca_error_t result = legacy_check("doca_buf_arr_get_gpu_handle", buf_arr, gpu_buf_arr);

	if (result == DOCA_SUCCESS && buf_arr->array == NULL) {
		SF_LOG_ERR("doca_buf_arr_get_gpu_handle: the buf array is not started");
		result = DOCA_ERROR_BAD_STATE;
	}
	return result == DOCA_SUCCESS ? doca_buf_arr_get_gpu_handle(buf_arr->array, gpu_buf_arr) : result;
}
