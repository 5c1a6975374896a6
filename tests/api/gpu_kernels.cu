/* SPDX-License-Identifier: BSD-3-Clause */
#include <softfield/device.h>
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_sem.cuh>

#include "gpu_kernels.h"

SOFTFIELD_KERNEL(add_value, struct kernel_args, args)
{
	args->words[softfield_block_index() * softfield_block_size() + softfield_thread_index()] += args->value;
}

SOFTFIELD_KERNEL(write_index, struct kernel_args, args)
{
	args->words[softfield_block_index() * softfield_block_size() + softfield_thread_index()] =
		1000 * softfield_grid_size() + 100 * softfield_block_index() + 10 * softfield_block_size() +
		softfield_thread_index();
}

SOFTFIELD_KERNEL(sum_by_rounds, struct kernel_args, args)
{
	uint32_t i = softfield_thread_index(), step;

	args->words[i] = i + 1;
	softfield_block_sync();
	for (step = args->value / 2; step > 0; step /= 2) {
		if (i < step)
			args->words[i] += args->words[i + step];
		softfield_block_sync();
	}
}

SOFTFIELD_KERNEL(until_stopped, struct kernel_args, args)
{
	while (softfield_load_word(&args->words[0]) == 0)
		;
}

/* Stores the number of the failed check in words[], or 0. */
SOFTFIELD_KERNEL(use_semaphore, struct kernel_args, args)
{
	struct doca_gpu_semaphore_gpu *s = args->semaphore;
	enum doca_gpu_semaphore_status status = DOCA_GPU_SEMAPHORE_STATUS_FREE;
	uint32_t i, num = 0, bad;
	uint64_t start = 0;
	void *info = 0;

	for (i = 0; i < 8; i++) {
		bad = 0;
		if (doca_gpu_dev_semaphore_get_status(s, i, &status) != DOCA_SUCCESS || status != DOCA_GPU_SEMAPHORE_STATUS_READY)
			bad = 1;
		if (doca_gpu_dev_semaphore_set_status_cas(s, i, DOCA_GPU_SEMAPHORE_STATUS_HOLD,
							  DOCA_GPU_SEMAPHORE_STATUS_ERROR) != DOCA_ERROR_NOT_PERMITTED)
			bad = 2;
		if (doca_gpu_dev_semaphore_set_status_cas(s, i, DOCA_GPU_SEMAPHORE_STATUS_READY,
							  DOCA_GPU_SEMAPHORE_STATUS_HOLD) != DOCA_SUCCESS)
			bad = 3;
		if (doca_gpu_dev_semaphore_set_packet_info(s, i, DOCA_GPU_SEMAPHORE_STATUS_HOLD, 5 + i,
							   (UINT64_C(1) << 40) + i) != DOCA_SUCCESS)
			bad = 4;
		if (doca_gpu_dev_semaphore_get_packet_info(s, i, &status, &num, &start) != DOCA_SUCCESS || num != 5 + i ||
		    start != (UINT64_C(1) << 40) + i || status != DOCA_GPU_SEMAPHORE_STATUS_HOLD)
			bad = 5;
		if (doca_gpu_dev_semaphore_get_packet_info_status(s, i, DOCA_GPU_SEMAPHORE_STATUS_DONE, &num, &start) !=
		    DOCA_ERROR_NOT_FOUND)
			bad = 6;
		if (doca_gpu_dev_semaphore_get_packet_info_status(s, i, DOCA_GPU_SEMAPHORE_STATUS_HOLD, &num, &start) !=
		    DOCA_SUCCESS)
			bad = 7;
		if (doca_gpu_dev_semaphore_get_custom_info_addr(s, i, &info) != DOCA_SUCCESS || info == 0)
			bad = 8;
		else
			*(volatile uint32_t *)info = 30 + i;
		if (doca_gpu_dev_semaphore_set_status(s, i, DOCA_GPU_SEMAPHORE_STATUS_DONE) != DOCA_SUCCESS)
			bad = 9;
		if (doca_gpu_dev_semaphore_set_status(s, 8, DOCA_GPU_SEMAPHORE_STATUS_DONE) != DOCA_ERROR_INVALID_VALUE ||
		    doca_gpu_dev_semaphore_get_status(0, i, &status) != DOCA_ERROR_INVALID_VALUE)
			bad = 10;
		args->words[i] = bad;
	}
}

/* Adds value to the first word of each element, and reports what it found. */
SOFTFIELD_KERNEL(use_buf_array, struct kernel_args, args)
{
	struct doca_gpu_buf *buf;
	struct doca_gpu_buf own, *made = &own;
	uintptr_t addr;
	uint32_t mkey, i;

	for (i = 0; i < args->value; i++) {
		doca_gpu_dev_buf_get_buf(args->array, i, &buf);
		doca_gpu_dev_buf_get_addr(buf, &addr);
		doca_gpu_dev_buf_get_mkey(buf, &mkey);
		*(volatile uint32_t *)addr = 100 + i;
		doca_gpu_dev_buf_create(addr, mkey, &made);
		doca_gpu_dev_buf_get_addr(made, &addr);
		args->words[i] = *(volatile uint32_t *)addr;
	}
}

SOFTFIELD_KERNEL(write_badly, struct kernel_args, args)
{
	*(volatile uint32_t *)(uintptr_t)args->value = 1;
}
