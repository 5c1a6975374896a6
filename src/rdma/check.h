/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that many public functions begin with. Each logs what is wrong. */
#ifndef RDMA_CHECK_H
#define RDMA_CHECK_H

#include "rdma/rdma.h"

/* INVALID_VALUE for NULL, logged with what the thing is. */
doca_error_t rdma_check_given(const void *pointer, const char *what);
/* NOT_SUPPORTED where the data path is on a GPU: there are no tasks then. */
doca_error_t rdma_check_tasks(const struct doca_rdma *rdma);
/* BAD_STATE where connections cannot be made now. */
doca_error_t rdma_check_started(const struct doca_rdma *rdma, const char *what);

#endif
