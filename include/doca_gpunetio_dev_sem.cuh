/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_dev_sem.cuh
 * Semaphores from a kernel. A semaphore is an array of items. Each has a status, which kernels and, where its memory allows, the
 * CPU set and read, information about packets, and custom information. The host creates it (doca_gpunetio.h).
 *
 * What a thread writes before it sets a status is visible to every reader of that status.
 * Compiles as CUDA C++ with nvcc and, for the software GPU, as C and C++. Any number of threads may call the functions at a time.
 */
#ifndef DOCA_GPUNETIO_DEV_SEM_CUH_
#define DOCA_GPUNETIO_DEV_SEM_CUH_

#include <stdint.h>
#include <doca_gpunetio.h>
#include <doca_error.h>
#include <softfield/device.h>
#include <softfield/gpu_sem.h>

/** Loads an item in one piece; later loads are not moved before it. */
SOFTFIELD_DEVICE struct softfield_sem_item softfield_sem_load(const struct softfield_sem_item *item)
{
	struct softfield_slot16 q = softfield_load_slot16((const struct softfield_slot16 *)item);
	struct softfield_sem_item out;

	softfield_fence_system();
	softfield_observed(item);
	out.status = q.w[0];
	out.num_packets = q.w[1];
	out.buf_idx_start = q.w[2] | (uint64_t)q.w[3] << 32;
	return out;
}

/**
 * Sets the status of an item.
 * @param idx the item, from 0
 * @retval DOCA_ERROR_INVALID_VALUE no semaphore, or no such item
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_semaphore_set_status(struct doca_gpu_semaphore_gpu *semaphore_gpu, uint32_t idx,
								enum doca_gpu_semaphore_status status)
{
	if (semaphore_gpu == 0 || idx >= semaphore_gpu->num_items)
		return DOCA_ERROR_INVALID_VALUE;
	softfield_fence_system();
	softfield_published(&semaphore_gpu->items[idx]);
#if defined(__CUDACC__)
	*(volatile uint32_t *)&semaphore_gpu->items[idx].status = status;
#else
	__atomic_store_n(&semaphore_gpu->items[idx].status, (uint32_t)status, __ATOMIC_RELEASE);
#endif
	return DOCA_SUCCESS;
}

/**
 * Sets the status of an item if it has a certain one; of several threads that try, one succeeds.
 * @param idx the item, from 0
 * @retval DOCA_ERROR_INVALID_VALUE no semaphore, or no such item
 * @retval DOCA_ERROR_NOT_PERMITTED it has another status, which stays
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_semaphore_set_status_cas(struct doca_gpu_semaphore_gpu *semaphore_gpu, uint32_t idx,
								    enum doca_gpu_semaphore_status status_compare,
								    enum doca_gpu_semaphore_status status_val)
{
	uint32_t before = status_compare;

	if (semaphore_gpu == 0 || idx >= semaphore_gpu->num_items)
		return DOCA_ERROR_INVALID_VALUE;
	softfield_fence_system();
#if defined(__CUDACC__)
	before = atomicCAS_system(&semaphore_gpu->items[idx].status, (uint32_t)status_compare, (uint32_t)status_val);
#else
	__atomic_compare_exchange_n(&semaphore_gpu->items[idx].status, &before, (uint32_t)status_val, 0, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
#endif
	return before == (uint32_t)status_compare ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED;
}

/**
 * Sets the status of an item together with its information about packets.
 * @param idx the item, from 0
 * @param doca_buf_idx_start index of the first one's buffer
 * @retval DOCA_ERROR_INVALID_VALUE no semaphore, or no such item
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_semaphore_set_packet_info(const struct doca_gpu_semaphore_gpu *semaphore_gpu,
								     uint32_t idx, enum doca_gpu_semaphore_status status,
								     uint32_t num_packets, uint64_t doca_buf_idx_start)
{
	struct softfield_slot16 q = {
		{(uint32_t)status, num_packets, (uint32_t)doca_buf_idx_start, (uint32_t)(doca_buf_idx_start >> 32)}};

	if (semaphore_gpu == 0 || idx >= semaphore_gpu->num_items)
		return DOCA_ERROR_INVALID_VALUE;
	softfield_fence_system();
	softfield_published(&semaphore_gpu->items[idx]);
	softfield_store_slot16((struct softfield_slot16 *)&semaphore_gpu->items[idx], q);
	return DOCA_SUCCESS;
}

/**
 * Reads the status of an item.
 * @param idx the item, from 0
 * @retval DOCA_ERROR_INVALID_VALUE no such item
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_semaphore_get_status(const struct doca_gpu_semaphore_gpu *semaphore_gpu, uint32_t idx,
								enum doca_gpu_semaphore_status *status)
{
	if (semaphore_gpu == 0 || status == 0 || idx >= semaphore_gpu->num_items)
		return DOCA_ERROR_INVALID_VALUE;
	*status = (enum doca_gpu_semaphore_status)softfield_sem_load(&semaphore_gpu->items[idx]).status;
	return DOCA_SUCCESS;
}

/**
 * Reads the status of an item and its information about packets, as they were set together.
 * @param idx the item, from 0
 * @param doca_buf_idx_start index of the first one's buffer
 * @retval DOCA_ERROR_INVALID_VALUE no such item
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_semaphore_get_packet_info(const struct doca_gpu_semaphore_gpu *semaphore_gpu,
								     uint32_t idx, enum doca_gpu_semaphore_status *status,
								     uint32_t *num_packets, uint64_t *doca_buf_idx_start)
{
	struct softfield_sem_item item;

	if (semaphore_gpu == 0 || status == 0 || num_packets == 0 || doca_buf_idx_start == 0 || idx >= semaphore_gpu->num_items)
		return DOCA_ERROR_INVALID_VALUE;
	item = softfield_sem_load(&semaphore_gpu->items[idx]);
	*status = (enum doca_gpu_semaphore_status)item.status;
	*num_packets = item.num_packets;
	*doca_buf_idx_start = item.buf_idx_start;
	return DOCA_SUCCESS;
}

/**
 * Reads an item's information about packets, if it has a certain status.
 * @param idx the item, from 0
 * @param status the status it must have
 * @param doca_buf_idx_start index of the first one's buffer
 * @retval DOCA_ERROR_INVALID_VALUE no such item
 * @retval DOCA_ERROR_NOT_FOUND it has another status; the outputs are unchanged
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_semaphore_get_packet_info_status(const struct doca_gpu_semaphore_gpu *semaphore_gpu,
									    uint32_t idx, enum doca_gpu_semaphore_status status,
									    uint32_t *num_packets, uint64_t *doca_buf_idx_start)
{
	struct softfield_sem_item item;

	if (semaphore_gpu == 0 || num_packets == 0 || doca_buf_idx_start == 0 || idx >= semaphore_gpu->num_items)
		return DOCA_ERROR_INVALID_VALUE;
	item = softfield_sem_load(&semaphore_gpu->items[idx]);
	if (item.status != (uint32_t)status)
		return DOCA_ERROR_NOT_FOUND;
	*num_packets = item.num_packets;
	*doca_buf_idx_start = item.buf_idx_start;
	return DOCA_SUCCESS;
}

/**
 * Returns the address of an item's custom information.
 * @param idx the item, from 0
 * @param custom_info the address; NULL if the semaphore has none
 * @retval DOCA_ERROR_INVALID_VALUE no such item
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_semaphore_get_custom_info_addr(struct doca_gpu_semaphore_gpu *semaphore_gpu,
									  uint32_t idx, void **custom_info)
{
	if (semaphore_gpu == 0 || custom_info == 0 || idx >= semaphore_gpu->num_items)
		return DOCA_ERROR_INVALID_VALUE;
	*custom_info = semaphore_gpu->custom_info != 0
			       ? semaphore_gpu->custom_info + (uint64_t)idx * semaphore_gpu->custom_info_size
			       : 0;
	return DOCA_SUCCESS;
}

#endif /* DOCA_GPUNETIO_DEV_SEM_CUH_ */
