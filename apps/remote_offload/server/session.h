/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server's session with an orchestrator: from its connection over the exchange of consumer ids to the shutdown handshake, or
 * to its loss. It moves server->state (server.h draws how), gives workers their orders and opens the listener when they can
 * serve.
 */
#ifndef REMOTE_OFFLOAD_SERVER_SESSION_H
#define REMOTE_OFFLOAD_SERVER_SESSION_H

#include "server.h"

/* No orchestrator is there: waits for one, or ends. */
void session_wait(struct server *server);

/* What came on the control channel. */
void session_handle_events(struct server *server);

/* What workers, queues and deadlines make of the state. */
void session_progress(struct server *server);

/* The end, asked for by a signal: requests in flight finish first. */
void session_request_stop(struct server *server);

#endif
