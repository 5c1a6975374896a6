/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets that killed processes left in the runtime folder are removed by later agents, at most once a second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fabric/control/runtime.h"

#define SECOND_NS UINT64_C(1000000000)
#define TOGETHER 20

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

/* Each sweep connects to each socket once. */
static unsigned num_sweeps(int fd)
{
	unsigned num = 0;
	int peer;

	while ((peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		close(peer);
		num++;
	}
	return num;
}

static void time_of_sweep_set(uint64_t time)
{
	char path[64];
	int lock;

	snprintf(path, sizeof(path), "%s/lock", folder);
	lock = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(lock >= 0);
	assert_int_equal(pwrite(lock, &time, sizeof(time), 16), sizeof(time));
	close(lock);
}

static void a_dead_agents_socket_is_removed(void **state)
{
	(void)state;
	agent_dies(1);
	assert_true(socket_is_there(1));
	time_of_sweep_set(sf_now_ns() - SECOND_NS);
	agent_end(agent_listen(2), 2);
	assert_false(socket_is_there(1));
}

static void agents_that_start_at_once_share_a_sweep(void **state)
{
	int first = agent_listen(1), others[TOGETHER];
	uint64_t begun;

	(void)state;
	time_of_sweep_set(0);
	begun = sf_now_ns();
	for (uint8_t i = 0; i < TOGETHER; i++)
		others[i] = agent_listen((uint8_t)(10 + i));
	assert_in_range(num_sweeps(first), 1, 1 + (sf_now_ns() - begun) / SECOND_NS);
	for (uint8_t i = 0; i < TOGETHER; i++)
		agent_end(others[i], (uint8_t)(10 + i));
	agent_end(first, 1);
}

/* The time is of an earlier boot, or not ours. */
static void a_time_in_the_future_does_not_prevent_a_sweep(void **state)
{
	(void)state;
	agent_dies(1);
	time_of_sweep_set(UINT64_MAX);
	agent_end(agent_listen(2), 2);
	assert_false(socket_is_there(1));
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
		cmocka_unit_test(agents_that_start_at_once_share_a_sweep),
		cmocka_unit_test(a_time_in_the_future_does_not_prevent_a_sweep),
	};

	return cmocka_run_group_tests(tests, folder_create, folder_remove);
}
