/* SPDX-License-Identifier: BSD-3-Clause */
/* The client and the echo server together: both ends of the benchmark check each other. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/program.h"

static struct program server, client;
static char port[8];

static void server_start(const char *kernel, const char *max_message_length)
{
	const char *const argv[] = {getenv("ECHO_SERVER"), "-p", "0", "--kernel", kernel, "--max-message-length",
				    max_message_length,	   NULL};
	const char *line;

	assert_non_null(argv[0]);
	assert_true(program_start(&server, argv));
	assert_true(program_await(&server, "listening on port "));
	assert_true(program_await(&server, "\n"));
	line = strstr(server.output, "listening on port ");
	snprintf(port, sizeof(port), "%d", atoi(line + strlen("listening on port ")));
}

static void server_stop(void)
{
	kill(server.pid, SIGTERM);
	assert_int_equal(program_wait(&server), EXIT_SUCCESS);
}

static int client_run(const char *words)
{
	const char *argv[32] = {getenv("CLIENT"), "-s", "127.0.0.1", "-p", port};
	char *copy = strdup(words), *rest = copy, *word;
	int argc = 5, status;

	while ((word = strsep(&rest, " ")) != NULL)
		argv[argc++] = word;
	assert_true(program_start(&client, argv));
	free(copy);
	status = program_wait(&client);
	if (status != EXIT_SUCCESS)
		print_message("%s", client.output);
	return status;
}

static void every_answer_is_right(const char *words, const char *operations)
{
	assert_int_equal(client_run(words), EXIT_SUCCESS);
	assert_non_null(strstr(client.output, operations));
}

static void the_line_of_the_guide(void **state)
{
	server_start("reverse", "256");
	every_answer_is_right("-t 1 -i 1 -m ABCD -e DCBA", "Operation count   1\n");
	server_stop();
}

static void many_threads_connections_and_requests_in_flight(void **state)
{
	server_start("reverse", "256");
	every_answer_is_right("-t 3 -i 20000 --connections 50 --max-concurrent-messages 32 --message-size 64 --warm-up 1000",
			      "Operation count   60000\n");
	server_stop();
}

static void messages_of_every_small_size(void **state)
{
	server_start("reverse", "256");
	for (int size = 0; size <= 40; size++) {
		char words[96];

		snprintf(words, sizeof(words), "-t 1 -i 300 --message-size %d", size);
		every_answer_is_right(words, "Operation count   300\n");
	}
	server_stop();
}

static void messages_larger_than_any_buffer(void **state)
{
	server_start("reverse", "3000004");
	every_answer_is_right("-t 1 -i 40 --connections 3 --max-concurrent-messages 4 --message-size 3000000",
			      "Operation count   40\n");
	server_stop();
}

static void echoed_messages(void **state)
{
	server_start("echo", "256");
	every_answer_is_right("-t 1 -i 1000 --message-size 100 --kernel echo", "Operation count   1000\n");
	server_stop();
}

static void another_function_than_expected_shows(void **state)
{
	server_start("echo", "256");
	assert_int_equal(client_run("-t 2 -i 1000 --message-size 100 --kernel reverse"), EXIT_FAILURE);
	assert_non_null(strstr(client.output, "wrong answer to request 0 at offset 0: expected "));
	server_stop();
}

static void parameter_file_gives_the_flags(void **state)
{
	char path[] = "/tmp/echo_testXXXXXX", words[64];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	server_start("reverse", "256");
	dprintf(fd, "{\"doca_program_flags\": {\"thread-count\": 1, \"iteration-count\": 7, \"message-string\": \"ab\", "
		    "\"expected-response\": \"ba\"}} // as with the guide\n");
	close(fd);
	snprintf(words, sizeof(words), "-j %s", path);
	every_answer_is_right(words, "Operation count   7\n");
	unlink(path);
	server_stop();
}

/* Connects the test itself to the server. */
static int connect_raw(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)atoi(port))};
	struct timeval deadline = {.tv_sec = PROGRAM_DEADLINE_MS / 1000};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
	return fd;
}

static void bad_frame_costs_its_own_connection_only(void **state)
{
	int good, bad;
	char byte;

	server_start("reverse", "256");
	good = connect_raw();
	bad = connect_raw();
	assert_int_equal(send(bad, "\xff\xff\xff\xff", 4, 0), 4);
	assert_int_equal(recv(bad, &byte, 1, 0), 0);
	assert_true(program_await(&server, "a frame of 4294967295 bytes is above the limit of 264"));
	assert_int_equal(send(good, "\0\0\0\x0d\0\0\0\4\0\0\0\1Z", 13, 0), 13);
	assert_int_equal(recv(good, &byte, 1, 0), 1);
	close(good);
	close(bad);
	every_answer_is_right("-t 1 -i 10 -m ABCD -e DCBA", "Operation count   10\n");
	server_stop();
}

/* A client that sends without reading must not grow the server's memory without bound, nor block other clients. */
static void client_that_does_not_read_stops_only_itself(void **state)
{
	static const char request[] = "\0\0\0\x10\0\0\0\4\0\0\0\4"
				      "ABCD";
	size_t sent = 0, received = 0;
	char block[16 * 1024];
	ssize_t some;
	int fd;

	server_start("reverse", "256");
	fd = connect_raw();
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = request[i % 16];
	while (sent < (64U << 20) && (some = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
		sent += (size_t)some;
		if (some < (ssize_t)sizeof(block))
			break;
	}
	assert_true(sent < (64U << 20)); /* the server stopped reading */
	every_answer_is_right("-t 1 -i 1000 -m ABCD -e DCBA", "Operation count   1000\n");
	shutdown(fd, SHUT_WR);
	while ((some = recv(fd, block, sizeof(block), 0)) > 0)
		received += (size_t)some;
	assert_int_equal(received, sent / 16 * 16);
	close(fd);
	server_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_of_the_guide),
		cmocka_unit_test(many_threads_connections_and_requests_in_flight),
		cmocka_unit_test(messages_of_every_small_size),
		cmocka_unit_test(messages_larger_than_any_buffer),
		cmocka_unit_test(echoed_messages),
		cmocka_unit_test(another_function_than_expected_shows),
		cmocka_unit_test(parameter_file_gives_the_flags),
		cmocka_unit_test(bad_frame_costs_its_own_connection_only),
		cmocka_unit_test(client_that_does_not_read_stops_only_itself),
	};

	return cmocka_run_group_tests_name("echo", tests, NULL, NULL);
}
