/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server's session with an orchestrator: from its connection and the exchange of consumer ids to the shutdown handshake
 * or its loss. It changes server->state (diagram in server.h), gives orders to workers and opens the listener when they can
 * serve.
 */
#ifndef REMOTE_OFFLOAD_SERVER_SESSION_H
#define REMOTE_OFFLOAD_SERVER_SESSION_H

#include "server.h"

/* Called without an orchestrator: waits for one, or ends. */
void session_wait(struct server *server);

/* Handles the events of the control channel. */
void session_handle_events(struct server *server);

/* Advances the state by workers, queues and deadlines. */
void session_progress(struct server *server);

/* Shuts down after a signal: requests in flight finish first. */
void session_request_stop(struct server *server);

#endif
