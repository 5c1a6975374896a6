/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon and its spawner (spawner.c) say to each other, by a SOCK_SEQPACKET socket. A request is a packed urom_spawn
 * with the worker's id, and with the descriptors below. The answer follows at once: the spawner waits for nobody.
 */
#ifndef UROM_DAEMON_SPAWNER_H
#define UROM_DAEMON_SPAWNER_H

#include <sys/types.h>

#include "daemon.h"

enum spawner_fd { SPAWNER_SOCKET, SPAWNER_DOOR, SPAWNER_OUTPUT, SPAWNER_HEARTBEAT, SPAWNER_FDS };

struct spawner_answer {
	pid_t pid; /* the worker's, a child of the daemon; -1: there is none */
	int error; /* why */
};

#define SPAWNER_EXIT_FAILED 127 /* of a child that is not yet the worker's program: it sends a FAILED packet first */

/* The process: it ends when the other end of fd is closed. daemon is a copy of the daemon's, from when it was forked. */
__attribute__((noreturn)) void spawner_run(const struct daemon *daemon, pid_t daemon_pid, int fd);

/* "what: the error; what to do". */
void spawner_format_reason(char reason[UROM_TEXT_MAX], const char *what, int error);

#endif
