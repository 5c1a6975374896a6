/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that calls Comch at every scope, and RDMA: the shared memory that these need must fit into 48 KiB together. */
#include <doca_gpunetio_dev_comch.cuh>
#include <doca_gpunetio_dev_dma.cuh>
#include <doca_gpunetio_dev_rdma.cuh>

extern "C" __global__ void every_call(struct doca_comch_gpu_consumer *consumer, struct doca_comch_gpu_producer *producer,
				      struct doca_gpu_dev_rdma *rdma, struct doca_gpu_dev_rdma_r *recv, struct doca_gpu_buf *buf)
{
	uint32_t mkey = 0, len = 0, imm_len = 0, num;
	uintptr_t addr = 0;
	uint8_t *imm = 0;

	doca_dev_gpu_comch_consumer_recv_wait(consumer, &mkey, &addr, &len, &imm, &imm_len, DOCA_GPU_COMCH_WAIT_FLAG_NB);
	doca_dev_gpu_comch_consumer_recv_wait_warp(consumer, &mkey, &addr, &len, &imm, &imm_len, DOCA_GPU_COMCH_WAIT_FLAG_NB);
	doca_dev_gpu_comch_consumer_recv_wait_block(consumer, &mkey, &addr, &len, &imm, &imm_len, DOCA_GPU_COMCH_WAIT_FLAG_NB);
	doca_dev_gpu_comch_producer_send(producer, mkey, addr, len, imm, imm_len, 1, 0);
	doca_dev_gpu_comch_producer_send_warp(producer, mkey, addr, len, imm, imm_len, 1, 0);
	doca_dev_gpu_comch_producer_send_block(producer, mkey, addr, len, imm, imm_len, 1, 0);
	doca_gpu_dev_rdma_write_strong(rdma, 0, buf, 0, buf, 0, 8, 0, DOCA_GPU_RDMA_WRITE_FLAG_NONE);
	doca_gpu_dev_rdma_commit_strong(rdma, 0);
	doca_gpu_dev_rdma_wait_all(rdma, &num);
	doca_gpu_dev_rdma_recv_wait_all(recv, DOCA_GPU_RDMA_RECV_WAIT_FLAG_NB, &num, 0, 0);
}
