/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One epoll loop over several progress engines, sockets and a timer, in each of two processes. Tokens are sent back and forth on
 * every channel. A process touches a progress engine only when that engine's handle is readable. The tokens therefore stop if an
 * engine loses a wake-up, or if a callback of one engine submits on another and nothing starts that work.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/comch_side.h"

#define ENGINES 3
#define SOCKETS 2
#define TOKENS 4      /* in flight on each channel */
#define ROUNDS 20000u /* tokens that have returned to the first process, on each channel */
#define TICKS 20u
#define TICK_NS 1000000
#define LOOP_S 60
#define LINE 32
#define CALLS_MAX 8 /* progress calls on one engine in one iteration of the loop */

enum { CONTROL, CONSUMER, PRODUCER };

static struct comch_side own;
static struct data_side consumer, producer;
static bool first; /* true in the process that starts the tokens and counts them */

struct channel {
	uint32_t back, out;
};
static struct channel messages, data, lines[SOCKETS];

/* The first process sends a returned token again until ROUNDS were sent; the other process returns every token. */
static bool goes_on(struct channel *channel)
{
	channel->back++;
	if (first && channel->out == ROUNDS)
		return false;
	channel->out++;
	return true;
}

static void on_message(struct comch_side *side, const uint8_t *msg, uint32_t len, struct doca_comch_connection *connection)
{
	(void)connection;
	if (goes_on(&messages))
		assert_int_equal(side_send(side, msg, len), DOCA_SUCCESS);
}

static uint32_t owed; /* data tokens that found no free task: sent when the producer's engine reports completions */

static void pay(void)
{
	while (owed != 0) {
		doca_error_t result = data_send(&producer, 0, 64, own.new_consumer_id, NULL, 0, false);

		if (result == DOCA_ERROR_NO_MEMORY)
			return;
		assert_int_equal(result, DOCA_SUCCESS);
		owed--;
	}
}

/* A callback of the consumer's engine submits on the producer's. */
static void on_data(struct data_side *side, struct doca_task *task)
{
	(void)side;
	(void)task;
	if (goes_on(&data)) {
		owed++;
		pay();
	}
}

struct loop {
	int epoll, timer;
	int socket[SOCKETS];
	struct doca_pe *pe[ENGINES];
	doca_notification_handle_t handle[ENGINES];
	uint32_t ticks;
	bool over; /* the other end of a socket was closed */
};

static void loop_add(struct loop *loop, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	assert_int_equal(epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

/* In each process, one engine is cleared by its next request. */
static bool clears_itself(int engine)
{
	return engine == (first ? CONTROL : CONSUMER);
}

static void loop_open(struct loop *loop, const int *sockets)
{
	struct itimerspec every = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};
	struct doca_pe *pes[ENGINES] = {own.pe, consumer.pe, producer.pe};

	memset(loop, 0, sizeof(*loop));
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	assert_int_equal(timerfd_settime(loop->timer, 0, &every, NULL), 0);
	loop_add(loop, loop->timer);
	for (int i = 0; i < SOCKETS; i++) {
		loop->socket[i] = sockets[i];
		loop_add(loop, sockets[i]);
	}
	for (int i = 0; i < ENGINES; i++) {
		loop->pe[i] = pes[i];
		if (clears_itself(i))
			assert_int_equal(doca_pe_set_event_mode(pes[i], DOCA_PE_EVENT_MODE_PROGRESS_ALL), DOCA_SUCCESS);
		assert_int_equal(doca_pe_get_notification_handle(pes[i], &loop->handle[i]), DOCA_SUCCESS);
		loop_add(loop, loop->handle[i]);
		assert_int_equal(doca_pe_request_notification(pes[i]), DOCA_SUCCESS);
	}
}

static void loop_close(struct loop *loop)
{
	close(loop->timer);
	close(loop->epoll);
}

static void engine_ready(struct loop *loop, int i)
{
	if (!clears_itself(i))
		assert_int_equal(doca_pe_clear_notification(loop->pe[i], loop->handle[i]), DOCA_SUCCESS);
	/* After CALLS_MAX calls the rest waits for the next iteration, so that a busy engine does not starve the others. */
	for (int calls = 0; calls < CALLS_MAX && doca_pe_progress(loop->pe[i]); calls++)
		;
	assert_int_equal(doca_pe_request_notification(loop->pe[i]), DOCA_SUCCESS);
}

static void line_send(int fd)
{
	char line[LINE] = "token";

	assert_int_equal(send(fd, line, sizeof(line), MSG_NOSIGNAL), sizeof(line));
}

static void socket_ready(struct loop *loop, int i)
{
	char line[LINE];
	ssize_t len = recv(loop->socket[i], line, sizeof(line), MSG_DONTWAIT);

	if (len <= 0) {
		assert_true(len == 0 || errno == EAGAIN);
		loop->over |= len == 0;
		return;
	}
	assert_int_equal(len, sizeof(line));
	if (goes_on(&lines[i]))
		line_send(loop->socket[i]);
}

static void loop_turn(struct loop *loop)
{
	struct epoll_event events[ENGINES + SOCKETS + 1];
	int num = epoll_wait(loop->epoll, events, ENGINES + SOCKETS + 1, -1);

	for (int at = 0; at < num; at++) {
		uint64_t expired;

		for (int i = 0; i < ENGINES; i++) {
			if (events[at].data.fd == loop->handle[i])
				engine_ready(loop, i);
		}
		pay();
		for (int i = 0; i < SOCKETS; i++) {
			if (events[at].data.fd == loop->socket[i])
				socket_ready(loop, i);
		}
		if (events[at].data.fd == loop->timer && read(loop->timer, &expired, sizeof(expired)) == sizeof(expired))
			loop->ticks++;
	}
}

static void open_data(struct doca_pe *control)
{
	data_init_consumer(&consumer, &own, NULL, 2 * TOKENS, 64 * 2 * TOKENS);
	data_init_producer(&producer, &own, NULL, 64, 64);
	data_start(&producer, NULL, NULL);
	data_start(&consumer, control, NULL);
	consumer.on_done = on_data;
	consumer.repost = true;
	for (size_t i = 0; i < 2 * TOKENS; i++)
		data_post(&consumer, i * 64, 64);
	SIDE_WAIT(own.num_new_consumers > 0, own.pe, NULL, NULL, NULL);
}

static void close_data(void)
{
	consumer.repost = false;
	data_fini(&producer);
	data_fini(&consumer);
}

static int other_process(const char *name, const int *sockets)
{
	struct loop loop;

	alarm(2 * LOOP_S);
	side_init_client(&own, name);
	own.on_msg = on_message;
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_RUNNING, own.pe, NULL, NULL, NULL);
	open_data(own.pe);
	loop_open(&loop, sockets);
	while (!loop.over)
		loop_turn(&loop);
	loop_close(&loop);
	close_data();
	side_fini(&own, NULL);
	return 0;
}

static pid_t start_other(const char *name, const int pairs[SOCKETS][2])
{
	char fds[SOCKETS][16];
	pid_t pid;

	for (int i = 0; i < SOCKETS; i++)
		snprintf(fds[i], sizeof(fds[i]), "%d", pairs[i][1]);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < SOCKETS; i++)
			close(pairs[i][0]);
		execl("/proc/self/exe", "event_loop_test", name, fds[0], fds[1], (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < SOCKETS; i++)
		close(pairs[i][1]);
	return pid;
}

static void start_tokens(const struct loop *loop)
{
	for (int token = 0; token < TOKENS; token++) {
		assert_int_equal(side_send(&own, "token", 5), DOCA_SUCCESS);
		assert_int_equal(data_send(&producer, 0, 64, own.new_consumer_id, NULL, 0, false), DOCA_SUCCESS);
		for (int i = 0; i < SOCKETS; i++)
			line_send(loop->socket[i]);
	}
	messages.out = data.out = lines[0].out = lines[1].out = TOKENS;
}

static bool all_back(const struct loop *loop)
{
	return messages.back == ROUNDS && data.back == ROUNDS && lines[0].back == ROUNDS && lines[1].back == ROUNDS &&
	       loop->ticks >= TICKS;
}

static void one_loop_serves_engines_sockets_and_a_timer(void **state)
{
	int pairs[SOCKETS][2], sockets[SOCKETS], status = 0;
	struct loop loop;
	char name[64];
	uint64_t end;
	pid_t pid, reaped = 0;

	(void)state;
	first = true;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[0]), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pairs[1]), 0);
	snprintf(name, sizeof(name), "event loop test %d", (int)getpid());
	side_init_server(&own, name);
	own.on_msg = on_message;
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	pid = start_other(name, pairs);
	SIDE_WAIT(own.connection != NULL, own.pe, NULL, NULL, NULL);
	open_data(own.pe);
	for (int i = 0; i < SOCKETS; i++)
		sockets[i] = pairs[i][0];
	loop_open(&loop, sockets);
	start_tokens(&loop);
	for (end = sf_now_ns() + LOOP_S * UINT64_C(1000000000); !all_back(&loop);) {
		loop_turn(&loop);
		if (sf_now_ns() > end)
			fail_msg("stuck after %u messages, %u of data, %u and %u lines, %u ticks", messages.back, data.back,
				 lines[0].back, lines[1].back, loop.ticks);
	}
	for (int i = 0; i < SOCKETS; i++)
		close(sockets[i]);
	SIDE_WAIT((reaped = waitpid(pid, &status, WNOHANG)) != 0, own.pe, consumer.pe, producer.pe, NULL);
	assert_int_equal(reaped, pid);
	assert_int_equal(status, 0);
	loop_close(&loop);
	close_data();
	side_fini(&own, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_loop_serves_engines_sockets_and_a_timer)};

	if (argc == 2 + SOCKETS)
		return other_process(argv[1], (const int[]){atoi(argv[2]), atoi(argv[3])});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
