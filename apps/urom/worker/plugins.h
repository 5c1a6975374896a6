/* SPDX-License-Identifier: BSD-3-Clause */
/* All plugins at work. */
#ifndef UROM_WORKER_PLUGINS_H
#define UROM_WORKER_PLUGINS_H

#include "worker.h"

/* Gives plugins their commands and their time. True when anything moved. */
bool plugins_run(struct worker *worker);

#endif
