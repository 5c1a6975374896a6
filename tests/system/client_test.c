/* SPDX-License-Identifier: BSD-3-Clause */
/* The client against servers that the test itself implements: what it sends, and how it reports wrong answers. */
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

#define WRONG_COMMAND_LINE 2 /* exit status */

#define FRAME_ABCD                                                                                                               \
	"\0\0\0\x10\0\0\0\4\0\0\0\4"                                                                                             \
	"ABCD"
#define FRAME_DCBA                                                                                                               \
	"\0\0\0\x10\0\0\0\4\0\0\0\4"                                                                                             \
	"DCBA"
#define FRAME_DCBA_RESPONSE                                                                                                      \
	"\0\0\0\x10\0\0\0\5\0\0\0\4"                                                                                             \
	"DCBA"
#define FRAME_SIZE 16

static int listen_fd;
static char port[8];
static struct program client;

/* Bounds each read: a client that sends nothing fails the test. */
static void set_deadline(int fd)
{
	struct timeval deadline = {.tv_sec = PROGRAM_DEADLINE_MS / 1000};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
}

static int setup(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	set_deadline(listen_fd);
	if (bind(listen_fd, (struct sockaddr *)&address, len) != 0 || listen(listen_fd, 64) != 0 ||
	    getsockname(listen_fd, (struct sockaddr *)&address, &len) != 0)
		return -1;
	snprintf(port, sizeof(port), "%u", ntohs(address.sin_port));
	return 0;
}

static int teardown(void **state)
{
	return close(listen_fd);
}

/* Starts `client -s 127.0.0.1 -p PORT -m ABCD -e DCBA` with more arguments. */
static void client_start(const char *words)
{
	const char *argv[32] = {getenv("CLIENT"), "-s", "127.0.0.1", "-p", port, "-m", "ABCD", "-e", "DCBA"};
	char *copy = strdup(words), *rest = copy, *word;
	int argc = 9;

	assert_non_null(argv[0]);
	while ((word = strsep(&rest, " ")) != NULL)
		argv[argc++] = word;
	assert_true(program_start(&client, argv));
	free(copy);
}

static int client_accept(void)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

	assert_true(fd >= 0);
	set_deadline(fd);
	return fd;
}

static void expect_requests(int fd, int count)
{
	char frame[FRAME_SIZE];

	for (int i = 0; i < count; i++) {
		assert_int_equal(recv(fd, frame, sizeof(frame), MSG_WAITALL), sizeof(frame));
		assert_memory_equal(frame, FRAME_ABCD, sizeof(frame));
	}
}

static void answer(int fd, const char *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void expect_no_more(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
}

/* Answers one request with these bytes. The client must then fail with this line. */
static void expect_refusal(const char *bytes, size_t len, const char *line)
{
	int fd;

	client_start("-t 1 -i 1");
	fd = client_accept();
	expect_requests(fd, 1);
	answer(fd, bytes, len);
	assert_int_equal(program_wait(&client), EXIT_FAILURE);
	if (strstr(client.output, line) == NULL)
		fail_msg("'%s' is not in: %s", line, client.output);
	assert_null(strstr(client.output, "Statistics"));
	close(fd);
}

static void one_request_and_its_answer(void **state)
{
	int fd;

	client_start("-t 1 -i 1");
	fd = client_accept();
	expect_requests(fd, 1);
	expect_no_more(fd);
	answer(fd, FRAME_DCBA, FRAME_SIZE);
	assert_int_equal(program_wait(&client), EXIT_SUCCESS);
	assert_non_null(strstr(client.output, "Operation count   1\n"));
	assert_non_null(strstr(client.output, "Latency           p50 "));
	close(fd);
}

static void depth_bounds_what_is_in_flight(void **state)
{
	int fd;

	client_start("-t 1 -i 10 --max-concurrent-messages 3");
	fd = client_accept();
	expect_requests(fd, 3);
	for (int i = 0; i < 7; i++) {
		expect_no_more(fd);
		answer(fd, FRAME_DCBA, FRAME_SIZE);
		expect_requests(fd, 1);
	}
	answer(fd, FRAME_DCBA FRAME_DCBA FRAME_DCBA, 3 * FRAME_SIZE);
	assert_int_equal(program_wait(&client), EXIT_SUCCESS);
	assert_non_null(strstr(client.output, "Operation count   10\n"));
	close(fd);
}

static void warm_up_is_not_counted(void **state)
{
	int fd;

	client_start("-t 1 -i 2 --warm-up 3");
	fd = client_accept();
	expect_requests(fd, 3);
	expect_no_more(fd);
	answer(fd, FRAME_DCBA FRAME_DCBA FRAME_DCBA, 3 * FRAME_SIZE);
	expect_requests(fd, 2);
	answer(fd, FRAME_DCBA FRAME_DCBA, 2 * FRAME_SIZE);
	assert_int_equal(program_wait(&client), EXIT_SUCCESS);
	assert_non_null(strstr(client.output, "Operation count   2\n"));
	close(fd);
}

static void iterations_are_shared_by_the_connections_of_a_thread(void **state)
{
	int fds[2];

	client_start("-t 1 -i 4 --connections 2");
	fds[0] = client_accept();
	fds[1] = client_accept();
	for (int i = 0; i < 2; i++) {
		expect_requests(fds[i], 2);
		expect_no_more(fds[i]);
		answer(fds[i], FRAME_DCBA FRAME_DCBA, 2 * FRAME_SIZE);
	}
	assert_int_equal(program_wait(&client), EXIT_SUCCESS);
	close(fds[0]);
	close(fds[1]);
}

static void answers_may_be_marked_as_responses_and_change(void **state)
{
	int fd;

	client_start("-t 1 -i 3");
	fd = client_accept();
	expect_requests(fd, 3);
	answer(fd, FRAME_DCBA_RESPONSE FRAME_DCBA FRAME_DCBA_RESPONSE, 3 * FRAME_SIZE);
	assert_int_equal(program_wait(&client), EXIT_SUCCESS);
	close(fd);
}

static void answers_may_come_byte_by_byte(void **state)
{
	int fd, on = 1;

	client_start("-t 1 -i 2");
	fd = client_accept();
	setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof(on));
	expect_requests(fd, 2);
	for (int i = 0; i < FRAME_SIZE; i++)
		answer(fd, &FRAME_DCBA_RESPONSE[i], 1);
	for (int i = 0; i < FRAME_SIZE; i++)
		answer(fd, &FRAME_DCBA[i], 1);
	assert_int_equal(program_wait(&client), EXIT_SUCCESS);
	close(fd);
}

static void wrong_byte_is_named_with_its_offset(void **state)
{
	expect_refusal("\0\0\0\x10\0\0\0\4\0\0\0\4"
		       "DCXA",
		       FRAME_SIZE, "wrong answer to request 0 at offset 2: expected 42 41, received 58 41\n");
}

static void wrong_length_is_named(void **state)
{
	expect_refusal("\0\0\0\x0f\0\0\0\4\0\0\0\3"
		       "DCB",
		       FRAME_SIZE - 1, "wrong answer to request 0: expected 4 bytes, received 3\n");
}

static void unknown_id_is_named(void **state)
{
	expect_refusal("\0\0\0\x10\0\0\0\6\0\0\0\4"
		       "DCBA",
		       FRAME_SIZE, "message id 6 is neither");
}

static void contradicting_length_is_named(void **state)
{
	expect_refusal("\0\0\0\x10\0\0\0\4\0\0\0\5"
		       "DCBA",
		       FRAME_SIZE, "a payload of 5 bytes does not fit a frame of 16\n");
}

static void random_bytes_are_no_frame(void **state)
{
	expect_refusal("\0\0\0\1hello", 9, "is not a frame: a frame of 1 bytes is shorter than its header");
}

static void surplus_answers_are_refused(void **state)
{
	int fd;

	client_start("-t 1 -i 3 --max-concurrent-messages 1");
	fd = client_accept();
	expect_requests(fd, 1);
	answer(fd, FRAME_DCBA FRAME_DCBA, 2 * FRAME_SIZE);
	assert_int_equal(program_wait(&client), EXIT_FAILURE);
	assert_non_null(strstr(client.output, "the server sent 16 bytes more than the answers to all 1 requests\n"));
	close(fd);
}

static void server_that_closes_half_way_is_an_error(void **state)
{
	int fd;

	client_start("-t 1 -i 5");
	fd = client_accept();
	expect_requests(fd, 5);
	answer(fd, FRAME_DCBA "\0\0\0\x10", FRAME_SIZE + 4);
	close(fd);
	assert_int_equal(program_wait(&client), EXIT_FAILURE);
	assert_non_null(strstr(client.output, "the server closed it with 4 requests unanswered"));
}

static void server_that_closes_at_once_is_an_error(void **state)
{
	int fd;

	client_start("-t 1 -i 1000 --connections 200");
	fd = client_accept();
	close(fd);
	assert_int_equal(program_wait(&client), EXIT_FAILURE);
	assert_null(strstr(client.output, "Statistics"));
}

static void refused_connection_is_an_error_said_once(void **state)
{
	const char *line;

	close(listen_fd);
	client_start("-t 4 -i 5 --connections 4");
	assert_int_equal(program_wait(&client), EXIT_FAILURE);
	line = strstr(client.output, " refused: is the server running and listening there?\n");
	assert_non_null(line);
	assert_null(strstr(line + 2, "refused"));
	assert_int_equal(setup(state), 0);
}

static void silent_server_times_out(void **state)
{
	int fd;

	client_start("-t 1 -i 5 --timeout 1");
	fd = client_accept();
	expect_requests(fd, 5);
	assert_int_equal(program_wait(&client), EXIT_FAILURE);
	assert_non_null(strstr(client.output, " for 1 s while waiting for answers; --timeout sets how long to wait\n"));
	close(fd);
}

/* The client sends requests until it sees the signal. It must then receive the answers to all that it sent, and exit. */
static void interrupt_lets_requests_in_flight_end(void **state)
{
	uint64_t answered = 0;
	char frame[FRAME_SIZE], count[64];
	int fd;

	client_start("-t 1 -i 100000000 --max-concurrent-messages 2 --json-stats");
	fd = client_accept();
	expect_requests(fd, 1);
	kill(client.pid, SIGINT);
	do {
		answer(fd, FRAME_DCBA, FRAME_SIZE);
		answered++;
	} while (recv(fd, frame, sizeof(frame), MSG_WAITALL) == (ssize_t)sizeof(frame));
	assert_int_equal(program_wait(&client), EXIT_SUCCESS);
	snprintf(count, sizeof(count), "\"operations\": %llu, ", (unsigned long long)answered);
	assert_non_null(strstr(client.output, count));
	assert_non_null(strstr(client.output, "\"interrupted\": true"));
	close(fd);
}

static void second_interrupt_does_not_wait(void **state)
{
	int fd;

	client_start("-t 1 -i 5");
	fd = client_accept();
	expect_requests(fd, 5);
	kill(client.pid, SIGINT);
	kill(client.pid, SIGTERM); /* a different signal, so that the kernel does not merge the two */
	assert_int_equal(program_wait(&client), EXIT_FAILURE);
	assert_non_null(strstr(client.output, "Statistics (interrupted)"));
	close(fd);
}

static void bad_flags_fail_with_the_value(void **state)
{
	static const struct {
		const char *words, *line;
	} bad[] = {
		{"-t 0 -i 1", "--thread-count"},
		{"-t 1 -i -1", "--iteration-count"},
		{"-t 1 -i 1x", "takes a whole number, not '1x'"},
		{"-t 1 -i 1 --message-size 5", "leave out -m and -e"},
		{"-t 1 -i 1 --kernel echo", "use it with --message-size"},
		{"-t 1 -i 1 --bogus", "there is no flag --bogus"},
		{"-t 1", "-i, --iteration-count is missing"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		client_start(bad[i].words);
		assert_int_equal(program_wait(&client), WRONG_COMMAND_LINE);
		if (strstr(client.output, bad[i].line) == NULL)
			fail_msg("'%s' is not in: %s", bad[i].line, client.output);
	}
}

static void missing_messages_fail_with_the_help(void **state)
{
	static const struct {
		const char *flag, *value, *line;
	} given[] = {
		{NULL, NULL, "-m, --message-string and -e, --expected-response are missing"},
		{"-m", "ABCD", "-e, --expected-response is missing"},
		{"-e", "ABCD", "-m, --message-string is missing"},
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		const char *argv[] = {getenv("CLIENT"), "-s",		"127.0.0.1", "-p", port, "-t", "1", "-i", "1",
				      given[i].flag,	given[i].value, NULL};

		assert_true(program_start(&client, argv));
		assert_int_equal(program_wait(&client), WRONG_COMMAND_LINE);
		if (strstr(client.output, given[i].line) == NULL || strstr(client.output, " --help`.") == NULL)
			fail_msg("'%s' and a pointer to --help are not in: %s", given[i].line, client.output);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_request_and_its_answer),
		CASE(depth_bounds_what_is_in_flight),
		CASE(warm_up_is_not_counted),
		CASE(iterations_are_shared_by_the_connections_of_a_thread),
		CASE(answers_may_be_marked_as_responses_and_change),
		CASE(answers_may_come_byte_by_byte),
		CASE(wrong_byte_is_named_with_its_offset),
		CASE(wrong_length_is_named),
		CASE(unknown_id_is_named),
		CASE(contradicting_length_is_named),
		CASE(random_bytes_are_no_frame),
		CASE(surplus_answers_are_refused),
		CASE(server_that_closes_half_way_is_an_error),
		CASE(server_that_closes_at_once_is_an_error),
		CASE(refused_connection_is_an_error_said_once),
		CASE(silent_server_times_out),
		CASE(interrupt_lets_requests_in_flight_end),
		CASE(second_interrupt_does_not_wait),
		CASE(bad_flags_fail_with_the_value),
		CASE(missing_messages_fail_with_the_help),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
