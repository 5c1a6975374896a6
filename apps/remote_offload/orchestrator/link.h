/* SPDX-License-Identifier: BSD-3-Clause */
/* The orchestrator's end of the control channel: a Comch client. */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_LINK_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "remote_offload/control_message.h"

#define LINK_MESSAGES_MAX 512
#define LINK_SENDS_MAX 8
#define LINK_CONSUMERS_MAX 1024

struct doca_gpu;

struct link {
	struct doca_dev *dev;
	struct doca_gpu *gpu;
	struct doca_pe *pe;
	struct doca_comch_client *client;
	struct doca_comch_connection *connection; /* NULL until connected, and again once lost */
	bool was_up;				  /* since link_connect */
	struct control_message messages[LINK_MESSAGES_MAX];
	uint32_t message_head, message_tail;
	uint32_t consumers[LINK_CONSUMERS_MAX]; /* of the server, in the order of their announcement */
	uint32_t consumer_count;
	uint8_t send_bytes[LINK_SENDS_MAX][CONTROL_MESSAGE_MAX]; /* a message stays valid until its task ends */
	uint32_t next_send, sending;
};

enum link_status { LINK_CONNECTING, LINK_UP, LINK_DOWN };

doca_error_t link_init(struct link *link, struct doca_dev *dev, struct doca_gpu *gpu);
/* Starts to connect; link_status reports the outcome. After DOWN it may be called again. */
doca_error_t link_connect(struct link *link, const char *channel_name);
enum link_status link_status(struct link *link);
/* Disconnects once pending messages are sent; waits for a bounded time. */
void link_close(struct link *link);
void link_fini(struct link *link);

int link_fd(const struct link *link);
void link_progress(struct link *link);
bool link_next_message(struct link *link, struct control_message *message);
bool link_has_consumer(const struct link *link, uint32_t id);
doca_error_t link_send(struct link *link, const struct control_message *message);

#endif
