/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel.h"

#include <string.h>

#include <doca_ctx.h>
#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/context.h"
#include "remote_offload/log_limit.h"

DOCA_LOG_REGISTER(ORCHESTRATOR::CHANNEL);

#define STOP_TIMEOUT_MS 5000

/* Callbacks */

static struct channel *channel_of(struct doca_comch_connection *connection)
{
	union doca_data data = {.ptr = NULL};
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);

	doca_ctx_get_user_data(doca_comch_client_as_ctx(client), &data);
	return data.ptr;
}

static void send_done(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct channel *)ctx_data.ptr)->sending--;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void send_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	DOCA_LOG_DBG("a control message was not sent: %s",
		     doca_error_get_descr(doca_task_get_status(doca_comch_task_send_as_task(task))));
	send_done(task, task_data, ctx_data);
}

static void message_received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
			     struct doca_comch_connection *connection)
{
	struct channel *channel = channel_of(connection);
	struct control_message message;
	const char *wrong = control_message_unpack(bytes, len, &message);

	if (wrong)
		LIMITED_LOG_WARN("a control message of %u bytes is ignored: %s", len, wrong);
	else if (channel->message_head - channel->message_tail == CHANNEL_MESSAGES_MAX)
		LIMITED_LOG_WARN("a control message is dropped: %d are already queued", CHANNEL_MESSAGES_MAX);
	else
		channel->messages[channel->message_head++ % CHANNEL_MESSAGES_MAX] = message;
}

static void consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct channel *channel = channel_of(connection);

	if (channel->consumer_count < CHANNEL_CONSUMERS_MAX)
		channel->consumers[channel->consumer_count++] = id;
}

static void consumer_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	DOCA_LOG_DBG("the server has closed consumer %u", id);
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states before,
			  enum doca_ctx_states now)
{
	struct channel *channel = user_data.ptr;

	if (now == DOCA_CTX_STATE_RUNNING) {
		if (doca_comch_client_get_connection(channel->client, &channel->connection) != DOCA_SUCCESS)
			channel->connection = NULL;
		channel->was_up = true;
	} else {
		channel->connection = NULL;
	}
}

/* Open and close */

doca_error_t channel_init(struct channel *channel, struct doca_dev *dev, struct doca_gpu *gpu)
{
	doca_error_t result;

	memset(channel, 0, sizeof(*channel));
	channel->dev = dev;
	channel->gpu = gpu;
	result = doca_pe_create(&channel->pe);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("no progress engine: %s", doca_error_get_descr(result));
	return result;
}

static doca_error_t start_client(struct channel *channel)
{
	struct doca_ctx *ctx = doca_comch_client_as_ctx(channel->client);
	doca_error_t result = doca_pe_connect_ctx(channel->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_datapath_on_gpu(ctx, channel->gpu);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_task_send_set_conf(channel->client, send_done, send_failed, CHANNEL_SENDS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(channel->client, message_received);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_consumer_register(channel->client, consumer_new, consumer_expired);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = channel});
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(ctx, state_changed);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

doca_error_t channel_connect(struct channel *channel, const char *channel_name)
{
	doca_error_t result;

	channel_close(channel);
	channel->message_head = channel->message_tail = 0;
	channel->consumer_count = 0;
	channel->sending = 0;
	channel->was_up = false;
	result = doca_comch_client_create(channel->dev, channel_name, &channel->client);
	if (result != DOCA_SUCCESS) {
		channel->client = NULL;
		DOCA_LOG_ERR("channel %s not opened: %s", channel_name, doca_error_get_descr(result));
		return result;
	}
	return start_client(channel);
}

static enum doca_ctx_states client_state(const struct channel *channel)
{
	return channel->client ? context_state(doca_comch_client_as_ctx(channel->client)) : DOCA_CTX_STATE_IDLE;
}

enum channel_status channel_status(struct channel *channel)
{
	switch (client_state(channel)) {
	case DOCA_CTX_STATE_STARTING:
		return CHANNEL_CONNECTING;
	case DOCA_CTX_STATE_RUNNING:
		return channel->connection ? CHANNEL_UP : CHANNEL_DOWN;
	default:
		return CHANNEL_DOWN;
	}
}

void channel_close(struct channel *channel)
{
	uint64_t deadline = clock_ms() + STOP_TIMEOUT_MS;

	if (!channel->client)
		return;
	while (channel->sending > 0 && client_state(channel) == DOCA_CTX_STATE_RUNNING && clock_ms() < deadline)
		doca_pe_progress(channel->pe);
	(void)context_stop(doca_comch_client_as_ctx(channel->client), channel->pe, deadline);
	if (doca_comch_client_destroy(channel->client) != DOCA_SUCCESS)
		DOCA_LOG_WARN("the channel did not close in order");
	channel->client = NULL;
	channel->connection = NULL;
}

void channel_fini(struct channel *channel)
{
	channel_close(channel);
	if (channel->pe)
		doca_pe_destroy(channel->pe);
	channel->pe = NULL;
}

/* Use */

void channel_progress(struct channel *channel)
{
	while (channel->message_head - channel->message_tail < CHANNEL_MESSAGES_MAX / 2 && doca_pe_progress(channel->pe))
		;
}

bool channel_next_message(struct channel *channel, struct control_message *message)
{
	if (channel->message_head == channel->message_tail)
		return false;
	*message = channel->messages[channel->message_tail++ % CHANNEL_MESSAGES_MAX];
	return true;
}

bool channel_has_consumer(const struct channel *channel, uint32_t id)
{
	for (uint32_t i = 0; i < channel->consumer_count; i++) {
		if (channel->consumers[i] == id)
			return true;
	}
	return false;
}

doca_error_t channel_send(struct channel *channel, const struct control_message *message)
{
	uint8_t *bytes = channel->send_bytes[channel->next_send++ % CHANNEL_SENDS_MAX];
	uint32_t len = control_message_pack(message, bytes);
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (!channel->connection)
		return DOCA_ERROR_NOT_CONNECTED;
	result = doca_comch_client_task_send_alloc_init(channel->client, channel->connection, bytes, len, &task);
	if (result == DOCA_SUCCESS) {
		channel->sending++;
		result = doca_task_submit(doca_comch_task_send_as_task(task));
		if (result != DOCA_SUCCESS) {
			channel->sending--;
			doca_task_free(doca_comch_task_send_as_task(task));
		}
	}
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("control message %d not sent: %s", message->id, doca_error_get_descr(result));
	return result;
}
