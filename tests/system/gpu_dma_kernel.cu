/* SPDX-License-Identifier: BSD-3-Clause */
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_dma.cuh>
#include <softfield/device.h>

#include "gpu_dma_kernel.h"

/* made: room for a buffer that the kernel makes. */
SOFTFIELD_DEVICE struct doca_gpu_buf *buf_of(const struct copies_args *args, uint32_t place, uint32_t element,
					     struct doca_gpu_buf *made)
{
	struct doca_gpu_buf *buf = 0;
	uintptr_t addr;
	uint32_t mkey;

	if (place == PLACE_NONE)
		return buf;
	doca_gpu_dev_buf_get_buf(args->arrays[place == PLACE_MADE ? PLACE_GPU : place], element, &buf);
	if (place != PLACE_MADE)
		return buf;
	doca_gpu_dev_buf_get_addr(buf, &addr);
	doca_gpu_dev_buf_get_mkey(buf, &mkey);
	doca_gpu_dev_buf_create(addr, mkey, &made);
	return made;
}

SOFTFIELD_COLD doca_error_t enqueue(const struct copies_args *args, const struct copy *copy)
{
	struct doca_gpu_buf made[2];

	return doca_gpu_dev_dma_memcpy(args->dma, buf_of(args, copy->from, copy->from_element, &made[0]), copy->from_offset,
				       buf_of(args, copy->to, copy->to_element, &made[1]), copy->to_offset, copy->len);
}

SOFTFIELD_COLD doca_error_t commit(const struct copies_args *args)
{
	return doca_gpu_dev_dma_commit(args->dma);
}

SOFTFIELD_KERNEL(run_copies, struct copies_args, args)
{
	uint32_t thread = softfield_thread_index(), i;
	doca_error_t status;

	for (i = thread; i < args->num; i += softfield_block_size()) {
		while ((status = enqueue(args, &args->copies[i])) == DOCA_ERROR_AGAIN && args->retries)
			commit(args);
		args->results[i] = (uint32_t)status;
	}
	softfield_block_sync();
	if (thread < args->committers)
		args->commits[thread] = (uint32_t)commit(args);
	while (args->waits && softfield_load_word(args->go_on) == 0)
		;
}
