/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks shared by public functions. Each logs its error. */
#ifndef RDMA_CHECK_H
#define RDMA_CHECK_H

#include "rdma/rdma.h"

/* INVALID_VALUE, logged with the argument's name, if pointer is NULL. */
doca_error_t rdma_check_given(const void *pointer, const char *what);
/* NOT_SUPPORTED if the data path is on a GPU, where there are no tasks. */
doca_error_t rdma_check_tasks(const struct doca_rdma *rdma);
/* BAD_STATE if connections cannot be made now. */
doca_error_t rdma_check_started(const struct doca_rdma *rdma, const char *what);

#endif
