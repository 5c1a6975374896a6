/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network of a process with a key: which peers are served, and how calls end if the keys differ, if only one side has a key,
 * and if the other side sends garbage, nothing, or an incomplete handshake. And the file with the key.
 */
#include "net_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

#include "fabric/control/alert.h"

#define GARBAGE 100
#define CROWD (3 * SF_STRANGERS_MAX)
#define IDENTITY "softfield fabric"
#define HELLO_MAX 4096

static const struct sf_tls_key right = {.bytes = {1, 2, 3}}, wrong = {.bytes = {1, 2, 4}};

/* ---- log lines ---- */

static _Atomic uint32_t num_differ_lines, num_disagree_lines, num_no_key_lines, num_alien_key_lines;

static void count_line(char *line)
{
	num_differ_lines += strstr(line, "rejected a peer on the network: it has another key: the keys differ") != NULL;
	num_no_key_lines += strstr(line, "rejected a peer on the network: it has no key") != NULL;
	num_alien_key_lines += strstr(line, "rejected a peer on the network: it has a key, and this process has none") != NULL;
	num_disagree_lines += strstr(line, "do not agree on a key: the keys differ") != NULL;
}

static int setup_keyless(void **state)
{
	*state = agent_open();
	return 0;
}

static int setup(void **state)
{
	setup_keyless(state);
	sf_net_set_key(&right);
	return 0;
}

static int teardown(void **state)
{
	sf_control_release(((struct agent *)*state)->generation);
	sf_net_set_key(NULL);
	return 0;
}

/* Shakes hands until that is done or fails. */
static int shake(struct sf_tls *tls, int fd)
{
	int result;

	while ((result = sf_tls_shake(tls)) == SF_TLS_AGAIN)
		expect_bytes(fd);
	return result;
}

static struct sf_tls *begin(int fd, bool server, const struct sf_tls_key *key)
{
	struct sf_tls *tls;

	assert_int_equal(sf_tls_begin(fd, server, key->bytes, IDENTITY, &tls), DOCA_SUCCESS);
	return tls;
}

static void read_all(struct sf_tls *tls, int fd, void *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t got = sf_tls_read(tls, (uint8_t *)bytes + at, len - at);

		if (got == SF_TLS_AGAIN) {
			expect_bytes(fd);
			continue;
		}
		assert_true(got > 0);
		at += (size_t)got;
	}
}

/* Both messages in one record: the second one is decrypted together with the first. */
static void expect_served(const struct agent *agent)
{
	struct {
		struct sf_msg_handshake handshake;
		struct vb_msg_attach ask;
	} said = {handshake_of(agent), question()};
	struct vb_msg_attached answer;
	int fd = dial(agent);
	struct sf_tls *tls = begin(fd, false, &right);

	assert_int_equal(shake(tls, fd), 0);
	assert_int_equal(sf_tls_write(tls, &said, sizeof(said)), sizeof(said));
	read_all(tls, fd, &answer, sizeof(answer));
	assert_int_equal(answer.head.kind, VB_MSG_ATTACHED);
	assert_int_equal(answer.head.value, DOCA_ERROR_NOT_FOUND);
	sf_tls_free(tls);
	close(fd);
}

static void a_peer_with_the_key_is_served(void **state)
{
	expect_served(*state);
}

static void a_wrong_key(void **state)
{
	int fd = dial(*state);
	struct sf_tls *tls = begin(fd, false, &wrong);
	const uint32_t lines = num_differ_lines;

	assert_int_equal(shake(tls, fd), SF_TLS_REFUSED);
	expect_closed(fd);
	sf_tls_free(tls);
	assert_int_equal(num_differ_lines, lines + 1);
	expect_served(*state);
}

static void another_identity(void **state)
{
	int fd = dial(*state);
	struct sf_tls *tls;

	assert_int_equal(sf_tls_begin(fd, false, right.bytes, "another", &tls), DOCA_SUCCESS);
	assert_int_equal(shake(tls, fd), SF_TLS_REFUSED);
	expect_closed(fd);
	sf_tls_free(tls);
	expect_served(*state);
}

static void no_key_where_one_is_required(void **state)
{
	const struct sf_msg_handshake handshake = handshake_of(*state);
	const uint32_t lines = num_no_key_lines;
	uint8_t bytes[64];
	int fd = dial(*state);

	assert_int_equal(send(fd, &handshake, sizeof(handshake), MSG_NOSIGNAL), sizeof(handshake));
	assert_true(sf_alert_is(bytes, hear_end(fd, bytes, sizeof(bytes))));
	assert_int_equal(num_no_key_lines, lines + 1);
	expect_served(*state);
}

static void a_key_where_there_is_none(void **state)
{
	int fd = dial(*state);
	struct sf_tls *tls = begin(fd, false, &right);
	const uint32_t lines = num_alien_key_lines;

	assert_int_equal(shake(tls, fd), SF_TLS_REFUSED);
	expect_closed(fd);
	sf_tls_free(tls);
	assert_int_equal(num_alien_key_lines, lines + 1);
}

static void garbage(void **state)
{
	uint64_t random = (uint64_t)time(NULL);
	uint8_t bytes[HELLO_MAX];

	print_message("seed %llu\n", (unsigned long long)random);
	for (int i = 0; i < GARBAGE; i++) {
		int fd = dial(*state);

		for (size_t at = 0; at < sizeof(bytes); at++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			bytes[at] = (uint8_t)(random >> 33);
		}
		if (i % 2 == 0) /* the head of a record says that it is a handshake */
			memcpy(bytes, (const uint8_t[]){22, 3, 1, 1, 0, 1, 0, 0, 0xfc, 3, 3}, 11);
		(void)send(fd, bytes, 11 + random % (sizeof(bytes) - 11), MSG_NOSIGNAL);
		(void)shutdown(fd, SHUT_WR);
		expect_closed(fd);
	}
	expect_served(*state);
}

/* The first message of a client with the right key. */
static size_t client_hello(uint8_t bytes[HELLO_MAX])
{
	struct sf_tls *tls;
	ssize_t len;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	tls = begin(fds[0], false, &right);
	assert_int_equal(sf_tls_shake(tls), SF_TLS_AGAIN);
	len = recv(fds[1], bytes, HELLO_MAX, 0);
	assert_in_range(len, 100, HELLO_MAX - 1);
	sf_tls_free(tls);
	close(fds[0]);
	close(fds[1]);
	return (size_t)len;
}

/* Each peer sends too little and is disconnected; others are served meanwhile. */
static void silence_and_incomplete_handshakes(void **state)
{
	uint8_t bytes[HELLO_MAX];
	const size_t len = client_hello(bytes), parts[] = {0, 1, 5, 6, len / 2, len - 1, len};
	int fds[sizeof(parts) / sizeof(parts[0]) + 1];
	struct sf_tls *tls;
	size_t num = 0;

	for (; num < sizeof(parts) / sizeof(parts[0]); num++) {
		fds[num] = dial(*state);
		if (parts[num] != 0)
			assert_int_equal(send(fds[num], bytes, parts[num], MSG_NOSIGNAL), parts[num]);
	}
	fds[num] = dial(*state);
	tls = begin(fds[num], false, &right);
	assert_int_equal(shake(tls, fds[num++]), 0);
	expect_served(*state);
	while (num-- != 0)
		expect_closed(fds[num]);
	sf_tls_free(tls);
	expect_served(*state);
}

/* More connections than the agent keeps: it closes the oldest. */
static void a_crowd_with_incomplete_handshakes(void **state)
{
	uint8_t bytes[HELLO_MAX];
	const size_t len = client_hello(bytes);
	static int fds[CROWD];

	for (int i = 0; i < CROWD; i++) {
		fds[i] = dial(*state);
		(void)send(fds[i], bytes, i % 2 == 0 ? len : len / 2, MSG_NOSIGNAL);
	}
	expect_served(*state);
	for (int i = 0; i < CROWD; i++)
		expect_closed(fds[i]);
}

static void calls_with_one_key(void **state)
{
	call_expect_answer(((struct agent *)*state)->text);
}

/* Calls a new listener, and accepts the connection. */
static int call_accept(struct call *call, int *listener)
{
	char text[SF_ADDRESS_MAX];

	*listener = listen_here(text);
	call_begin(call, text);
	return agent_accept(*listener);
}

static void a_call_to_another_key(void **state)
{
	const uint32_t lines = num_disagree_lines;
	struct sf_tls *tls;
	struct call call;
	int listener, fd = call_accept(&call, &listener);

	tls = begin(fd, true, &wrong);
	assert_int_equal(shake(tls, fd), SF_TLS_REFUSED);
	sf_tls_free(tls);
	close(fd);
	call_expect_end(&call, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(num_disagree_lines, lines + 1);
	close(listener);
	expect_served(*state);
}

/* As an agent without a key answers a caller with one, and an agent with a key a caller without. */
static void a_call_that_is_answered_by_an_alert(void **state)
{
	struct call call;
	int listener, fd = call_accept(&call, &listener);

	(void)state;
	expect_bytes(fd);
	sf_alert_send(fd, SF_ALERT_KEY);
	close(fd);
	call_expect_end(&call, DOCA_ERROR_NOT_PERMITTED);
	close(listener);
}

static void a_call_that_is_answered_by_garbage(void **state)
{
	struct call call;
	int listener, fd = call_accept(&call, &listener);

	(void)state;
	assert_int_equal(send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL), 28);
	call_expect_end(&call, DOCA_ERROR_NOT_PERMITTED);
	close(fd);
	close(listener);
}

/* The listener accepts and closes. */
static void a_call_that_is_closed_without_an_answer(void **state)
{
	struct call call;
	int listener, fd = call_accept(&call, &listener);

	(void)state;
	expect_bytes(fd);
	close(fd);
	call_expect_end(&call, DOCA_SUCCESS);
	close(listener);
}

static void a_call_that_is_not_answered(void **state)
{
	const struct agent *agent = *state;
	char text[SF_ADDRESS_MAX], both[2 * SF_ADDRESS_MAX];
	int listener = listen_here(text), fd;
	struct call call;

	call_begin(&call, text);
	call_expect_end(&call, DOCA_ERROR_TIME_OUT);
	call_begin(&call, text);
	close(agent_accept(listener)); /* the connection of the call before */
	fd = agent_accept(listener);
	assert_int_equal(send(fd, (const uint8_t[]){22, 3, 3, 0, 100, 2, 0, 0, 96}, 9, MSG_NOSIGNAL), 9);
	call_expect_end(&call, DOCA_ERROR_TIME_OUT);
	close(fd);
	(void)snprintf(both, sizeof(both), "%.*s,%s", (int)strcspn(text, "#"), text, agent->text);
	call_expect_answer(both); /* the second address answers */
	close(listener);
}

/* ---- the file ---- */

#define DIGITS "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static char folder[] = "/tmp/softfield-key-XXXXXX";

static const char *file_make(const char *text, mode_t mode)
{
	static char path[sizeof(folder) + 8];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/key", folder);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0);
	close(fd);
	return path;
}

static void good_key_files(void **state)
{
	const struct agent *agent = *state;

	assert_int_equal(sf_net_read_key(file_make(DIGITS "\n", 0600)), DOCA_SUCCESS);
	call_expect_answer(agent->text);
	assert_int_equal(sf_net_read_key(file_make("010203"
						   "0000000000000000000000000000000000000000000000000000000000",
						   0400)),
			 DOCA_SUCCESS);
	expect_served(agent);
}

static void bad_key_files(void **state)
{
	static const char *const texts[] = {"",
					    "\n",
					    DIGITS "\n\n",
					    DIGITS "0",
					    DIGITS "00",
					    " " DIGITS,
					    DIGITS "\r\n",
					    "0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
					    "g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"};
	const char *path;
	char other[sizeof(folder) + 8];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(sf_net_read_key(file_make(texts[i], 0600)), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(sf_net_read_key(file_make(DIGITS, 0640)), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(sf_net_read_key(file_make(DIGITS, 0604)), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(sf_net_read_key(folder), DOCA_ERROR_BAD_CONFIG);
	path = file_make(DIGITS, 0600);
	(void)snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(sf_net_read_key(other), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(sf_net_read_key(other), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_peer_with_the_key_is_served, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wrong_key, setup, teardown),
		cmocka_unit_test_setup_teardown(another_identity, setup, teardown),
		cmocka_unit_test_setup_teardown(no_key_where_one_is_required, setup, teardown),
		cmocka_unit_test_setup_teardown(a_key_where_there_is_none, setup_keyless, teardown),
		cmocka_unit_test_setup_teardown(garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(silence_and_incomplete_handshakes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_crowd_with_incomplete_handshakes, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_with_one_key, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_another_key, setup, teardown),
		{"a_call_with_a_key_that_is_answered_by_an_alert", a_call_that_is_answered_by_an_alert, setup, teardown, NULL},
		{"a_call_without_a_key_that_is_answered_by_an_alert", a_call_that_is_answered_by_an_alert, setup_keyless,
		 teardown, NULL},
		cmocka_unit_test_setup_teardown(a_call_that_is_answered_by_garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_is_closed_without_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_is_not_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(good_key_files, setup_keyless, teardown),
		cmocka_unit_test(bad_key_files),
	};
	static struct doca_log_backend *backend;
	static char line[1024];
	char lock[sizeof(folder) + 8];
	int failed;

	if (mkdtemp(folder) == NULL || setenv("SOFTFIELD_RUNTIME", folder, 1) != 0)
		return 1;
	if (doca_log_backend_create_with_buf_sdk(line, sizeof(line), count_line, &backend) != DOCA_SUCCESS)
		return 1;
	failed = cmocka_run_group_tests_name("a network with a key", tests, NULL, NULL);
	(void)snprintf(lock, sizeof(lock), "%s/lock", folder);
	(void)unlink(lock);
	return rmdir(folder) == 0 ? failed : 1; /* succeeds only if nothing else is left */
}
