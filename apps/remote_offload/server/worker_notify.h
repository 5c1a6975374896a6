/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker's thread reports to the main thread, which sleeps on notify_fd. */
#ifndef REMOTE_OFFLOAD_SERVER_WORKER_NOTIFY_H
#define REMOTE_OFFLOAD_SERVER_WORKER_NOTIFY_H

#include "worker.h"

/* The main thread has something to look at. */
void worker_notify(struct worker *worker);
/* A client has been closed: the main thread may have room for another. */
void worker_count_closed(struct worker *worker);

#endif
