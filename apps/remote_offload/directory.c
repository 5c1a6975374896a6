/* SPDX-License-Identifier: BSD-3-Clause */
#include "directory.h"

#include <string.h>

#include <doca_ctx.h>
#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/context.h"

DOCA_LOG_REGISTER(REMOTE_OFFLOAD::DIRECTORY);

#define DIRECTORY_CHANNEL "remote_offload.channels"
#define SENDS_MAX 8
#define ASK_TIMEOUT_MS 300
#define STOP_TIMEOUT_MS 2000

static void task_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* The server's side */

static void client_connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			     uint8_t successful)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	union doca_data data = {.ptr = NULL};
	struct doca_comch_task_send *task;
	struct directory *directory;

	doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &data);
	directory = data.ptr;
	if (!successful ||
	    doca_comch_server_task_send_alloc_init(server, connection, directory->channel_name,
						   (uint32_t)strlen(directory->channel_name), &task) != DOCA_SUCCESS)
		return;
	if (doca_task_submit(doca_comch_task_send_as_task(task)) != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
}

static void client_left(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			uint8_t successful)
{
}

static void message_ignored(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
			    struct doca_comch_connection *connection)
{
}

static doca_error_t server_start(struct directory *directory)
{
	struct doca_ctx *ctx = doca_comch_server_as_ctx(directory->server);
	doca_error_t result = doca_pe_connect_ctx(directory->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_comch_server_task_send_set_conf(directory->server, task_sent, task_sent, SENDS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(directory->server, message_ignored);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(directory->server, client_connected,
										    client_left);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = directory});
	return result == DOCA_SUCCESS ? doca_ctx_start(ctx) : result;
}

void directory_open(struct directory *directory, struct doca_dev *dev, struct doca_dev_rep *rep, struct doca_pe *pe,
		    const char *channel_name)
{
	uint32_t level = doca_log_level_get_global_sdk_limit();

	memset(directory, 0, sizeof(*directory));
	directory->pe = pe;
	strncpy(directory->channel_name, channel_name, sizeof(directory->channel_name) - 1);
	if (doca_comch_server_create(dev, rep, DIRECTORY_CHANNEL, &directory->server) != DOCA_SUCCESS) {
		directory->server = NULL;
		return;
	}
	/* If another server already has the channel, the library's error line would be misleading. */
	doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_CRIT);
	if (server_start(directory) != DOCA_SUCCESS) {
		doca_comch_server_destroy(directory->server);
		directory->server = NULL;
	}
	doca_log_level_set_global_sdk_limit(level == DOCA_LOG_LEVEL_INFO ? DOCA_LOG_LEVEL_WARNING : level);
}

void directory_close(struct directory *directory)
{
	if (!directory->server)
		return;
	(void)context_stop(doca_comch_server_as_ctx(directory->server), directory->pe, clock_ms() + STOP_TIMEOUT_MS);
	if (doca_comch_server_destroy(directory->server) != DOCA_SUCCESS)
		DOCA_LOG_WARN("the channel %s did not close in order", DIRECTORY_CHANNEL);
	directory->server = NULL;
}

/* The requester's side */

struct question {
	char *channel_name;
	size_t size;
	bool answered;
};

static void answer_received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
			    struct doca_comch_connection *connection)
{
	union doca_data data = {.ptr = NULL};
	struct question *question;

	doca_ctx_get_user_data(doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection)), &data);
	question = data.ptr;
	if (question->answered || len == 0)
		return;
	/* Untrusted bytes of another process, kept as text. */
	question->size = len < question->size ? len : question->size - 1;
	memcpy(question->channel_name, bytes, question->size);
	for (size_t i = 0; i < question->size; i++) {
		if (question->channel_name[i] < ' ' || question->channel_name[i] > '~')
			question->channel_name[i] = '?';
	}
	question->channel_name[question->size] = '\0';
	question->answered = true;
}

static void question_send(struct doca_comch_client *client, struct doca_pe *pe, struct question *question)
{
	struct doca_ctx *ctx = doca_comch_client_as_ctx(client);
	uint64_t deadline = clock_ms() + ASK_TIMEOUT_MS;
	doca_error_t result = doca_pe_connect_ctx(pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_comch_client_task_send_set_conf(client, task_sent, task_sent, SENDS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(client, answer_received);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = question});
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	while (!question->answered && context_state(ctx) != DOCA_CTX_STATE_IDLE && clock_ms() < deadline)
		doca_pe_progress(pe);
	(void)context_stop(ctx, pe, clock_ms() + STOP_TIMEOUT_MS);
}

bool directory_ask(struct doca_dev *dev, char *channel_name, size_t size)
{
	struct question question = {.channel_name = channel_name, .size = size};
	struct doca_comch_client *client;
	struct doca_pe *pe;

	if (doca_pe_create(&pe) != DOCA_SUCCESS)
		return false;
	if (doca_comch_client_create(dev, DIRECTORY_CHANNEL, &client) == DOCA_SUCCESS) {
		question_send(client, pe, &question);
		doca_comch_client_destroy(client);
	}
	doca_pe_destroy(pe);
	return question.answered;
}
