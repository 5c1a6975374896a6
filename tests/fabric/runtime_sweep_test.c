/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets that killed processes left in the runtime folder are removed by the next agent, which does not wake live ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/control/runtime.h"

#define OTHERS 20
#define LONG 70 /* digits: sockets have at most 107 bytes of a path */

static char folder[] = "/tmp/softfield-sweep-XXXXXX";

/* Listens as an agent with a key of this byte. */
static int agent_listen(uint8_t byte)
{
	struct sf_key key;
	int fd;

	memset(&key, byte, sizeof(key));
	assert_int_equal(sf_runtime_listen(SF_SOCKET_AGENT, &key, &fd), DOCA_SUCCESS);
	return fd;
}

static void agent_end(int fd, uint8_t byte)
{
	struct sf_key key;

	memset(&key, byte, sizeof(key));
	close(fd);
	sf_runtime_unlink(SF_SOCKET_AGENT, &key);
}

static void agent_dies(uint8_t byte)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		(void)agent_listen(byte);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static bool socket_is_there(uint8_t byte)
{
	char path[128];
	int at = snprintf(path, sizeof(path), "%s/a-", folder);

	for (int i = 0; i < SF_KEY_SIZE; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", byte);
	return access(path, F_OK) == 0;
}

/* How often somebody has connected to it. */
static unsigned num_asked(int fd)
{
	unsigned num = 0;
	int peer;

	while ((peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		close(peer);
		num++;
	}
	return num;
}

static void a_dead_agents_socket_is_removed(void **state)
{
	(void)state;
	agent_dies(1);
	assert_true(socket_is_there(1));
	agent_end(agent_listen(2), 2);
	assert_false(socket_is_there(1));
}

static void live_agents_are_not_asked(void **state)
{
	int first = agent_listen(1), others[OTHERS];

	(void)state;
	for (uint8_t i = 0; i < OTHERS; i++)
		others[i] = agent_listen((uint8_t)(10 + i));
	assert_int_equal(num_asked(first), 0);
	for (uint8_t i = 0; i < OTHERS; i++)
		agent_end(others[i], (uint8_t)(10 + i));
	agent_end(first, 1);
}

/* The kernel lists a socket of a long path by another name: it is asked. */
static void the_same_in_a_folder_with_a_long_path(void **state)
{
	char outer[sizeof(folder)], inner[128];
	int first;

	(void)state;
	strcpy(outer, folder);
	snprintf(inner, sizeof(inner), "%s/%0*d", outer, LONG, 0);
	assert_int_equal(mkdir(inner, 0700), 0);
	assert_int_equal(setenv("SOFTFIELD_RUNTIME", inner, 1), 0);
	first = agent_listen(1);
	agent_dies(2);
	assert_int_equal(num_asked(first), 1);
	agent_end(agent_listen(3), 3);
	assert_int_equal(num_asked(first), 1);
	agent_end(first, 1);
	strcat(inner, "/lock");
	assert_int_equal(unlink(inner), 0);
	*strrchr(inner, '/') = '\0';
	assert_int_equal(rmdir(inner), 0); /* so the dead agent's socket is removed */
	assert_int_equal(setenv("SOFTFIELD_RUNTIME", outer, 1), 0);
}

static int folder_create(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL || setenv("SOFTFIELD_RUNTIME", folder, 1) != 0;
}

static int folder_remove(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/lock", folder);
	return unlink(path) != 0 || rmdir(folder) != 0; /* nothing else is left there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_agents_socket_is_removed),
		cmocka_unit_test(live_agents_are_not_asked),
		cmocka_unit_test(the_same_in_a_folder_with_a_long_path),
	};

	return cmocka_run_group_tests(tests, folder_create, folder_remove);
}
