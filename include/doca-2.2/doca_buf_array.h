/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_array.h
 * Arrays of bufs of one size, for a GPU.
 *
 *     doca_buf_arr_create(mmap, &array);
 *     doca_buf_arr_set_params(array, size, num_elem, 0);
 *     doca_buf_arr_set_target_gpu(array, gpu);
 *     doca_buf_arr_start(array);
 *     doca_buf_arr_get_gpu_handle(array, &handle);
 */
#ifndef DOCA_2_2_BUF_ARRAY_H_
#define DOCA_2_2_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_gpu;
struct doca_mmap;

/** An array of bufs. Opaque. */
struct doca_buf_arr;

/** An array for kernels. Opaque. */
struct doca_gpu_buf_arr;

/**
 * Creates an array over a memory map.
 * @param mmap the memory, which must be started by the time the array is
 * @param buf_arr the new object; destroyed by doca_buf_arr_destroy()
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_create(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr) DOCA_2_2_SYMBOL(doca_2_2_buf_arr_create);

/**
 * Sets the GPU that uses it, before start.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
	DOCA_2_2_SYMBOL(doca_2_2_buf_arr_set_target_gpu);

/**
 * Sets how the memory is divided, before start.
 * @param start_offset where the first begins in the memory map, bytes
 * @retval DOCA_ERROR_INVALID_VALUE a size or number is 0
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem, uint32_t start_offset)
	DOCA_2_2_SYMBOL(doca_2_2_buf_arr_set_params);

/**
 * Starts the array.
 * @retval DOCA_ERROR_BAD_STATE started already, or parameters, target or the map's start are missing
 * @retval DOCA_ERROR_NO_MEMORY out of memory; others as today's doca_buf_arr_start()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr) DOCA_2_2_SYMBOL(doca_2_2_buf_arr_start);

/** Stops the array: its handle is no longer valid. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr) DOCA_2_2_SYMBOL(doca_2_2_buf_arr_stop);

/** Destroys the array. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr) DOCA_2_2_SYMBOL(doca_2_2_buf_arr_destroy);

/**
 * The handle for kernels, of a started array.
 * @retval DOCA_ERROR_BAD_STATE not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr)
	DOCA_2_2_SYMBOL(doca_2_2_buf_arr_get_gpu_handle);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_BUF_ARRAY_H_ */
