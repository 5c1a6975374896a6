/* SPDX-License-Identifier: BSD-3-Clause */
/* The networks of the service and of its workers. */
#ifndef UROM_DAEMON_NETWORKS_H
#define UROM_DAEMON_NETWORKS_H

#include "daemon.h"

/* Sets daemon->devices and the variables from which plugins in workers learn which networks to use. */
void networks_prepare(struct daemon *daemon);
/* Returns the address to listen on. */
doca_error_t networks_listen_address(const struct daemon *daemon, struct sockaddr_storage *address, socklen_t *len);

#endif
