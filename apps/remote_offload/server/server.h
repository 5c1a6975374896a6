/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server: the main thread's state machine between the control channel, the listener and the workers.
 *
 *     waiting -> connecting -> serving -> draining -> closing -> ended
 *        ^           |            |
 *        +-----------+--abandoning+   an orchestrator that is incompatible or lost
 */
#ifndef REMOTE_OFFLOAD_SERVER_SERVER_H
#define REMOTE_OFFLOAD_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "clients.h"
#include "config.h"
#include "channel.h"
#include "listener.h"
#include "worker.h"

enum server_state {
	SERVER_WAITING,	   /* for an orchestrator */
	SERVER_CONNECTING, /* consumer ids are exchanged, queue by queue */
	SERVER_SERVING,
	SERVER_ABANDONING, /* the orchestrator is lost: workers release their queues */
	SERVER_DRAINING,   /* shutdown: workers finish what was read */
	SERVER_CLOSING,	   /* the shutdown handshake */
	SERVER_ENDED,
};

struct server {
	const struct server_config *config;
	struct channel channel;
	struct listener listener;
	struct clients clients;
	struct worker *workers[SERVER_CPUS_MAX];
	uint32_t worker_count;
	int epoll_fd, notify_fd, signal_fd;

	enum server_state state;
	uint64_t deadline_ms; /* of connecting, abandoning, closing */
	uint64_t signalled_ms;
	bool stop_requested; /* by a signal */
	bool stop_notified;  /* by the orchestrator */
	bool given_up;	     /* the orchestrator was disconnected without waiting for it */
	bool failed;	     /* the exit status */
	bool next_waits;     /* another orchestrator connected while the last was abandoned */
	bool queues_open;
	uint32_t exchanged; /* queues whose consumer ids are known on both sides */
	uint32_t remote_ids[SERVER_CPUS_MAX];
	bool remote_running[SERVER_CPUS_MAX];	/* the library has announced it */
	uint32_t announced[CHANNEL_EVENTS_MAX]; /* consumers of this connection */
	uint32_t announced_count;
	struct control_terms peer_terms;
	bool has_peer_terms;
	uint32_t orchestrators; /* served so far */
};

/* Runs until a signal or the orchestrator ends it; the program's exit status. */
int server_run(const struct server_config *config);

/* Logs one line, and writes the stats file if configured. */
void server_report(const struct server *server);

#endif
