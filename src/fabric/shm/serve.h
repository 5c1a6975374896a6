/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's answers to other processes: what they may attach, and what it does for them in this process's memory. */
#ifndef SF_FABRIC_SHM_SERVE_H
#define SF_FABRIC_SHM_SERVE_H

#include <stdint.h>

#include "fabric/control/channel.h"

/* Tells the peers that attached the region that it is gone. With sf_control_lock. */
void sf_shm_agent_serve_gone(uint64_t region);

/* An agent calls, and says this. With sf_control_lock. */
bool sf_shm_agent_serve(struct sf_channel *channel, const struct sf_msg *first);

void sf_shm_agent_after_fork(void);

#endif
