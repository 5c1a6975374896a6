/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_array.h
 * Buffer arrays: a memory map cut into equal elements, for GPU kernels.
 *
 *     doca_buf_arr_create(1024, &arr);
 *     doca_buf_arr_set_target_gpu(arr, gpu);
 *     doca_buf_arr_set_params(arr, mmap, 2048, 0);        mmap must be started before the array
 *     doca_buf_arr_start(arr);
 *     doca_buf_arr_get_gpu_handle(arr, &handle);          for the doca_gpu_dev_buf_* functions of a kernel
 *     ...
 *     doca_buf_arr_destroy(arr);
 *
 * Element i begins at start_offset + i * elem_size in the memory map, which is a GPU's memory or the host's. Kernels must not
 * use the handle after stop. The memory map may be destroyed before the array. An array belongs to one thread at a time; any
 * number of kernels may read its handle. (GPUNetIO guide, "Buffers")
 *
 * @retval DOCA_ERROR_BAD_STATE doca_buf_arr_set_*: the array is started
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

/** A handle for code on a DPA. */
typedef uint64_t doca_dpa_dev_buf_arr_t;

/**
 * @param num_elem 1 to 268435456
 * @retval DOCA_ERROR_INVALID_VALUE num_elem is out of range
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr);

/** Sets the GPU whose kernels use the array. It cannot be destroyed before the array. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler);

/** @retval DOCA_ERROR_NOT_SUPPORTED always: there is no DPA */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler);

/**
 * @param elem_size bytes from one element to the next
 * @param start_offset of the first element in the memory map
 * @retval DOCA_ERROR_INVALID_VALUE elem_size is 0, or the elements do not fit into the memory map
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap, size_t elem_size,
				     uint64_t start_offset);

/**
 * Lays the array out for kernels.
 * @retval DOCA_ERROR_INVALID_VALUE the elements do not fit into the memory map
 * @retval DOCA_ERROR_BAD_STATE the array is started, or lacks a GPU, parameters or a started memory map; or the GPU cannot
 *   access the memory: its exporter has stopped it or is gone, or it is another GPU's
 * @retval DOCA_ERROR_NO_MEMORY the GPU is out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr);

/** Frees the layout. No kernel may be using it. Does nothing if it is not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr);

/** Stops and destroys an array. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr);

/**
 * An address for kernels, valid until stop.
 * @retval DOCA_ERROR_BAD_STATE the array is not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr);

/** @retval DOCA_ERROR_BAD_STATE always: there is no DPA */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr, doca_dpa_dev_buf_arr_t *dpa_buf_arr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_ARRAY_H_ */
