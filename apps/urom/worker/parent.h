/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket to the daemon. */
#ifndef UROM_WORKER_PARENT_H
#define UROM_WORKER_PARENT_H

#include "worker.h"

void parent_ready(struct worker *worker);
void parent_failed(int fd, const char *reason);
/* Receives packets of the daemon; sets worker->ending on its request or its death. True if anything was received. */
bool parent_read(struct worker *worker);

#endif
