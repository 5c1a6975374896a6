/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker context's connection to its process. */
#ifndef UROM_WORKER_PEER_H
#define UROM_WORKER_PEER_H

#include "urom/worker.h"

doca_error_t urom_worker_connect(struct doca_urom_worker *worker);
doca_error_t urom_worker_open_comm(struct doca_urom_worker *worker);
/* While JOINING: it may have taken too long. True when it has. And: it is not to be waited for any longer. */
bool urom_worker_check_join(struct doca_urom_worker *worker);
void urom_worker_end_join(struct doca_urom_worker *worker);
/* The process is gone, or refused us. */
void urom_worker_lose(struct doca_urom_worker *worker, doca_error_t why, const char *reason);

#endif
