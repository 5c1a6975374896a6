/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comch between two containers that have only the runtime folder in common. Each process has its own process, mount, IPC and
 * network namespaces, in which the other's process number means nothing, and its own working directory.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cmocka.h>

#include "comch_roles.h"
#include "support/program.h"

#define SKIPPED 77
#define SHORT_MESSAGES 1000
#define LONG_MESSAGES 16
#define LONG_MESSAGE (1 << 20)

static char self[4096];
static char folder[] = "/tmp/softfield-containers-XXXXXX";
static struct program server, client;

/* ---- in a container ---- */

/* Echoes with its client, waits until the client is gone, and reports that. */
static void role_first(void)
{
	uint32_t number = 0;

	side_init_server(&own, server_name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	puts("serving");
	fflush(stdout);
	wait_for_client();
	start_data(LONG_MESSAGE);
	for (int i = 0; i < SHORT_MESSAGES; i++)
		echo_once(64, ++number);
	for (int i = 0; i < LONG_MESSAGES; i++)
		echo_once(LONG_MESSAGE, ++number);
	puts("echoed");
	fflush(stdout);
	SIDE_WAIT(own.num_disconnects == 1, own.pe, consumer.pe, producer.pe, NULL);
	puts("alone");
	end_data();
	side_fini(&own, NULL);
}

static int contained(const char *role)
{
	if (getpid() != 1 || mount("none", "/dev/shm", "tmpfs", 0, NULL) != 0) {
		perror("not in a container");
		return 2;
	}
	if (strcmp(role, "first") != 0)
		return run_role(role);
	alarm(120);
	role_first();
	return 0;
}

/* ---- outside ---- */

static void start_contained(struct program *program, const char *working_folder, const char *role)
{
	const char *argv[16] = {"/usr/bin/env", "unshare",	"--pid", "--fork", "--kill-child",
				"--mount",	"--mount-proc", "--ipc", "--net"};
	int argc = 9;

	if (geteuid() != 0)
		argv[argc++] = "--map-root-user";
	argv[argc++] = working_folder;
	argv[argc++] = self;
	argv[argc++] = role;
	argv[argc++] = server_name;
	assert_true(program_start(program, argv));
}

static bool can_contain(void)
{
	struct program try;

	start_contained(&try, "--wd=/", "none");
	return program_wait(&try) == 3;
}

static void start_both(void)
{
	new_name();
	start_contained(&server, "--wd=/", "first");
	if (!program_await(&server, "serving"))
		fail_msg("no server: %s", server.output);
	start_contained(&client, "--wd=/usr", "data_echo");
	if (!program_await(&server, "echoed")) {
		(void)kill(client.pid, SIGTERM);
		fail_msg("server: %s\nclient, status %d: %s", server.output, program_wait(&client), client.output);
	}
}

static void expect_end(struct program *program)
{
	int status = program_wait(program);

	if (status != 0)
		fail_msg("status %d: %s", status, program->output);
}

static void killed_client_leaves_the_server_alone(void **state)
{
	(void)state;
	start_both();
	assert_int_equal(kill(client.pid, SIGKILL), 0);
	if (!program_await(&server, "alone"))
		fail_msg("the server did not notice: %s", server.output);
	expect_end(&server);
	assert_int_equal(program_wait(&client), 128 + SIGKILL);
}

static void killed_server_ends_the_client(void **state)
{
	(void)state;
	start_both();
	assert_int_equal(kill(server.pid, SIGKILL), 0);
	expect_end(&client);
	assert_int_equal(program_wait(&server), 128 + SIGKILL);
}

/* The runtime folder. The user's own folder would belong to another user in a user namespace. */
static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? setenv("SOFTFIELD_RUNTIME", folder, 1) : -1;
}

static int remove_folder(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_client_leaves_the_server_alone),
		cmocka_unit_test(killed_server_ends_the_client),
	};

	if (argc == 3 && strcmp(argv[1], "none") == 0)
		return 3;
	if (argc == 3) {
		snprintf(server_name, sizeof(server_name), "%s", argv[2]);
		return contained(argv[1]);
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	if (!can_contain()) {
		puts("no namespaces can be made here");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
