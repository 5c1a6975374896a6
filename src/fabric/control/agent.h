/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: the process's one thread that plays the hardware's part, for all providers. It waits on sockets and completion
 * channels, never on a peer.
 *
 * What the control plane shares (channels, listeners, regions that others import, the lists of connections) is guarded by one
 * lock, sf_control_lock; the agent handles an event with the lock held, other threads take it for connect, accept, export and so
 * on. The data path does not. Order of locks: sf_control_lock, then a provider's own. A child made by fork begins without an
 * agent: the parent's sockets are closed in it, and what it inherited is dead.
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
	sf_control_changed; /* broadcast when an answer came that a call waits for; with the lock; by CLOCK_MONOTONIC */

/* Starts the agent with the first hold, ends it with the last release. May block briefly; the lock must not be held. FULL,
 * logged: there are too few descriptors for an agent that could take a channel. */
doca_error_t sf_control_hold(uint32_t *generation);
/* generation is what hold gave; a hold inherited from the parent process counts nothing here. */
void sf_control_release(uint32_t generation);

/* The process's random id, the name of its agent's socket in the runtime folder, and what who comes by network has to bring.
 * Valid while held. */
const struct sf_key *sf_control_id(void);
const struct sf_key *sf_control_token(void);

/* Counts up in a child made by fork: what was made under another number is the parent's. */
uint32_t sf_control_generation(void);

/* Asks for the ticks to run every few milliseconds while there is something to time. */
void sf_control_wake(void);

/* Waits for sf_control_changed, for a moment. Returns false when the peer's agent, at the other end of channel, was silent for
 * limit_ns and is to be given up. With the lock held. */
bool sf_control_await(const struct sf_channel *channel, struct sf_liveness *answering, uint64_t limit_ns);

/* The agent's epoll set, -1 without one. */
int sf_control_epoll(void);

#endif
