/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_dev_buf.cuh
 * Buffer arrays from a kernel: which address and memory key an element has. The host makes the array (doca_buf_array.h) and
 * passes its handle to the kernel. Nothing is checked: the kernel must not pass an index past the end. The functions return
 * DOCA_SUCCESS, as those of DOCA 2 do; from 3.0 on they return nothing.
 *
 * Compiles as CUDA C++ with nvcc and, for the software GPU, as C and C++. Any number of threads may call the functions at a time.
 */
#ifndef DOCA_GPUNETIO_DEV_BUF_CUH_
#define DOCA_GPUNETIO_DEV_BUF_CUH_

#include <stdint.h>
#include <doca_gpunetio.h>
#include <doca_error.h>
#include <softfield/device.h>
#include <softfield/gpu_buf.h>

/** A buffer, as kernels know it. */
struct doca_gpu_buf;

/** An array of buffers, as kernels know it. */
struct doca_gpu_buf_arr;

/**
 * Returns an element of an array.
 * @param doca_gpu_buf_idx its index, from 0
 * @param buf the element; lives as long as the array
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_buf_get_buf(const struct doca_gpu_buf_arr *buf_arr_gpu,
						       const uint64_t doca_gpu_buf_idx, struct doca_gpu_buf **buf)
{
	*buf = &buf_arr_gpu->bufs[doca_gpu_buf_idx];
	return DOCA_SUCCESS;
}

/** Returns the address at which a buffer begins, for kernels. */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_buf_get_addr(const struct doca_gpu_buf *buf, uintptr_t *addr)
{
	*addr = (uintptr_t)buf->addr;
	return DOCA_SUCCESS;
}

/** Returns the memory key of a buffer. */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_buf_get_mkey(const struct doca_gpu_buf *buf, uint32_t *mkey)
{
	*mkey = buf->mkey;
	return DOCA_SUCCESS;
}

/**
 * Creates a buffer from an address and a key, without an array.
 * @param addr where it begins, an address for kernels
 * @param buf *buf points to a struct doca_gpu_buf of the caller's, which is filled in
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_buf_create(uintptr_t addr, uint32_t mkey, struct doca_gpu_buf **buf)
{
	(*buf)->addr = addr;
	(*buf)->room = (*buf)->to_cpu = 0;
	(*buf)->flags = (*buf)->permissions = (*buf)->id = 0;
	(*buf)->mkey = mkey;
	return DOCA_SUCCESS;
}

#endif /* DOCA_GPUNETIO_DEV_BUF_CUH_ */
