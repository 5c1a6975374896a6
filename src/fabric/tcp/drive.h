/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drives the sessions of an endpoint's connections: reads, executes, and sends pending data. The endpoint's thread does it while
 * it polls, the agent when the program does not. Call with the endpoint's lock, except sf_tcp_changes_ring.
 */
#ifndef FABRIC_TCP_DRIVE_H
#define FABRIC_TCP_DRIVE_H

#include "fabric/tcp/ep.h"
#include "fabric/tcp/session.h"

#define TCP_CHANGES_MAX (32 * TCP_CHANGED_MAX) /* regions whose sleepers are woken at a time */

/* The regions whose sleepers must be woken once the lock is free. */
struct tcp_changes {
	uint32_t num;
	uint64_t region[TCP_CHANGES_MAX];
};

/* All of the below. Returns whether anything had arrived. */
bool sf_tcp_drive(struct tcp_ep *far, bool by_agent, struct tcp_changes *changes);

/* Gives posted receives to the messages that wait for them, in the order of arrival. */
void sf_tcp_drive_waiting(struct tcp_ep *far, struct tcp_changes *changes);
/* Sends pending data, and handles the ends of connections. */
void sf_tcp_drive_busy(struct tcp_ep *far, bool by_agent);
void sf_tcp_drive_credits(struct tcp_ep *far, bool early);
/* Collects the changes of submits, which read as well and cannot wake sleepers. */
void sf_tcp_drive_changes(struct tcp_ep *far, struct tcp_changes *changes);

/* Wakes the sleepers. With sf_control_lock, without the endpoint's lock. */
void sf_tcp_changes_ring(const struct tcp_changes *changes);

#endif
