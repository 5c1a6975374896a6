/* SPDX-License-Identifier: BSD-3-Clause */
/* The service of `softfield node`: a caller's look-up is forwarded to the listener, whose answer the caller gets. */
#include "net_agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/control/runtime.h"

static struct agent node;
static char name[64];
static int listening;

/* The service's socket is the next descriptor: the port is any, and its number is not reported. */
static void service_open(void)
{
	struct sf_addresses addresses = {.num = 1, .at = {{.bytes = {127, 0, 0, 1}}}};
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	int fd;

	pthread_mutex_lock(&sf_control_lock);
	fd = dup(0);
	assert_true(fd >= 0 && close(fd) == 0);
	assert_int_equal(sf_net_serve_node(&addresses), DOCA_SUCCESS);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	pthread_mutex_unlock(&sf_control_lock);
	node.addresses = addresses;
	node.addresses.at[0].port = ntohs(address.sin_port);
}

static int setup(void **state)
{
	struct sf_key key;

	(void)state;
	sf_net_set_key(NULL);
	assert_int_equal(sf_control_hold(&node.generation), DOCA_SUCCESS);
	service_open();
	(void)snprintf(name, sizeof(name), "node service test %d", (int)getpid());
	key = sf_key_of_name(name);
	assert_int_equal(sf_runtime_listen(SF_SOCKET_LISTENER, &key, &listening), DOCA_SUCCESS);
	return 0;
}

static int teardown(void **state)
{
	const struct sf_key key = sf_key_of_name(name);

	(void)state;
	sf_runtime_unlink(SF_SOCKET_LISTENER, &key);
	close(listening);
	sf_control_release(node.generation);
	return 0;
}

static void look_up(int fd)
{
	struct sf_msg_locate locate = {.head = sf_msg_head(SF_MSG_LOCATE, sizeof(locate), 0)};

	strcpy(locate.name, name);
	assert_int_equal(send(fd, &locate, sizeof(locate), MSG_NOSIGNAL), sizeof(locate));
}

/* The listener's side of a look-up. */
static int forwarded(void)
{
	struct sf_msg_locate locate;
	int fd;

	expect_bytes(listening);
	fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	expect_bytes(fd);
	assert_int_equal(recv(fd, &locate, sizeof(locate), 0), sizeof(locate));
	assert_true(locate.head.kind == SF_MSG_LOCATE && strcmp(locate.name, name) == 0);
	return fd;
}

static void expect_served(void)
{
	struct sf_msg_address address = {.head = sf_msg_head(SF_MSG_ADDRESS, sizeof(address), 0), .address = "127.0.0.1:4711"};
	uint8_t heard[2 * sizeof(address)];
	int caller = dial(&node), listener;

	look_up(caller);
	listener = forwarded();
	assert_int_equal(send(listener, &address, sizeof(address), MSG_NOSIGNAL), sizeof(address));
	assert_int_equal(hear_end(caller, heard, sizeof(heard)), sizeof(address));
	assert_memory_equal(heard, &address, sizeof(address));
	expect_closed(listener);
}

static void the_caller_gets_the_listeners_answer(void **state)
{
	(void)state;
	expect_served();
}

static void a_second_look_up_of_a_caller_ends_both(void **state)
{
	int caller = dial(&node), listener;

	(void)state;
	look_up(caller);
	listener = forwarded();
	look_up(caller);
	expect_closed(caller);
	expect_closed(listener);
	expect_served();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_gets_the_listeners_answer),
		cmocka_unit_test(a_second_look_up_of_a_caller_ends_both),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
