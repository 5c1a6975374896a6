/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: the connection manager thread of the process, shared by all providers. It waits on sockets and completion channels,
 * never for a peer.
 *
 * One lock, sf_control_lock, guards the shared state of the control plane: channels, listeners, exported regions, lists of
 * connections. The agent handles events with the lock held; other threads take it for connect, accept, export and so on. The data
 * path does not take it. Lock order: sf_control_lock, then a provider's own. A forked child begins without an agent: the parent's
 * sockets are closed in it, and inherited objects are unusable.
 */
#ifndef SF_FABRIC_CONTROL_AGENT_H
#define SF_FABRIC_CONTROL_AGENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "base/liveness.h"
#include "fabric/control/channel.h"

extern pthread_mutex_t sf_control_lock;
extern pthread_cond_t
	sf_control_changed; /* broadcast when an answer arrives that a call waits for; used with the lock, on CLOCK_MONOTONIC */

/* Starts the agent with the first hold; the last release ends it. May block briefly; the lock must not be held. FULL,
 * logged: there are too few descriptors for an agent that can accept a channel. */
doca_error_t sf_control_hold(uint32_t *generation);
/* generation is the result of hold; a hold inherited from the parent process has no effect here. */
void sf_control_release(uint32_t generation);

/* The process's random id. It names its agent's socket in the runtime folder, and is the token that a network peer must
 * present. Valid while held. */
const struct sf_key *sf_control_id(void);
const struct sf_key *sf_control_token(void);

/* Incremented in a forked child: objects of another generation belong to the parent. */
uint32_t sf_control_generation(void);

/* Makes ticks run every few milliseconds while a time limit is active. */
void sf_control_wake(void);

/* Waits briefly for sf_control_changed. Returns false if the peer's agent, at the other end of channel, was silent for
 * limit_ns and must be given up. Call with the lock held. */
bool sf_control_await(const struct sf_channel *channel, struct sf_liveness *answering, uint64_t limit_ns);

/* The agent's epoll set, -1 without an agent. */
int sf_control_epoll(void);

#endif
