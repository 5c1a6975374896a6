/* SPDX-License-Identifier: BSD-3-Clause */
/* The notifications that wait for a client. */
#ifndef UROM_WORKER_NOTIFY_QUEUE_H
#define UROM_WORKER_NOTIFY_QUEUE_H

#include "worker.h"

/* Moves worker->notifications, which the plugin has just made, to their clients. */
void notifications_queue(struct worker *worker, struct worker_plugin *plugin);
/* Those of a client that leaves. */
void notifications_drop(struct worker *worker, struct worker_client *client);

#endif
