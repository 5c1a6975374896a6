/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server's end of the control channel: a Comch server that serves one orchestrator at a time. It queues events, which the
 * caller pops after link_progress, outside all callbacks.
 */
#ifndef REMOTE_OFFLOAD_SERVER_LINK_H
#define REMOTE_OFFLOAD_SERVER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "remote_offload/control_message.h"
#include "remote_offload/directory.h"

#define LINK_EVENTS_MAX 1024
#define LINK_SENDS_MAX 8
#define LINK_REFUSED_MAX 512 /* as many as the library accepts */

enum link_event_kind {
	LINK_CONNECTED,
	LINK_DISCONNECTED,
	LINK_MESSAGE,
	LINK_CONSUMER_NEW,
	LINK_CONSUMER_EXPIRED,
	LINK_OVERRUN, /* more events than the queue holds: disconnect this orchestrator */
};

struct link_event {
	enum link_event_kind kind;
	struct control_message message;
	uint32_t consumer_id;
};

struct link {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct directory directory;
	struct doca_comch_connection *connection;		 /* the orchestrator, or NULL */
	struct doca_comch_connection *refused[LINK_REFUSED_MAX]; /* connected while there was one: to be disconnected */
	uint32_t refused_count;
	struct link_event events[LINK_EVENTS_MAX];
	uint32_t event_head, event_tail;
	bool overflow;
	uint8_t send_bytes[LINK_SENDS_MAX][CONTROL_MESSAGE_MAX]; /* a message stays valid until its task ends */
	uint32_t next_send;
};

/* Opens device and representor and starts the Comch server. Errors are logged. */
doca_error_t link_open(struct link *link, const char *device_id, const char *representor_id, const char *channel_name);
/* Disconnects the orchestrator, if any, and stops; waits for a bounded time. */
void link_close(struct link *link);

int link_fd(const struct link *link);
doca_error_t link_arm(struct link *link);
void link_disarm(struct link *link);
void link_progress(struct link *link);
bool link_next_event(struct link *link, struct link_event *event);

doca_error_t link_send(struct link *link, const struct control_message *message);
/* Ends this orchestrator's connection. Its producers and consumers here must be closed before. */
void link_disconnect(struct link *link);

#endif
