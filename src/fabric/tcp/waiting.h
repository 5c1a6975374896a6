/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections with a message that waits for a receive of the endpoint, in the order of the messages' arrival. Call with the
 * endpoint's lock.
 *
 * Such a connection reads nothing: its peer's bytes stay in the socket. So a message need not be sent again when other peers used
 * the receives that it was sent for. After a time limit the message is rejected, because an acknowledgement may be behind it.
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

/* Returns true if it has waited for the maximum time. Those behind it have waited less. */
bool sf_tcp_waiting_is_late(struct tcp_conn *conn);

#endif
