/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_array.h
 * Buf arrays: a memory map cut into equal pieces, for code on a GPU.
 *
 *     doca_buf_arr_create(1024, &arr);
 *     doca_buf_arr_set_target_gpu(arr, gpu);
 *     doca_buf_arr_set_params(arr, mmap, 2048, 0);        mmap must be started before the array
 *     doca_buf_arr_start(arr);
 *     doca_buf_arr_get_gpu_handle(arr, &handle);          for the doca_gpu_dev_buf_* functions of a kernel
 *     ...
 *     doca_buf_arr_destroy(arr);
 *
 * Element i begins start_offset + i * elem_size bytes into the memory map, whose memory is a GPU's or the host's. No kernel
 * may use the handle after stop. The memory map may go before the array. A buf array belongs to one thread at a time;
 * kernels read its handle from any number. (GPUNetIO guide, "Buffers")
 */
#ifndef DOCA_BUF_ARRAY_H_
#define DOCA_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dpa;
struct doca_gpu;
struct doca_gpu_buf_arr;
struct doca_mmap;

/** A buf array. */
struct doca_buf_arr;

/** A buf array as code on a DPA names it. */
typedef uint64_t doca_dpa_dev_buf_arr_t;

/**
 * Creates an array.
 *
 * @param num_elem  number of elements, at least 1
 * @param buf_arr  set to the new array
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL, or the number is 0 or above 268435456
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr);

/**
 * Chooses the GPU whose kernels use the array. It cannot be destroyed until the array is.
 *
 * @param buf_arr  the array
 * @param gpu_handler  from doca_gpu_create()
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the array is started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler);

/**
 * Chooses a DPA whose code uses the array. There is none here.
 *
 * @param buf_arr  the array
 * @param dpa_handler  the DPA
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_NOT_SUPPORTED: always, when the arguments are right
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the array is started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler);

/**
 * Sets where the elements lie.
 *
 * @param buf_arr  the array
 * @param mmap  the memory map
 * @param elem_size  bytes from one element to the next
 * @param start_offset  bytes from the beginning of the memory map to the first
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, elem_size is 0, or the elements do not fit into the memory map
 * - DOCA_ERROR_BAD_STATE: the array is started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap, size_t elem_size,
				     uint64_t start_offset);

/**
 * Lays the array out for kernels.
 *
 * @param buf_arr  the array
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL, or the elements do not fit into the memory map
 * - DOCA_ERROR_BAD_STATE: the array is started, or lacks a GPU, parameters or a started memory map; or the memory cannot be reached
 *   by the GPU: the owner of imported memory has stopped it or is gone, it is another GPU's
 * - DOCA_ERROR_NO_MEMORY: the GPU has no memory for the layout
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr);

/**
 * Takes the layout back. No kernel may be using it. One that is not started stays as it is.
 *
 * @param buf_arr  the array
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr);

/**
 * Destroys an array, stopping it first.
 *
 * @param buf_arr  the array
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr);

/**
 * Gets what kernels take for the array. Valid until stop.
 *
 * @param buf_arr  the array
 * @param gpu_buf_arr  set to it, an address for kernels
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the array is not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr);

/**
 * Gets what code on a DPA takes for the array.
 *
 * @param buf_arr  the array
 * @param dpa_buf_arr  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: else, since the target is never a DPA here
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr, doca_dpa_dev_buf_arr_t *dpa_buf_arr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_ARRAY_H_ */
