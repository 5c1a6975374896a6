/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's side of its spawner. */
#ifndef UROM_DAEMON_SPAWN_H
#define UROM_DAEMON_SPAWN_H

#include "daemon.h"

/* Starts the spawner. Must be called before the daemon opens anything that must be closed when it ends. */
doca_error_t spawn_open(struct daemon *daemon);
void spawn_close(struct daemon *daemon);
/* Starts the process and sets pid, fd, door, output.fd and heartbeat. If it fails, returns false and sets reason. */
bool spawn_worker(struct daemon *daemon, struct daemon_worker *worker, const struct urom_spawn *wanted,
		  char reason[UROM_TEXT_MAX]);

#endif
