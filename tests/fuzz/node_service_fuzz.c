/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What callers of `softfield node` may send by the network, and what the listeners answer to which it forwards look-ups: good
 * messages, changed ones and arbitrary bytes, in any order and in pieces, with ends and silence between them. The service's own
 * code runs on real sockets; only the agent is ours. A caller gets an answer at most once, nothing before it has the key, and
 * no socket, channel or look-up is left of either side.
 */
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/clock.h"
#include "fabric/control/accept.h"
#include "fabric/control/agent.h"
#include "fabric/control/alert.h"
#include "fabric/control/net.h"
#include "fabric/control/nodes.h"
#include "fuzz/fuzz_folder.h"

#define CALLERS 3
#define LISTENERS 2
#define LOOK_UPS 8
#define STEPS_MAX 48
#define ROUNDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the agent ---- */

pthread_mutex_t sf_control_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sf_control_changed = PTHREAD_COND_INITIALIZER;

static int epoll = -1;
static bool is_silent; /* the limit for a listener's answer is exceeded */
static const struct sf_key no_key;

int sf_control_epoll(void)
{
	return epoll;
}

const struct sf_key *sf_control_id(void)
{
	return &no_key;
}

const struct sf_key *sf_control_token(void)
{
	return &no_key;
}

uint32_t sf_control_generation(void)
{
	return 0;
}

doca_error_t sf_control_hold(uint32_t *generation)
{
	*generation = 0;
	return DOCA_SUCCESS;
}

void sf_control_release(uint32_t generation)
{
	(void)generation;
}

void sf_control_wake(void) {}

bool sf_control_await(const struct sf_channel *channel, struct sf_liveness *answering, uint64_t limit_ns)
{
	(void)channel;
	(void)answering;
	(void)limit_ns;
	return false;
}

/* In place of the clock's and of /proc's. */
void sf_liveness_begin(struct sf_liveness *liveness)
{
	*liveness = (struct sf_liveness){0};
}

bool sf_liveness_lost(struct sf_liveness *liveness, pid_t pid, uint64_t limit_ns)
{
	(void)liveness;
	(void)pid;
	(void)limit_ns;
	return is_silent;
}

/* For listeners, which a node's service does not open. */
doca_error_t sf_name_check(const char *name, const char *address, const void *data, size_t len)
{
	(void)name;
	(void)address;
	(void)data;
	(void)len;
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* Handles what has come. Returns whether look-ups are pending. */
static bool serve(void)
{
	struct epoll_event events[32];
	enum sf_pace pace;
	int num = 1;

	pthread_mutex_lock(&sf_control_lock);
	for (int round = 0; round < ROUNDS_MAX && num > 0; round++) {
		num = epoll_wait(epoll, events, sizeof(events) / sizeof(events[0]), 0);
		for (int i = 0; i < num; i++)
			sf_channel_event(events[i].data.ptr, events[i].events);
		sf_channels_round();
		(void)sf_channels_tick(sf_now_ns());
	}
	pace = sf_nodes_tick();
	(void)sf_channels_tick(sf_now_ns());
	(void)sf_accept_tick();
	pthread_mutex_unlock(&sf_control_lock);
	return pace != SF_PACE_IDLE;
}

/* ---- the input ---- */

struct input {
	const uint8_t *at;
	size_t left;
};

static uint32_t pick(struct input *input, uint32_t bound)
{
	uint32_t value = 0;

	if (input->left != 0) {
		value = *input->at++;
		input->left--;
	}
	return value % bound;
}

/* Changes a byte of the message, its length, or nothing. */
static size_t message_change(struct input *input, void *msg, size_t len)
{
	const uint32_t how = pick(input, 8);

	if (how == 0)
		((uint8_t *)msg)[pick(input, 256) % len] ^= (uint8_t)(1 + pick(input, 255));
	else if (how == 1)
		len -= pick(input, 32);
	else if (how == 2)
		((struct sf_msg *)msg)->kind = (uint16_t)pick(input, 4 * SF_MSG_KINDS);
	return len;
}

/* ---- the callers ---- */

static const char *const names[] = {"here", "there", "nowhere"}; /* the first ones have a listener */

static struct caller {
	struct sf_stream stream; /* fd -1: not connected */
	bool is_ready;		 /* it has proven the key, or there is none */
	_Alignas(8) uint8_t heard[sizeof(struct sf_msg_refuse)];
	size_t num_heard;
} callers[CALLERS];

static struct sockaddr_in port;
static bool has_key;
static bool may_ask; /* a caller is, or was, ready */

static void caller_connect(struct caller *caller)
{
	const struct linger reset = {1, 0}; /* no port waits for further data */

	memset(caller, 0, sizeof(*caller));
	caller->stream.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(caller->stream.fd >= 0);
	setsockopt(caller->stream.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	if (connect(caller->stream.fd, (const struct sockaddr *)&port, sizeof(port)) != 0) {
		close(caller->stream.fd);
		caller->stream.fd = -1;
		return;
	}
	pthread_mutex_lock(&sf_control_lock);
	CHECK_OK(sf_net_secure(&caller->stream, false));
	pthread_mutex_unlock(&sf_control_lock);
	caller->is_ready = !has_key;
	may_ask |= caller->is_ready;
}

static void caller_shake(struct caller *caller)
{
	if (caller->is_ready || !sf_stream_shakes(&caller->stream))
		return;
	for (int i = 0; i < 8 && !caller->is_ready; i++) {
		int result = sf_stream_shake(&caller->stream);

		caller->is_ready = result == 0;
		may_ask |= caller->is_ready;
		if (result != 0 && result != SF_TLS_AGAIN)
			break;
		(void)serve();
	}
}

/* It may be one complete answer, or an alert. */
static void answer_check(const struct caller *caller)
{
	const struct sf_msg *msg = (const struct sf_msg *)(const void *)caller->heard;

	if (caller->num_heard == 0 || sf_alert_is(caller->heard, caller->num_heard))
		return;
	assert(sf_msg_size(msg, caller->num_heard) == caller->num_heard && sf_msg_check(msg, caller->num_heard, 0));
	assert(msg->kind == SF_MSG_ADDRESS || msg->kind == SF_MSG_REFUSE);
}

static void caller_hear(struct caller *caller)
{
	while (caller->stream.fd >= 0 && caller->is_ready) {
		uint8_t bytes[64];
		const struct iovec iov = {bytes, sizeof(bytes)};
		ssize_t n = sf_stream_receive(&caller->stream, &iov, 1);

		if (n <= 0)
			break;
		assert(caller->num_heard + (size_t)n <= sizeof(caller->heard));
		memcpy(caller->heard + caller->num_heard, bytes, (size_t)n);
		caller->num_heard += (size_t)n;
	}
}

static void caller_end(struct caller *caller)
{
	if (caller->stream.fd < 0)
		return;
	caller_hear(caller);
	answer_check(caller);
	sf_stream_close(&caller->stream, false);
	caller->stream.fd = -1;
}

static void caller_send(struct caller *caller, const void *bytes, size_t len)
{
	const struct iovec iov = {(void *)(uintptr_t)bytes, len};

	if (caller->is_ready && len != 0)
		(void)sf_stream_send(&caller->stream, &iov, 1);
}

static void caller_ask(struct caller *caller, struct input *input)
{
	struct sf_msg_locate locate = {.head = sf_msg_head(SF_MSG_LOCATE, sizeof(locate), 0)};
	size_t len;

	strcpy(locate.name, names[pick(input, 3)]);
	len = message_change(input, &locate, sizeof(locate));
	if (pick(input, 4) == 0) { /* in two pieces */
		size_t first = pick(input, 255) % len;

		caller_send(caller, &locate, first);
		(void)serve();
		caller_send(caller, (const uint8_t *)&locate + first, len - first);
	} else {
		caller_send(caller, &locate, len);
	}
}

static void caller_step(struct caller *caller, struct input *input)
{
	const struct sf_msg alive = sf_msg_head(SF_MSG_ALIVE, sizeof(alive), 0);
	size_t len;

	if (caller->stream.fd < 0) {
		caller_connect(caller);
		return;
	}
	switch (pick(input, 8)) {
	case 0:
		caller_end(caller);
		break;
	case 1: /* also in the middle of a handshake, and of what it protects */
		len = pick(input, 64);
		len = len < input->left ? len : input->left;
		(void)send(caller->stream.fd, input->at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		input->at += len;
		input->left -= len;
		break;
	case 2:
		(void)shutdown(caller->stream.fd, SHUT_WR);
		break;
	case 3:
		caller_send(caller, &alive, sizeof(alive));
		break;
	case 4:
		caller_hear(caller);
		break;
	default:
		caller_shake(caller);
		caller_ask(caller, input);
		break;
	}
}

/* ---- the listeners ---- */

static int listening[LISTENERS];
static int look_ups[LOOK_UPS]; /* -1: free */

static int look_up_accept(struct input *input)
{
	const uint32_t at = pick(input, LOOK_UPS);

	if (look_ups[at] < 0)
		look_ups[at] = accept4(listening[pick(input, LISTENERS)], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert(look_ups[at] < 0 || may_ask);
	return look_ups[at];
}

static void look_up_answer(int fd, struct input *input)
{
	static const char *const addresses[] = {
		"10.77.0.1:4711", "10.77.0.1:4711,[fe80::1]:4712#000102030405060708090a0b0c0d0e0f", "10.77.0.1", ""};
	struct sf_msg_address address = {.head = sf_msg_head(SF_MSG_ADDRESS, sizeof(address), 0)};
	struct sf_msg_refuse refuse = {.head = sf_msg_head(SF_MSG_REFUSE, sizeof(refuse), DOCA_ERROR_NOT_FOUND)};
	struct sf_msg_locate locate;

	if (recv(fd, &locate, sizeof(locate), MSG_DONTWAIT) == (ssize_t)sizeof(locate)) /* what was forwarded is good */
		assert(locate.head.kind == SF_MSG_LOCATE && sf_msg_check(&locate.head, sizeof(locate), 0));
	strcpy(address.address, addresses[pick(input, 4)]);
	if (pick(input, 2) == 0)
		(void)send(fd, &address, message_change(input, &address, sizeof(address)), MSG_NOSIGNAL | MSG_DONTWAIT);
	else
		(void)send(fd, &refuse, message_change(input, &refuse, sizeof(refuse)), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void listener_step(struct input *input)
{
	const int fd = look_up_accept(input);
	const uint32_t what = pick(input, 4);

	if (fd < 0)
		return;
	if (what == 0) {
		for (uint32_t i = 0; i < LOOK_UPS; i++)
			look_ups[i] = look_ups[i] == fd ? -1 : look_ups[i];
		close(fd);
	} else if (what == 1) {
		(void)send(fd, input->at, input->left < 64 ? input->left : 64, MSG_NOSIGNAL | MSG_DONTWAIT);
	} else {
		look_up_answer(fd, input);
	}
}

/* Answers nobody. */
static void look_ups_end(void)
{
	int fd;

	for (uint32_t i = 0; i < LOOK_UPS; i++) {
		if (look_ups[i] >= 0)
			close(look_ups[i]);
		look_ups[i] = -1;
	}
	for (uint32_t i = 0; i < LISTENERS; i++) {
		while ((fd = accept4(listening[i], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
			close(fd);
	}
}

/* ---- a run ---- */

static int first_free(void)
{
	int fd = dup(0);

	CHECK(fd >= 0);
	close(fd);
	return fd;
}

static void set_up(void)
{
	socklen_t len = sizeof(port);
	int fd;

	if (epoll >= 0)
		return;
	fuzz_folder_make();
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	CHECK(epoll >= 0 && sf_accept_begin());
	for (uint32_t i = 0; i < LISTENERS; i++) {
		const struct sf_key key = sf_key_of_name(names[i]);

		CHECK_OK(sf_runtime_listen(SF_SOCKET_LISTENER, &key, &listening[i]));
	}
	for (uint32_t i = 0; i < LOOK_UPS; i++)
		look_ups[i] = -1;
	for (uint32_t i = 0; i < CALLERS; i++)
		callers[i].stream.fd = -1;
	fd = first_free();
	CHECK_OK(sf_node_serve(0));
	CHECK(getsockname(fd, (struct sockaddr *)&port, &len) == 0 && port.sin_family == AF_INET);
}

/* A key costs a handshake: few inputs have one. */
static void choose_key(uint32_t choice)
{
	static const struct sf_tls_key key = {.bytes = {1, 2, 3}};

	has_key = choice < 2;
	may_ask = false;
	sf_net_use_tls(choice == 0);
	sf_net_set_key(has_key ? &key : NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	int fd;

	set_up();
	choose_key(pick(&input, 16));
	fd = first_free();
	for (int i = 0; i < STEPS_MAX && input.left != 0; i++) {
		const uint32_t which = pick(&input, 2 * CALLERS + 1);

		if (which < CALLERS)
			caller_step(&callers[which], &input);
		else if (which < 2 * CALLERS)
			listener_step(&input);
		else
			is_silent = true; /* for the listeners that have not answered yet */
		if (pick(&input, 4) != 0) /* else more comes before the service looks */
			(void)serve();
		is_silent = false;
	}
	(void)serve();
	for (uint32_t i = 0; i < CALLERS; i++)
		caller_end(&callers[i]);
	look_ups_end();
	(void)serve();
	look_ups_end();
	assert(!serve());
	assert(first_free() == fd);
	return 0;
}
