/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network of a process with a key and without TLS ("tls": false): which peers are served, and how handshakes end that use
 * another key, are replayed, are reflected, use TLS, or are incomplete. The test computes its proofs itself, from the description
 * in proof.h.
 */
#include "net_agent.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/hmac.h>

#include <doca_log.h>

#include "fabric/control/alert.h"
#include "fabric/control/proof.h"

#define GARBAGE 100
#define CROWD (3 * SF_STRANGERS_MAX)

static const struct sf_tls_key right = {.bytes = {1, 2, 3}}, wrong = {.bytes = {1, 2, 4}};

/* ---- log lines ---- */

static struct {
	_Atomic uint32_t differ, disagree, no_key, alien_key, comes_by_tls, comes_without, answers_by_tls, answers_without, bare;
} lines;

static void count(_Atomic uint32_t *num, const char *line, const char *part)
{
	*num += strstr(line, part) != NULL;
}

static void count_line(char *line)
{
	count(&lines.differ, line, "rejected a peer on the network: it has another key: the keys differ");
	count(&lines.disagree, line, "do not agree on a key: the keys differ");
	count(&lines.no_key, line, "rejected a peer on the network: it has no key");
	count(&lines.alien_key, line, "rejected a peer on the network: it has a key, and this process has none");
	count(&lines.comes_by_tls, line, "rejected a peer on the network: it uses TLS, and this process does not");
	count(&lines.comes_without, line, "rejected a peer on the network: it does not use TLS");
	count(&lines.answers_by_tls, line, "works with TLS, and this one without it");
	count(&lines.answers_without, line, "works without TLS, and this one with it");
	count(&lines.bare, line, "is neither encrypted nor signed");
}

/* ---- an agent ---- */

static int setup_keyless(void **state)
{
	*state = agent_open();
	return 0;
}

static int setup_tls(void **state)
{
	*state = agent_open();
	sf_net_set_key(&right);
	return 0;
}

static int setup(void **state)
{
	sf_net_use_tls(false);
	return setup_tls(state);
}

static int teardown(void **state)
{
	sf_control_release(((struct agent *)*state)->generation);
	sf_net_set_key(NULL);
	sf_net_use_tls(true);
	return 0;
}

/* ---- frames ---- */

struct handshake {
	struct sf_proof_call call;
	struct sf_proof_answer answer;
	struct sf_proof_proof proof;
};

static struct sf_proof_head head_of(uint16_t kind)
{
	return (struct sf_proof_head){.magic = {'S', 'F', 'H', 'M'}, .version = 1, .kind = kind};
}

static void prove(const struct sf_tls_key *key, bool by_server, const struct handshake *shake, uint8_t out[SF_PROOF_SIZE])
{
	uint8_t bytes[24 + 4 + 40 + 72] = "softfield fabric, HMAC";
	unsigned int len;

	bytes[24] = by_server;
	memcpy(bytes + 28, &shake->call, 40);
	memcpy(bytes + 68, &shake->answer, by_server ? 40 : 72);
	assert_non_null(HMAC(EVP_sha256(), key->bytes, sizeof(key->bytes), bytes, sizeof(bytes), out, &len));
	assert_int_equal(len, SF_PROOF_SIZE);
}

static void say(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

static void hear(int fd, void *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t got;

		expect_bytes(fd);
		got = recv(fd, (uint8_t *)bytes + at, len - at, 0);
		assert_true(got > 0);
		at += (size_t)got;
	}
}

static void make_call(struct handshake *shake)
{
	shake->call.head = head_of(SF_PROOF_CALL);
	memset(shake->call.nonce, 7, sizeof(shake->call.nonce));
}

static void make_answer(struct handshake *shake, const struct sf_tls_key *key)
{
	shake->answer.head = head_of(SF_PROOF_ANSWER);
	memset(shake->answer.nonce, 8, sizeof(shake->answer.nonce));
	prove(key, true, shake, shake->answer.proof);
}

static void make_proof(struct handshake *shake, const struct sf_tls_key *key)
{
	shake->proof.head = head_of(SF_PROOF_PROOF);
	prove(key, false, shake, shake->proof.proof);
}

/* A handshake up to the agent's answer, whose proof is verified. */
static int begin(const struct agent *agent, struct handshake *shake)
{
	uint8_t wanted[SF_PROOF_SIZE];
	int fd = dial(agent);

	make_call(shake);
	say(fd, &shake->call, sizeof(shake->call));
	hear(fd, &shake->answer, sizeof(shake->answer));
	prove(&right, true, shake, wanted);
	assert_memory_equal(shake->answer.proof, wanted, sizeof(wanted));
	return fd;
}

/* What a peer sends after a valid handshake. */
struct said {
	struct sf_proof_proof proof;
	struct sf_msg_handshake handshake;
	struct vb_msg_attach ask;
} __attribute__((packed));

static void expect_answer(int fd)
{
	struct vb_msg_attached answer;

	hear(fd, &answer, sizeof(answer));
	assert_int_equal(answer.head.kind, VB_MSG_ATTACHED);
	assert_int_equal(answer.head.value, DOCA_ERROR_NOT_FOUND);
	close(fd);
}

/* Everything is one packet: the agent keeps what follows the proof. */
static void expect_served(const struct agent *agent)
{
	struct handshake shake;
	int fd = begin(agent, &shake);
	struct said said = {.handshake = handshake_of(agent), .ask = question()};

	make_proof(&shake, &right);
	said.proof = shake.proof;
	say(fd, &said, sizeof(said));
	expect_answer(fd);
}

/* The proof is followed by a valid request; the agent closes without an answer. */
static void expect_not_served(const struct agent *agent, int fd, const struct sf_proof_proof *proof)
{
	const struct said said = {.proof = *proof, .handshake = handshake_of(agent), .ask = question()};
	uint8_t bytes[64];

	say(fd, &said, sizeof(said));
	assert_int_equal(hear_end(fd, bytes, sizeof(bytes)), 0);
}

/* ---- peers that connect ---- */

static void a_peer_with_the_key_is_served(void **state)
{
	expect_served(*state);
	assert_true(lines.bare != 0);
}

static void a_handshake_in_single_bytes(void **state)
{
	struct handshake shake;
	int fd = dial(*state);
	const struct sf_msg_handshake handshake = handshake_of(*state);
	const struct vb_msg_attach ask = question();

	make_call(&shake);
	for (size_t i = 0; i < sizeof(shake.call); i++)
		say(fd, (uint8_t *)&shake.call + i, 1);
	hear(fd, &shake.answer, sizeof(shake.answer));
	make_proof(&shake, &right);
	for (size_t i = 0; i < sizeof(shake.proof); i++)
		say(fd, (uint8_t *)&shake.proof + i, 1);
	say(fd, &handshake, sizeof(handshake));
	say(fd, &ask, sizeof(ask));
	expect_answer(fd);
}

static void a_wrong_key(void **state)
{
	const uint32_t before = lines.differ;
	struct handshake shake;
	int fd = begin(*state, &shake);

	make_proof(&shake, &wrong);
	expect_not_served(*state, fd, &shake.proof);
	assert_int_equal(lines.differ, before + 1);
	expect_served(*state);
}

/* A caller of ours notices the wrong key first, and sends an alert. */
static void a_wrong_key_that_the_caller_sees(void **state)
{
	const uint32_t before = lines.differ;
	struct sf_proof *proof;
	int fd = dial(*state), result;

	assert_int_equal(sf_proof_begin(fd, false, &wrong, &proof), DOCA_SUCCESS);
	while ((result = sf_proof_shake(proof)) == SF_PROOF_AGAIN)
		expect_bytes(fd);
	assert_int_equal(result, SF_PROOF_REFUSED);
	sf_proof_free(proof);
	sf_alert_send(fd, SF_ALERT_KEY);
	expect_closed(fd);
	assert_int_equal(lines.differ, before + 1);
}

/* Replays a complete recorded handshake. */
static void a_replayed_handshake(void **state)
{
	struct handshake first, again;
	int fd = begin(*state, &first);

	make_proof(&first, &right);
	say(fd, &first.proof, sizeof(first.proof));
	close(fd);
	fd = begin(*state, &again);
	assert_memory_equal(&again.call, &first.call, sizeof(first.call));
	assert_memory_not_equal(again.answer.nonce, first.answer.nonce, sizeof(first.answer.nonce));
	expect_not_served(*state, fd, &first.proof);
	expect_served(*state);
}

/* The peer returns the agent's own proof, which does not prove the peer's key. */
static void a_reflected_proof(void **state)
{
	struct handshake shake;
	int fd = begin(*state, &shake);

	shake.proof.head = head_of(SF_PROOF_PROOF);
	memcpy(shake.proof.proof, shake.answer.proof, sizeof(shake.proof.proof));
	expect_not_served(*state, fd, &shake.proof);
}

static void a_proof_of_another_nonce(void **state)
{
	struct handshake shake;
	int fd = begin(*state, &shake);

	shake.call.nonce[31] ^= 1;
	make_proof(&shake, &right);
	expect_not_served(*state, fd, &shake.proof);
}

static void expect_alert(int fd, enum sf_alert_reason reason)
{
	uint8_t bytes[64], said;
	size_t len = hear_end(fd, bytes, sizeof(bytes));

	assert_true(sf_alert_reason(bytes, len, &said));
	assert_int_equal(said, reason);
}

static void another_version(void **state)
{
	struct handshake shake;
	int fd = dial(*state);

	make_call(&shake);
	shake.call.head.version = 2;
	say(fd, &shake.call, sizeof(shake.call));
	expect_alert(fd, SF_ALERT_KEY);
}

static void no_key_where_one_is_required(void **state)
{
	const struct sf_msg_handshake handshake = handshake_of(*state);
	const uint32_t before = lines.no_key;
	int fd = dial(*state);

	say(fd, &handshake, sizeof(handshake));
	expect_alert(fd, SF_ALERT_KEY);
	assert_int_equal(lines.no_key, before + 1);
	expect_served(*state);
}

static int caller_shake(const struct agent *agent)
{
	struct sf_proof *proof;
	int fd = dial(agent), result;

	assert_int_equal(sf_proof_begin(fd, false, &right, &proof), DOCA_SUCCESS);
	while ((result = sf_proof_shake(proof)) == SF_PROOF_AGAIN)
		expect_bytes(fd);
	sf_proof_free(proof);
	close(fd);
	return result;
}

static void a_key_where_there_is_none(void **state)
{
	const uint32_t before = lines.alien_key;

	assert_int_equal(caller_shake(*state), SF_PROOF_REFUSED);
	assert_int_equal(lines.alien_key, before + 1);
}

static void no_tls_where_it_is_required(void **state)
{
	const uint32_t before = lines.comes_without;

	assert_int_equal(caller_shake(*state), SF_PROOF_OTHER);
	assert_int_equal(lines.comes_without, before + 1);
}

static void tls_where_it_is_off(void **state)
{
	const uint32_t before = lines.comes_by_tls;
	int fd = dial(*state), result;
	struct sf_tls *tls;

	assert_int_equal(sf_tls_begin(fd, false, right.bytes, "softfield fabric", &tls), DOCA_SUCCESS);
	while ((result = sf_tls_shake(tls)) == SF_TLS_AGAIN)
		expect_bytes(fd);
	assert_int_equal(result, SF_TLS_OTHER);
	sf_tls_free(tls);
	close(fd);
	assert_int_equal(lines.comes_by_tls, before + 1);
	expect_served(*state);
}

static void garbage(void **state)
{
	uint64_t random = (uint64_t)time(NULL);
	uint8_t bytes[256];

	print_message("seed %llu\n", (unsigned long long)random);
	for (int i = 0; i < GARBAGE; i++) {
		const struct sf_proof_head head = head_of(SF_PROOF_CALL);
		int fd = dial(*state);

		for (size_t at = 0; at < sizeof(bytes); at++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			bytes[at] = (uint8_t)(random >> 33);
		}
		if (i % 2 == 0) /* a valid first frame, and an invalid proof */
			memcpy(bytes, &head, sizeof(head));
		(void)send(fd, bytes, sizeof(head) + random % (sizeof(bytes) - sizeof(head)), MSG_NOSIGNAL);
		(void)shutdown(fd, SHUT_WR);
		expect_closed(fd);
	}
	expect_served(*state);
}

/* Each peer sends too little and is disconnected; others are served meanwhile. */
static void handshakes_that_are_cut_short(void **state)
{
	static const size_t parts[] = {0, 1, 2, 4, 8, 39};
	struct handshake shake;
	int fds[2 * sizeof(parts) / sizeof(parts[0])], num = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		make_call(&shake);
		fds[num] = dial(*state);
		if (parts[i] != 0)
			say(fds[num], &shake.call, parts[i]);
		num++;
		fds[num] = begin(*state, &shake);
		make_proof(&shake, &right);
		if (parts[i] != 0)
			say(fds[num], &shake.proof, parts[i]);
		num++;
	}
	expect_served(*state);
	while (num-- != 0)
		expect_closed(fds[num]);
	expect_served(*state);
}

static void a_crowd_with_incomplete_handshakes(void **state)
{
	static int fds[CROWD];
	struct handshake shake;

	make_call(&shake);
	for (int i = 0; i < CROWD; i++) {
		fds[i] = dial(*state);
		(void)send(fds[i], &shake.call, i % 2 == 0 ? sizeof(shake.call) : sizeof(shake.call) / 2, MSG_NOSIGNAL);
	}
	expect_served(*state);
	for (int i = 0; i < CROWD; i++)
		expect_closed(fds[i]);
}

/* ---- calling ---- */

static void calls_with_one_key(void **state)
{
	call_expect_answer(((struct agent *)*state)->text);
}

/* Accepts a call, and reads its first frame. */
static int client_call(struct call *call, struct handshake *shake)
{
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text), fd;

	call_begin(call, text);
	fd = agent_accept(listener);
	hear(fd, &shake->call, sizeof(shake->call));
	assert_int_equal(shake->call.head.kind, SF_PROOF_CALL);
	close(listener);
	return fd;
}

static void a_call_to_the_same_key(void **state)
{
	struct handshake shake;
	struct call call;
	uint8_t wanted[SF_PROOF_SIZE];
	struct sf_msg_handshake handshake;
	int fd = client_call(&call, &shake);

	(void)state;
	make_answer(&shake, &right);
	say(fd, &shake.answer, sizeof(shake.answer));
	hear(fd, &shake.proof, sizeof(shake.proof));
	prove(&right, false, &shake, wanted);
	assert_memory_equal(shake.proof.proof, wanted, sizeof(wanted));
	hear(fd, &handshake, sizeof(handshake));
	assert_int_equal(handshake.head.kind, SF_MSG_HANDSHAKE);
	close(fd);
	call_expect_end(&call, DOCA_SUCCESS);
}

/* The caller sends an alert, and nothing that requires its key. */
static void expect_rejection(int fd, struct call *call)
{
	expect_alert(fd, SF_ALERT_KEY);
	call_expect_end(call, DOCA_ERROR_NOT_PERMITTED);
	assert_false(call->is_other);
}

static void a_call_to_another_key(void **state)
{
	const uint32_t before = lines.disagree;
	struct handshake shake;
	struct call call;
	int fd = client_call(&call, &shake);

	(void)state;
	make_answer(&shake, &wrong);
	say(fd, &shake.answer, sizeof(shake.answer));
	expect_rejection(fd, &call);
	assert_int_equal(lines.disagree, before + 1);
}

static void a_replayed_answer(void **state)
{
	struct handshake first, again;
	struct call call;
	int fd = client_call(&call, &first);

	(void)state;
	make_answer(&first, &right);
	close(fd);
	call_wait(&call);
	fd = client_call(&call, &again);
	say(fd, &first.answer, sizeof(first.answer));
	expect_rejection(fd, &call);
}

static void a_reflected_call(void **state)
{
	struct handshake shake;
	struct call call;
	int fd = client_call(&call, &shake);

	(void)state;
	say(fd, &shake.call, sizeof(shake.call));
	call_expect_end(&call, DOCA_ERROR_NOT_PERMITTED);
	close(fd);
}

/* A relay sends the process's call back to the process itself, and forwards what follows: the token is another process's. */
static void a_call_that_is_relayed_back_to_its_caller(void **state)
{
	struct handshake shake;
	struct sf_msg_handshake handshake;
	struct call call;
	int fd = client_call(&call, &shake), back = dial(*state);

	say(back, &shake.call, sizeof(shake.call));
	hear(back, &shake.answer, sizeof(shake.answer));
	say(fd, &shake.answer, sizeof(shake.answer));
	hear(fd, &shake.proof, sizeof(shake.proof));
	hear(fd, &handshake, sizeof(handshake));
	say(back, &shake.proof, sizeof(shake.proof));
	say(back, &handshake, sizeof(handshake));
	expect_closed(back);
	close(fd);
	call_expect_end(&call, DOCA_SUCCESS);
	expect_served(*state);
}

static void alert_call(enum sf_alert_reason reason, bool is_other)
{
	char text[SF_ADDRESS_MAX];
	int listener = listen_here(text), fd;
	struct call call;

	call_begin(&call, text);
	fd = agent_accept(listener);
	expect_bytes(fd);
	sf_alert_send(fd, reason);
	close(fd);
	call_expect_end(&call, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(call.is_other, is_other);
	close(listener);
}

static void a_call_to_one_without_a_key(void **state)
{
	(void)state;
	alert_call(SF_ALERT_KEY, false);
}

static void a_call_to_one_with_tls(void **state)
{
	const uint32_t before = lines.answers_by_tls;

	(void)state;
	alert_call(SF_ALERT_OTHER, true);
	assert_int_equal(lines.answers_by_tls, before + 1);
}

static void a_call_by_tls_to_one_without(void **state)
{
	const uint32_t before = lines.answers_without;

	(void)state;
	alert_call(SF_ALERT_OTHER, true);
	assert_int_equal(lines.answers_without, before + 1);
}

static void a_call_that_is_answered_by_garbage(void **state)
{
	struct handshake shake;
	struct call call;
	int fd = client_call(&call, &shake);

	(void)state;
	say(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
	call_expect_end(&call, DOCA_ERROR_NOT_PERMITTED);
	close(fd);
}

static void a_call_that_is_closed_without_an_answer(void **state)
{
	struct handshake shake;
	struct call call;

	(void)state;
	close(client_call(&call, &shake));
	call_expect_end(&call, DOCA_SUCCESS);
}

static void a_call_that_is_not_answered(void **state)
{
	struct handshake shake;
	struct call call;
	int fd = client_call(&call, &shake);

	(void)state;
	make_answer(&shake, &right);
	say(fd, &shake.answer, sizeof(shake.answer) - 1);
	call_expect_end(&call, DOCA_ERROR_TIME_OUT);
	close(fd);
}

int main(void)
{
	/* The first ten rejected callers are logged one by one. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_peer_with_the_key_is_served, setup, teardown),
		cmocka_unit_test_setup_teardown(a_handshake_in_single_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wrong_key, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wrong_key_that_the_caller_sees, setup, teardown),
		cmocka_unit_test_setup_teardown(no_key_where_one_is_required, setup, teardown),
		cmocka_unit_test_setup_teardown(a_key_where_there_is_none, setup_keyless, teardown),
		cmocka_unit_test_setup_teardown(no_tls_where_it_is_required, setup_tls, teardown),
		cmocka_unit_test_setup_teardown(tls_where_it_is_off, setup, teardown),
		cmocka_unit_test_setup_teardown(a_replayed_handshake, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reflected_proof, setup, teardown),
		cmocka_unit_test_setup_teardown(a_proof_of_another_nonce, setup, teardown),
		cmocka_unit_test_setup_teardown(another_version, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(handshakes_that_are_cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(a_crowd_with_incomplete_handshakes, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_with_one_key, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_the_same_key, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_another_key, setup, teardown),
		cmocka_unit_test_setup_teardown(a_replayed_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reflected_call, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_is_relayed_back_to_its_caller, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_one_without_a_key, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_one_with_tls, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_by_tls_to_one_without, setup_tls, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_is_answered_by_garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_is_closed_without_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_is_not_answered, setup, teardown),
	};
	char folder[] = "/tmp/softfield-bare-XXXXXX", lock[sizeof(folder) + 8];
	static struct doca_log_backend *backend;
	static char line[1024];
	int failed;

	if (mkdtemp(folder) == NULL || setenv("SOFTFIELD_RUNTIME", folder, 1) != 0)
		return 1;
	if (doca_log_backend_create_with_buf_sdk(line, sizeof(line), count_line, &backend) != DOCA_SUCCESS)
		return 1;
	failed = cmocka_run_group_tests_name("a network with a key and without TLS", tests, NULL, NULL);
	(void)snprintf(lock, sizeof(lock), "%s/lock", folder);
	(void)unlink(lock);
	return rmdir(folder) == 0 ? failed : 1; /* succeeds only if nothing else is left */
}
