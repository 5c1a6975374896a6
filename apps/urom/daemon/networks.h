/* SPDX-License-Identifier: BSD-3-Clause */
/* The networks of the service and of its workers. */
#ifndef UROM_DAEMON_NETWORKS_H
#define UROM_DAEMON_NETWORKS_H

#include "daemon.h"

/* What workers' plugins find in their environment of the networks that they may use; and daemon->devices. */
void networks_prepare(struct daemon *daemon);
/* That the service is to listen on. */
doca_error_t networks_listen_address(const struct daemon *daemon, struct sockaddr_storage *address, socklen_t *len);

#endif
