/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's side of its spawner. */
#ifndef UROM_DAEMON_SPAWN_H
#define UROM_DAEMON_SPAWN_H

#include "daemon.h"

/* Starts the spawner: before anything is opened that must end with the daemon. */
doca_error_t spawn_open(struct daemon *daemon);
void spawn_close(struct daemon *daemon);
/* Starts the process, and sets pid, fd, door, output.fd and heartbeat. False: reason says why it could not. */
bool spawn_worker(struct daemon *daemon, struct daemon_worker *worker, const struct urom_spawn *wanted,
		  char reason[UROM_TEXT_MAX]);

#endif
