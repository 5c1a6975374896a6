/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of connections. Call with sf_control_lock. */
#ifndef SF_FABRIC_SHM_CONNS_H
#define SF_FABRIC_SHM_CONNS_H

#include "fabric/shm/connect.h"

extern struct shm_conn *sf_shm_conns; /* all of the process, by next_all */

/* NULL: no memory. */
struct shm_conn *sf_shm_conn_make(struct shm_ep *ep, enum shm_conn_life life);
void sf_shm_conn_free_locked(struct shm_conn *conn);

/* Maps the control page, followed by each ring twice in a row. side 0 writes the first ring. */
bool sf_shm_conn_map(struct shm_conn *conn, int fd, int side);

/* Sets the peer's description of its endpoint, with two descriptors. The connection owns the eventfd. */
bool sf_shm_conn_set_peer(struct shm_conn *conn, const struct shm_msg_ep *ep, int segment, int event);
/* Describes our endpoint for the peer. */
struct shm_msg_ep sf_shm_conn_describe(const struct shm_conn *conn, int fds[SHM_MSG_EP_FDS]);

/* In the child: all connections and their resources belong to the parent. */
void sf_shm_child_after_fork(void);

#endif
