/* SPDX-License-Identifier: BSD-3-Clause */
/* The connecting side, and the end of connections. */
#ifndef SF_FABRIC_VERBS_CONNECT_H
#define SF_FABRIC_VERBS_CONNECT_H

#include "fabric/verbs/conn.h"

doca_error_t sf_verbs_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				   void *user, struct sf_conn **conn);
void sf_verbs_conn_disconnect(struct sf_conn *conn);
void sf_verbs_conn_close(struct sf_conn *conn);
void sf_verbs_conn_ring(struct sf_conn *conn);
extern struct sf_control_provider sf_verbs_control; /* verbs.c */
/* Call these with sf_control_lock. The connection handles the peer agent's messages from here on. */
void sf_verbs_conn_follow(struct vb_conn *conn, struct sf_channel *channel);
/* The connection is added to the endpoint, and to the list of all. */
void sf_verbs_conn_register(struct vb_conn *conn);
bool sf_verbs_conns_tick(uint64_t now_ns);
void sf_verbs_conns_after_fork(void);

#endif
