/* SPDX-License-Identifier: BSD-3-Clause */
/* The networks of the service and of its workers. */
#ifndef UROM_DAEMON_NETWORKS_H
#define UROM_DAEMON_NETWORKS_H

#include "daemon.h"

/* Sets the variables that tell plugins in workers which networks to use, and daemon->devices. */
void networks_prepare(struct daemon *daemon);
/* Returns the address to listen on. */
doca_error_t networks_listen_address(const struct daemon *daemon, struct sockaddr_storage *address, socklen_t *len);

#endif
