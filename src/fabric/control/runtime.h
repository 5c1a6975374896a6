/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets in the runtime folder (base/runtime_folder.h), by which processes find each other, named by a kind and a 128-bit key:
 * "l-..." is a listener, keyed by a hash of its name (names may be longer than a socket's path), "a-..." is a
 * process's agent, keyed by its random id. Containers that share the folder reach each other.
 */
#ifndef SF_FABRIC_RUNTIME_H
#define SF_FABRIC_RUNTIME_H

#include <doca_error.h>

#include "fabric/key.h"

enum sf_socket_kind {
	SF_SOCKET_LISTENER = 'l',
	SF_SOCKET_AGENT = 'a',
};

/* Returns a listening non-blocking SEQPACKET socket. ALREADY_EXIST: a live process listens there. The socket of a dead
 * one is replaced. */
doca_error_t sf_runtime_listen(enum sf_socket_kind kind, const struct sf_key *key, int *fd);

/* Removes the name. Call it before the listening socket is closed, so that the name cannot belong to another process
 * yet. */
void sf_runtime_unlink(enum sf_socket_kind kind, const struct sf_key *key);

/* Returns a connected non-blocking socket to a process of our user; *pid is 0 if its process id is not visible here.
 * NOT_FOUND: nobody there; NOT_PERMITTED: another user's; AGAIN: its queue is full. */
doca_error_t sf_runtime_connect(enum sf_socket_kind kind, const struct sf_key *key, int *fd, int *pid);

/* Returns true if a process listens there. Not logged. */
_Bool sf_runtime_is_there(enum sf_socket_kind kind, const struct sf_key *key);

/* Returns true if the other end of a socket is a process that may connect: of our user, or root. */
doca_error_t sf_runtime_check_peer(int fd, int *pid);

#endif
