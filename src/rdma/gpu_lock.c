/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/gpu_lock.h"

#include "base/thread_safety.h"
#include "rdma/gpu.h"
#include "rdma/rdma.h"

/* The lock is recursive and stays with the caller, who gives it back when its variable leaves its scope: clang follows neither.
 */
NO_THREAD_SAFETY_ANALYSIS struct doca_rdma *rdma_gpu_enter(struct doca_rdma *rdma)
{
	atomic_fetch_add(&rdma->gpu->wanted, 1);
	pthread_mutex_lock(&rdma->gpu->lock);
	atomic_fetch_sub(&rdma->gpu->wanted, 1);
	return rdma;
}

NO_THREAD_SAFETY_ANALYSIS void rdma_gpu_leave(struct doca_rdma *rdma)
{
	rdma_gpu_publish(rdma->gpu);
	pthread_mutex_unlock(&rdma->gpu->lock);
	if (__atomic_load_n(rdma->gpu->sleeping, __ATOMIC_RELAXED) != 0)
		rdma_gpu_ring(rdma->gpu);
}
