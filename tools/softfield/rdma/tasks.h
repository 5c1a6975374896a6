/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmark's tasks: those of the measured type, and receives. */
#ifndef BENCH_RDMA_TASKS_H
#define BENCH_RDMA_TASKS_H

#include "rdma/side.h"

/* Configures the instance's tasks before its start. */
void bench_tasks_configure(struct bench_side *side);

/* Writes 8 bytes through the connection and waits for completion. */
void bench_tasks_try(struct bench_side *side, struct doca_rdma_connection *connection);

#endif
