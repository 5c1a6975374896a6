/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch_roles.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char server_name[SERVER_NAME_MAX];
struct comch_side own;
struct data_side consumer, producer;

/* ---- the other process ---- */

static void echo_message(struct comch_side *side, const uint8_t *msg, uint32_t len, struct doca_comch_connection *connection)
{
	(void)connection;
	assert_int_equal(side_send(side, msg, len), DOCA_SUCCESS);
}

/* Receives on its consumer and sends each message back by its producer, to the peer's last consumer. */
static void echo_data(struct data_side *side, struct doca_task *task)
{
	(void)task;
	memcpy(producer.memory.bytes, side->memory.bytes, side->data_len);
	assert_int_equal(data_send(&producer, 0, side->data_len, own.new_consumer_id, side->imm, side->imm_len, false),
			 DOCA_SUCCESS);
}

bool connected(void)
{
	return side_state(own.ctx) == DOCA_CTX_STATE_RUNNING;
}

typedef void (*message_fn)(struct comch_side *side, const uint8_t *msg, uint32_t len, struct doca_comch_connection *connection);

/* The first message may arrive in the progress call that connects, so on_msg is set before. */
static void role_connect(message_fn on_msg)
{
	side_init_client(&own, server_name);
	own.on_msg = on_msg;
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(own.ctx) != DOCA_CTX_STATE_STARTING, own.pe, NULL, NULL, NULL);
	assert_true(connected());
}

static void role_echo(void)
{
	uint32_t num_idle = 0;

	role_connect(echo_message);
	while (connected())
		turn_end(&num_idle, doca_pe_progress(own.pe) != 0);
}

static void role_data_echo(size_t memory_len)
{
	uint32_t num_idle = 0;

	role_connect(NULL);
	data_init_consumer(&consumer, &own, NULL, 1, memory_len);
	data_init_producer(&producer, &own, NULL, 4,
			   memory_len); /* the next message may arrive before the completion of a send */
	data_start(&producer, NULL, NULL);
	data_start(&consumer, own.pe, NULL);
	consumer.on_done = echo_data;
	consumer.repost = true;
	data_post(&consumer, 0, memory_len);
	while (connected()) {
		bool moved = doca_pe_progress(own.pe) != 0;

		moved |= doca_pe_progress(consumer.pe) != 0;
		moved |= doca_pe_progress(producer.pe) != 0;
		turn_end(&num_idle, moved);
	}
}

static void role_huge_echo(void)
{
	side_wait_s = HUGE_WAIT_S;
	role_data_echo((size_t)1 << 30);
}

/* Keeps everything busy, so that it is killed in the middle of some operation. */
static void role_busy(void)
{
	uint32_t posted = 0;

	role_connect(NULL);
	data_init_consumer(&consumer, &own, NULL, 16, 65536);
	data_init_producer(&producer, &own, NULL, 16, 65536);
	data_start(&producer, NULL, NULL);
	assert_int_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	consumer.repost = true;
	while (connected()) {
		doca_pe_progress(own.pe);
		doca_pe_progress(consumer.pe);
		doca_pe_progress(producer.pe);
		if (connected() && own.num_sent % 4 == 0)
			(void)side_send(&own, "busy", 4);
		if (posted < 16 && side_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING)
			data_post(&consumer, 4096 * posted++, 4096);
		if (own.num_new_consumers > own.num_expired_consumers && side_state(producer.ctx) == DOCA_CTX_STATE_RUNNING)
			(void)data_send(&producer, 0, 3000, own.new_consumer_id, NULL, 0, true);
	}
}

/* A server that echoes until it is killed. */
static void role_server(void)
{
	uint32_t num_idle = 0;

	side_init_server(&own, server_name);
	own.on_msg = echo_message;
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	for (;;)
		turn_end(&num_idle, doca_pe_progress(own.pe) != 0);
}

void sleep_until_due(struct doca_pe *pe)
{
	doca_notification_handle_t handle;
	struct pollfd wait;

	assert_int_equal(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(pe), DOCA_SUCCESS);
	wait = (struct pollfd){.fd = handle, .events = POLLIN};
	if (poll(&wait, 1, (int)side_wait_s * 1000) != 1)
		fail_msg("nothing woke the progress engine");
	assert_int_equal(doca_pe_clear_notification(pe, 0), DOCA_SUCCESS);
}

/* Echoes data from one engine for all, and sleeps whenever nothing is due. */
static void role_sleeper(void)
{
	role_connect(NULL);
	data_init_consumer(&consumer, &own, own.pe, 4, 4096);
	data_init_producer(&producer, &own, own.pe, 4, 4096);
	data_start(&producer, NULL, NULL);
	data_start(&consumer, own.pe, NULL);
	consumer.on_done = echo_data;
	consumer.repost = true;
	data_post(&consumer, 0, 4096);
	while (connected()) {
		while (doca_pe_progress(own.pe))
			;
		if (connected())
			sleep_until_due(own.pe);
	}
}

int run_role(const char *role)
{
	alarm(HUGE_WAIT_S + 60);
	if (strcmp(role, "echo") == 0)
		role_echo();
	else if (strcmp(role, "data_echo") == 0)
		role_data_echo(1 << 20);
	else if (strcmp(role, "huge_echo") == 0)
		role_huge_echo();
	else if (strcmp(role, "busy") == 0)
		role_busy();
	else if (strcmp(role, "server") == 0)
		role_server();
	else if (strcmp(role, "sleeper") == 0)
		role_sleeper();
	else
		return 2;
	return 0;
}

/* ---- the first process ---- */

void new_name(void)
{
	static unsigned int number;

	snprintf(server_name, sizeof(server_name), "process test %d.%u", (int)getpid(), number++);
}

void serve(void)
{
	new_name();
	side_init_server(&own, server_name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
}

void wait_for_client(void)
{
	uint32_t before = own.num_connects;

	SIDE_WAIT(own.num_connects == before + 1, own.pe, NULL, NULL, NULL);
}

void start_data(size_t memory_len)
{
	data_init_consumer(&consumer, &own, NULL, 1, memory_len);
	data_init_producer(&producer, &own, NULL, 1, memory_len);
	data_start(&producer, NULL, NULL);
	data_start(&consumer, own.pe, NULL);
	SIDE_WAIT(own.num_new_consumers > 0, own.pe, NULL, NULL, NULL);
}

void end_data(void)
{
	data_fini(&producer);
	data_fini(&consumer);
}

void echo_once(size_t len, uint32_t number)
{
	uint8_t *out = producer.memory.bytes;
	uint32_t done = consumer.num_done, sent = producer.num_done;

	for (size_t i = 0; i < len; i += 1 + i / 64) /* compare every byte of a short message, samples of a long one */
		out[i] = (uint8_t)(i * 131 + number);
	out[len - 1] = (uint8_t)number;
	data_post(&consumer, 0, len);
	assert_int_equal(data_send(&producer, 0, len, own.new_consumer_id, &number, sizeof(number), false), DOCA_SUCCESS);
	SIDE_WAIT((consumer.num_done == done + 1 && producer.num_done == sent + 1) ||
			  consumer.num_errors + producer.num_errors != 0,
		  consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(consumer.num_errors, 0);
	assert_int_equal(producer.num_errors, 0);
	assert_int_equal(consumer.data_len, len);
	assert_int_equal(consumer.imm_len, sizeof(number));
	assert_memory_equal(consumer.imm, &number, sizeof(number));
	assert_memory_equal(consumer.memory.bytes, out, len);
}
