/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients: the handshake and their requests. */
#ifndef UROM_DAEMON_CLIENTS_H
#define UROM_DAEMON_CLIENTS_H

#include "daemon.h"

extern const struct sf_comm_handler daemon_handler;
/* Disconnects clients that have not authenticated in time; returns the next such time, or UINT64_MAX. */
uint64_t clients_expire(struct daemon *daemon, uint64_t now);

#endif
