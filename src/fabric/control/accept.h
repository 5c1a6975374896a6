/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepts channels in a process that may run out of descriptors. A few are reserved. When all others are in use, one log line
 * reports it, one more channel gets the reserved descriptors, and then no listening socket is polled until descriptors are free.
 * New peers wait in the sockets' queues meanwhile. Call with sf_control_lock.
 */
#ifndef SF_FABRIC_CONTROL_ACCEPT_H
#define SF_FABRIC_CONTROL_ACCEPT_H

#include <stdbool.h>

#include "fabric/control/pace.h"

#define SF_ACCEPT_SPARE 8 /* descriptors reserved */
#define SF_ACCEPT_EACH 5  /* descriptors that a channel uses, or that are open briefly while it is created */

/* Called when the agent starts. Returns false, with errno, if there are too few descriptors to accept a channel. */
bool sf_accept_begin(void);
/* Called when the agent ends, or in a forked child. */
void sf_accept_end(void);
/* Accepts channels again once there are descriptors for one. */
enum sf_pace sf_accept_tick(void);

/* Returns the next channel of a listening socket, non-blocking; -1 if there is none now, or none can be accepted. */
int sf_accept_next(int listening);

#endif
