/* SPDX-License-Identifier: BSD-3-Clause */
/* How the RDMA samples treat a peer that lies on the socket of --peer, and strangers who connect first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdma_exchange.h"
#include "rdma_socket.h"
#include "support/wait.h"

#define HANDSHAKE_SIZE 64

static void say(int fd, uint32_t len, const void *bytes, size_t given)
{
	uint32_t wire = htonl(len);

	assert_int_equal(write(fd, &wire, sizeof(wire)), sizeof(wire));
	assert_int_equal(write(fd, bytes, given), given);
}

/* Exchanges our papers with those that the peer has already written before it closed the socket. */
static doca_error_t hear(int fds[2], bool expect_resource, struct papers *theirs)
{
	static const struct options options = {.num_connections = 1};
	static struct papers ours = {.connections[0] = {.len = 5}};
	struct exchange exchange = {.options = &options, .socket = fds[0]};

	assert_int_equal(shutdown(fds[1], SHUT_WR), 0);

	doca_error_t status = exchange_papers(&exchange, &ours, expect_resource, theirs);

	close(fds[0]);
	close(fds[1]);
	return status;
}

static void start(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static void papers_arrive(void **state)
{
	static struct papers theirs;
	static uint8_t bytes[DESCRIPTOR_MAX];
	int fds[2];

	(void)state;
	memset(bytes, 7, sizeof(bytes));
	start(fds);
	say(fds[1], sizeof(bytes), bytes, sizeof(bytes));
	say(fds[1], 3, "abc", 3);
	assert_int_equal(hear(fds, true, &theirs), DOCA_SUCCESS);
	assert_int_equal(theirs.connections[0].len, sizeof(bytes));
	assert_memory_equal(theirs.connections[0].data, bytes, sizeof(bytes));
	assert_int_equal(theirs.resource.len, 3);
	assert_memory_equal(theirs.resource.data, "abc", 3);
}

static void lengths_that_lie(void **state)
{
	static struct papers theirs;
	static const uint32_t lies[] = {0, DESCRIPTOR_MAX + 1, 0x7fffffff, 0x80000000, UINT32_MAX};
	int fds[2];

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		start(fds);
		say(fds[1], lies[i], "abc", 3);
		assert_int_equal(hear(fds, false, &theirs), DOCA_ERROR_INVALID_VALUE);
	}
}

static void resources_that_are_missing_or_too_many(void **state)
{
	static struct papers theirs;
	int fds[2];

	(void)state;
	start(fds);
	say(fds[1], 3, "abc", 3);
	say(fds[1], 0, "", 0);
	assert_int_equal(hear(fds, true, &theirs), DOCA_ERROR_INVALID_VALUE);
	start(fds);
	say(fds[1], 3, "abc", 3);
	say(fds[1], 3, "abc", 3);
	assert_int_equal(hear(fds, false, &theirs), DOCA_ERROR_INVALID_VALUE);
}

static void a_peer_that_stops_in_the_middle(void **state)
{
	static struct papers theirs;
	int fds[2];

	(void)state;
	start(fds);
	say(fds[1], 100, "abc", 3);
	assert_int_equal(hear(fds, false, &theirs), DOCA_ERROR_IO_FAILED);
	start(fds);
	assert_int_equal(write(fds[1], "ab", 2), 2);
	assert_int_equal(hear(fds, false, &theirs), DOCA_ERROR_IO_FAILED);
}

/* ---- meeting ---- */

/* Returns -1 if nobody listens there. */
static int try_visit(uint16_t port)
{
	struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&there, sizeof(there)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Waits until somebody listens there. */
static int visit(uint16_t port)
{
	int fd;

	(void)WAIT_UNTIL((fd = try_visit(port)) >= 0);
	return fd;
}

static uint16_t free_port(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(here);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &len), 0);
	close(fd);
	return ntohs(here.sin_port);
}

static void strangers_are_turned_away(void **state)
{
	const uint16_t port = free_port();
	char place[32], handshake[HANDSHAKE_SIZE] = "softfield sample somebody else", answer;
	int fd, status;

	(void)state;
	snprintf(place, sizeof(place), ":%u", port);
	fflush(NULL);
	pid_t pid = fork();

	if (pid == 0)
		_exit(socket_meet(place, "one", "other", &fd) == DOCA_SUCCESS && socket_read(fd, &answer, 1) == DOCA_SUCCESS &&
				      answer == '!'
			      ? 0
			      : 1);
	fd = visit(port); /* sends another name */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, handshake, sizeof(handshake)), sizeof(handshake));
	while (read(fd, &answer, 1) > 0)
		;
	close(fd);
	fd = visit(port); /* disconnects in the middle of a word */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, handshake, 5), 5);
	close(fd);
	assert_int_equal(socket_meet(place, "other", "one", &fd), DOCA_SUCCESS);
	assert_int_equal(socket_write(fd, "!", 1), DOCA_SUCCESS);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
}

static void places_that_make_no_sense(void **state)
{
	char longest[400];
	int fd = -1;

	(void)state;
	memset(longest, 'h', sizeof(longest));
	strcpy(longest + sizeof(longest) - 3, ":1");
	assert_int_equal(socket_meet(longest, "one", "other", &fd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(socket_meet("127.0.0.1:no such port", "one", "other", &fd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(socket_meet("127.0.0.1:999999", "one", "other", &fd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(socket_meet("", "one", "other", &fd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(papers_arrive),
		cmocka_unit_test(lengths_that_lie),
		cmocka_unit_test(resources_that_are_missing_or_too_many),
		cmocka_unit_test(a_peer_that_stops_in_the_middle),
		cmocka_unit_test(strangers_are_turned_away),
		cmocka_unit_test(places_that_make_no_sense),
	};

	return cmocka_run_group_tests_name("what RDMA samples exchange", tests, NULL, NULL);
}
