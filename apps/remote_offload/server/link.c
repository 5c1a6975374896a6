/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include <string.h>
#include <time.h>

#include <doca_ctx.h>
#include <doca_log.h>

#include "remote_offload/devices.h"
#include "remote_offload/log_limit.h"

DOCA_LOG_REGISTER(SERVER::LINK);

#define STOP_TIMEOUT_S 5

static void push_event(struct link *link, const struct link_event *event)
{
	if (link->event_head - link->event_tail == LINK_EVENTS_MAX) {
		link->overflow = true;
		return;
	}
	link->events[link->event_head++ % LINK_EVENTS_MAX] = *event;
}

bool link_next_event(struct link *link, struct link_event *event)
{
	if (link->event_head == link->event_tail)
		return false;
	*event = link->events[link->event_tail++ % LINK_EVENTS_MAX];
	return true;
}

/* Callbacks */

static struct link *link_of(struct doca_comch_connection *connection)
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
	struct link *link = link_of(connection);
	struct link_event out = {.kind = LINK_MESSAGE};
	const char *wrong;

	if (connection != link->connection)
		return;
	wrong = control_message_unpack(bytes, len, &out.message);
	if (wrong)
		LIMITED_LOG_WARN("a control message of %u bytes is ignored: %s", len, wrong);
	else
		push_event(link, &out);
}

static void client_connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			     uint8_t successful)
{
	struct link *link = link_of(connection);

	if (!successful) {
		LIMITED_LOG_WARN("an orchestrator tried to connect and failed");
	} else if (link->connection) {
		LIMITED_LOG_WARN("rejected a second orchestrator: one is connected already");
		if (link->refused_count < LINK_REFUSED_MAX)
			link->refused[link->refused_count++] = connection;
	} else {
		link->connection = connection;
		push_event(link, &(struct link_event){.kind = LINK_CONNECTED});
	}
}

static void client_disconnected(struct doca_comch_event_connection_status_changed *event,
				struct doca_comch_connection *connection, uint8_t successful)
{
	struct link *link = link_of(connection);

	for (uint32_t i = 0; i < link->refused_count; i++) {
		if (link->refused[i] == connection)
			link->refused[i--] = link->refused[--link->refused_count];
	}
	if (connection != link->connection)
		return;
	link->connection = NULL;
	push_event(link, &(struct link_event){.kind = LINK_DISCONNECTED});
}

static void consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct link *link = link_of(connection);

	if (connection == link->connection)
		push_event(link, &(struct link_event){.kind = LINK_CONSUMER_NEW, .consumer_id = id});
}

static void consumer_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct link *link = link_of(connection);

	if (connection == link->connection)
		push_event(link, &(struct link_event){.kind = LINK_CONSUMER_EXPIRED, .consumer_id = id});
}

/* Open and close */

static doca_error_t start_server(struct link *link, const char *channel_name)
{
	struct doca_ctx *ctx;
	doca_error_t result = doca_comch_server_create(link->dev, link->rep, channel_name, &link->server);

	if (result != DOCA_SUCCESS) {
		link->server = NULL;
		return result;
	}
	ctx = doca_comch_server_as_ctx(link->server);
	result = doca_pe_connect_ctx(link->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_task_send_set_conf(link->server, send_done, send_failed, LINK_SENDS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(link->server, message_received);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(link->server, client_connected,
										    client_disconnected);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_consumer_register(link->server, consumer_new, consumer_expired);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = link});
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result;
}

doca_error_t link_open(struct link *link, const char *device_id, const char *representor_id, const char *channel_name)
{
	doca_error_t result;

	memset(link, 0, sizeof(*link));
	result = device_open(device_id, &link->dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = representor_open(link->dev, representor_id, &link->rep);
	if (result == DOCA_SUCCESS) {
		result = doca_pe_create(&link->pe);
		if (result == DOCA_SUCCESS)
			result = start_server(link, channel_name);
		if (result == DOCA_SUCCESS)
			directory_open(&link->directory, link->dev, link->rep, link->pe, channel_name);
		if (result != DOCA_SUCCESS)
			DOCA_LOG_ERR("channel %s on device %s not opened: %s", channel_name, device_id,
				     doca_error_get_descr(result));
	}
	if (result != DOCA_SUCCESS)
		link_close(link);
	return result;
}

static void stop_server(struct link *link)
{
	struct doca_ctx *ctx = doca_comch_server_as_ctx(link->server);
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	time_t deadline = time(NULL) + STOP_TIMEOUT_S;

	doca_ctx_get_state(ctx, &state);
	if (state != DOCA_CTX_STATE_IDLE)
		doca_ctx_stop(ctx);
	doca_ctx_get_state(ctx, &state);
	while (state != DOCA_CTX_STATE_IDLE && time(NULL) < deadline) {
		doca_pe_progress(link->pe);
		doca_ctx_get_state(ctx, &state);
	}
	if (doca_comch_server_destroy(link->server) != DOCA_SUCCESS)
		DOCA_LOG_WARN("the channel did not close in order");
	link->server = NULL;
}

void link_close(struct link *link)
{
	directory_close(&link->directory);
	if (link->server)
		stop_server(link);
	if (link->pe)
		doca_pe_destroy(link->pe);
	if (link->rep)
		doca_dev_rep_close(link->rep);
	if (link->dev)
		doca_dev_close(link->dev);
	memset(link, 0, sizeof(*link));
}

/* Use */

int link_fd(const struct link *link)
{
	doca_notification_handle_t fd = -1;

	doca_pe_get_notification_handle(link->pe, &fd);
	return fd;
}

doca_error_t link_arm(struct link *link)
{
	return doca_pe_request_notification(link->pe);
}

void link_disarm(struct link *link)
{
	doca_pe_clear_notification(link->pe, 0);
}

void link_progress(struct link *link)
{
	while (link->event_head - link->event_tail < LINK_EVENTS_MAX / 2 && doca_pe_progress(link->pe))
		;
	while (link->refused_count > 0)
		doca_comch_server_disconnect(link->server, link->refused[--link->refused_count]);
	if (link->overflow) {
		link->overflow = false;
		link->event_tail = link->event_head;
		push_event(link, &(struct link_event){.kind = link->connection ? LINK_OVERRUN : LINK_DISCONNECTED});
	}
}

doca_error_t link_send(struct link *link, const struct control_message *message)
{
	uint8_t *bytes = link->send_bytes[link->next_send++ % LINK_SENDS_MAX];
	uint32_t len = control_message_pack(message, bytes);
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (!link->connection)
		return DOCA_ERROR_NOT_CONNECTED;
	result = doca_comch_server_task_send_alloc_init(link->server, link->connection, bytes, len, &task);
	if (result == DOCA_SUCCESS) {
		result = doca_task_submit(doca_comch_task_send_as_task(task));
		if (result != DOCA_SUCCESS)
			doca_task_free(doca_comch_task_send_as_task(task));
	}
	if (result != DOCA_SUCCESS)
		LIMITED_LOG_ERR("control message %d not sent: %s", message->id, doca_error_get_descr(result));
	return result;
}

void link_disconnect(struct link *link)
{
	doca_error_t result;

	if (!link->connection)
		return;
	result = doca_comch_server_disconnect(link->server, link->connection);
	link->connection = NULL;
	if (result != DOCA_SUCCESS)
		DOCA_LOG_DBG("disconnect: %s", doca_error_get_descr(result));
}
