/* SPDX-License-Identifier: BSD-3-Clause */
/* A name to connect to: a socket in the runtime folder that the agent waits on. */
#ifndef SF_FABRIC_SHM_LISTENER_H
#define SF_FABRIC_SHM_LISTENER_H

#include "fabric/fabric.h"
#include "fabric/shm/agent.h"

struct shm_listener {
	struct sf_listener base;
	struct sf_key key;
	struct shm_conn *conn; /* from here on guarded by sf_shm_lock */
	uint32_t flags;
	uint32_t requests; /* unanswered */
	struct shm_listener *next;
	char name[SF_NAME_MAX];
};

doca_error_t sf_shm_listener_open(struct sf_port *port, const char *name, uint32_t flags, void *user,
				  struct sf_listener **listener);
void sf_shm_listener_close(struct sf_listener *listener);

/* With sf_shm_lock. */
struct shm_listener *sf_shm_listener_find(const char *name);
void sf_shm_listeners_after_fork(void);

#endif
