/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first submit of a message is accepted. For a client, once it is RUNNING: the server posts its receives before it answers.
 * For a producer, once it knows a consumer that has receives: the message waits while the connection comes up. One client, three
 * at a time, or many at a time, each in its own process.
 */
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
#include "support/stop.h"

#define CLIENTS_MAX 12
#define ROLE_PRODUCER 100000 /* in place of a message's length */
#define ROLE_STOPPED_PRODUCER 100001

static struct comch_side own;
static struct data_side consumers[CLIENTS_MAX], producer;

/* Main function of the child: returns 0 if its first submit was accepted. */
static int client_run(const char *name, uint32_t len)
{
	struct doca_comch_task_send *task;
	uint8_t message[4080] = {1};
	doca_error_t result;

	alarm(120);
	side_init_client(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_RUNNING, own.pe, NULL, NULL, NULL);
	assert_int_equal(doca_comch_client_get_connection(own.client, &own.connection), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_task_send_alloc_init(own.client, own.connection, message, len, &task), DOCA_SUCCESS);
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS) {
		printf("first submit: %s\n", doca_error_get_name(result));
		return 1;
	}
	SIDE_WAIT(own.num_sent == 1, own.pe, NULL, NULL, NULL);
	side_fini(&own, NULL);
	return 0;
}

/* The server posts its receives before it sends its message. Returns 0 if the producer's first submit was accepted and its
 * message arrived. */
static int producer_run(const char *name)
{
	alarm(120);
	side_init_client(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(own.num_msgs == 1, own.pe, NULL, NULL, NULL);
	assert_int_equal(own.num_new_consumers, 1);
	data_init_producer(&producer, &own, NULL, 4, 4096);
	data_start(&producer, NULL, NULL);
	for (int i = 0; i < 4; i++) {
		if (data_send(&producer, 0, 64, own.new_consumer_id, NULL, 0, true) != DOCA_SUCCESS)
			return 1;
	}
	SIDE_WAIT(producer.num_done == 4, producer.pe, NULL, NULL, NULL);
	data_fini(&producer);
	side_fini(&own, NULL);
	return 0;
}

/* As above, but the server is stopped and cannot answer: the message that waits ends with the producer. */
static int stopped_producer_run(const char *name)
{
	alarm(120);
	side_init_client(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(own.num_msgs == 1, own.pe, NULL, NULL, NULL);
	data_init_producer(&producer, &own, NULL, 4, 4096);
	data_start(&producer, NULL, NULL);
	process_stop(getppid());
	for (int i = 0; i < 4; i++)
		assert_int_equal(data_send(&producer, 0, 64, own.new_consumer_id, NULL, 0, true), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(producer.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(producer.ctx) == DOCA_CTX_STATE_IDLE, producer.pe, NULL, NULL, NULL);
	assert_int_equal(kill(getppid(), SIGCONT), 0);
	assert_int_equal(producer.num_done, 0);
	assert_int_equal(producer.num_errors, 4);
	assert_int_equal(producer.status, DOCA_ERROR_BAD_STATE);
	data_fini(&producer);
	side_fini(&own, NULL);
	return 0;
}

static pid_t client_start(const char *name, uint32_t len)
{
	char size[16];
	pid_t pid;

	snprintf(size, sizeof(size), "%u", len);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execl("/proc/self/exe", "comch_first_send_test", name, size, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void rounds(uint32_t num_clients, uint32_t num_rounds, uint32_t len)
{
	char name[64];
	int status;

	snprintf(name, sizeof(name), "first send %d", (int)getpid());
	side_init_server(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	for (uint32_t round = 0; round < num_rounds; round++) {
		pid_t pids[CLIENTS_MAX];
		uint32_t left = num_clients;

		for (uint32_t i = 0; i < num_clients; i++)
			pids[i] = client_start(name, len);
		while (left != 0) {
			doca_pe_progress(own.pe);
			for (uint32_t i = 0; i < num_clients; i++) {
				if (pids[i] == 0 || waitpid(pids[i], &status, WNOHANG) != pids[i])
					continue;
				assert_int_equal(status, 0);
				pids[i] = 0;
				left--;
			}
		}
		SIDE_WAIT(own.num_msgs == (round + 1) * num_clients, own.pe, NULL, NULL, NULL);
	}
	side_fini(&own, NULL);
}

static void one_client(void **state)
{
	(void)state;
	rounds(1, 10, 8);
	rounds(1, 10, 4080);
}

static void three_clients(void **state)
{
	(void)state;
	rounds(3, 10, 8);
	rounds(3, 10, 4080);
}

static void many_clients(void **state)
{
	(void)state;
	rounds(CLIENTS_MAX, 2, 8);
	rounds(CLIENTS_MAX, 2, 4080);
}

/* Posts four receives for each client, then notifies the client. */
static void serve_producer(struct data_side *consumer)
{
	data_init_consumer(consumer, &own, own.pe, 4, 4096);
	assert_int_equal(doca_ctx_start(consumer->ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(consumer->ctx) == DOCA_CTX_STATE_RUNNING, own.pe, NULL, NULL, NULL);
	for (size_t i = 0; i < 4; i++)
		data_post(consumer, i * 64, 64);
	assert_int_equal(side_send(&own, "posted", 6), DOCA_SUCCESS);
}

static void serve_producers(uint32_t num_clients, uint32_t num_rounds, uint32_t role, uint32_t num_expected)
{
	char name[64];
	int status;

	snprintf(name, sizeof(name), "first send %d", (int)getpid());
	for (uint32_t round = 0; round < num_rounds; round++) {
		pid_t pids[CLIENTS_MAX];

		side_init_server(&own, name);
		assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
		for (uint32_t i = 0; i < num_clients; i++) {
			pids[i] = client_start(name, role);
			SIDE_WAIT(own.num_connects == i + 1, own.pe, NULL, NULL, NULL);
			serve_producer(&consumers[i]);
		}
		for (uint32_t i = 0; i < num_clients; i++) {
			while (waitpid(pids[i], &status, WNOHANG) != pids[i])
				doca_pe_progress(own.pe);
			assert_int_equal(status, 0);
		}
		for (uint32_t i = 0; i < num_clients; i++) {
			SIDE_WAIT(side_state(consumers[i].ctx) == DOCA_CTX_STATE_IDLE, own.pe, NULL, NULL, NULL);
			assert_int_equal(consumers[i].num_done, num_expected);
			data_fini(&consumers[i]);
		}
		side_fini(&own, NULL);
	}
}

static void one_producer(void **state)
{
	(void)state;
	serve_producers(1, 20, ROLE_PRODUCER, 4);
}

static void three_producers(void **state)
{
	(void)state;
	serve_producers(3, 10, ROLE_PRODUCER, 4);
}

static void many_producers(void **state)
{
	(void)state;
	serve_producers(CLIENTS_MAX, 2, ROLE_PRODUCER, 4);
}

static void what_waits_ends_with_its_producer(void **state)
{
	(void)state;
	serve_producers(1, 1, ROLE_STOPPED_PRODUCER, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_client),
		cmocka_unit_test(three_clients),
		cmocka_unit_test(many_clients),
		cmocka_unit_test(one_producer),
		cmocka_unit_test(three_producers),
		cmocka_unit_test(many_producers),
		cmocka_unit_test(what_waits_ends_with_its_producer),
	};

	side_wait_s = 60; /* for a busy machine */
	if (argc == 3) {
		uint32_t role = (uint32_t)atoi(argv[2]);

		if (role == ROLE_PRODUCER)
			return producer_run(argv[1]);
		return role == ROLE_STOPPED_PRODUCER ? stopped_producer_run(argv[1]) : client_run(argv[1], role);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
