/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffers of a request, checked and converted to a fabric operation. */
#ifndef RDMA_OPERANDS_H
#define RDMA_OPERANDS_H

#include "rdma/request.h"

/* Fills op's region and address, iov and len. Logs errors. */
doca_error_t rdma_request_resolve(struct rdma_request *request);
/* The local operand. */
const struct doca_buf *rdma_request_local(const struct rdma_request *request);
/* Local operands, for resolve: the pieces of a list into iov and len; 8 bytes for an atomic's old value into iov. */
doca_error_t rdma_request_set_list(struct rdma_request *request, struct sf_reg_list *list);
doca_error_t rdma_request_set_result(struct rdma_request *request);
/* INVALID_VALUE, logged. */
doca_error_t rdma_request_missing(const struct rdma_request *request, const char *what);

#endif
