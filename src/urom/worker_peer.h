/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker context's connection to its process. */
#ifndef UROM_WORKER_PEER_H
#define UROM_WORKER_PEER_H

#include "urom/worker.h"

doca_error_t urom_worker_connect(struct doca_urom_worker *worker);
doca_error_t urom_worker_open_comm(struct doca_urom_worker *worker);
/* While JOINING: checks the time limit; returns true if it is over. And: stops waiting. */
bool urom_worker_check_join(struct doca_urom_worker *worker);
void urom_worker_end_join(struct doca_urom_worker *worker);
/* The process is gone, or rejected this context. */
void urom_worker_lose(struct doca_urom_worker *worker, doca_error_t why, const char *reason);

#endif
