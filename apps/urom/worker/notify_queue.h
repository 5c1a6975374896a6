/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of notifications for clients. */
#ifndef UROM_WORKER_NOTIFY_QUEUE_H
#define UROM_WORKER_NOTIFY_QUEUE_H

#include "worker.h"

/* Moves worker->notifications, which the plugin has just created, to the queues of their clients. */
void notifications_queue(struct worker *worker, struct worker_plugin *plugin);
/* Drops the notifications of a client that leaves. */
void notifications_drop(struct worker *worker, struct worker_client *client);

#endif
