/* SPDX-License-Identifier: BSD-3-Clause */
/* What the log says of a peer that ends, and of one that violates the protocol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/control/agent.h"
#include "fabric/control/channel.h"
#include "fabric/control/message.h"
#include "support/log_lines.h"

static sem_t channel_is_over;
static uint32_t hold;

static bool answer(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	const struct sf_msg alive = sf_msg_head(SF_MSG_ALIVE, sizeof(alive), 0);

	(void)msg;
	(void)fds;
	return sf_channel_send(channel, &alive, NULL, 0);
}

static bool reject(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	(void)channel;
	(void)msg;
	(void)fds;
	return false;
}

static void ended(struct sf_channel *channel)
{
	(void)channel;
	assert_int_equal(sem_post(&channel_is_over), 0);
}

/* A peer sends a request and is gone, before the agent gets to it. Returns after the channel's end. */
static void one_request(int type, bool (*serve)(struct sf_channel *channel, const struct sf_msg *msg, int *fds))
{
	const struct sf_msg_locate request = {.head = sf_msg_head(SF_MSG_LOCATE, sizeof(request), 0), .name = "peer"};
	struct sf_channel *channel;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	pthread_mutex_lock(&sf_control_lock);
	assert_int_equal(sf_channel_open(ends[0], NULL, &channel), DOCA_SUCCESS);
	channel->is_stream = type == SOCK_STREAM;
	channel->trust = SF_TRUST_PEER;
	channel->message = serve;
	channel->ended = ended;
	assert_int_equal(send(ends[1], &request, sizeof(request), MSG_NOSIGNAL), sizeof(request));
	close(ends[1]);
	pthread_mutex_unlock(&sf_control_lock);
	while (sem_wait(&channel_is_over) != 0)
		;
}

static void a_peer_that_ends_before_its_answer_is_no_violation(void **state)
{
	(void)state;
	one_request(SOCK_SEQPACKET, answer);
	one_request(SOCK_STREAM, answer);
	assert_int_equal(log_lines_count(), 0);
}

static void a_request_that_is_rejected_is_told(void **state)
{
	(void)state;
	one_request(SOCK_SEQPACKET, reject);
	log_lines_expect("a peer sent a malformed message", "closed its connection", "");
	one_request(SOCK_STREAM, reject);
	log_lines_expect("a peer sent a malformed message", "closed its connection", "");
}

static int agent_begin(void **state)
{
	assert_int_equal(sem_init(&channel_is_over, 0, 0), 0);
	assert_int_equal(sf_control_hold(&hold), DOCA_SUCCESS);
	return log_lines_setup(state);
}

static int agent_end(void **state)
{
	(void)state;
	sf_control_release(hold);
	return sem_destroy(&channel_is_over);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_ends_before_its_answer_is_no_violation),
		cmocka_unit_test(a_request_that_is_rejected_is_told),
	};

	return cmocka_run_group_tests_name("channels of peers that end", tests, agent_begin, agent_end);
}
