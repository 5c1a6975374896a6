/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's answers to other processes: memory that they may attach, and accesses to this process's memory on their behalf. */
#ifndef SF_FABRIC_SHM_SERVE_H
#define SF_FABRIC_SHM_SERVE_H

#include <stdint.h>

#include "fabric/control/channel.h"

/* Notifies the peers that attached the region that it is gone. With sf_control_lock. */
void sf_shm_agent_serve_gone(uint64_t region);

/* Handles this message of an agent that connected. With sf_control_lock. */
bool sf_shm_agent_serve(struct sf_channel *channel, const struct sf_msg *first);

void sf_shm_agent_after_fork(void);

#endif
