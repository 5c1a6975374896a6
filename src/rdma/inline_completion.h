/* SPDX-License-Identifier: BSD-3-Clause */
/* cls.submit of the verbs that may execute inside their submit. */
#ifndef RDMA_INLINE_COMPLETION_H
#define RDMA_INLINE_COMPLETION_H

#include "rdma/request.h"

doca_error_t rdma_write_submit(struct doca_task *base, uint32_t flags);
doca_error_t rdma_read_submit(struct doca_task *base, uint32_t flags);
doca_error_t rdma_atomic_submit(struct doca_task *base, uint32_t flags);

#endif
