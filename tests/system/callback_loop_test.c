/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program may submit in a callback until AGAIN clears. It does clear, because everything that the peer waits for was sent
 * before the callback. The peer is another thread or another process, with its own progress engine.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/comch_side.h"

#define CHUNK 64
#define DATA 8

static struct comch_side own;
static struct data_side producer, consumer;
static uint32_t num_delivered;

/* ---- the client: posts its receive once its consumer is RUNNING ---- */

static int client_run(const char *name, uint32_t first_messages)
{
	alarm(120);
	side_init_client(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_RUNNING, own.pe, NULL, NULL, NULL);
	assert_int_equal(doca_comch_client_get_connection(own.client, &own.connection), DOCA_SUCCESS);
	for (uint32_t i = 0; i < first_messages; i++)
		assert_int_equal(side_send(&own, "first", 5), DOCA_SUCCESS);
	data_init_consumer(&consumer, &own, NULL, 4, 4096);
	data_start(&consumer, own.pe, NULL);
	data_post(&consumer, 0, CHUNK);
	SIDE_WAIT(consumer.num_done == 1, own.pe, consumer.pe, NULL, NULL);
	assert_int_equal(consumer.num_errors, 0);
	data_fini(&consumer);
	side_fini(&own, NULL);
	return 0;
}

static pid_t client_start(const char *name, uint32_t first_messages)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%u", first_messages);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execl("/proc/self/exe", "callback_loop_test", name, number, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* ---- the server: sends from its callback ---- */

/* data_send repeats the submit while it returns AGAIN, without progress. */
static void send_now(uint32_t consumer_id)
{
	if (producer.producer == NULL) {
		data_init_producer(&producer, &own, NULL, 4, 4096);
		data_start(&producer, NULL, NULL);
	}
	assert_int_equal(data_send(&producer, 0, DATA, consumer_id, NULL, 0, false), DOCA_SUCCESS);
	num_delivered++;
}

static void new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	own.connection = connection;
	own.num_new_consumers++;
	send_now(id);
}

static void expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	(void)connection;
	(void)id;
	own.num_expired_consumers++;
}

static void in_the_callback_of_a_new_consumer(void **state)
{
	char name[64];
	int status;

	(void)state;
	snprintf(name, sizeof(name), "callback loop %d", (int)getpid());
	for (uint32_t round = 0; round < 20; round++) {
		pid_t pid;

		memset(&producer, 0, sizeof(producer));
		num_delivered = 0;
		side_init_server(&own, name);
		assert_int_equal(doca_comch_server_event_consumer_register(own.server, new_consumer, expired_consumer),
				 DOCA_SUCCESS);
		assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
		pid = client_start(name, round % 4 * 16); /* the first messages use up to all of the server's receives */
		SIDE_WAIT(num_delivered == 1, own.pe, NULL, NULL, NULL);
		SIDE_WAIT(own.num_disconnects == 1 && producer.num_done + producer.num_errors == 1, own.pe, producer.pe, NULL,
			  NULL);
		assert_int_equal(producer.num_done, 1);
		data_fini(&producer);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		side_fini(&own, NULL);
	}
}

/* The loop is in the callback of a message, and the peer waits for a consumer that this callback starts. */
static void started(struct comch_side *side, const uint8_t *msg, uint32_t len, struct doca_comch_connection *connection)
{
	(void)msg;
	(void)len;
	side->connection = connection;
	side->on_msg = NULL;
	data_init_consumer(&consumer, side, NULL, 4, 4096);
	assert_int_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	send_now(side->new_consumer_id);
}

static int second_client_run(const char *name)
{
	alarm(120);
	side_init_client(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_RUNNING, own.pe, NULL, NULL, NULL);
	assert_int_equal(doca_comch_client_get_connection(own.client, &own.connection), DOCA_SUCCESS);
	data_init_consumer(&consumer, &own, NULL, 4, 4096);
	data_start(&consumer, own.pe, NULL);
	assert_int_equal(side_send(&own, "start", 5), DOCA_SUCCESS);
	/* The client posts its receive when it knows the server's consumer. */
	SIDE_WAIT(own.num_new_consumers == 1, own.pe, NULL, NULL, NULL);
	data_post(&consumer, 0, CHUNK);
	SIDE_WAIT(consumer.num_done == 1, own.pe, consumer.pe, NULL, NULL);
	data_fini(&consumer);
	side_fini(&own, NULL);
	return 0;
}

static void in_the_callback_of_a_message(void **state)
{
	char name[64];
	int status;
	pid_t pid;

	(void)state;
	memset(&producer, 0, sizeof(producer));
	num_delivered = 0;
	snprintf(name, sizeof(name), "callback loop %d", (int)getpid());
	side_init_server(&own, name);
	own.on_msg = started;
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	pid = client_start(name, UINT32_MAX);
	SIDE_WAIT(num_delivered == 1, own.pe, NULL, NULL, NULL);
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING, own.pe, consumer.pe, producer.pe, NULL);
	SIDE_WAIT(own.num_disconnects == 1, own.pe, consumer.pe, producer.pe, NULL);
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_IDLE, own.pe, consumer.pe, producer.pe, NULL);
	data_fini(&consumer);
	data_fini(&producer);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	side_fini(&own, NULL);
}

/* The peer does not progress while long messages are sent to it, then waits for the last one. They are more than the
 * connection holds at a time. */
#define LONG_MESSAGES 3
#define LONG 4080

static int third_client_run(const char *name)
{
	alarm(120);
	side_init_client(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_RUNNING, own.pe, NULL, NULL, NULL);
	assert_int_equal(doca_comch_client_get_connection(own.client, &own.connection), DOCA_SUCCESS);
	data_init_consumer(&consumer, &own, NULL, 4, 4096);
	data_start(&consumer, own.pe, NULL);
	data_post(&consumer, 0, CHUNK);
	assert_int_equal(side_send(&own, "posted", 6), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1, own.pe, consumer.pe, NULL, NULL); /* the server's producer is connected */
	assert_int_equal(side_send(&own, "start", 5), DOCA_SUCCESS);
	raise(SIGSTOP);
	SIDE_WAIT(own.num_msgs == LONG_MESSAGES, own.pe, NULL, NULL, NULL);
	data_post(&consumer, 0, CHUNK);
	SIDE_WAIT(consumer.num_done == 2, own.pe, consumer.pe, NULL, NULL);
	data_fini(&consumer);
	side_fini(&own, NULL);
	return 0;
}

static pid_t still;

static void send_long_and_loop(struct comch_side *side, const uint8_t *msg, uint32_t len,
			       struct doca_comch_connection *connection)
{
	static const uint8_t message[LONG];
	int status;

	(void)msg;
	(void)len;
	side->connection = connection;
	if (side->num_msgs == 1) { /* receives are posted: this send connects */
		send_now(side->new_consumer_id);
		return;
	}
	assert_int_equal(waitpid(still, &status, WUNTRACED), still);
	assert_true(WIFSTOPPED(status));
	for (int i = 0; i < LONG_MESSAGES; i++)
		assert_int_equal(side_send(side, message, LONG), DOCA_SUCCESS);
	assert_int_equal(kill(still, SIGCONT), 0);
	send_now(side->new_consumer_id);
}

static void behind_long_messages(void **state)
{
	char name[64];
	int status;

	(void)state;
	memset(&producer, 0, sizeof(producer));
	num_delivered = 0;
	snprintf(name, sizeof(name), "callback loop %d", (int)getpid());
	side_init_server(&own, name);
	own.on_msg = send_long_and_loop;
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	still = client_start(name, UINT32_MAX - 1);
	SIDE_WAIT(num_delivered >= 1, own.pe, NULL, NULL, NULL); /* one turn may bring both messages */
	SIDE_WAIT(num_delivered == 2, own.pe, producer.pe, NULL, NULL);
	SIDE_WAIT(own.num_disconnects == 1, own.pe, producer.pe, NULL, NULL);
	assert_int_equal(own.num_sent, LONG_MESSAGES);
	data_fini(&producer);
	assert_int_equal(waitpid(still, &status, 0), still);
	assert_int_equal(status, 0);
	side_fini(&own, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_the_callback_of_a_new_consumer),
		cmocka_unit_test(in_the_callback_of_a_message),
		cmocka_unit_test(behind_long_messages),
	};

	side_wait_s = 60; /* on a busy machine */
	if (argc == 3) {
		uint32_t number = (uint32_t)strtoul(argv[2], NULL, 10);

		if (number == UINT32_MAX - 1)
			return third_client_run(argv[1]);
		return number == UINT32_MAX ? second_client_run(argv[1]) : client_run(argv[1], number);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
