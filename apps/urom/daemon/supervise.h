/* SPDX-License-Identifier: BSD-3-Clause */
/* Which workers hang, and of what they died. */
#ifndef UROM_DAEMON_SUPERVISE_H
#define UROM_DAEMON_SUPERVISE_H

#include <sys/resource.h>

#include "daemon.h"

/* Fills worker->names. */
void supervise_set_names(const struct daemon *daemon, struct daemon_worker *worker);
/* Ends workers that have not moved; the time of the next look, or UINT64_MAX. */
uint64_t supervise_workers(struct daemon *daemon, uint64_t now);
/* Why the process is gone: for clients, and for the log also the path of the plugin that it was in, or NULL. */
void supervise_explain(const struct daemon *daemon, const struct daemon_worker *worker, int status, const struct rusage *usage,
		       char reason[UROM_TEXT_MAX], const char **path);

#endif
