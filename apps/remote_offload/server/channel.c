/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel.h"

#include <string.h>

#include <doca_ctx.h>
#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/context.h"
#include "remote_offload/devices.h"
#include "remote_offload/log_limit.h"

DOCA_LOG_REGISTER(SERVER::CHANNEL);

#define STOP_TIMEOUT_MS 5000

static void push_event(struct channel *channel, const struct channel_event *event)
{
	if (channel->event_head - channel->event_tail == CHANNEL_EVENTS_MAX) {
		channel->overflow = true;
		return;
	}
	channel->events[channel->event_head++ % CHANNEL_EVENTS_MAX] = *event;
}

bool channel_next_event(struct channel *channel, struct channel_event *event)
{
	if (channel->event_head == channel->event_tail)
		return false;
	*event = channel->events[channel->event_tail++ % CHANNEL_EVENTS_MAX];
	return true;
}

/* Callbacks */

static struct channel *channel_of(struct doca_comch_connection *connection)
{
	union doca_data data = {.ptr = NULL};
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);

	doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &data);
	return data.ptr;
}

static void send_done(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void send_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	DOCA_LOG_DBG("a control message was not sent: %s",
		     doca_error_get_descr(doca_task_get_status(doca_comch_task_send_as_task(task))));
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void message_received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
			     struct doca_comch_connection *connection)
{
	struct channel *channel = channel_of(connection);
	struct channel_event out = {.kind = CHANNEL_MESSAGE};
	const char *wrong;

	if (connection != channel->connection)
		return;
	wrong = control_message_unpack(bytes, len, &out.message);
	if (wrong)
		LIMITED_LOG_WARN("a control message of %u bytes is ignored: %s", len, wrong);
	else
		push_event(channel, &out);
}

static void client_connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			     uint8_t successful)
{
	struct channel *channel = channel_of(connection);

	if (!successful) {
		LIMITED_LOG_WARN("an orchestrator tried to connect and failed");
	} else if (channel->connection) {
		LIMITED_LOG_WARN("rejected a second orchestrator: one is connected already");
		if (channel->refused_count < CHANNEL_REFUSED_MAX)
			channel->refused[channel->refused_count++] = connection;
	} else {
		channel->connection = connection;
		push_event(channel, &(struct channel_event){.kind = CHANNEL_CONNECTED});
	}
}

static void client_disconnected(struct doca_comch_event_connection_status_changed *event,
				struct doca_comch_connection *connection, uint8_t successful)
{
	struct channel *channel = channel_of(connection);

	for (uint32_t i = 0; i < channel->refused_count; i++) {
		if (channel->refused[i] == connection)
			channel->refused[i--] = channel->refused[--channel->refused_count];
	}
	if (connection != channel->connection)
		return;
	channel->connection = NULL;
	push_event(channel, &(struct channel_event){.kind = CHANNEL_DISCONNECTED});
}

static void consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct channel *channel = channel_of(connection);

	if (connection == channel->connection)
		push_event(channel, &(struct channel_event){.kind = CHANNEL_CONSUMER_NEW, .consumer_id = id});
}

static void consumer_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct channel *channel = channel_of(connection);

	if (connection == channel->connection)
		push_event(channel, &(struct channel_event){.kind = CHANNEL_CONSUMER_EXPIRED, .consumer_id = id});
}

/* Open and close */

static doca_error_t start_server(struct channel *channel, const char *channel_name)
{
	struct doca_ctx *ctx;
	doca_error_t result = doca_comch_server_create(channel->dev, channel->rep, channel_name, &channel->server);

	if (result != DOCA_SUCCESS) {
		channel->server = NULL;
		return result;
	}
	ctx = doca_comch_server_as_ctx(channel->server);
	result = doca_pe_connect_ctx(channel->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_task_send_set_conf(channel->server, send_done, send_failed, CHANNEL_SENDS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(channel->server, message_received);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(channel->server, client_connected,
										    client_disconnected);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_consumer_register(channel->server, consumer_new, consumer_expired);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = channel});
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result;
}

doca_error_t channel_open(struct channel *channel, const char *device_id, const char *representor_id, const char *channel_name)
{
	doca_error_t result;

	memset(channel, 0, sizeof(*channel));
	result = device_open(device_id, &channel->dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = representor_open(channel->dev, representor_id, &channel->rep);
	if (result == DOCA_SUCCESS) {
		result = doca_pe_create(&channel->pe);
		if (result == DOCA_SUCCESS)
			result = start_server(channel, channel_name);
		if (result == DOCA_SUCCESS)
			directory_open(&channel->directory, channel->dev, channel->rep, channel->pe, channel_name);
		if (result != DOCA_SUCCESS)
			DOCA_LOG_ERR("channel %s on device %s not opened: %s", channel_name, device_id,
				     doca_error_get_descr(result));
	}
	if (result != DOCA_SUCCESS)
		channel_close(channel);
	return result;
}

static void stop_server(struct channel *channel)
{
	(void)context_stop(doca_comch_server_as_ctx(channel->server), channel->pe, clock_ms() + STOP_TIMEOUT_MS);
	if (doca_comch_server_destroy(channel->server) != DOCA_SUCCESS)
		DOCA_LOG_WARN("the channel did not close in order");
	channel->server = NULL;
}

void channel_close(struct channel *channel)
{
	directory_close(&channel->directory);
	if (channel->server)
		stop_server(channel);
	if (channel->pe)
		doca_pe_destroy(channel->pe);
	if (channel->rep)
		doca_dev_rep_close(channel->rep);
	if (channel->dev)
		doca_dev_close(channel->dev);
	memset(channel, 0, sizeof(*channel));
}

/* Use */

int channel_fd(const struct channel *channel)
{
	doca_notification_handle_t fd = -1;

	doca_pe_get_notification_handle(channel->pe, &fd);
	return fd;
}

doca_error_t channel_arm(struct channel *channel)
{
	return doca_pe_request_notification(channel->pe);
}

void channel_disarm(struct channel *channel)
{
	doca_pe_clear_notification(channel->pe, 0);
}

void channel_progress(struct channel *channel)
{
	while (channel->event_head - channel->event_tail < CHANNEL_EVENTS_MAX / 2 && doca_pe_progress(channel->pe))
		;
	while (channel->refused_count > 0)
		doca_comch_server_disconnect(channel->server, channel->refused[--channel->refused_count]);
	if (channel->overflow) {
		channel->overflow = false;
		channel->event_tail = channel->event_head;
		push_event(channel,
			   &(struct channel_event){.kind = channel->connection ? CHANNEL_OVERRUN : CHANNEL_DISCONNECTED});
	}
}

doca_error_t channel_send(struct channel *channel, const struct control_message *message)
{
	uint8_t *bytes = channel->send_bytes[channel->next_send++ % CHANNEL_SENDS_MAX];
	uint32_t len = control_message_pack(message, bytes);
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (!channel->connection)
		return DOCA_ERROR_NOT_CONNECTED;
	result = doca_comch_server_task_send_alloc_init(channel->server, channel->connection, bytes, len, &task);
	if (result == DOCA_SUCCESS) {
		result = doca_task_submit(doca_comch_task_send_as_task(task));
		if (result != DOCA_SUCCESS)
			doca_task_free(doca_comch_task_send_as_task(task));
	}
	if (result != DOCA_SUCCESS)
		LIMITED_LOG_ERR("control message %d not sent: %s", message->id, doca_error_get_descr(result));
	return result;
}

void channel_disconnect(struct channel *channel)
{
	doca_error_t result;

	if (!channel->connection)
		return;
	result = doca_comch_server_disconnect(channel->server, channel->connection);
	channel->connection = NULL;
	if (result != DOCA_SUCCESS)
		DOCA_LOG_DBG("disconnect: %s", doca_error_get_descr(result));
}
