/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock that keeps a second daemon off a node. */
#ifndef UROM_DAEMON_NODE_H
#define UROM_DAEMON_NODE_H

#include <doca_error.h>

doca_error_t node_lock(int *fd);
void node_unlock(int fd);

#endif
