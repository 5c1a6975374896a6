/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends plugins' notifications to clients. */
#ifndef UROM_WORKER_NOTIFY_H
#define UROM_WORKER_NOTIFY_H

#include "worker.h"

/* Sends until the clients' connections are full. True if anything was sent. */
bool notifications_send(struct worker *worker);

#endif
