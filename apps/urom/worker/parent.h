/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket to the daemon. */
#ifndef UROM_WORKER_PARENT_H
#define UROM_WORKER_PARENT_H

#include "worker.h"

void parent_ready(struct worker *worker);
void parent_failed(int fd, const char *reason);
/* Takes what the daemon sent; the worker is ending when the daemon says so or is gone. True when anything came. */
bool parent_read(struct worker *worker);

#endif
