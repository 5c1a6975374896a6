/* SPDX-License-Identifier: BSD-3-Clause */
/* How links are made and unmade. With sf_control_lock. */
#ifndef SF_FABRIC_SHM_LINKS_H
#define SF_FABRIC_SHM_LINKS_H

#include "fabric/shm/connect.h"

extern struct shm_link *sf_shm_links; /* all of the process, by next_all */

/* NULL: no memory. */
struct shm_link *sf_shm_link_make(struct shm_port *port, enum shm_link_life life);
void sf_shm_link_free_locked(struct shm_link *link);

/* Maps the control page and behind it each ring twice in a row. side 0 writes the first ring. */
bool sf_shm_link_map(struct shm_link *link, int fd, int side);

/* What the peer told of its port, with its two descriptors. The eventfd becomes the link's. */
bool sf_shm_link_meet(struct shm_link *link, const struct shm_msg_port *port, int segment, int event);
/* And what it is told of ours. */
struct shm_msg_port sf_shm_link_tell(const struct shm_link *link, int fds[SHM_MSG_PORT_FDS]);

/* In the child: the links, and all that goes with them, are the parent's. */
void sf_shm_child_after_fork(void);

#endif
