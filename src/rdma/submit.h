/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends requests in the order of submission. */
#ifndef RDMA_SUBMIT_H
#define RDMA_SUBMIT_H

#include "rdma/request.h"

/* cls.submit: sends by the fabric, or completes with an error. */
doca_error_t rdma_request_submit(struct doca_task *base, uint32_t flags);
/* Retries waiting tasks; returns true if any moved. */
bool rdma_requests_pump(struct doca_rdma *rdma);

#endif
