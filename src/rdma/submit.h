/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests on their way out, in the order of their submission. */
#ifndef RDMA_SUBMIT_H
#define RDMA_SUBMIT_H

#include "rdma/request.h"

/* cls.submit: by the fabric, or with an error that says what is wrong. */
doca_error_t rdma_request_submit(struct doca_task *base, uint32_t flags);
/* Tries what waits; true when something moved. */
bool rdma_requests_pump(struct doca_rdma *rdma);

#endif
