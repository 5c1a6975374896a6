/* SPDX-License-Identifier: BSD-3-Clause */
/* The orchestrator's end of the control channel: a Comch client. */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_CHANNEL_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "remote_offload/control_message.h"

#define CHANNEL_MESSAGES_MAX 512
#define CHANNEL_SENDS_MAX 8
#define CHANNEL_CONSUMERS_MAX 1024

struct doca_gpu;

struct channel {
	struct doca_dev *dev;
	struct doca_gpu *gpu;
	struct doca_pe *pe;
	struct doca_comch_client *client;
	struct doca_comch_connection *connection; /* NULL until connected, and again once lost */
	bool was_up;				  /* since channel_connect */
	struct control_message messages[CHANNEL_MESSAGES_MAX];
	uint32_t message_head, message_tail;
	uint32_t consumers[CHANNEL_CONSUMERS_MAX]; /* of the server, in the order of their announcement */
	uint32_t consumer_count;
	uint8_t send_bytes[CHANNEL_SENDS_MAX][CONTROL_MESSAGE_MAX]; /* a message stays valid until its task ends */
	uint32_t next_send, sending;
};

enum channel_status { CHANNEL_CONNECTING, CHANNEL_UP, CHANNEL_DOWN };

doca_error_t channel_init(struct channel *channel, struct doca_dev *dev, struct doca_gpu *gpu);
/* Starts to connect; channel_status reports the outcome. After DOWN it may be called again. */
doca_error_t channel_connect(struct channel *channel, const char *channel_name);
enum channel_status channel_status(struct channel *channel);
/* Disconnects once pending messages are sent; waits for a bounded time. */
void channel_close(struct channel *channel);
void channel_fini(struct channel *channel);

void channel_progress(struct channel *channel);
bool channel_next_message(struct channel *channel, struct control_message *message);
bool channel_has_consumer(const struct channel *channel, uint32_t id);
doca_error_t channel_send(struct channel *channel, const struct control_message *message);

#endif
