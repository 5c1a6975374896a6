/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of an instance with a data path on a GPU. Its thread shares the endpoint and the connections with the program's: every
 * public call that touches them begins with
 *
 *	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
 *
 * The lock is recursive. For other instances, and NULL, it does nothing.
 */
#ifndef RDMA_GPU_LOCK_H
#define RDMA_GPU_LOCK_H

#include "base/doorbell.h"
#include "rdma/rdma.h"

struct doca_rdma *rdma_gpu_enter(struct doca_rdma *rdma);
void rdma_gpu_leave(struct doca_rdma *rdma);
static inline struct doca_rdma *rdma_instance_enter(struct doca_rdma *rdma)
{
	return __builtin_expect(rdma != NULL && rdma->gpu != NULL, 0) ? rdma_gpu_enter(rdma) : NULL;
}
static inline void rdma_instance_leave(struct doca_rdma **entered)
{
	if (__builtin_expect(*entered != NULL, 0))
		rdma_gpu_leave(*entered);
}

/* sf_ctx_kick, from either thread. */
static inline void rdma_instance_kick(struct doca_rdma *rdma)
{
	if (rdma->gpu == NULL)
		sf_ctx_kick(&rdma->ctx);
	else if (rdma->ctx.pe != NULL)
		sf_doorbell_ring(sf_ctx_event_fd(&rdma->ctx));
}

#endif
