/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol between the daemon and its spawner (spawner.c), over a SOCK_SEQPACKET socket. A request is a packed urom_spawn
 * with the worker's id and the descriptors below. The spawner answers immediately and never blocks.
 */
#ifndef UROM_DAEMON_SPAWNER_H
#define UROM_DAEMON_SPAWNER_H

#include <sys/types.h>

#include "daemon.h"

enum spawner_fd { SPAWNER_SOCKET, SPAWNER_DOOR, SPAWNER_OUTPUT, SPAWNER_HEARTBEAT, SPAWNER_FDS };

struct spawner_answer {
	pid_t pid; /* of the worker, a child of the daemon; -1: failed */
	int error; /* errno of the failure */
};

#define SPAWNER_EXIT_FAILED 127 /* of a child that fails before execve: it sends a FAILED packet first */

/* Runs the spawner until the other end of fd is closed. daemon is the copy that the fork made. */
__attribute__((noreturn)) void spawner_run(const struct daemon *daemon, pid_t daemon_pid, int fd);

/* Formats "what: the error; what to do". */
void spawner_format_reason(char reason[UROM_TEXT_MAX], const char *what, int error);

#endif
