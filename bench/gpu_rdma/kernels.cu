/* SPDX-License-Identifier: BSD-3-Clause */
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_rdma.cuh>

#include "kernels.h"

SOFTFIELD_DEVICE int good(const struct bench_args *args, doca_error_t result)
{
	if (result != DOCA_SUCCESS)
		softfield_store_word(args->failed, (uint32_t)result);
	return softfield_load_word(args->failed) == 0;
}

/*
 * rounds times depth operations of size bytes, which the threads of the block post in turn; the first one commits and awaits them
 * together. A thread that fails stays, because the others synchronize with it.
 */
SOFTFIELD_KERNEL(bench_flood, struct bench_args, args)
{
	const struct bench_queue *q = &args->queues[softfield_block_index()];
	const uint32_t thread = softfield_thread_index(), threads = softfield_block_size();
	struct doca_gpu_buf *local, *remote;
	uint32_t i, commits;
	uint64_t round;
	doca_error_t result = DOCA_SUCCESS;

	doca_gpu_dev_buf_get_buf(q->memory, 0, &local);
	doca_gpu_dev_buf_get_buf(q->remote, 0, &remote);
	for (round = 0; round < args->rounds; round++) {
		for (i = thread; i < args->depth && result == DOCA_SUCCESS; i += threads) {
			uint64_t at = (uint64_t)i * args->size;

			result = args->sends ? doca_gpu_dev_rdma_send_strong(q->rdma, 0, local, at, args->size, 0,
									     DOCA_GPU_RDMA_SEND_FLAG_NONE)
					     : doca_gpu_dev_rdma_write_strong(q->rdma, 0, remote, at, local, at, args->size, 0,
									      DOCA_GPU_RDMA_WRITE_FLAG_NONE);
		}
		softfield_block_sync();
		if (thread == 0 && result == DOCA_SUCCESS)
			result = doca_gpu_dev_rdma_commit_strong(q->rdma, 0);
		if (thread == 0 && result == DOCA_SUCCESS)
			result = doca_gpu_dev_rdma_wait_all(q->rdma, &commits);
		softfield_block_sync();
	}
	good(args, result);
}

SOFTFIELD_DEVICE doca_error_t answer(const struct bench_args *args, const struct bench_queue *q, uint64_t number)
{
	struct doca_gpu_buf *remote;
	doca_error_t result;

	doca_gpu_dev_buf_get_buf(q->remote, 0, &remote);
	result = args->sends ? doca_gpu_dev_rdma_send_inline_strong(q->rdma, 0, (uint8_t *)&number, PING_SIZE, 0,
								    DOCA_GPU_RDMA_SEND_FLAG_NONE)
			     : doca_gpu_dev_rdma_write_inline_strong(q->rdma, 0, remote, 0, (uint8_t *)&number, PING_SIZE, 0,
								     DOCA_GPU_RDMA_WRITE_FLAG_NONE);
	return result == DOCA_SUCCESS ? doca_gpu_dev_rdma_commit_strong(q->rdma, 0) : result;
}

SOFTFIELD_DEVICE doca_error_t post(const struct bench_queue *q, uint32_t num)
{
	struct doca_gpu_dev_rdma_r *recv = 0;
	struct doca_gpu_buf *local;
	doca_error_t result = doca_gpu_dev_rdma_get_recv(q->rdma, &recv);
	uint32_t i;

	doca_gpu_dev_buf_get_buf(q->memory, 0, &local);
	for (i = 0; i < num && result == DOCA_SUCCESS; i++)
		result = doca_gpu_dev_rdma_recv_strong(recv, local, PING_SIZE, 0, 0);
	return result == DOCA_SUCCESS ? doca_gpu_dev_rdma_recv_commit_strong(recv) : result;
}

/* Answers so many messages, or writes of numbers from 1 on. */
SOFTFIELD_KERNEL(bench_ping, struct bench_args, args)
{
	const struct bench_queue *q = &args->queues[softfield_block_index()];
	struct doca_gpu_dev_rdma_r *recv = 0;
	doca_error_t result = DOCA_SUCCESS;
	struct doca_gpu_buf *host;
	uintptr_t word;
	uint64_t number;
	uint32_t came = 0, commits;

	if (softfield_thread_index() != 0)
		return;
	if (args->sends)
		result = post(q, PING_RECEIVES);
	doca_gpu_dev_rdma_get_recv(q->rdma, &recv);
	doca_gpu_dev_buf_get_buf(q->host, 0, &host);
	doca_gpu_dev_buf_get_addr(host, &word);
	for (number = 1; number <= args->rounds && result == DOCA_SUCCESS; number++) {
		if (args->sends)
			while (result == DOCA_SUCCESS && came == 0)
				result = doca_gpu_dev_rdma_recv_wait_all(recv, DOCA_GPU_RDMA_RECV_WAIT_FLAG_NB, &came, 0, 0);
		else
			while (*(volatile uint64_t *)word != number)
				softfield_rdma_relax();
		if (result == DOCA_SUCCESS)
			result = answer(args, q, number);
		if (args->sends && result == DOCA_SUCCESS)
			result = post(q, 1);
		came = 0;
	}
	if (result == DOCA_SUCCESS)
		result = doca_gpu_dev_rdma_wait_all(q->rdma, &commits);
	good(args, result);
}
