/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server's end of the control channel: a Comch server that serves one orchestrator at a time. It queues events, which the
 * caller pops after channel_progress, outside all callbacks.
 */
#ifndef REMOTE_OFFLOAD_SERVER_CHANNEL_H
#define REMOTE_OFFLOAD_SERVER_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "remote_offload/control_message.h"
#include "remote_offload/directory.h"

#define CHANNEL_EVENTS_MAX 1024
#define CHANNEL_SENDS_MAX 8
#define CHANNEL_REFUSED_MAX 512 /* as many as the library accepts */

enum channel_event_kind {
	CHANNEL_CONNECTED,
	CHANNEL_DISCONNECTED,
	CHANNEL_MESSAGE,
	CHANNEL_CONSUMER_NEW,
	CHANNEL_CONSUMER_EXPIRED,
	CHANNEL_OVERRUN, /* more events than the queue holds: disconnect this orchestrator */
};

struct channel_event {
	enum channel_event_kind kind;
	struct control_message message;
	uint32_t consumer_id;
};

struct channel {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct directory directory;
	struct doca_comch_connection *connection;		    /* the orchestrator, or NULL */
	struct doca_comch_connection *refused[CHANNEL_REFUSED_MAX]; /* connected while there was one: to be disconnected */
	uint32_t refused_count;
	struct channel_event events[CHANNEL_EVENTS_MAX];
	uint32_t event_head, event_tail;
	bool overflow;
	uint8_t send_bytes[CHANNEL_SENDS_MAX][CONTROL_MESSAGE_MAX]; /* a message stays valid until its task ends */
	uint32_t next_send;
};

/* Opens device and representor and starts the Comch server. Errors are logged. */
doca_error_t channel_open(struct channel *channel, const char *device_id, const char *representor_id, const char *channel_name);
/* Disconnects the orchestrator, if any, and stops; waits for a bounded time. */
void channel_close(struct channel *channel);

int channel_fd(const struct channel *channel);
doca_error_t channel_arm(struct channel *channel);
void channel_disarm(struct channel *channel);
void channel_progress(struct channel *channel);
bool channel_next_event(struct channel *channel, struct channel_event *event);

doca_error_t channel_send(struct channel *channel, const struct control_message *message);
/* Ends this orchestrator's connection. Its producers and consumers here must be closed before. */
void channel_disconnect(struct channel *channel);

#endif
