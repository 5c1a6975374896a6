/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins' notifications on their way to clients. */
#ifndef UROM_WORKER_NOTIFY_H
#define UROM_WORKER_NOTIFY_H

#include "worker.h"

/* Sends what clients can take. True when anything moved. */
bool notifications_send(struct worker *worker);

#endif
