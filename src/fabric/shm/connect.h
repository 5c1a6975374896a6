/* SPDX-License-Identifier: BSD-3-Clause */
/* How links come to be: connect, accept, reject; on the port's thread and on the agent's. */
#ifndef SF_FABRIC_SHM_CONNECT_H
#define SF_FABRIC_SHM_CONNECT_H

#include "fabric/fabric.h"
#include "fabric/shm/agent.h"
#include "fabric/shm/link.h"
#include "fabric/shm/proto.h"

#define SHM_REQUESTS_MAX 1024 /* unanswered ones of a listener */

doca_error_t sf_shm_link_connect(struct sf_port *port, const char *name, const void *data, size_t len, void *user,
				 struct sf_link **link);
doca_error_t sf_shm_link_wait(struct sf_link *link);
doca_error_t sf_shm_link_accept(struct sf_request *request, const void *data, size_t len, void *user, struct sf_link **link);
void sf_shm_link_reject(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len);

/* By the agent, with sf_shm_lock: a peer asks to connect. Takes over the connection and the descriptors. */
void sf_shm_connect_arrived(struct shm_conn *conn, const struct shm_msg_connect *msg, int *fds);

/* Puts an event into the port's inbox and wakes the port. With sf_shm_lock. */
void sf_shm_link_post(struct shm_link *link, uint32_t events);

/* The port goes, and with it the links that the agent accepted and no poll has reported. With sf_shm_lock. */
void sf_shm_links_drop(const struct shm_port *port);
/* The listener closes: its unanswered requests are refused, links that nobody was told of go. With sf_shm_lock. */
void sf_shm_links_orphan(const struct sf_listener *listener);

/* Gives back all that a link has; it is in no list of its port's links any more. */
void sf_shm_link_free(struct shm_link *link);

/* May a link send whose connected callback is still to run? AGAIN, NOT_CONNECTED; or it may from now on. */
doca_error_t sf_shm_link_answered(struct shm_link *link);

#endif
