/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications from a worker's thread to the main thread, which sleeps on notify_fd. */
#ifndef REMOTE_OFFLOAD_SERVER_WORKER_NOTIFY_H
#define REMOTE_OFFLOAD_SERVER_WORKER_NOTIFY_H

#include "worker.h"

/* Wakes the main thread. */
void worker_notify(struct worker *worker);
/* Counts a closed client: the main thread may have room for another. */
void worker_count_closed(struct worker *worker);

#endif
