/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include <string.h>
#include <time.h>

#include <doca_ctx.h>
#include <doca_log.h>

#include "remote_offload/log_limit.h"

DOCA_LOG_REGISTER(ORCHESTRATOR::LINK);

#define STOP_TIMEOUT_S 5

/* Callbacks */

static struct link *link_of(struct doca_comch_connection *connection)
{
	union doca_data data = {.ptr = NULL};
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);

	doca_ctx_get_user_data(doca_comch_client_as_ctx(client), &data);
	return data.ptr;
}

static void send_done(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct link *)ctx_data.ptr)->sending--;
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
	struct link *link = link_of(connection);
	struct control_message message;
	const char *wrong = control_message_unpack(bytes, len, &message);

	if (wrong)
		LIMITED_LOG_WARN("a control message of %u bytes is ignored: %s", len, wrong);
	else if (link->message_head - link->message_tail == LINK_MESSAGES_MAX)
		LIMITED_LOG_WARN("a control message is dropped: %d are already queued", LINK_MESSAGES_MAX);
	else
		link->messages[link->message_head++ % LINK_MESSAGES_MAX] = message;
}

static void consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct link *link = link_of(connection);

	if (link->consumer_count < LINK_CONSUMERS_MAX)
		link->consumers[link->consumer_count++] = id;
}

static void consumer_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	DOCA_LOG_DBG("the server has closed consumer %u", id);
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states before,
			  enum doca_ctx_states now)
{
	struct link *link = user_data.ptr;

	if (now == DOCA_CTX_STATE_RUNNING) {
		if (doca_comch_client_get_connection(link->client, &link->connection) != DOCA_SUCCESS)
			link->connection = NULL;
		link->was_up = true;
	} else {
		link->connection = NULL;
	}
}

/* Open and close */

doca_error_t link_init(struct link *link, struct doca_dev *dev, struct doca_gpu *gpu)
{
	doca_error_t result;

	memset(link, 0, sizeof(*link));
	link->dev = dev;
	link->gpu = gpu;
	result = doca_pe_create(&link->pe);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("no progress engine: %s", doca_error_get_descr(result));
	return result;
}

static doca_error_t start_client(struct link *link)
{
	struct doca_ctx *ctx = doca_comch_client_as_ctx(link->client);
	doca_error_t result = doca_pe_connect_ctx(link->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_datapath_on_gpu(ctx, link->gpu);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_task_send_set_conf(link->client, send_done, send_failed, LINK_SENDS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(link->client, message_received);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_consumer_register(link->client, consumer_new, consumer_expired);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = link});
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(ctx, state_changed);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

doca_error_t link_connect(struct link *link, const char *channel_name)
{
	doca_error_t result;

	link_close(link);
	link->message_head = link->message_tail = 0;
	link->consumer_count = 0;
	link->sending = 0;
	link->was_up = false;
	result = doca_comch_client_create(link->dev, channel_name, &link->client);
	if (result != DOCA_SUCCESS) {
		link->client = NULL;
		DOCA_LOG_ERR("channel %s not opened: %s", channel_name, doca_error_get_descr(result));
		return result;
	}
	return start_client(link);
}

static enum doca_ctx_states client_state(const struct link *link)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	if (link->client)
		doca_ctx_get_state(doca_comch_client_as_ctx(link->client), &state);
	return state;
}

enum link_status link_status(struct link *link)
{
	switch (client_state(link)) {
	case DOCA_CTX_STATE_STARTING:
		return LINK_CONNECTING;
	case DOCA_CTX_STATE_RUNNING:
		return link->connection ? LINK_UP : LINK_DOWN;
	default:
		return LINK_DOWN;
	}
}

void link_close(struct link *link)
{
	time_t deadline = time(NULL) + STOP_TIMEOUT_S;

	if (!link->client)
		return;
	while (link->sending > 0 && client_state(link) == DOCA_CTX_STATE_RUNNING && time(NULL) < deadline)
		doca_pe_progress(link->pe);
	if (client_state(link) == DOCA_CTX_STATE_RUNNING || client_state(link) == DOCA_CTX_STATE_STARTING)
		doca_ctx_stop(doca_comch_client_as_ctx(link->client));
	while (client_state(link) != DOCA_CTX_STATE_IDLE && time(NULL) < deadline)
		doca_pe_progress(link->pe);
	if (doca_comch_client_destroy(link->client) != DOCA_SUCCESS)
		DOCA_LOG_WARN("the channel did not close in order");
	link->client = NULL;
	link->connection = NULL;
}

void link_fini(struct link *link)
{
	link_close(link);
	if (link->pe)
		doca_pe_destroy(link->pe);
	link->pe = NULL;
}

/* Use */

int link_fd(const struct link *link)
{
	doca_notification_handle_t fd = -1;

	doca_pe_get_notification_handle(link->pe, &fd);
	return fd;
}

void link_progress(struct link *link)
{
	while (link->message_head - link->message_tail < LINK_MESSAGES_MAX / 2 && doca_pe_progress(link->pe))
		;
}

bool link_next_message(struct link *link, struct control_message *message)
{
	if (link->message_head == link->message_tail)
		return false;
	*message = link->messages[link->message_tail++ % LINK_MESSAGES_MAX];
	return true;
}

bool link_has_consumer(const struct link *link, uint32_t id)
{
	for (uint32_t i = 0; i < link->consumer_count; i++) {
		if (link->consumers[i] == id)
			return true;
	}
	return false;
}

doca_error_t link_send(struct link *link, const struct control_message *message)
{
	uint8_t *bytes = link->send_bytes[link->next_send++ % LINK_SENDS_MAX];
	uint32_t len = control_message_pack(message, bytes);
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (!link->connection)
		return DOCA_ERROR_NOT_CONNECTED;
	result = doca_comch_client_task_send_alloc_init(link->client, link->connection, bytes, len, &task);
	if (result == DOCA_SUCCESS) {
		link->sending++;
		result = doca_task_submit(doca_comch_task_send_as_task(task));
		if (result != DOCA_SUCCESS) {
			link->sending--;
			doca_task_free(doca_comch_task_send_as_task(task));
		}
	}
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("control message %d not sent: %s", message->id, doca_error_get_descr(result));
	return result;
}
