/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server against a minimal orchestrator, all in one process, so that the sanitizers see everything. Each test runs the
 * server's main loop in a thread and connects to its TCP port.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "remote_offload/clock.h"
#include "plain_orchestrator.h"
#include "remote_offload/frame.h"
#include "remote_offload/server/server.h"
#include "support/wait.h"

#define DEADLINE_MS 20000
#define PAYLOAD_MAX 252

struct orchestrator {
	struct plain_orchestrator plain;
	pthread_t thread;
	int status;
};

struct site {
	struct server_config config;
	struct orchestrator orchestrator;
	pthread_t server_thread;
	int server_status;
};

static void *server_main(void *argument)
{
	struct site *site = argument;

	site->server_status = server_run(&site->config);
	return NULL;
}

static void *orchestrator_main(void *argument)
{
	struct orchestrator *orchestrator = argument;

	orchestrator->status = plain_orchestrator_run(&orchestrator->plain);
	return NULL;
}

static uint32_t free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	close(fd);
	return ntohs(address.sin_port);
}

/* Connects to the server, which may not listen yet. */
static int try_connect(const struct site *site)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons((uint16_t)site->config.listen_port)};
	struct timeval limit = {.tv_sec = DEADLINE_MS / 1000};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

static int connect_client(const struct site *site)
{
	int fd = -1;

	assert_true(WAIT_UNTIL((fd = try_connect(site)) >= 0));
	return fd;
}

static void start_orchestrator(struct orchestrator *orchestrator)
{
	atomic_store(&orchestrator->plain.stop, false);
	atomic_store(&orchestrator->plain.serving, false);
	orchestrator->plain.vanish = false;
	assert_int_equal(pthread_create(&orchestrator->thread, NULL, orchestrator_main, orchestrator), 0);
}

static void await_server(struct orchestrator *orchestrator)
{
	/* The server waits for orchestrators once its channel accepts connections. */
	uint64_t deadline = clock_ms() + DEADLINE_MS;

	do {
		start_orchestrator(orchestrator);
		while (!atomic_load(&orchestrator->plain.serving) && pthread_tryjoin_np(orchestrator->thread, NULL) != 0)
			assert_true(clock_ms() < deadline);
	} while (!atomic_load(&orchestrator->plain.serving));
}

static void prepare(struct site *site, uint32_t queues, uint32_t depth)
{
	static int number;
	struct plain_orchestrator *plain = &site->orchestrator.plain;

	memset(site, 0, sizeof(*site));
	strcpy(site->config.device_id, "03:00.0");
	strcpy(site->config.representor_id, "d8:00.0");
	snprintf(site->config.channel_name, sizeof(site->config.channel_name), "plain%d", number++);
	strcpy(site->config.listen_address, "127.0.0.1");
	site->config.listen_port = free_port();
	site->config.cpu_count = queues;
	site->config.max_concurrent_messages = depth;
	site->config.max_message_length = 256;
	site->config.spin_us = 20;
	plain->device = "d8:00.0";
	plain->channel = site->config.channel_name;
	plain->queues = queues;
	plain->depth = depth;
	plain->frame_max = frame_size_max(256);
}

static void start_prepared(struct site *site)
{
	assert_int_equal(pthread_create(&site->server_thread, NULL, server_main, site), 0);
	await_server(&site->orchestrator);
}

static void start(struct site *site, uint32_t queues, uint32_t depth)
{
	prepare(site, queues, depth);
	start_prepared(site);
}

/* A signal stops the server, as in production. */
static void stop_both(struct site *site, struct orchestrator *orchestrator)
{
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	pthread_join(site->server_thread, NULL);
	pthread_join(orchestrator->thread, NULL);
	assert_int_equal(site->server_status, 0);
	assert_int_equal(orchestrator->status, 0);
}

static void stop(struct site *site)
{
	stop_both(site, &site->orchestrator);
}

static void send_request(int fd, const uint8_t *payload, uint32_t len)
{
	uint8_t bytes[FRAME_OVERHEAD + PAYLOAD_MAX];

	frame_put_header(bytes, FRAME_CLIENT_REQUEST, len);
	memcpy(bytes + FRAME_OVERHEAD, payload, len);
	assert_int_equal(send(fd, bytes, FRAME_OVERHEAD + len, MSG_NOSIGNAL), (ssize_t)(FRAME_OVERHEAD + len));
}

static void expect_answer(int fd, const uint8_t *payload, uint32_t len)
{
	uint8_t bytes[FRAME_OVERHEAD + PAYLOAD_MAX];
	struct frame frame;

	assert_int_equal(recv(fd, bytes, FRAME_OVERHEAD + len, MSG_WAITALL), (ssize_t)(FRAME_OVERHEAD + len));
	assert_int_equal(frame_parse(bytes, FRAME_OVERHEAD + len, sizeof(bytes), &frame), FRAME_COMPLETE);
	assert_int_equal(frame.payload_len, len);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(frame.payload[i], payload[len - 1 - i]);
}

static void ask(int fd, const char *text)
{
	send_request(fd, (const uint8_t *)text, (uint32_t)strlen(text));
	expect_answer(fd, (const uint8_t *)text, (uint32_t)strlen(text));
}

static void answers_a_request(void **state)
{
	struct site site;
	int fd;

	start(&site, 1, 16);
	fd = connect_client(&site);
	ask(fd, "ABCD");
	ask(fd, "");
	close(fd);
	stop(&site);
}

static void keeps_order_over_many_connections(void **state)
{
	enum { CONNECTIONS = 24, DEPTH = 16, ROUNDS = 20 };
	struct site site;
	int fds[CONNECTIONS];

	start(&site, 2, 32);
	for (int c = 0; c < CONNECTIONS; c++)
		fds[c] = connect_client(&site);
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t payload[PAYLOAD_MAX];

		for (int turn = 0; turn < 2; turn++) {
			for (int c = 0; c < CONNECTIONS; c++) {
				for (int i = 0; i < DEPTH; i++) {
					uint32_t len = (uint32_t)(round * 31 + c * 7 + i * 13) % PAYLOAD_MAX;

					memset(payload, c, sizeof(payload));
					payload[0] = (uint8_t)i;
					if (turn == 0)
						send_request(fds[c], payload, len);
					else
						expect_answer(fds[c], payload, len);
				}
			}
		}
	}
	for (int c = 0; c < CONNECTIONS; c++)
		close(fds[c]);
	stop(&site);
}

static void bad_frame_closes_its_connection_only(void **state)
{
	static const uint32_t bad[][3] = {
		{265, 4, 253}, {16, 4, 5}, {4, 4, 0}, {16, 9, 4}, {16, 5, 4}, {UINT32_MAX, UINT32_MAX, UINT32_MAX},
	};
	struct site site;
	int good;

	start(&site, 1, 16);
	good = connect_client(&site);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint32_t bytes[4] = {htobe32(bad[i][0]), htobe32(bad[i][1]), htobe32(bad[i][2]), 0};
		uint8_t byte;
		int fd = connect_client(&site);

		assert_int_equal(send(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
		assert_true(recv(fd, &byte, 1, 0) <= 0);
		close(fd);
		ask(good, "still here");
	}
	close(good);
	stop(&site);
}

/* Two requests that arrive together, and an orchestrator that treats them as one although it announced support for several. */
static void answers_to_fewer_requests_close_their_connection_only(void **state)
{
	uint8_t bytes[2 * (FRAME_OVERHEAD + 4)], *at = bytes, byte;
	struct site site;
	int good, bad;

	prepare(&site, 1, 16);
	site.orchestrator.plain.batch_bytes = 128;
	start_prepared(&site);
	good = connect_client(&site);
	ask(good, "ABCD");
	for (int i = 0; i < 2; i++) {
		frame_put_header(at, FRAME_CLIENT_REQUEST, 4);
		memcpy(at + FRAME_OVERHEAD, "1234", 4);
		at += FRAME_OVERHEAD + 4;
	}
	bad = connect_client(&site);
	assert_int_equal(send(bad, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
	assert_true(recv(bad, &byte, 1, 0) <= 0);
	ask(good, "EFGH");
	close(bad);
	close(good);
	stop(&site);
}

static void wrong_control_messages_end_their_orchestrator_only(void **state)
{
	struct site site;
	int fd;

	start(&site, 2, 16);
	fd = connect_client(&site);
	ask(fd, "ABCD");
	site.orchestrator.plain.vanish = true;
	atomic_store(&site.orchestrator.plain.stop, true);
	pthread_join(site.orchestrator.thread, NULL);
	for (uint32_t seed = 1; seed <= 40; seed++)
		plain_orchestrator_rave(&site.orchestrator.plain, seed);
	await_server(&site.orchestrator);
	/* An orchestrator is connected now: further ones are rejected, and their messages are ignored. */
	for (uint32_t seed = 41; seed <= 60; seed++) {
		struct plain_orchestrator other = {.device = "d8:00.0", .channel = site.config.channel_name};

		plain_orchestrator_rave(&other, seed);
		ask(fd, "EFGH");
	}
	close(fd);
	stop(&site);
}

static void serves_again_after_an_orchestrator_vanished(void **state)
{
	struct site site;
	int fd;

	start(&site, 2, 16);
	fd = connect_client(&site);
	ask(fd, "ABCD");
	for (int turn = 0; turn < 3; turn++) {
		site.orchestrator.plain.vanish = true;
		atomic_store(&site.orchestrator.plain.stop, true);
		pthread_join(site.orchestrator.thread, NULL);
		await_server(&site.orchestrator);
		ask(fd, "EFGH");
	}
	close(fd);
	stop(&site);
}

/* The first orchestrator withholds its answers until the server gives it up, and sends them while the second one works on the
 * next request. */
static void late_answers_reach_nobody(void **state)
{
	struct orchestrator *first, second;
	uint8_t answer[FRAME_OVERHEAD + 4];
	struct site site;
	int lost, fd;

	prepare(&site, 1, 4);
	site.config.gpu_timeout_s = 1;
	first = &site.orchestrator;
	second = *first;
	start_prepared(&site);
	lost = connect_client(&site);
	fd = connect_client(&site);
	ask(fd, "ABCD");
	atomic_store(&first->plain.hold, true);
	for (int i = 0; i < 3; i++)
		send_request(lost, (const uint8_t *)"1234", 4);
	assert_true(recv(lost, answer, sizeof(answer), 0) <= 0);
	await_server(&second);
	ask(fd, "EFGH");
	atomic_store(&second.plain.hold, true);
	send_request(fd, (const uint8_t *)"IJKL", 4);
	assert_true(WAIT_UNTIL(atomic_load(&second.plain.held) != 0));
	atomic_store(&first->plain.hold, false);
	pthread_join(first->thread, NULL);
	assert_int_equal(first->status, 1);
	assert_int_equal(recv(fd, answer, sizeof(answer), MSG_DONTWAIT), -1);
	atomic_store(&second.plain.hold, false);
	expect_answer(fd, (const uint8_t *)"IJKL", 4);
	ask(fd, "MNOP");
	close(lost);
	close(fd);
	stop_both(&site, &second);
}

static void ends_with_an_orchestrator_that_ends(void **state)
{
	struct site site;
	uint8_t byte;
	int fd;

	start(&site, 1, 16);
	fd = connect_client(&site);
	ask(fd, "ABCD");
	atomic_store(&site.orchestrator.plain.stop, true);
	pthread_join(site.orchestrator.thread, NULL);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	pthread_join(site.server_thread, NULL);
	assert_int_equal(site.server_status, 0);
	assert_int_equal(site.orchestrator.status, 0);
}

static int make_runtime(void **state)
{
	static char folder[] = "/tmp/sf-offload-XXXXXX";
	sigset_t set;

	/* Before there are threads: the server reads signals from its descriptor. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	*state = mkdtemp(folder);
	return *state && setenv("SOFTFIELD_RUNTIME", *state, 1) == 0 ? options_start_log() != DOCA_SUCCESS : 1;
}

static int remove_runtime(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", (const char *)*state);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_a_request),
		cmocka_unit_test(keeps_order_over_many_connections),
		cmocka_unit_test(bad_frame_closes_its_connection_only),
		cmocka_unit_test(answers_to_fewer_requests_close_their_connection_only),
		cmocka_unit_test(wrong_control_messages_end_their_orchestrator_only),
		cmocka_unit_test(serves_again_after_an_orchestrator_vanished),
		cmocka_unit_test(late_answers_reach_nobody),
		cmocka_unit_test(ends_with_an_orchestrator_that_ends),
	};

	return cmocka_run_group_tests(tests, make_runtime, remove_runtime);
}
