/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "perf/comch.h"

#define NAME_SIZE 64
#define CONTROL_TASKS 1

/* ---- events ---- */

static struct perf_comch *comch_of(struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_ctx *ctx = server != NULL ? doca_comch_server_as_ctx(server)
					      : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
	union doca_data data = {0};

	bench_check(doca_ctx_get_user_data(ctx, &data), "comch: finding the context");
	return (struct perf_comch *)data.ptr;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
		       uint8_t successful)
{
	(void)event;
	if (successful)
		comch_of(connection)->connection = connection;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			  uint8_t successful)
{
	(void)event;
	(void)successful;
	comch_of(connection)->connection = NULL;
}

static void on_new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	comch_of(connection)->remote_consumer = id;
}

static void on_expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	(void)connection;
	(void)id;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *message, uint32_t len,
		       struct doca_comch_connection *connection)
{
	(void)event;
	(void)message;
	(void)len;
	(void)connection;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* ---- server and client ---- */

static void ctx_begin(struct perf_comch *comch, struct doca_ctx *ctx)
{
	comch->ctx = ctx;
	bench_check(doca_pe_connect_ctx(comch->pe, ctx), "comch: configuring");
	bench_check(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = comch}), "comch: configuring");
}

static void control_serve(struct perf_side *side, struct perf_comch *comch)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "softfield-perf-%d", (int)getpid());
	bench_check(doca_comch_server_create(side->dev, side->rep, name, &comch->server), "comch: creating a server");
	ctx_begin(comch, doca_comch_server_as_ctx(comch->server));
	bench_check(doca_comch_server_task_send_set_conf(comch->server, on_sent, on_sent, CONTROL_TASKS), "comch: configuring");
	bench_check(doca_comch_server_event_msg_recv_register(comch->server, on_message), "comch: configuring");
	bench_check(doca_comch_server_event_connection_status_changed_register(comch->server, on_connect, on_disconnect),
		    "comch: configuring");
	bench_check(doca_comch_server_event_consumer_register(comch->server, on_new_consumer, on_expired_consumer),
		    "comch: configuring");
	bench_check(doca_ctx_start(comch->ctx), "comch: starting the server");
	bench_channel_send(side->channel, name, sizeof(name));
	while (comch->connection == NULL)
		perf_progress(side, comch->pe);
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	bench_check(doca_ctx_get_state(ctx, &state), "comch: asking for a state");
	return state;
}

static void connect_client(struct perf_side *side, struct perf_comch *comch)
{
	char name[NAME_SIZE];
	doca_error_t result;

	bench_channel_receive(side->channel, name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	bench_check(doca_comch_client_create(side->dev, name, &comch->client), "comch: creating a client");
	ctx_begin(comch, doca_comch_client_as_ctx(comch->client));
	bench_check(doca_comch_client_task_send_set_conf(comch->client, on_sent, on_sent, CONTROL_TASKS), "comch: configuring");
	bench_check(doca_comch_client_event_msg_recv_register(comch->client, on_message), "comch: configuring");
	bench_check(doca_comch_client_event_consumer_register(comch->client, on_new_consumer, on_expired_consumer),
		    "comch: configuring");
	result = doca_ctx_start(comch->ctx);
	if (result != DOCA_ERROR_IN_PROGRESS)
		bench_check(result, "comch: starting the client");
	while (state_of(comch->ctx) == DOCA_CTX_STATE_STARTING)
		perf_progress(side, comch->pe);
	bench_check(doca_comch_client_get_connection(comch->client, &comch->connection), "comch: connecting to the server");
}

void perf_comch_open(struct perf_side *side, struct perf_comch *comch)
{
	bench_check(doca_pe_create(&comch->pe), "creating a progress engine");
	side->pe = comch->pe;
	if (side->near)
		control_serve(side, comch);
	else
		connect_client(side, comch);
}

void perf_comch_await_consumers(const struct perf_side *side, const struct perf_comch *comch, struct doca_ctx *consumer)
{
	while (state_of(consumer) == DOCA_CTX_STATE_STARTING || comch->remote_consumer == 0) {
		perf_progress(side, comch->pe);
		if (comch->data_pe != NULL)
			perf_progress(side, comch->data_pe);
	}
	if (state_of(consumer) != DOCA_CTX_STATE_RUNNING)
		bench_die("comch: the consumer has not started");
}

void perf_comch_stop(const struct perf_side *side, const struct perf_comch *comch, struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_stop(ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		bench_check(result, "comch: stopping");
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE) {
		perf_progress(side, comch->pe);
		if (comch->data_pe != NULL)
			perf_progress(side, comch->data_pe);
	}
}

void perf_comch_close(struct perf_side *side, struct perf_comch *comch)
{
	while (side->near && comch->connection != NULL) /* the client ends the connection */
		perf_progress(side, comch->pe);
	perf_comch_stop(side, comch, comch->ctx);
	if (side->near)
		bench_check(doca_comch_server_destroy(comch->server), "comch: destroying the server");
	else
		bench_check(doca_comch_client_destroy(comch->client), "comch: destroying the client");
	bench_check(doca_pe_destroy(comch->pe), "destroying a progress engine");
	side->pe = NULL;
}
