/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread returns every message. Compiled by nvcc for a CUDA GPU and, through gpu_kernel_soft.c, as C for the software GPU. */
#include <softfield/device.h>
#include <doca_gpunetio_dev_comch.cuh>

#include "gpu_kernel.h"

SOFTFIELD_KERNEL(perf_echo, struct perf_echo_args, args)
{
	const struct perf_echo_args a = *args;
	uint32_t mkey = 0, len, imm_len = 0, i;
	uintptr_t addr;
	uint8_t *imm = 0;
	uint64_t id;
	doca_error_t status = DOCA_SUCCESS;

	for (i = 0; i < a.num_bufs; i++)
		doca_dev_gpu_comch_consumer_post_recv(a.consumer, 0, a.memory + (uint64_t)i * a.buf_size, a.buf_size);
	while (!softfield_load_word(a.stop) && (status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN)) {
		status = doca_dev_gpu_comch_consumer_recv_wait(a.consumer, &mkey, &addr, &len, &imm, &imm_len,
							       DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS) {
			do
				status = doca_dev_gpu_comch_producer_send(a.producer, mkey, addr, len, imm, imm_len,
									  a.consumer_id, addr);
			while (status == DOCA_ERROR_AGAIN && !softfield_load_word(a.stop));
		}
		if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
			continue;
		status = doca_dev_gpu_comch_producer_poll(a.producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS) /* the buffer of a completed answer */
			doca_dev_gpu_comch_consumer_post_recv(a.consumer, mkey, (uintptr_t)id, a.buf_size);
	}
}
