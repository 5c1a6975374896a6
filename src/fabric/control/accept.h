/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking channels, in a process that may run out of descriptors. A few are kept back: when all others are in use, that is
 * logged once, one more channel is given the spare ones, and then no listening socket is waited on until there is room again.
 * Those who come meanwhile wait in the sockets' queues. With sf_control_lock.
 */
#ifndef SF_FABRIC_CONTROL_ACCEPT_H
#define SF_FABRIC_CONTROL_ACCEPT_H

#include <stdbool.h>

#include "fabric/control/pace.h"

#define SF_ACCEPT_SPARE 8 /* descriptors kept back */
#define SF_ACCEPT_EACH 5  /* that a channel brings, or that are open for a moment while it is made */

/* The agent starts. False, and errno: there are too few descriptors to take a channel. */
bool sf_accept_begin(void);
/* It ends, or was the parent's. */
void sf_accept_end(void);
/* Takes channels again, once there is room for one. */
enum sf_pace sf_accept_tick(void);

/* The next channel of a listening socket, non-blocking; -1 when there is none now, or none can be taken. */
int sf_accept_next(int listening);

#endif
