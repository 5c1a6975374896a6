/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_agent.h"
#include "fabric/control/runtime.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 20000
#define NO_REGION 77

/* ---- an agent that listens on loopback ---- */

static void no_addresses(const char *name, struct sf_addresses *addresses)
{
	(void)name;
	addresses->num = 0;
}

static const struct sf_net_device device = {.name = "none0", .addresses = no_addresses};

struct agent *agent_open(void)
{
	static struct agent agent;

	setenv("SOFTFIELD_LISTEN", "127.0.0.1", 1);
	sf_net_set_key(NULL);
	assert_int_equal(sf_control_hold(&agent.generation), DOCA_SUCCESS);
	pthread_mutex_lock(&sf_control_lock);
	assert_int_equal(sf_net_address(&device, agent.text), DOCA_SUCCESS);
	pthread_mutex_unlock(&sf_control_lock);
	assert_true(sf_addresses_parse(agent.text, &agent.addresses));
	return &agent;
}

/* ---- a peer that connects ---- */

int dial(const struct agent *agent)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(agent->addresses.at[0].port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(&address.sin_addr, agent->addresses.at[0].bytes, 4);
	assert_true(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	return fd;
}

void expect_bytes(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
}

struct sf_msg_handshake handshake_of(const struct agent *agent)
{
	return (struct sf_msg_handshake){.head = sf_msg_head(SF_MSG_HANDSHAKE, sizeof(struct sf_msg_handshake), 0),
					 .token = agent->addresses.token};
}

/* A valid request for a region that does not exist; the answer is NOT_FOUND. */
struct vb_msg_attach question(void)
{
	return (struct vb_msg_attach){
		.head = sf_msg_head(VB_MSG_ATTACH, sizeof(struct vb_msg_attach), 0), .end.mtu = 3, .region = NO_REGION};
}

/* Reads until the agent closes; returns the number of bytes. */
size_t hear_end(int fd, uint8_t *bytes, size_t room)
{
	const time_t end = time(NULL) + NET_IN_TIME_S;
	size_t len = 0;

	for (;;) {
		ssize_t got;

		expect_bytes(fd);
		got = recv(fd, bytes + len, room - len, 0);
		assert_true(time(NULL) <= end && len < room);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	close(fd);
	return len;
}

void expect_closed(int fd)
{
	static uint8_t bytes[65536];

	(void)hear_end(fd, bytes, sizeof(bytes));
}

/* ---- calling ---- */

static bool answered(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct call *call = channel->owner;

	(void)fds;
	call->answered = msg->kind == VB_MSG_ATTACHED && msg->value == DOCA_ERROR_NOT_FOUND;
	pthread_cond_broadcast(&sf_control_changed);
	return true;
}

static void ended(struct sf_channel *channel)
{
	struct call *call = channel->owner;

	call->ended = true;
	call->why = channel->why;
	call->is_other = channel->is_other;
	pthread_cond_broadcast(&sf_control_changed);
}

void call_begin(struct call *call, const char *addresses)
{
	struct vb_msg_attach msg = question();
	struct sf_key nobody;

	memset(call, 0, sizeof(*call));
	assert_int_equal(sf_key_random(&nobody), DOCA_SUCCESS);
	pthread_mutex_lock(&sf_control_lock);
	assert_int_equal(sf_channel_call(SF_SOCKET_AGENT, &nobody, addresses, true, 0, call, &call->channel), DOCA_SUCCESS);
	call->channel->message = answered;
	call->channel->ended = ended;
	assert_true(sf_channel_send(call->channel, &msg, NULL, 0));
	pthread_mutex_unlock(&sf_control_lock);
}

void call_wait(struct call *call)
{
	struct timespec limit;

	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += NET_IN_TIME_S;
	pthread_mutex_lock(&sf_control_lock);
	while (!call->answered && !call->ended)
		assert_int_equal(pthread_cond_timedwait(&sf_control_changed, &sf_control_lock, &limit), 0);
	if (!call->ended)
		sf_channel_close(call->channel);
	pthread_mutex_unlock(&sf_control_lock);
}

void call_expect_end(struct call *call, doca_error_t why)
{
	call_wait(call);
	assert_true(call->ended && !call->answered);
	assert_int_equal(call->why, why);
}

void call_expect_answer(const char *addresses)
{
	struct call call;

	call_begin(&call, addresses);
	call_wait(&call);
	assert_true(call.answered);
}

/* A listener that belongs to no agent. */
int listen_here(char text[SF_ADDRESS_MAX])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 8) == 0 &&
		    getsockname(fd, (struct sockaddr *)&address, &len) == 0);
	(void)snprintf(text, SF_ADDRESS_MAX, "127.0.0.1:%u#000102030405060708090a0b0c0d0e0f", ntohs(address.sin_port));
	return fd;
}

int agent_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}
