/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmark's tasks: those of the kind that is measured, and receives. */
#ifndef BENCH_RDMA_TASKS_H
#define BENCH_RDMA_TASKS_H

#include "rdma/side.h"

/* Before the start: which tasks the instance has. */
void bench_tasks_configure(struct bench_side *side);

/* A write of 8 bytes through the connection, until it has completed. */
void bench_tasks_try(struct bench_side *side, struct doca_rdma_connection *connection);

#endif
