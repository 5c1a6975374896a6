/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers, clients, connections and control messages; both sides in one process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/comch_side.h"
#include "support/log_lines.h"
#include "support/test_dev.h"

static struct comch_side server, client;

static void connect_both(void)
{
	side_init_server(&server, "control");
	side_init_client(&client, "control");
	side_connect(&server, &client);
}

static void end_both(void)
{
	side_fini(&client, &server);
	side_fini(&server, NULL);
}

static void a_server_runs_immediately_and_a_client_is_starting(void **state)
{
	(void)state;
	side_init_server(&server, "control");
	side_init_client(&client, "control");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	assert_int_equal(side_state(server.ctx), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(side_state(client.ctx), DOCA_CTX_STATE_STARTING);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_RUNNING && server.num_connects == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(client.num_states, 2);
	assert_int_equal(client.states[0], DOCA_CTX_STATE_STARTING);
	assert_int_equal(client.states[1], DOCA_CTX_STATE_RUNNING);
	end_both();
}

static void client_without_server_ends_idle(void **state)
{
	(void)state;
	side_init_client(&client, "nobody listens here");
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, client.pe, NULL, NULL, NULL);
	for (uint32_t i = 0; i < client.num_states; i++)
		assert_int_not_equal(client.states[i], DOCA_CTX_STATE_RUNNING);
	side_fini(&client, NULL);
}

static void client_tries_again_after_its_server_came(void **state)
{
	(void)state;
	side_init_client(&client, "control");
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, client.pe, NULL, NULL, NULL);
	side_init_server(&server, "control");
	side_connect(&server, &client);
	end_both();
}

static void stop_of_a_starting_client(void **state)
{
	(void)state;
	side_init_server(&server, "control");
	side_init_client(&client, "control");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	(void)doca_ctx_stop(client.ctx);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe, client.pe, NULL, NULL);
	end_both();
}

static void a_second_server_of_a_name_is_rejected(void **state)
{
	struct comch_side second, other_name;

	(void)state;
	side_init_server(&server, "control");
	side_init_server(&second, "control");
	side_init_server(&other_name, "another");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(second.ctx), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(side_state(second.ctx), DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_ctx_start(other_name.ctx), DOCA_SUCCESS);
	side_fini(&server, NULL);
	assert_int_equal(doca_ctx_start(second.ctx), DOCA_SUCCESS); /* the name is free again */
	side_fini(&other_name, NULL);
	side_fini(&second, NULL);
}

static void server_wants_a_representor_of_its_device(void **state)
{
	struct doca_dev *port0 = test_dev_open_pci(DPU_DEV), *port1 = test_dev_open_pci("03:00.1");
	struct doca_dev_rep *rep = side_open_rep(port0, HOST_DEV);
	struct doca_comch_server *none = NULL;

	(void)state;
	assert_int_equal(doca_comch_server_create(port1, rep, "x", &none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_create(port0, NULL, "x", &none), DOCA_ERROR_INVALID_VALUE);
	assert_null(none);
	doca_dev_rep_close(rep);
	doca_dev_close(port1);
	doca_dev_close(port0);
}

static void server_serves_the_function_of_its_representor_only(void **state)
{
	struct comch_side other;

	(void)state;
	side_init_server(&server, "control");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	memset(&other, 0, sizeof(other));
	other.dev = test_dev_open_pci("d8:00.1");
	assert_int_equal(doca_comch_client_create(other.dev, "control", &other.client), DOCA_SUCCESS);
	other.ctx = doca_comch_client_as_ctx(other.client);
	assert_int_equal(doca_pe_create(&other.pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(other.pe, other.ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(other.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(other.ctx) == DOCA_CTX_STATE_IDLE, server.pe, other.pe, NULL, NULL);
	assert_int_equal(server.num_connects, 0);
	side_fini(&other, NULL);
	side_fini(&server, NULL);
}

static void device_in_use_is_not_closed(void **state)
{
	(void)state;
	side_init_server(&server, "control");
	assert_int_equal(doca_dev_close(server.dev), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_dev_rep_close(server.rep), DOCA_ERROR_IN_USE);
	side_fini(&server, NULL);
}

static void messages_keep_order_and_boundaries(void **state)
{
	char text[32];

	(void)state;
	connect_both();
	for (uint32_t i = 0; i < 200; i++) {
		int len = snprintf(text, sizeof(text), "message %u", i);

		assert_int_equal(side_send(&client, text, (uint32_t)len + 1), DOCA_SUCCESS);
		SIDE_WAIT(server.num_msgs == i + 1, server.pe, client.pe, NULL, NULL);
		assert_int_equal(server.msg_len, len + 1);
		assert_string_equal((char *)server.msg, text);
		assert_int_equal(side_send(&server, text, (uint32_t)len + 1), DOCA_SUCCESS);
		SIDE_WAIT(client.num_msgs == i + 1 && client.num_sent == i + 1, server.pe, client.pe, NULL, NULL);
		assert_string_equal((char *)client.msg, text);
	}
	end_both();
}

static void largest_and_empty_message(void **state)
{
	uint8_t msg[SIDE_MSGS_MAX];
	uint32_t max;

	(void)state;
	connect_both();
	assert_int_equal(doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(client.dev), &max), DOCA_SUCCESS);
	assert_true(max >= 4080 && max < sizeof(msg));
	for (uint32_t i = 0; i < max; i++)
		msg[i] = (uint8_t)(i * 7);
	assert_int_equal(side_send(&client, msg, max), DOCA_SUCCESS);
	SIDE_WAIT(server.num_msgs == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(server.msg_len, max);
	assert_memory_equal(server.msg, msg, max);
	assert_int_equal(side_send(&client, msg, 0), DOCA_SUCCESS);
	SIDE_WAIT(server.num_msgs == 2, server.pe, client.pe, NULL, NULL);
	assert_int_equal(server.msg_len, 0);
	assert_int_equal(side_send(&client, msg, max + 1), DOCA_ERROR_INVALID_VALUE);
	end_both();
}

static void message_buffer_may_die_after_submit(void **state)
{
	uint8_t msg[64];

	(void)state;
	connect_both();
	memset(msg, 'a', sizeof(msg));
	assert_int_equal(side_send(&client, msg, sizeof(msg)), DOCA_SUCCESS);
	memset(msg, 'b', sizeof(msg));
	SIDE_WAIT(server.num_msgs == 1, server.pe, client.pe, NULL, NULL);
	for (size_t i = 0; i < sizeof(msg); i++)
		assert_int_equal(server.msg[i], 'a');
	end_both();
}

static void lower_message_size_of_both_sides_holds(void **state)
{
	uint8_t msg[512] = {0};

	(void)state;
	side_init_server(&server, "control");
	side_init_client(&client, "control");
	assert_int_equal(doca_comch_server_set_max_msg_size(server.server, 100), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_set_max_msg_size(client.client, 300), DOCA_SUCCESS);
	side_connect(&server, &client);
	assert_int_equal(side_send(&client, msg, 101), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(side_send(&client, msg, 100), DOCA_SUCCESS);
	assert_int_equal(side_send(&server, msg, 101), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(side_send(&server, msg, 100), DOCA_SUCCESS);
	SIDE_WAIT(server.num_msgs == 1 && client.num_msgs == 1, server.pe, client.pe, NULL, NULL);
	end_both();
}

/* The task holds the size, so a ctx that is started again with a larger one needs larger tasks. */
static void message_size_grows_between_two_runs(void **state)
{
	uint8_t msg[4000];

	(void)state;
	memset(msg, 'x', sizeof(msg));
	side_init_server(&server, "control");
	side_init_client(&client, "control");
	assert_int_equal(doca_comch_client_set_max_msg_size(client.client, 16), DOCA_SUCCESS);
	side_connect(&server, &client);
	(void)doca_ctx_stop(client.ctx);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE && server.num_disconnects == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(doca_comch_client_set_max_msg_size(client.client, sizeof(msg)), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_RUNNING && server.connection != NULL, server.pe, client.pe, NULL,
		  NULL);
	assert_int_equal(side_send(&client, msg, sizeof(msg)), DOCA_SUCCESS);
	SIDE_WAIT(server.num_msgs == 1, server.pe, client.pe, NULL, NULL);
	assert_memory_equal(server.msg, msg, sizeof(msg));
	end_both();
}

static doca_error_t submit_once(struct comch_side *side, struct doca_comch_task_send **task)
{
	assert_int_equal(doca_comch_client_task_send_alloc_init(side->client, side->connection, "x", 1, task), DOCA_SUCCESS);
	return doca_task_submit(doca_comch_task_send_as_task(*task));
}

static void a_full_peer_makes_submit_return_again(void **state)
{
	struct doca_comch_task_send *task;
	uint32_t num = 0;
	doca_error_t result;

	(void)state;
	side_init_server(&server, "control");
	assert_int_equal(doca_comch_server_set_recv_queue_size(server.server, 4), DOCA_SUCCESS);
	side_init_client(&client, "control");
	side_connect(&server, &client);
	while ((result = submit_once(&client, &task)) == DOCA_SUCCESS) {
		num++;
		SIDE_WAIT(client.num_sent == num, client.pe, NULL, NULL, NULL); /* it has arrived */
	}
	assert_int_equal(result, DOCA_ERROR_AGAIN);
	assert_true(num >= 4);
	SIDE_WAIT(server.num_msgs == num, server.pe, NULL, NULL, NULL);
	assert_int_equal(doca_task_submit(doca_comch_task_send_as_task(task)),
			 DOCA_SUCCESS); /* cleared by the peer; this side does not poll */
	SIDE_WAIT(server.num_msgs == num + 1, server.pe, client.pe, NULL, NULL);
	end_both();
}

static uint32_t recv_queue_size(void)
{
	uint32_t size;

	assert_int_equal(doca_comch_server_get_recv_queue_size(server.server, &size), DOCA_SUCCESS);
	return size;
}

#define TASKS 1024

static uint32_t num_ended, num_failed;
static doca_error_t failure; /* of the last one that failed */

static void task_ended(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_error_t status = doca_task_get_status(doca_comch_task_send_as_task(task));

	(void)task_data;
	(void)ctx_data;
	num_ended++;
	if (status != DOCA_SUCCESS) {
		num_failed++;
		failure = status;
	}
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* A pair with TASKS tasks, all of the client's in flight. */
static void connect_and_submit_all(void)
{
	struct doca_comch_task_send *task;

	num_ended = num_failed = 0;
	side_init_server(&server, "control");
	assert_int_equal(doca_comch_server_task_send_set_conf(server.server, task_ended, task_ended, TASKS), DOCA_SUCCESS);
	side_init_client(&client, "control");
	assert_int_equal(doca_comch_client_task_send_set_conf(client.client, task_ended, task_ended, TASKS), DOCA_SUCCESS);
	side_connect(&server, &client);
	for (uint32_t i = 0; i < TASKS; i++)
		assert_int_equal(submit_once(&client, &task), DOCA_SUCCESS);
}

/* Published programs set the number of tasks, and take a submit that fails while a task is free for an error. */
static void a_peer_has_room_for_as_many_messages_as_tasks(void **state)
{
	struct doca_comch_task_send *none;

	(void)state;
	connect_and_submit_all();
	log_lines_open();
	assert_int_equal(doca_comch_client_task_send_alloc_init(client.client, client.connection, "x", 1, &none),
			 DOCA_ERROR_NO_MEMORY);
	assert_int_equal(log_lines_count(), 0);
	SIDE_WAIT(server.num_msgs == TASKS && num_ended == TASKS, server.pe, client.pe, NULL, NULL);
	assert_int_equal(num_failed, 0);
	end_both();
}

static void messages_that_wait_end_with_a_stop(void **state)
{
	(void)state;
	connect_and_submit_all();
	(void)doca_ctx_stop(client.ctx);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE && server.num_disconnects == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(num_ended, TASKS);
	assert_int_equal(server.num_msgs, TASKS - num_failed);
	assert_true(num_failed == 0 || failure == DOCA_ERROR_BAD_STATE);
	end_both();
}

static void messages_that_wait_end_with_their_connection(void **state)
{
	(void)state;
	connect_and_submit_all();
	side_fini(&server, NULL);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, client.pe, NULL, NULL, NULL);
	assert_int_equal(num_ended, TASKS);
	assert_true(num_failed == 0 || failure == DOCA_ERROR_CONNECTION_ABORTED);
	side_fini(&client, NULL);
}

static void a_default_queue_has_a_place_for_each_task(void **state)
{
	(void)state;
	side_init_server(&server, "control");
	assert_int_equal(doca_comch_server_task_send_set_conf(server.server, task_ended, task_ended, 1), DOCA_SUCCESS);
	assert_int_equal(recv_queue_size(), 16);
	assert_int_equal(doca_comch_server_task_send_set_conf(server.server, task_ended, task_ended, TASKS), DOCA_SUCCESS);
	assert_int_equal(recv_queue_size(), TASKS);
	side_fini(&server, NULL);
}

static void a_queue_of_its_own_size(void **state)
{
	(void)state;
	side_init_server(&server, "control");
	assert_int_equal(doca_comch_server_set_recv_queue_size(server.server, 4), DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_task_send_set_conf(server.server, task_ended, task_ended, TASKS), DOCA_SUCCESS);
	assert_int_equal(recv_queue_size(), 4);
	side_fini(&server, NULL);
}

static void client_stop_is_a_disconnect_event(void **state)
{
	(void)state;
	connect_both();
	assert_int_equal(side_send(&client, "last", 4), DOCA_SUCCESS);
	(void)doca_ctx_stop(client.ctx);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE && server.num_disconnects == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(server.num_msgs, 1); /* messages sent before the disconnect arrive first */
	end_both();
}

static uint32_t num_came, num_left;

static void came(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection, uint8_t ok)
{
	(void)event;
	server.connection = connection;
	num_came += ok;
}

static void left(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection, uint8_t ok)
{
	(void)event;
	(void)connection;
	num_left += ok;
}

static void connection_events_by_their_name_of_2_6(void **state)
{
	(void)state;
	num_came = num_left = 0;
	side_init_server(&server, "control");
	assert_int_equal(doca_comch_server_event_connection_register(server.server, came, left), DOCA_SUCCESS);
	side_init_client(&client, "control");
	side_connect(&server, &client);
	assert_int_equal(num_came, 1);
	(void)doca_ctx_stop(client.ctx);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE && num_left == 1, server.pe, client.pe, NULL, NULL);
	end_both();
}

static void server_stop_takes_the_client_to_idle(void **state)
{
	(void)state;
	connect_both();
	assert_int_equal(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(server.ctx) == DOCA_CTX_STATE_IDLE && side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe,
		  client.pe, NULL, NULL);
	assert_int_equal(client.num_states, 4);
	assert_int_equal(client.states[2], DOCA_CTX_STATE_STOPPING);
	assert_int_equal(client.states[3], DOCA_CTX_STATE_IDLE);
	end_both();
}

static void server_disconnects_one_client(void **state)
{
	struct comch_side other;
	struct doca_comch_connection *first;

	(void)state;
	connect_both();
	first = server.connection;
	side_init_client(&other, "control");
	assert_int_equal(doca_ctx_start(other.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(server.num_connects == 2 && side_state(other.ctx) == DOCA_CTX_STATE_RUNNING, server.pe, client.pe, other.pe,
		  NULL);
	assert_int_equal(doca_comch_server_disconnect(server.server, first), DOCA_SUCCESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe, client.pe, other.pe, NULL);
	assert_int_equal(side_send(&server, "still here", 10), DOCA_SUCCESS);
	SIDE_WAIT(other.num_msgs == 1, server.pe, client.pe, other.pe, NULL);
	assert_int_equal(doca_comch_server_disconnect(server.server, first), DOCA_ERROR_INVALID_VALUE);
	side_fini(&other, &server);
	end_both();
}

static void stop_with_sends_in_flight(void **state)
{
	struct doca_comch_task_send *task;
	uint32_t num = 0;

	(void)state;
	connect_both();
	while (num < 8 && submit_once(&client, &task) == DOCA_SUCCESS)
		num++;
	assert_int_equal(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, client.pe, NULL, NULL, NULL); /* without progress of the peer */
	assert_int_equal(client.num_sent + client.num_send_errors, num);
	SIDE_WAIT(server.num_disconnects == 1, server.pe, NULL, NULL, NULL);
	end_both();
}

static void no_messages_for_an_ended_connection(void **state)
{
	struct doca_comch_connection *connection;
	struct doca_comch_task_send *task;

	(void)state;
	connect_both();
	connection = server.connection;
	assert_int_equal(doca_comch_server_disconnect(server.server, connection), DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_task_send_alloc_init(server.server, connection, "x", 1, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_comch_client_task_send_alloc_init(client.client, client.connection, "x", 1, &task),
			 DOCA_ERROR_BAD_STATE);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe, client.pe, NULL, NULL);
	end_both();
}

static void submit_after_the_peer_left(void **state)
{
	struct doca_comch_task_send *task;

	(void)state;
	connect_both();
	assert_int_equal(doca_comch_client_task_send_alloc_init(client.client, client.connection, "x", 1, &task), DOCA_SUCCESS);
	(void)doca_ctx_stop(server.ctx);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_STOPPING, server.pe, client.pe, NULL, NULL);
	assert_int_not_equal(doca_task_submit(doca_comch_task_send_as_task(task)), DOCA_SUCCESS);
	doca_task_free(doca_comch_task_send_as_task(task));
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE && side_state(server.ctx) == DOCA_CTX_STATE_IDLE, server.pe,
		  client.pe, NULL, NULL);
	end_both();
}

static void counters_after_update(void **state)
{
	uint64_t value = 99;

	(void)state;
	connect_both();
	assert_int_equal(side_send(&client, "12345", 5), DOCA_SUCCESS);
	assert_int_equal(side_send(&client, "123", 3), DOCA_SUCCESS);
	SIDE_WAIT(server.num_msgs == 2 && client.num_sent == 2, server.pe, client.pe, NULL, NULL);
	assert_int_equal(doca_comch_connection_get_counter(client.connection, DOCA_COMCH_COUNTER_SENT_MESSAGES, &value),
			 DOCA_SUCCESS);
	assert_int_equal(value, 0); /* not updated yet */
	assert_int_equal(doca_comch_connection_update_info(client.connection), DOCA_SUCCESS);
	assert_int_equal(doca_comch_connection_update_info(server.connection), DOCA_SUCCESS);
	assert_int_equal(doca_comch_connection_get_counter(client.connection, DOCA_COMCH_COUNTER_SENT_MESSAGES, &value),
			 DOCA_SUCCESS);
	assert_int_equal(value, 2);
	assert_int_equal(doca_comch_connection_get_counter(client.connection, DOCA_COMCH_COUNTER_SENT_BYTES, &value),
			 DOCA_SUCCESS);
	assert_int_equal(value, 8);
	assert_int_equal(doca_comch_connection_get_counter(server.connection, DOCA_COMCH_COUNTER_RECV_MESSAGES, &value),
			 DOCA_SUCCESS);
	assert_int_equal(value, 2);
	assert_int_equal(doca_comch_connection_get_counter(server.connection, DOCA_COMCH_COUNTER_RECV_BYTES, &value),
			 DOCA_SUCCESS);
	assert_int_equal(value, 8);
	assert_int_equal(doca_comch_connection_get_counter(server.connection, (enum doca_comch_counter)9, &value),
			 DOCA_ERROR_INVALID_VALUE);
	end_both();
}

static void connection_knows_its_owner_and_user_data(void **state)
{
	union doca_data data = {.u64 = 7};

	(void)state;
	connect_both();
	assert_ptr_equal(doca_comch_server_get_server_ctx(server.connection), server.server);
	assert_null(doca_comch_client_get_client_ctx(server.connection));
	assert_ptr_equal(doca_comch_client_get_client_ctx(client.connection), client.client);
	assert_null(doca_comch_server_get_server_ctx(client.connection));
	assert_int_equal(doca_comch_connection_get_user_data(client.connection).u64, 0);
	assert_int_equal(doca_comch_connection_set_user_data(client.connection, data), DOCA_SUCCESS);
	assert_int_equal(doca_comch_connection_get_user_data(client.connection).u64, 7);
	end_both();
}

#define MANY 300

static void many_clients_of_one_server(void **state)
{
	static struct comch_side many[MANY];
	uint32_t running = 0;

	(void)state;
	side_init_server(&server, "control");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	for (uint32_t i = 0; i < MANY; i++) {
		side_init_client(&many[i], "control");
		assert_int_equal(doca_ctx_start(many[i].ctx), DOCA_ERROR_IN_PROGRESS);
		SIDE_WAIT(side_state(many[i].ctx) == DOCA_CTX_STATE_RUNNING, server.pe, many[i].pe, NULL, NULL);
		running++;
	}
	assert_int_equal(server.num_connects, running);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(side_send(&many[i], &i, sizeof(i)), DOCA_SUCCESS);
		SIDE_WAIT(server.num_msgs == i + 1, server.pe, many[i].pe, NULL, NULL);
		assert_memory_equal(server.msg, &i, sizeof(i));
	}
	for (uint32_t i = 0; i < MANY; i++)
		side_fini(&many[i], &server);
	SIDE_WAIT(server.num_disconnects == MANY, server.pe, NULL, NULL, NULL);
	side_fini(&server, NULL);
}

static void stop_from_the_message_callback_on(struct comch_side *side, const uint8_t *msg, uint32_t len,
					      struct doca_comch_connection *connection)
{
	(void)msg;
	(void)len;
	(void)connection;
	assert_int_equal(doca_ctx_stop(side->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void stop_from_the_message_callback(void **state)
{
	(void)state;
	connect_both();
	server.on_msg = stop_from_the_message_callback_on;
	assert_int_equal(side_send(&client, "stop", 4), DOCA_SUCCESS);
	SIDE_WAIT(side_state(server.ctx) == DOCA_CTX_STATE_IDLE && side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe,
		  client.pe, NULL, NULL);
	end_both();
}

static void disconnect_from_the_message_callback_on(struct comch_side *side, const uint8_t *msg, uint32_t len,
						    struct doca_comch_connection *connection)
{
	(void)msg;
	(void)len;
	assert_int_equal(doca_comch_server_disconnect(side->server, connection), DOCA_SUCCESS);
}

static void disconnect_from_the_message_callback(void **state)
{
	(void)state;
	connect_both();
	server.on_msg = disconnect_from_the_message_callback_on;
	assert_int_equal(side_send(&client, "go", 2), DOCA_SUCCESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE, server.pe, client.pe, NULL, NULL);
	end_both();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_runs_immediately_and_a_client_is_starting),
		cmocka_unit_test(client_without_server_ends_idle),
		cmocka_unit_test(client_tries_again_after_its_server_came),
		cmocka_unit_test(stop_of_a_starting_client),
		cmocka_unit_test(a_second_server_of_a_name_is_rejected),
		cmocka_unit_test(server_wants_a_representor_of_its_device),
		cmocka_unit_test(server_serves_the_function_of_its_representor_only),
		cmocka_unit_test(device_in_use_is_not_closed),
		cmocka_unit_test(messages_keep_order_and_boundaries),
		cmocka_unit_test(largest_and_empty_message),
		cmocka_unit_test(message_buffer_may_die_after_submit),
		cmocka_unit_test(lower_message_size_of_both_sides_holds),
		cmocka_unit_test(message_size_grows_between_two_runs),
		cmocka_unit_test(a_full_peer_makes_submit_return_again),
		cmocka_unit_test(a_peer_has_room_for_as_many_messages_as_tasks),
		cmocka_unit_test(messages_that_wait_end_with_a_stop),
		cmocka_unit_test(messages_that_wait_end_with_their_connection),
		cmocka_unit_test(a_default_queue_has_a_place_for_each_task),
		cmocka_unit_test(a_queue_of_its_own_size),
		cmocka_unit_test(client_stop_is_a_disconnect_event),
		cmocka_unit_test(connection_events_by_their_name_of_2_6),
		cmocka_unit_test(server_stop_takes_the_client_to_idle),
		cmocka_unit_test(server_disconnects_one_client),
		cmocka_unit_test(stop_with_sends_in_flight),
		cmocka_unit_test(no_messages_for_an_ended_connection),
		cmocka_unit_test(submit_after_the_peer_left),
		cmocka_unit_test(counters_after_update),
		cmocka_unit_test(connection_knows_its_owner_and_user_data),
		cmocka_unit_test(many_clients_of_one_server),
		cmocka_unit_test(stop_from_the_message_callback),
		cmocka_unit_test(disconnect_from_the_message_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
