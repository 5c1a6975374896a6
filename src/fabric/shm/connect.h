/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect, accept and reject, on the endpoint's thread and on the agent's. */
#ifndef SF_FABRIC_SHM_CONNECT_H
#define SF_FABRIC_SHM_CONNECT_H

#include "fabric/control/agent.h"
#include "fabric/control/listener.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/message.h"

doca_error_t sf_shm_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				 void *user, struct sf_conn **conn);
doca_error_t sf_shm_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn);

doca_error_t sf_shm_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user, struct sf_listener **listener);
void sf_shm_listener_close(struct sf_listener *listener);

/* By the agent, with sf_control_lock: a peer asks to connect. */
doca_error_t sf_shm_connect_requested(struct sf_control_listener *listener, struct sf_channel *channel,
				      const struct sf_msg_connect *ask, int *fds);

extern struct sf_control_provider sf_shm_control; /* shm.c */

/* Puts an event into the endpoint's inbox and wakes the endpoint. With sf_control_lock. */
void sf_shm_conn_post(struct shm_conn *conn, uint32_t events);

/* The endpoint closes: drops connections that the agent accepted and no poll has reported. Call with sf_control_lock. */
void sf_shm_conns_drop(const struct shm_ep *ep);

/* Frees everything of a connection; the endpoint's lists no longer contain it. */
void sf_shm_conn_free(struct shm_conn *conn);

/* Returns SUCCESS if a connection may send before its connected callback, from now on; AGAIN or NOT_CONNECTED otherwise. */
doca_error_t sf_shm_conn_answered(struct shm_conn *conn);

#endif
