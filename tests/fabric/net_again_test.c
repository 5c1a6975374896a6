/* SPDX-License-Identifier: BSD-3-Clause */
/* The listener closes a call without an answer, as a listener does when the caller was too slow. */
#include "net_agent.h"

#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fabric/control/handshake.h"
#include "support/log_lines.h"
#include "support/wait.h"

#define CALLS 6		  /* then the caller gives up */
#define CALM_WAKES_MAX 60 /* wake-ups a second; the clock needs 20 */

static struct sf_handshake handshake; /* GUARDED_BY(sf_control_lock), as are the two below */
static uint32_t num_opened;
static doca_error_t opened_status;

static void side_describe(struct sf_handshake *asking, struct sf_msg_side *side, int *fds)
{
	(void)asking;
	(void)fds;
	memset(side, 0, sizeof(*side));
}

static doca_error_t meet(struct sf_handshake *asking, const struct sf_msg_side *side, int *fds)
{
	(void)asking;
	(void)side;
	(void)fds;
	return DOCA_SUCCESS;
}

static void opened(struct sf_handshake *asking, doca_error_t status, const void *data, size_t len)
{
	(void)asking;
	(void)data;
	(void)len;
	num_opened++;
	opened_status = status;
	pthread_cond_broadcast(&sf_control_changed);
}

static void ended(struct sf_handshake *asking)
{
	(void)asking;
}

static const struct sf_control_provider *provider_tcp(void)
{
	const struct sf_control_provider *provider = sf_control_providers();

	while (provider != NULL && strcmp(provider->name, "tcp") != 0)
		provider = provider->next;
	assert_non_null(provider);
	return provider;
}

static int setup(void **state)
{
	*state = agent_open();
	return 0;
}

static int teardown(void **state)
{
	sf_control_release(((struct agent *)*state)->generation);
	return 0;
}

/* Asks at an address without a token, as a program passes it. Called with sf_control_lock held. */
static void ask_locked(char address[SF_ADDRESS_MAX])
{
	static struct sf_handshake_ops ops = {.describe = side_describe, .meet = meet, .opened = opened, .ended = ended};

	ops.provider = provider_tcp();
	num_opened = 0;
	address[strcspn(address, "#")] = '\0';
	assert_int_equal(sf_handshake_ask(&handshake, &ops, "somebody", address, 0, NULL, 0), DOCA_SUCCESS);
}

static void ask(char address[SF_ADDRESS_MAX])
{
	pthread_mutex_lock(&sf_control_lock);
	ask_locked(address);
	pthread_mutex_unlock(&sf_control_lock);
}

static void expect_opened(doca_error_t status)
{
	doca_error_t seen;
	struct timespec limit;
	uint32_t num;

	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += NET_IN_TIME_S;
	pthread_mutex_lock(&sf_control_lock);
	while (num_opened == 0 && pthread_cond_timedwait(&sf_control_changed, &sf_control_lock, &limit) == 0)
		;
	num = num_opened;
	seen = opened_status;
	pthread_mutex_unlock(&sf_control_lock); /* the teardown after a failed assertion locks it */
	assert_int_equal(num, 1);
	assert_int_equal(seen, status);
}

static int next_call(int listener)
{
	expect_bytes(listener);
	return agent_accept(listener);
}

/* Reads the caller's request from the connection. */
static void expect_question(int fd)
{
	struct sf_msg_connect connect;

	expect_bytes(fd);
	assert_int_equal(recv(fd, &connect, sizeof(connect), MSG_WAITALL), sizeof(connect));
	assert_int_equal(connect.head.kind, SF_MSG_CONNECT);
	assert_string_equal(connect.name, "somebody");
}

/* Two calls are closed, one of them before the request; the third gets an answer. */
static void a_caller_that_is_cut_off_calls_again(void **state)
{
	struct sf_msg_refuse refuse = {.head = sf_msg_head(SF_MSG_REFUSE, sizeof(refuse), DOCA_ERROR_NOT_PERMITTED)};
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text), fd;

	(void)state;
	ask(text);
	close(next_call(listener));
	fd = next_call(listener);
	expect_question(fd);
	close(fd);
	fd = next_call(listener);
	expect_question(fd);
	assert_int_equal(write(fd, &refuse, sizeof(refuse)), sizeof(refuse));
	expect_opened(DOCA_ERROR_NOT_PERMITTED);
	close(fd);
	close(listener);
}

static void a_caller_that_is_always_cut_off_gives_up(void **state)
{
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text);

	(void)state;
	ask(text);
	log_lines_forget();
	for (int i = 0; i < CALLS; i++)
		close(next_call(listener));
	expect_opened(DOCA_ERROR_CONNECTION_ABORTED);
	log_lines_expect("cannot connect to somebody", text, "closes the connection");
	close(listener);
}

/* A listener was there, so the status is not that of an address where no process listens. */
static void a_listener_that_ends_aborts_the_call(void **state)
{
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text), fd;

	(void)state;
	ask(text);
	fd = next_call(listener);
	log_lines_forget();
	close(listener);
	close(fd);
	expect_opened(DOCA_ERROR_CONNECTION_ABORTED);
	log_lines_expect("cannot connect to somebody", "listens no longer", "");
}

/* The process dies after the kernel made the connection, and before the agent looks at it. */
static void a_reset_before_the_first_byte_aborts_the_call(void **state)
{
	const struct linger reset = {.l_onoff = 1};
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text), fd;

	(void)state;
	pthread_mutex_lock(&sf_control_lock);
	ask_locked(text);
	fd = agent_accept(listener);
	close(listener);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
	close(fd);
	pthread_mutex_unlock(&sf_control_lock);
	expect_opened(DOCA_ERROR_CONNECTION_ABORTED);
}

/* With a key, the called process must prove it first. One that is too busy for that at the first call gets another one. */
static void a_listener_that_is_slow_to_prove_its_key_is_called_again(void **state)
{
	const struct sf_tls_key key = {.bytes = {1}};
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text), first, second;

	(void)state;
	sf_net_set_key(&key);
	ask(text);
	first = next_call(listener);
	second = next_call(listener);
	log_lines_forget();
	close(listener);
	close(first);
	close(second);
	expect_opened(DOCA_ERROR_CONNECTION_ABORTED);
	log_lines_expect("cannot connect to somebody", "listens no longer", "");
	sf_net_set_key(NULL);
}

/* The time limits are seconds, so the agent reads the clock 20 times a second and the process does nothing else. */
static void a_call_that_waits_lets_the_agent_sleep(void **state)
{
	struct sf_msg_refuse refuse = {.head = sf_msg_head(SF_MSG_REFUSE, sizeof(refuse), DOCA_ERROR_NOT_PERMITTED)};
	struct rusage before, after;
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text), fd;

	(void)state;
	ask(text);
	fd = next_call(listener);
	expect_question(fd);
	getrusage(RUSAGE_SELF, &before);
	time_pass_ms(1000);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_nvcsw - before.ru_nvcsw <= CALM_WAKES_MAX);
	assert_int_equal(write(fd, &refuse, sizeof(refuse)), sizeof(refuse));
	expect_opened(DOCA_ERROR_NOT_PERMITTED);
	close(fd);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_caller_that_is_cut_off_calls_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_caller_that_is_always_cut_off_gives_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_listener_that_ends_aborts_the_call, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reset_before_the_first_byte_aborts_the_call, setup, teardown),
		cmocka_unit_test_setup_teardown(a_listener_that_is_slow_to_prove_its_key_is_called_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_waits_lets_the_agent_sleep, setup, teardown),
	};

	return cmocka_run_group_tests_name("net again", tests, log_lines_setup, NULL);
}
