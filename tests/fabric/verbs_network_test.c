/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the verbs provider does on a network, without an RDMA device: which peers are served, what garbage and silent peers cost,
 * how the right one of several addresses is found, and that the agent waits when no descriptor is left. What silent processes of
 * the runtime folder cost. And the text form of addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

#include "fabric/control/accept.h"
#include "fabric/control/agent.h"
#include "fabric/control/alert.h"
#include "fabric/control/runtime.h"
#include "fabric/verbs/device.h"
#include "fabric/control/net.h"
#include "support/child.h"
#include "support/wait.h"

#define WAIT_MS 10000
#define HANG_S 60 /* only a hang takes longer */
#define GARBAGE 200
#define CROWD (3 * SF_STRANGERS_MAX)
#define NO_REGION 77
#define NEAR_CROWD (3 * SF_GUESTS_OF_PROCESS_MAX)
#define LATECOMERS (2 * SF_ACCEPT_SPARE) /* peers that connect when no descriptor is left: more than the spare ones */
#define SETTLE_NS 300000000		 /* during this time an agent that waits uses next to no CPU time */
#define SETTLE_CPU_NS 100000000

/* ---- addresses as text ---- */

static void valid_addresses(void **state)
{
	static const char *const texts[] = {
		"10.0.0.1:1",
		"127.0.0.1:65535#000102030405060708090a0b0c0d0e0f",
		"[fe80::1]:7,10.0.0.1:8",
		("1.1.1.1:1,1.1.1.1:2,1.1.1.1:3,1.1.1.1:4,1.1.1.1:5,1.1.1.1:6,1.1.1.1:7,1.1.1.1:8#"
		 "ffffffffffffffffffffffffffffffff"),
	};
	char again[SF_ADDRESS_MAX];
	struct sf_addresses addresses;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(sf_addresses_parse(texts[i], &addresses));
		sf_addresses_format(&addresses, again);
		assert_string_equal(again, texts[i]);
	}
	assert_int_equal(addresses.num, SF_ADDRESSES_MAX);
	assert_int_equal(addresses.at[7].port, 8);
	assert_true(addresses.has_token && addresses.token.bytes[15] == 0xff);
}

static void invalid_addresses(void **state)
{
	static const char *const texts[] = {
		"",
		":1",
		"10.0.0.1",
		"10.0.0.1:",
		"10.0.0.1:0",
		"10.0.0.1:01",
		"10.0.0.1:65536",
		"10.0.0.1:+1",
		"10.0.0.1:1 ",
		"10.0.0:1",
		"host:1",
		"fe80::1:1",
		"[fe80::1:1",
		"[]:1",
		"[10.0.0.1]:1",
		"10.0.0.1:1,",
		",10.0.0.1:1",
		"10.0.0.1:1#",
		"10.0.0.1:1#00",
		"10.0.0.1:1#000102030405060708090a0b0c0d0e0g",
		"10.0.0.1:1#000102030405060708090a0b0c0d0e0f0",
		"#000102030405060708090a0b0c0d0e0f",
		"1.1.1.1:1,1.1.1.1:2,1.1.1.1:3,1.1.1.1:4,1.1.1.1:5,1.1.1.1:6,1.1.1.1:7,1.1.1.1:8,1.1.1.1:9",
	};
	char endless[400];
	struct sf_addresses addresses;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (sf_addresses_parse(texts[i], &addresses))
			fail_msg("%s is parsed as an address", texts[i]);
	}
	memset(endless, '1', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	assert_false(sf_addresses_parse(endless, &addresses));
}

static void addresses_without_room_are_left_out(void **state)
{
	struct sf_addresses addresses = {.num = SF_ADDRESSES_MAX, .has_token = true}, again;
	char text[SF_ADDRESS_MAX];

	for (uint32_t i = 0; i < SF_ADDRESSES_MAX; i++) {
		addresses.at[i].is_ipv6 = true;
		addresses.at[i].port = 65535;
		memset(addresses.at[i].bytes, 0xab, sizeof(addresses.at[i].bytes));
	}
	sf_addresses_format(&addresses, text);
	assert_true(sf_addresses_parse(text, &again));
	assert_in_range(again.num, 3, SF_ADDRESSES_MAX - 1);
	assert_true(again.has_token);
}

/* ---- an agent that listens on loopback ---- */

static void no_addresses(const char *name, struct sf_addresses *addresses)
{
	(void)name;
	addresses->num = 0;
}

static const struct sf_net_device device = {.name = "none0", .addresses = no_addresses};

struct agent {
	uint32_t generation;
	char text[SF_ADDRESS_MAX];
	struct sf_addresses addresses;
};

static int setup(void **state)
{
	static struct agent agent;

	setenv("SOFTFIELD_LISTEN", "127.0.0.1", 1);
	assert_int_equal(sf_control_hold(&agent.generation), DOCA_SUCCESS);
	pthread_mutex_lock(&sf_control_lock);
	assert_int_equal(sf_net_address(&device, agent.text), DOCA_SUCCESS);
	pthread_mutex_unlock(&sf_control_lock);
	assert_true(sf_addresses_parse(agent.text, &agent.addresses));
	assert_int_equal(agent.addresses.num, 1);
	assert_true(agent.addresses.has_token);
	*state = &agent;
	return 0;
}

static int teardown(void **state)
{
	sf_control_release(((struct agent *)*state)->generation);
	return 0;
}

static void connect_to(int fd, const struct agent *agent)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(agent->addresses.at[0].port)};

	memcpy(&address.sin_addr, agent->addresses.at[0].bytes, 4);
	assert_true(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
}

static int dial(const struct agent *agent)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	connect_to(fd, agent);
	return fd;
}

/* True: len bytes arrived in time. False: the agent has closed. */
static bool hears(int fd, void *bytes, size_t len)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
	return recv(fd, bytes, len, MSG_WAITALL) == (ssize_t)len;
}

static void expect_rejected(int fd)
{
	char byte;

	assert_false(hears(fd, &byte, 1));
	close(fd);
}

static void handshake_send(int fd, const struct sf_key *token)
{
	struct sf_msg_handshake msg = {.head = sf_msg_head(SF_MSG_HANDSHAKE, sizeof(msg), 0), .token = *token};

	assert_int_equal(send(fd, &msg, sizeof(msg), MSG_NOSIGNAL), sizeof(msg));
}

/* A valid request for a region that does not exist; the answer is NOT_FOUND. */
static struct vb_msg_attach question(void)
{
	return (struct vb_msg_attach){
		.head = sf_msg_head(VB_MSG_ATTACH, sizeof(struct vb_msg_attach), 0), .end.mtu = 3, .region = NO_REGION};
}

static void attach(int fd)
{
	struct vb_msg_attach msg = question();

	assert_int_equal(send(fd, &msg, sizeof(msg), MSG_NOSIGNAL), sizeof(msg));
}

static void expect_answer(int fd)
{
	struct vb_msg_attached answer;

	assert_true(hears(fd, &answer, sizeof(answer)));
	assert_int_equal(answer.head.kind, VB_MSG_ATTACHED);
	assert_int_equal(answer.head.value, DOCA_ERROR_NOT_FOUND);
	close(fd);
}

static void ask_expect_answer(int fd)
{
	attach(fd);
	expect_answer(fd);
}

static void expect_served(const struct agent *agent)
{
	int fd = dial(agent);

	handshake_send(fd, &agent->addresses.token);
	ask_expect_answer(fd);
}

static void a_peer_with_the_token_is_served(void **state)
{
	expect_served(*state);
}

static void every_byte_of_the_token_counts(void **state)
{
	struct agent *agent = *state;

	for (int i = 0; i < SF_KEY_SIZE; i++) {
		struct sf_key wrong = agent->addresses.token;
		int fd = dial(agent);

		wrong.bytes[i] ^= 1;
		handshake_send(fd, &wrong);
		expect_rejected(fd);
	}
	expect_served(agent);
}

static void nothing_is_served_before_the_token(void **state)
{
	struct agent *agent = *state;
	int fd = dial(agent);

	attach(fd);
	expect_rejected(fd);
	expect_served(agent);
}

static void garbage_is_rejected(void **state)
{
	struct agent *agent = *state;
	uint8_t bytes[3 * SF_MSG_STREAM_SIZE_MAX];
	uint64_t random = (uint64_t)time(NULL);

	print_message("seed %llu\n", (unsigned long long)random);
	for (int i = 0; i < GARBAGE; i++) {
		size_t len = sizeof(struct sf_msg) + random % (sizeof(bytes) - sizeof(struct sf_msg));
		int fd = dial(agent);

		for (size_t at = 0; at < len; at++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			bytes[at] = (uint8_t)(random >> 33);
		}
		if (sf_alert_asks_for_tls(bytes, len)) /* which would be answered */
			bytes[0] = 0;
		if (i % 2 == 0) { /* as far as the head it is a message of ours */
			struct sf_msg head = sf_msg_head(random % (SF_MSG_OF_VERBS + SF_MSG_KINDS), len, 0);

			memcpy(bytes, &head, sizeof(head));
		}
		(void)send(fd, bytes, len, MSG_NOSIGNAL);
		(void)shutdown(fd, SHUT_WR);
		if (i % 2 != 0)
			expect_rejected(fd);
		else
			close(fd);
	}
	expect_served(agent);
}

static void an_incomplete_handshake_is_closed(void **state)
{
	struct agent *agent = *state;
	struct sf_msg_handshake msg = {.head = sf_msg_head(SF_MSG_HANDSHAKE, sizeof(msg), 0), .token = agent->addresses.token};
	int fd = dial(agent);

	assert_int_equal(send(fd, &msg, sizeof(msg) / 2, MSG_NOSIGNAL), sizeof(msg) / 2);
	(void)shutdown(fd, SHUT_WR);
	expect_rejected(fd);
}

/* More connections than the agent keeps: it closes the oldest and still serves a peer that sends. The others time out too. */
static void a_silent_crowd(void **state)
{
	struct agent *agent = *state;
	static int fds[CROWD];
	int gone = 0;

	for (int i = 0; i < CROWD; i++)
		fds[i] = dial(agent);
	expect_served(agent);
	for (int i = 0; i < CROWD; i++) {
		char byte;

		gone += recv(fds[i], &byte, 1, MSG_DONTWAIT) == 0;
	}
	assert_in_range(gone, CROWD - SF_STRANGERS_MAX, CROWD);
	for (int i = 0; i < CROWD; i++)
		expect_rejected(fds[i]);
}

/* ---- log lines ---- */

static _Atomic uint32_t num_full_lines, num_kept_out_lines;

static void count_line(char *line)
{
	num_full_lines += strstr(line, "cannot accept more connections") != NULL;
	num_kept_out_lines += strstr(line, "rejected process") != NULL;
}

/* ---- neighbours: other processes, which connect through the runtime folder ---- */

struct neighbour {
	pid_t pid;
	int sock; /* connected to the script's socket */
};

static void say(int sock, const void *data, size_t len)
{
	CHECK(send(sock, data, len, MSG_NOSIGNAL) == (ssize_t)len);
}

static void hear(int sock, void *data, size_t len)
{
	struct pollfd ready = {.fd = sock, .events = POLLIN};

	CHECK(poll(&ready, 1, HANG_S * 1000) == 1 && recv(sock, data, len, MSG_WAITALL) == (ssize_t)len);
}

static void say_word(int sock, char word)
{
	say(sock, &word, 1);
}

static void hear_word(int sock, char word)
{
	char heard;

	hear(sock, &heard, 1);
	CHECK(heard == word);
}

/* Called before this process has an agent: a sanitizer's allocator would not survive a fork beside that thread. */
static void neighbour_fork(struct neighbour *neighbour, void (*script)(int sock))
{
	int socks[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
	neighbour->pid = fork();
	assert_true(neighbour->pid >= 0);
	if (neighbour->pid == 0) {
		alarm(CHILD_SECONDS_MAX);
		close(socks[0]);
		script(socks[1]);
		_exit(0); /* skips the exit handlers of the test */
	}
	close(socks[1]);
	neighbour->sock = socks[0];
}

static void neighbour_end(const struct neighbour *neighbour)
{
	int status;

	assert_int_equal(waitpid(neighbour->pid, &status, 0), neighbour->pid);
	assert_int_equal(status, 0);
	close(neighbour->sock);
}

/* Non-blocking. */
static int dial_near(const struct sf_key *id)
{
	doca_error_t error;
	int fd, pid;

	do { /* the listen queue may be full */
		error = sf_runtime_connect(SF_SOCKET_AGENT, id, &fd, &pid);
	} while (error == DOCA_ERROR_AGAIN);
	CHECK_OK(error);
	return fd;
}

static void ask_near(int fd)
{
	struct vb_msg_attach msg = question();

	CHECK(send(fd, &msg, sizeof(msg), MSG_NOSIGNAL) == sizeof(msg));
}

static void hear_answer_near(int fd)
{
	struct vb_msg_attached answer;

	hear(fd, &answer, sizeof(answer));
	CHECK(answer.head.kind == VB_MSG_ATTACHED && answer.head.value == DOCA_ERROR_NOT_FOUND);
}

static void expect_served_near(const struct sf_key *id)
{
	int fd = dial_near(id);

	ask_near(fd);
	hear_answer_near(fd);
	close(fd);
}

static bool has_closed(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* Until it gets a word, the script never sleeps, so no time limit ends its connections: only those over its quota are closed. */
static void silent_script(int sock)
{
	static int fds[NEAR_CROWD];
	struct sf_key id;
	char word;

	hear(sock, &id, sizeof(id));
	for (int i = 0; i < NEAR_CROWD; i++)
		fds[i] = dial_near(&id);
	for (int i = SF_GUESTS_OF_PROCESS_MAX; i < NEAR_CROWD; i++) {
		while (!has_closed(fds[i]))
			;
		close(fds[i]);
	}
	say_word(sock, 'c');
	while (recv(sock, &word, 1, MSG_DONTWAIT) != 1)
		;
	for (int i = 0; i < SF_GUESTS_OF_PROCESS_MAX; i++)
		CHECK(!has_closed(fds[i]));
	for (int i = 0; i < SF_GUESTS_OF_PROCESS_MAX;
	     i++) { /* asleep, the process counts as silent: these connections time out */
		struct pollfd ready = {.fd = fds[i], .events = POLLIN};

		CHECK(poll(&ready, 1, HANG_S * 1000) == 1 && has_closed(fds[i]));
	}
	expect_served_near(&id);
}

static void a_silent_neighbour_does_not_block_others(void **state)
{
	struct neighbour silent;
	struct agent *agent;

	neighbour_fork(&silent, silent_script);
	setup(state);
	agent = *state;
	say(silent.sock, sf_control_id(), sizeof(struct sf_key));
	hear_word(silent.sock, 'c');
	assert_in_range(num_kept_out_lines, 1, NEAR_CROWD - SF_GUESTS_OF_PROCESS_MAX);
	expect_served_near(sf_control_id());
	expect_served(agent);
	say_word(silent.sock, 'e');
	neighbour_end(&silent);
	teardown(state);
}

/* ---- out of descriptors ---- */

/* From here on this process can open no descriptor. */
static void allow_no_descriptors(struct rlimit *before)
{
	struct rlimit limit;
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(lowest >= 0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
	limit = (struct rlimit){(rlim_t)lowest, before->rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Connects through the runtime folder when it gets the id, and is served then or later. */
static void latecomer_script(int sock)
{
	struct sf_key id;
	int fd;

	hear(sock, &id, sizeof(id));
	fd = dial_near(&id);
	ask_near(fd);
	say_word(sock, 'a');
	hear_answer_near(fd);
}

static bool says_something(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	return poll(&ready, 1, 0) == 1;
}

static void wait_until_full(void)
{
	assert_true(WAIT_UNTIL(num_full_lines != 0));
}

static void expect_idle(void)
{
	uint64_t used;

	time_pass_ns(SETTLE_NS);
	used = cpu_ns();
	time_pass_ns(SETTLE_NS);
	assert_in_range(cpu_ns() - used, 0, SETTLE_CPU_NS);
}

/* A caller with the token stays connected, so each accepted one uses a descriptor. */
static void out_of_descriptors_the_agent_waits_for_room(void **state)
{
	int early, late[LATECOMERS], last;
	struct neighbour neighbour;
	struct agent *agent;
	struct rlimit before;

	neighbour_fork(&neighbour, latecomer_script);
	setup(state);
	agent = *state;
	early = dial(agent);
	handshake_send(early, &agent->addresses.token);
	expect_served(agent); /* this one came later, so the agent has accepted the one before */
	for (int i = 0; i < LATECOMERS; i++)
		late[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	allow_no_descriptors(&before);
	for (int i = 0; i < LATECOMERS; i++) {
		connect_to(late[i], agent);
		handshake_send(late[i], &agent->addresses.token);
	}
	last = late[LATECOMERS - 1];
	wait_until_full();
	say(neighbour.sock, sf_control_id(), sizeof(struct sf_key));
	hear_word(neighbour.sock, 'a');
	expect_idle();
	assert_int_equal(num_full_lines, 1);
	attach(last);
	ask_expect_answer(late[0]); /* it got a spare descriptor */
	ask_expect_answer(early);
	expect_idle();
	assert_false(says_something(last));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	expect_answer(last);
	for (int i = 1; i < LATECOMERS - 1; i++)
		ask_expect_answer(late[i]);
	neighbour_end(&neighbour);
	expect_served(agent);
	teardown(state);
}

/* ---- calling ---- */

struct call {
	bool answered, ended;
	uint32_t status;
	doca_error_t why;
};

static bool answered(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct call *call = channel->owner;

	(void)fds;
	call->answered = msg->kind == VB_MSG_ATTACHED;
	call->status = msg->value;
	pthread_cond_broadcast(&sf_control_changed);
	return true;
}

static void ended(struct sf_channel *channel)
{
	struct call *call = channel->owner;

	call->ended = true;
	call->why = channel->why;
	pthread_cond_broadcast(&sf_control_changed);
}

/* Calls, asks, and waits for the answer or the end of the call. */
static doca_error_t call(const char *addresses, struct call *made)
{
	struct vb_msg_attach msg = question();
	struct timespec limit;
	struct sf_channel *channel;
	struct sf_key nobody;
	doca_error_t error;

	memset(made, 0, sizeof(*made));
	assert_int_equal(sf_key_random(&nobody), DOCA_SUCCESS);
	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += WAIT_MS / 1000;
	pthread_mutex_lock(&sf_control_lock);
	error = sf_channel_call(SF_SOCKET_AGENT, &nobody, addresses, false, 0, made, &channel);
	if (error == DOCA_SUCCESS) {
		channel->message = answered;
		channel->ended = ended;
		assert_true(sf_channel_send(channel, &msg, NULL, 0));
		while (!made->answered && !made->ended)
			assert_int_equal(pthread_cond_timedwait(&sf_control_changed, &sf_control_lock, &limit), 0);
		if (!made->ended)
			sf_channel_close(channel);
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

/* A port of loopback at which no process listens. */
static uint16_t dead_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(bind(fd, (struct sockaddr *)&address, len) == 0 && getsockname(fd, (struct sockaddr *)&address, &len) == 0);
	close(fd);
	return ntohs(address.sin_port);
}

static void a_call_is_answered(void **state)
{
	struct agent *agent = *state;
	struct call made;

	assert_int_equal(call(agent->text, &made), DOCA_SUCCESS);
	assert_true(made.answered);
	assert_int_equal(made.status, DOCA_ERROR_NOT_FOUND);
}

static void a_dead_address_before_the_right_one(void **state)
{
	struct agent *agent = *state;
	char text[SF_ADDRESS_MAX + 32];
	struct call made;

	snprintf(text, sizeof(text), "127.0.0.1:%u,%s", dead_port(), agent->text);
	assert_int_equal(call(text, &made), DOCA_SUCCESS);
	assert_true(made.answered);
}

static void nobody_listens(void **state)
{
	char text[64];
	struct call made;
	doca_error_t error;

	snprintf(text, sizeof(text), "127.0.0.1:%u#000102030405060708090a0b0c0d0e0f", dead_port());
	error = call(text, &made);
	assert_int_equal(error == DOCA_SUCCESS ? made.why : error, DOCA_ERROR_NOT_FOUND);
}

static void a_call_with_the_wrong_token_ends(void **state)
{
	struct agent *agent = *state;
	char text[SF_ADDRESS_MAX], *digit;
	struct call made;

	strcpy(text, agent->text);
	digit = text + strlen(text) - 1;
	*digit = *digit == '0' ? '1' : '0';
	assert_int_equal(call(text, &made), DOCA_SUCCESS);
	assert_true(made.ended && !made.answered);
	assert_int_equal(made.why, DOCA_SUCCESS); /* a listener was there */
}

static void an_invalid_address_is_rejected(void **state)
{
	struct call made;

	assert_int_equal(call("nowhere:at:all", &made), DOCA_ERROR_INVALID_VALUE);
}

/* ---- ports, and SOFTFIELD_LISTEN ---- */

static void a_port_that_is_in_use(void **state)
{
	struct agent *agent = *state;
	static char nobody; /* never called */
	doca_error_t error;

	pthread_mutex_lock(&sf_control_lock);
	error = sf_net_listen(&device, agent->addresses.at[0].port, (struct sf_control_listener *)(void *)&nobody);
	pthread_mutex_unlock(&sf_control_lock);
	assert_int_equal(error, DOCA_ERROR_ALREADY_EXIST);
}

static void none_means_none(void **state)
{
	char text[SF_ADDRESS_MAX] = "x";
	uint32_t generation;
	doca_error_t error;

	setenv("SOFTFIELD_LISTEN", "none", 1);
	assert_int_equal(sf_control_hold(&generation), DOCA_SUCCESS);
	pthread_mutex_lock(&sf_control_lock);
	assert_int_equal(sf_net_address(&device, text), DOCA_SUCCESS);
	error = sf_net_listen(&device, 18515, NULL);
	pthread_mutex_unlock(&sf_control_lock);
	assert_string_equal(text, "");
	assert_int_equal(error, DOCA_ERROR_NOT_PERMITTED);
	sf_control_release(generation);
}

/* Listens at a port of loopback that is followed by others. */
static int port_occupy(uint16_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 1) == 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* A process listens at the first free port of the range, and fails if there is none. */
static void a_range_of_ports(void **state)
{
	struct sf_addresses addresses;
	char range[64], text[SF_ADDRESS_MAX];
	doca_error_t none_left, one_left;
	uint32_t generation;
	uint16_t taken;
	int fd = port_occupy(&taken);

	assert_int_equal(sf_control_hold(&generation), DOCA_SUCCESS);
	pthread_mutex_lock(&sf_control_lock);
	snprintf(range, sizeof(range), "127.0.0.1:%u-%u", taken, taken);
	setenv("SOFTFIELD_LISTEN", range, 1);
	none_left = sf_net_address(&device, text);
	snprintf(range, sizeof(range), "127.0.0.1:%u-%u", taken, taken < 65000 ? taken + 500 : 65535);
	setenv("SOFTFIELD_LISTEN", range, 1);
	one_left = sf_net_address(&device, text);
	pthread_mutex_unlock(&sf_control_lock);
	sf_control_release(generation);
	close(fd);
	assert_int_equal(none_left, DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(one_left, DOCA_SUCCESS);
	assert_true(sf_addresses_parse(text, &addresses));
	assert_in_range(addresses.at[0].port, taken + 1, taken + 500);
}

/* Its process is found only through the runtime folder. */
static void a_device_without_a_network(void **state)
{
	char text[SF_ADDRESS_MAX] = "x";
	uint32_t generation;
	doca_error_t error;

	unsetenv("SOFTFIELD_LISTEN");
	assert_int_equal(sf_control_hold(&generation), DOCA_SUCCESS);
	pthread_mutex_lock(&sf_control_lock);
	assert_int_equal(sf_net_address(&device, text), DOCA_SUCCESS);
	error = sf_net_listen(&device, 18515, NULL);
	pthread_mutex_unlock(&sf_control_lock);
	assert_string_equal(text, "");
	assert_int_equal(error, DOCA_ERROR_NOT_FOUND);
	sf_control_release(generation);
}

static void invalid_values_in_the_environment(void **state)
{
	static const char *const texts[] = {"nonsense",	    "10.0.0.1:70000", "10.0.0.1:1,10.0.0.2:1", ":5",
					    "[::1",	    "10.0.0.1:5-4",   "10.0.0.1:5-",	       "10.0.0.1:-5",
					    "10.0.0.1:0-5", "10.0.0.1:5-6-7", "10.0.0.1:5-70000",      "::1:5-6"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		setenv("SOFTFIELD_LISTEN", texts[i], 1);
		assert_int_equal(sf_net_check(), DOCA_ERROR_BAD_CONFIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_addresses),
		cmocka_unit_test(invalid_addresses),
		cmocka_unit_test(addresses_without_room_are_left_out),
		cmocka_unit_test_setup_teardown(a_peer_with_the_token_is_served, setup, teardown),
		cmocka_unit_test_setup_teardown(every_byte_of_the_token_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_served_before_the_token, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage_is_rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(an_incomplete_handshake_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_silent_crowd, setup, teardown),
		cmocka_unit_test(a_silent_neighbour_does_not_block_others),
		cmocka_unit_test(out_of_descriptors_the_agent_waits_for_room),
		cmocka_unit_test_setup_teardown(a_call_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(a_dead_address_before_the_right_one, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_listens, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_with_the_wrong_token_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(an_invalid_address_is_rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(a_port_that_is_in_use, setup, teardown),
		cmocka_unit_test(none_means_none),
		cmocka_unit_test(a_range_of_ports),
		cmocka_unit_test(a_device_without_a_network),
		cmocka_unit_test(invalid_values_in_the_environment),
	};
	char folder[] = "/tmp/softfield-network-XXXXXX", lock[sizeof(folder) + 8];
	static struct doca_log_backend *backend;
	static char line[1024];
	int failed;

	if (mkdtemp(folder) == NULL || setenv("SOFTFIELD_RUNTIME", folder, 1) != 0)
		return 1;
	if (doca_log_backend_create_with_buf_sdk(line, sizeof(line), count_line, &backend) != DOCA_SUCCESS)
		return 1;
	failed = cmocka_run_group_tests_name("verbs on a network", tests, NULL, NULL);
	(void)snprintf(lock, sizeof(lock), "%s/lock", folder);
	(void)unlink(lock);
	return rmdir(folder) == 0 ? failed : 1; /* succeeds only if nothing else is left */
}
