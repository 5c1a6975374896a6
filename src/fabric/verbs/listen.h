/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that listens. */
#ifndef SF_FABRIC_VERBS_LISTEN_H
#define SF_FABRIC_VERBS_LISTEN_H

#include "fabric/verbs/conn.h"

doca_error_t sf_verbs_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn);
doca_error_t sf_verbs_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				    struct sf_listener **listener);
void sf_verbs_listener_close(struct sf_listener *listener);
/* Handles a peer's connection request. */
doca_error_t sf_verbs_connect_requested(struct sf_control_listener *listener, struct sf_channel *channel,
					const struct sf_msg_connect *ask, int *fds);
void sf_verbs_requests_after_fork(void);

#endif
