/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of clients of one server. Four processes connect a quarter of them each; then each client sends messages and waits
 * for each echo before the next. If the limit of open files is low, there are fewer clients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "comch_roles.h"
#include "support/child.h"
#include "support/test_dev.h"

#define PROCESSES 4
#define CLIENTS_MAX 2000
#define MESSAGES 3
#define CONNECTING_MAX 8 /* at a time in each process: the agent keeps at most 64 callers that have not sent anything yet */
#define FILES_OTHERS 200 /* descriptors that no client uses */
#define FILES_OF_CLIENT 2
#define WAIT_S 240 /* only a hang takes longer */

struct client {
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	uint32_t number, sent, echoed, wrong;
	bool busy; /* a task is in flight */
};

static uint32_t num_clients; /* in all processes */
static int start_pipe[2];    /* closed when the test's process lets the clients start */

static bool is_late(double since)
{
	return sf_now_s() - since > WAIT_S;
}

/* ---- a process of clients ---- */

static void task_over(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	((struct client *)ctx_data.ptr)->busy = false;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void task_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct client *)ctx_data.ptr)->wrong++;
	task_over(task, task_data, ctx_data);
}

static void echo_came(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		      struct doca_comch_connection *connection)
{
	union doca_data data;
	struct client *client;
	uint32_t words[2];

	(void)event;
	CHECK_OK(doca_ctx_get_user_data(doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection)), &data));
	client = data.ptr;
	client->wrong += len != sizeof(words);
	memcpy(words, bytes, sizeof(words));
	client->wrong += words[0] != client->number || words[1] != client->echoed;
	client->echoed++;
}

static void client_open(struct client *client, struct doca_dev *dev, struct doca_pe *pe, const char *name)
{
	CHECK_OK(doca_comch_client_create(dev, name, &client->client));
	client->ctx = doca_comch_client_as_ctx(client->client);
	CHECK_OK(doca_pe_connect_ctx(pe, client->ctx));
	CHECK_OK(doca_ctx_set_user_data(client->ctx, (union doca_data){.ptr = client}));
	CHECK_OK(doca_comch_client_task_send_set_conf(client->client, task_over, task_failed, 1));
	CHECK_OK(doca_comch_client_event_msg_recv_register(client->client, echo_came));
	CHECK(doca_ctx_start(client->ctx) == DOCA_ERROR_IN_PROGRESS);
}

static bool is_in(struct client *client, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	CHECK_OK(doca_ctx_get_state(client->ctx, &state));
	CHECK(wanted != DOCA_CTX_STATE_RUNNING || state == DOCA_CTX_STATE_STARTING || state == DOCA_CTX_STATE_RUNNING);
	return state == wanted;
}

static void await(struct client *client, struct doca_pe *pe, enum doca_ctx_states state)
{
	double since = sf_now_s();

	while (!is_in(client, state)) {
		doca_pe_progress(pe);
		CHECK(!is_late(since));
	}
}

/* If the submit returns AGAIN, it is tried again. */
static void client_send(struct client *client)
{
	const uint32_t words[2] = {client->number, client->sent};
	struct doca_comch_connection *connection;
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (client->busy || client->sent != client->echoed || client->sent == MESSAGES)
		return;
	CHECK_OK(doca_comch_client_get_connection(client->client, &connection));
	CHECK_OK(doca_comch_client_task_send_alloc_init(client->client, connection, words, sizeof(words), &task));
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
	if (result == DOCA_ERROR_AGAIN) {
		doca_task_free(doca_comch_task_send_as_task(task));
		return;
	}
	client->busy = true;
	client->sent++;
}

static void talk(struct client *clients, uint32_t num, struct doca_pe *pe)
{
	double since = sf_now_s();

	for (uint32_t done = 0; done < num;) {
		for (uint32_t i = done; i < num; i++)
			client_send(&clients[i]);
		while (doca_pe_progress(pe))
			;
		while (done < num && clients[done].echoed == MESSAGES && !clients[done].busy)
			done++;
		CHECK(!is_late(since));
	}
}

/* Connects, reports that by a byte, and exchanges messages when the start pipe is closed: by then all clients are connected. */
static void run_clients(uint32_t first, uint32_t num, const char *name, int said)
{
	struct client *clients = calloc(num, sizeof(*clients));
	struct doca_dev *dev = test_dev_open_pci(HOST_DEV);
	struct doca_pe *pe;
	char byte = 'c';

	CHECK(clients != NULL);
	CHECK_OK(doca_pe_create(&pe));
	for (uint32_t i = 0; i < num; i++) {
		clients[i].number = first + i;
		client_open(&clients[i], dev, pe, name);
		if (i >= CONNECTING_MAX)
			await(&clients[i - CONNECTING_MAX], pe, DOCA_CTX_STATE_RUNNING);
	}
	for (uint32_t i = 0; i < num; i++)
		await(&clients[i], pe, DOCA_CTX_STATE_RUNNING);
	CHECK(write(said, &byte, 1) == 1 && read(start_pipe[0], &byte, 1) == 0);
	talk(clients, num, pe);
	for (uint32_t i = 0; i < num; i++) {
		CHECK(clients[i].wrong == 0);
		CHECK(doca_ctx_stop(clients[i].ctx) != DOCA_ERROR_BAD_STATE);
	}
	for (uint32_t i = 0; i < num; i++) {
		await(&clients[i], pe, DOCA_CTX_STATE_IDLE);
		CHECK_OK(doca_comch_client_destroy(clients[i].client));
	}
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_dev_close(dev));
	free(clients);
}

/* ---- the server ---- */

static struct doca_task *waiting[CLIENTS_MAX * MESSAGES]; /* echoes whose submit returned AGAIN */
static uint32_t num_waiting;

static void echo_over(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void echo_send(struct doca_task *task)
{
	doca_error_t result = doca_task_submit(task);

	if (result == DOCA_ERROR_AGAIN)
		waiting[num_waiting++] = task;
	else
		assert_int_equal(result, DOCA_SUCCESS);
}

static void echo(struct comch_side *side, const uint8_t *bytes, uint32_t len, struct doca_comch_connection *connection)
{
	struct doca_comch_task_send *task;

	assert_int_equal(doca_comch_server_task_send_alloc_init(side->server, connection, bytes, len, &task), DOCA_SUCCESS);
	echo_send(doca_comch_task_send_as_task(task));
}

static void server_progress(void)
{
	uint32_t num = num_waiting;

	while (doca_pe_progress(own.pe))
		;
	num_waiting = 0;
	for (uint32_t i = 0; i < num; i++)
		echo_send(waiting[i]);
}

static void wait_for_number(const uint32_t *count, uint32_t number)
{
	double since = sf_now_s();

	while (*count < number) {
		server_progress();
		if (is_late(since))
			fail_msg("%u of %u clients in %d seconds", *count, number, WAIT_S);
	}
}

static void thousands_of_clients(void **state)
{
	pid_t children[PROCESSES];
	int said[2], status;
	char byte;

	(void)state;
	assert_int_equal(pipe(start_pipe) | pipe(said), 0);
	snprintf(server_name, sizeof(server_name), "thousands-%d", (int)getpid());
	for (uint32_t i = 0; i < PROCESSES; i++) { /* fork before this process has threads */
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0) {
			close(start_pipe[1]);
			CHECK(read(start_pipe[0], &byte, 1) == 1); /* the server runs */
			run_clients(i * (num_clients / PROCESSES), num_clients / PROCESSES, server_name, said[1]);
			_exit(0);
		}
	}
	side_init_server(&own, server_name);
	assert_int_equal(doca_comch_server_task_send_set_conf(own.server, echo_over, echo_over, CLIENTS_MAX * MESSAGES),
			 DOCA_SUCCESS);
	own.on_msg = echo;
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	assert_int_equal(write(start_pipe[1], "ssss", PROCESSES), PROCESSES);
	wait_for_number(&own.num_connects, num_clients);
	close(start_pipe[1]);
	wait_for_number(&own.num_disconnects, num_clients);
	assert_int_equal(own.num_msgs, num_clients * MESSAGES);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	side_fini(&own, NULL);
}

/* Returns how many clients the limit of open files allows. */
static uint32_t clients_possible(void)
{
	struct rlimit files;
	rlim_t possible;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	possible = files.rlim_cur > FILES_OTHERS ? (files.rlim_cur - FILES_OTHERS) / FILES_OF_CLIENT : 0;
	return possible < CLIENTS_MAX ? (uint32_t)possible / PROCESSES * PROCESSES : CLIENTS_MAX;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(thousands_of_clients)};

	num_clients = clients_possible();
	printf("%u clients\n", num_clients);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
