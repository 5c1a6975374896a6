/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that send every message back where it came from. Compiled by nvcc for a CUDA GPU and, through echo_soft.c, as C for the
 * software GPU.
 */
#include <softfield/device.h>
#include <doca_gpunetio_dev_comch.cuh>

#include "echo.h"

/* One thread for each queue, as the remote offload guide has it. */
SOFTFIELD_KERNEL(echo_thread, struct echo_args, args)
{
	const struct echo_queue *queue = &args->queues[softfield_block_index() * softfield_block_size() + softfield_thread_index()];
	struct doca_comch_gpu_consumer *consumer = queue->consumer;
	struct doca_comch_gpu_producer *producer = queue->producer;
	uint32_t mkey = 0, len, imm_len = 0, i;
	uintptr_t addr;
	uint8_t *imm = 0;
	uint64_t id;
	doca_error_t status;

	for (i = 0; i < queue->num_bufs; i++)
		doca_dev_gpu_comch_consumer_post_recv(consumer, 0, queue->memory + (uint64_t)i * queue->buf_size, queue->buf_size);
	while (!softfield_load_word(args->stop)) {
		status = doca_dev_gpu_comch_consumer_recv_wait(consumer, &mkey, &addr, &len, &imm, &imm_len, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS) {
			do
				status = doca_dev_gpu_comch_producer_send(producer, mkey, addr, len, imm, imm_len, queue->consumer_id, addr);
			while (status == DOCA_ERROR_AGAIN && !softfield_load_word(args->stop));
		}
		if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
			break;
		status = doca_dev_gpu_comch_producer_poll(producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS)
			doca_dev_gpu_comch_consumer_post_recv(consumer, mkey, (uintptr_t)id, queue->buf_size);
		else if (status != DOCA_ERROR_AGAIN)
			break;
	}
}

/* Looked at every so often, by one thread: the flag lies across PCIe, and warps that read the same line are served in turn. On the
 * software GPU a turn may sleep, and looking costs nothing. */
#if defined(__CUDACC__)
#define STOP_EVERY 32
#else
#define STOP_EVERY 1
#endif

/* One block for each queue. */
SOFTFIELD_KERNEL_THREADS(echo_block, 512, struct echo_args, args)
{
	const struct echo_queue *queue = &args->queues[softfield_block_index()];
	struct doca_comch_gpu_consumer *consumer = queue->consumer;
	struct doca_comch_gpu_producer *producer = queue->producer;
	uint32_t mkey = 0, len = 0, imm_len = 0, size = softfield_block_size(), i, turn = 0;
	uintptr_t addr = 0;
	uint8_t *imm = 0;
	uint64_t id = 0;
	doca_error_t status;
	int pending;

	for (i = softfield_thread_index(); i - softfield_thread_index() < queue->num_bufs; i += size)
		doca_dev_gpu_comch_consumer_post_recv_block(
			consumer, 0, i < queue->num_bufs ? queue->memory + (uint64_t)i * queue->buf_size : 0, queue->buf_size);
	for (;;) {
		if (++turn % STOP_EVERY == 0 && softfield_block_any((STOP_EVERY == 1 || softfield_thread_index() == 0) && softfield_load_word(args->stop)))
			break;
		status = doca_dev_gpu_comch_consumer_recv_wait_block(consumer, &mkey, &addr, &len, &imm, &imm_len, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		pending = status == DOCA_SUCCESS;
		if (softfield_block_any(pending == 0 && status != DOCA_ERROR_AGAIN))
			break;
		if (!softfield_block_any(pending))
			continue;
		do {
			status = doca_dev_gpu_comch_producer_send_block(producer, mkey, addr, len, imm, imm_len, pending ? queue->consumer_id : 0, addr);
			pending = pending && status == DOCA_ERROR_AGAIN;
			if (++turn % STOP_EVERY == 0 && softfield_block_any((STOP_EVERY == 1 || softfield_thread_index() == 0) && softfield_load_word(args->stop)))
				break;
		} while (softfield_block_any(pending));
		status = doca_dev_gpu_comch_producer_poll_block(producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		doca_dev_gpu_comch_consumer_post_recv_block(consumer, mkey, status == DOCA_SUCCESS ? (uintptr_t)id : 0, queue->buf_size);
	}
}

/* One warp for each queue. */
SOFTFIELD_KERNEL(echo_warp, struct echo_args, args)
{
	const struct echo_queue *queue =
		&args->queues[(softfield_block_index() * softfield_block_size() + softfield_thread_index()) / softfield_warp_size()];
	struct doca_comch_gpu_consumer *consumer = queue->consumer;
	struct doca_comch_gpu_producer *producer = queue->producer;
	uint32_t mkey = 0, len = 0, imm_len = 0, size = softfield_warp_size(), i, turn = 0;
	uintptr_t addr = 0;
	uint8_t *imm = 0;
	uint64_t id = 0;
	doca_error_t status;
	int pending;

	for (i = softfield_lane(); i - softfield_lane() < queue->num_bufs; i += size)
		doca_dev_gpu_comch_consumer_post_recv_warp(
			consumer, 0, i < queue->num_bufs ? queue->memory + (uint64_t)i * queue->buf_size : 0, queue->buf_size);
	for (;;) {
		if (++turn % STOP_EVERY == 0 && softfield_warp_any(softfield_load_word(args->stop)))
			break;
		status = doca_dev_gpu_comch_consumer_recv_wait_warp(consumer, &mkey, &addr, &len, &imm, &imm_len, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		pending = status == DOCA_SUCCESS;
		if (softfield_warp_any(pending == 0 && status != DOCA_ERROR_AGAIN))
			break;
		if (!softfield_warp_any(pending))
			continue;
		do {
			status = doca_dev_gpu_comch_producer_send_warp(producer, mkey, addr, len, imm, imm_len, pending ? queue->consumer_id : 0, addr);
			pending = pending && status == DOCA_ERROR_AGAIN;
			if (++turn % STOP_EVERY == 0 && softfield_warp_any(softfield_load_word(args->stop)))
				break;
		} while (softfield_warp_any(pending));
		status = doca_dev_gpu_comch_producer_poll_warp(producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		doca_dev_gpu_comch_consumer_post_recv_warp(consumer, mkey, status == DOCA_SUCCESS ? (uintptr_t)id : 0, queue->buf_size);
	}
}

/* Writes to an address that the host chose badly. */
SOFTFIELD_KERNEL(fault, struct echo_args, args)
{
	*(volatile uint32_t *)(uintptr_t)args->bad_address = 1;
}
