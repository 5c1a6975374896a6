/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Comch peer whose threads are all stopped at the moment when this side reports the connection. The first message is sent
 * nevertheless, and the peer receives it when it is continued.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/child.h"
#include "support/comch_side.h"
#include "support/program.h"
#include "support/provider.h"
#include "support/stop.h"

#define ROUNDS 25

static char self[4096], server_name[64];
static struct comch_side own;

/* ---- the peer ---- */

static void run_role(const char *role)
{
	alarm(CHILD_SECONDS_MAX);
	side_wait_s = CHILD_SECONDS_MAX;
	if (strcmp(role, "server") == 0) {
		side_init_server(&own, server_name);
		assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	} else {
		side_init_client(&own, server_name);
		assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	}
	puts("started");
	fflush(stdout);
	SIDE_WAIT(own.num_msgs == 1, own.pe, NULL, NULL, NULL);
	puts(memcmp(own.msg, "first", 5) == 0 ? "heard" : "heard something else");
	fflush(stdout);
	SIDE_WAIT(own.num_msgs == 2, own.pe, NULL, NULL, NULL); /* until it is killed */
}

/* ---- this side ---- */

static void start_peer(struct program *peer, const char *role)
{
	const char *argv[] = {self, role, server_name, NULL};

	assert_true(program_start(peer, argv));
}

/* Sends the first message; the submit is not repeated. By TCP the task completes when the peer's process has acknowledged it. */
static void send_first_and_end(struct program *peer)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

	process_stop(peer->pid);
	if (own.server != NULL)
		result = doca_comch_server_task_send_alloc_init(own.server, own.connection, "first", 5, &task);
	else
		result = doca_comch_client_task_send_alloc_init(own.client, own.connection, "first", 5, &task);
	assert_int_equal(result, DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_comch_task_send_as_task(task)), DOCA_SUCCESS);
	if (provider_is("tcp")) {
		for (int i = 0; i < 1000; i++)
			(void)doca_pe_progress(own.pe);
		assert_int_equal(own.num_sent + own.num_send_errors, 0);
		assert_int_equal(kill(peer->pid, SIGCONT), 0);
	}
	SIDE_WAIT(own.num_sent + own.num_send_errors == 1, own.pe, NULL, NULL, NULL);
	assert_int_equal(own.num_sent, 1);
	assert_int_equal(kill(peer->pid, SIGCONT), 0);
	assert_true(program_await(peer, "heard\n"));
	kill(peer->pid, SIGKILL);
	program_wait(peer);
	side_fini(&own, NULL);
}

static void a_client_sends_to_a_stopped_server(void **state)
{
	static struct program peer;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		start_peer(&peer, "server");
		assert_true(program_await(&peer, "started\n"));
		side_init_client(&own, server_name);
		assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
		SIDE_WAIT(own.connection != NULL, own.pe, NULL, NULL, NULL);
		send_first_and_end(&peer);
	}
}

static void a_server_sends_to_a_stopped_client(void **state)
{
	static struct program peer;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		side_init_server(&own, server_name);
		assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
		start_peer(&peer, "client");
		SIDE_WAIT(own.connection != NULL, own.pe, NULL, NULL, NULL);
		send_first_and_end(&peer);
	}
}

int main(int argc, char **argv)
{
	snprintf(server_name, sizeof(server_name), "stopped %d", (int)getpid());
	if (argc == 3) {
		snprintf(server_name, sizeof(server_name), "%s", argv[2]);
		run_role(argv[1]);
		return 0;
	}

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_sends_to_a_stopped_server),
		cmocka_unit_test(a_server_sends_to_a_stopped_client),
	};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	side_wait_s = CHILD_SECONDS_MAX;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
