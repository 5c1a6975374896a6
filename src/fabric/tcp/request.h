/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer's requests of a session: SEND, WRITE, READ, CAS and FAA. */
#ifndef FABRIC_TCP_REQUEST_H
#define FABRIC_TCP_REQUEST_H

#include "fabric/tcp/session.h"

/* The head and the fixed fields of a request have arrived: executes a READ or an atomic; sets the place for the data of others.
 * If the request must wait for a receive, is_waiting is set, and the call is repeated later. */
void sf_tcp_request_begin(struct tcp_session *session);

/* The request has arrived completely: delivers a message, and counts the request as executed. */
void sf_tcp_request_end(struct tcp_session *session);

#endif
