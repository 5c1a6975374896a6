/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs all plugins. */
#ifndef UROM_WORKER_PLUGINS_H
#define UROM_WORKER_PLUGINS_H

#include "worker.h"

/* Passes commands to plugins and calls their progress. True if anything moved. */
bool plugins_run(struct worker *worker);

#endif
