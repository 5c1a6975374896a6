/* SPDX-License-Identifier: BSD-3-Clause */
/* A client may configure as many send tasks as programs for a card do, and 512 such clients fit into the memory of a small
 * machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/comch_side.h"
#include "support/sanitizers.h"

#define CLIENTS (HAS_ASAN ? 64 : 512) /* AddressSanitizer's shadow needs memory for each byte */
#define CLIENT_TASKS 8192
#define CLIENT_FDS 24 /* descriptors of one client, with some to spare */
#define MEMORY_MAX (UINT64_C(2) << 30)
#define TASKS_MAX 65536

static struct comch_side server, clients[CLIENTS];
static struct doca_task *tasks[TASKS_MAX];
static uint32_t num_sent;

static void sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
	num_sent++;
}

static uint64_t resident(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %llu", &pages), 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void connect_one(struct comch_side *client, uint32_t num_tasks, uint32_t num_recvs)
{
	side_init_client(client, "many tasks");
	assert_int_equal(doca_comch_client_task_send_set_conf(client->client, sent, sent, num_tasks), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_set_recv_queue_size(client->client, num_recvs), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(client->ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client->ctx) == DOCA_CTX_STATE_RUNNING, server.pe, client->pe, NULL, NULL);
}

static struct doca_task *alloc_one(struct comch_side *client, const void *msg, uint32_t len)
{
	struct doca_comch_task_send *task;

	assert_int_equal(doca_comch_client_task_send_alloc_init(client->client, client->connection, msg, len, &task),
			 DOCA_SUCCESS);
	return doca_comch_task_send_as_task(task);
}

static void all_tasks_of_a_client_are_there(void **state)
{
	struct comch_side *client = &clients[0];
	struct doca_comch_task_send *none;

	(void)state;
	num_sent = 0;
	side_init_server(&server, "many tasks");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	connect_one(client, TASKS_MAX, 16);
	for (uint32_t i = 0; i < TASKS_MAX; i++)
		tasks[i] = alloc_one(client, &i, sizeof(i));
	assert_int_equal(doca_comch_client_task_send_alloc_init(client->client, client->connection, "x", 1, &none),
			 DOCA_ERROR_NO_MEMORY);
	for (uint32_t i = TASKS_MAX - 1; i < TASKS_MAX; i -= TASKS_MAX / 8) {
		assert_int_equal(doca_task_submit(tasks[i]), DOCA_SUCCESS);
		SIDE_WAIT(server.num_msgs == num_sent + 1, server.pe, NULL, NULL, NULL);
		assert_memory_equal(server.msg, &i, sizeof(i));
		SIDE_WAIT(server.num_msgs == num_sent, client->pe, NULL, NULL, NULL);
	}
	assert_int_equal(num_sent, 8);
	for (uint32_t i = 0; i < TASKS_MAX; i++)
		doca_task_free(tasks[i]);
	tasks[0] = alloc_one(client, "again", 5);
	doca_task_free(tasks[0]);
	side_fini(client, &server);
	side_fini(&server, NULL);
}

static void clients_take_memory_as_they_use_it(void **state)
{
	struct rlimit limit;
	uint64_t before = resident(), taken;
	uint32_t msg = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < CLIENTS * CLIENT_FDS)
		skip();
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	side_init_server(&server, "many tasks");
	assert_int_equal(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	num_sent = 0;
	for (uint32_t i = 0; i < CLIENTS; i++)
		connect_one(&clients[i], CLIENT_TASKS, CLIENT_TASKS);
	assert_int_equal(server.num_connects, CLIENTS);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		struct doca_task *task = alloc_one(&clients[i], &msg, sizeof(msg));

		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
		SIDE_WAIT(num_sent == i + 1 && server.num_msgs == i + 1, server.pe, clients[i].pe, NULL, NULL);
		doca_task_free(task);
	}
	taken = resident() - before;
	print_message("%d clients of %d tasks: %llu MiB\n", CLIENTS, CLIENT_TASKS, (unsigned long long)taken >> 20);
	if (!HAS_ASAN)
		assert_true(taken < MEMORY_MAX);
	for (uint32_t i = 0; i < CLIENTS; i++)
		side_fini(&clients[i], &server);
	side_fini(&server, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_tasks_of_a_client_are_there),
		cmocka_unit_test(clients_take_memory_as_they_use_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
