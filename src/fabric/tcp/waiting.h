/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections with a message that waits for a receive of the endpoint, in the order in which their messages came. All of it with
 * the endpoint's lock.
 *
 * Such a connection reads nothing: its peer's bytes stay in the socket. So a message is not sent again only because other peers
 * took the receives that it was sent for. The wait has a limit, after which the message is refused: what is behind it may be an
 * acknowledgement.
 */
#ifndef SF_FABRIC_TCP_WAITING_H
#define SF_FABRIC_TCP_WAITING_H

#include "fabric/tcp/conn.h"

/* A connection that waits already keeps its place. */
void sf_tcp_waiting_add(struct tcp_conn *conn);
void sf_tcp_waiting_remove(struct tcp_conn *conn);

/* Counts the time since the last call. Time in which no thread drove the endpoint counts only partly: a busy machine is
 * not an endpoint without receives. */
void sf_tcp_waiting_count(struct tcp_ep *far);

/* Has it waited as long as it may? Those behind it have waited less. */
bool sf_tcp_waiting_is_late(struct tcp_conn *conn);

#endif
