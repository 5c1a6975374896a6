/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects hanging workers and explains deaths. */
#ifndef UROM_DAEMON_SUPERVISE_H
#define UROM_DAEMON_SUPERVISE_H

#include <sys/resource.h>

#include "daemon.h"

/* Fills worker->names. */
void supervise_set_names(const struct daemon *daemon, struct daemon_worker *worker);
/* Kills workers without progress. Returns the time of the next check, or UINT64_MAX. */
uint64_t supervise_workers(struct daemon *daemon, uint64_t now);
/* Sets reason, for clients, to why the process ended. Sets path, for the log, to the plugin whose call it was in, or to NULL. */
void supervise_explain(const struct daemon *daemon, const struct daemon_worker *worker, int status, const struct rusage *usage,
		       char reason[UROM_TEXT_MAX], const char **path);

#endif
