/* SPDX-License-Identifier: BSD-3-Clause */
/* A session of the tcp provider whose peer is this test: what happens to a message without a receive, and what is logged when a
 * session is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/tcp/session.h"
#include "support/log_lines.h"

#define ROOM 64
#define LONG 100000

static struct tcp_session session;
static int peer;
static uint32_t receives, num_filled, num_done;
static bool may_wait;
static struct sf_recv recv_one;
static uint8_t memory[LONG];
static struct sf_iov place;
static struct sf_op op; /* static, because it may be in flight at the end of a test */

/* ---- the endpoint ---- */

static doca_error_t claim_recv(struct tcp_session *of, uint64_t len, struct sf_recv **recv)
{
	(void)of;
	(void)len;
	if (receives == 0)
		return DOCA_ERROR_AGAIN;
	receives--;
	*recv = &recv_one;
	return DOCA_SUCCESS;
}

static bool wait_for_receive(struct tcp_session *of)
{
	(void)of;
	return may_wait;
}

static void filled(struct tcp_session *of, struct sf_recv *recv)
{
	(void)of;
	(void)recv;
	num_filled++;
}

static void give_back(struct tcp_session *of, struct sf_recv *recv)
{
	(void)of;
	(void)recv;
}

static void list_receives(struct tcp_session *of, struct tcp_receives *list)
{
	(void)of;
	list->num = receives != 0;
	list->runs[0] = (struct tcp_run){.len = LONG, .num = receives};
}

static void done(struct tcp_session *of, struct sf_op *which)
{
	(void)of;
	(void)which;
	num_done++;
}

static const struct tcp_session_ops session_ops = {.claim_recv = claim_recv,
						   .wait = wait_for_receive,
						   .filled = filled,
						   .give_back = give_back,
						   .receives = list_receives,
						   .done = done};

/* ---- the peer ---- */

static void say(enum tcp_kind kind, uint32_t seq, uint32_t ack, const void *bytes, uint32_t len)
{
	const struct tcp_head head = {.kind = (uint8_t)kind, .seq = seq, .ack = ack, .len = len};

	assert_int_equal(send(peer, &head, sizeof(head), 0), sizeof(head));
	if (len != 0)
		assert_int_equal(send(peer, bytes, len, 0), len);
}

static void say_message(uint32_t seq, uint32_t ack)
{
	static const uint8_t message[ROOM];

	say(TCP_SEND, seq, ack, message, sizeof(message));
}

static void say_receives_after(uint32_t asks, uint32_t num, uint32_t ack)
{
	const struct tcp_receives list = {.num = 1, .runs = {{.len = ROOM, .num = num}}};

	say(TCP_RECEIVES, asks, ack, &list, sizeof(list));
}

static void say_receives(uint32_t num, uint32_t ack)
{
	say_receives_after(0, num, ack);
}

/* The head of the next frame that the session sends. */
static struct tcp_head hear(void)
{
	struct tcp_head head;
	uint8_t rest[TCP_FIXED_MAX + ROOM];

	assert_int_equal(recv(peer, &head, sizeof(head), MSG_DONTWAIT), sizeof(head));
	assert_true(head.len <= sizeof(rest));
	if (head.len != 0)
		assert_int_equal(recv(peer, rest, head.len, MSG_DONTWAIT), head.len);
	return head;
}

static bool hears_nothing(void)
{
	uint8_t byte;

	return recv(peer, &byte, 1, MSG_DONTWAIT) < 0;
}

static int begin(void **state)
{
	int fds[2];

	(void)state;
	memset(&session, 0, sizeof(session));
	receives = num_filled = num_done = 0;
	may_wait = true;
	place = (struct sf_iov){memory, sizeof(memory)};
	recv_one = (struct sf_recv){.iov = &place, .iov_num = 1};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	peer = fds[1];
	sf_tcp_session_begin(&session, &session_ops, (struct sf_stream){.fd = fds[0]});
	return 0;
}

static int end(void **state)
{
	(void)state;
	sf_tcp_session_end(&session, DOCA_ERROR_CONNECTION_ABORTED);
	close(peer);
	return 0;
}

static void progress(void)
{
	(void)sf_tcp_session_receive(&session);
	sf_tcp_session_send(&session);
}

/* ---- tests ---- */

static void a_message_waits_for_a_receive(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		say_message(i, 0);
	progress();
	assert_true(session.is_waiting);
	assert_true(hears_nothing()); /* the session does not ask for the message again */
	for (uint32_t i = 1; i <= 3; i++) {
		receives = 1;
		progress();
		assert_int_equal(num_filled, i);
		assert_int_equal(hear().ack, i);
	}
	assert_false(session.is_waiting);
	assert_true(hears_nothing());
}

static void a_long_message_waits_in_its_socket(void **state)
{
	static uint8_t bytes[LONG];
	const struct tcp_head head = {.kind = TCP_SEND, .len = LONG};

	(void)state;
	memset(bytes, 7, sizeof(bytes));
	assert_int_equal(send(peer, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(send(peer, bytes, 20000, 0), 20000);
	progress();
	assert_true(session.is_waiting);
	receives = 1;
	progress();
	assert_false(session.is_waiting);
	for (uint32_t at = 20000; at < LONG; at += 20000) {
		assert_int_equal(send(peer, bytes, 20000, 0), 20000);
		progress();
	}
	assert_int_equal(num_filled, 1);
	assert_memory_equal(memory, bytes, LONG);
}

/* A message that is being read already has its receive, which is not among those that the peer may use next. */
static void receives_are_listed_from_the_next_message_on(void **state)
{
	static uint8_t bytes[LONG];
	const struct tcp_head head = {.kind = TCP_SEND, .len = LONG};
	struct {
		struct tcp_head head;
		struct tcp_receives list;
	} listed;

	(void)state;
	receives = 1;
	assert_int_equal(send(peer, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(send(peer, bytes, 20000, 0), 20000);
	progress();
	session.credits_due = true;
	progress();
	assert_int_equal(recv(peer, &listed, sizeof(listed), MSG_DONTWAIT), sizeof(listed));
	assert_int_equal(listed.head.kind, TCP_RECEIVES);
	assert_int_equal(listed.list.from, 1);
	for (uint32_t at = 20000; at < LONG; at += 20000) {
		assert_int_equal(send(peer, bytes, 20000, 0), 20000);
		progress();
	}
	assert_int_equal(num_filled, 1);
	assert_int_equal(hear().ack, 1);
	session.credits_due = true;
	progress();
	assert_int_equal(recv(peer, &listed, sizeof(listed), MSG_DONTWAIT), sizeof(listed));
	assert_int_equal(listed.list.from, 1);
}

/* The peer's receives were used by messages of another connection: a report that was sent before it heard of that does not count.
 */
static void receives_are_unknown_until_the_peer_has_answered(void **state)
{
	(void)state;
	op = (struct sf_op){.kind = SF_OP_SEND};
	session.room = (struct tcp_receives){.num = 1, .runs = {{.len = ROOM, .num = 1}}};
	sf_tcp_session_ask(&session);
	assert_int_equal(hear().kind, TCP_ASK);
	assert_int_equal(sf_tcp_session_submit(&session, &op, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(op.status, DOCA_SUCCESS); /* not EMPTY */
	say_receives(1, 0);
	assert_int_equal(sf_tcp_session_submit(&session, &op, 0), DOCA_ERROR_AGAIN);
	say_receives_after(1, 1, 0);
	assert_int_equal(sf_tcp_session_submit(&session, &op, 0), DOCA_SUCCESS);
	assert_int_equal(hear().kind, TCP_SEND);
	assert_true(hears_nothing()); /* it asks once */
}

static void a_peer_that_asks_gets_the_receives(void **state)
{
	(void)state;
	for (uint32_t asks = 1; asks <= 2; asks++) {
		struct tcp_head head;

		say(TCP_ASK, 0, 0, NULL, 0);
		progress();
		head = hear();
		assert_int_equal(head.kind, TCP_RECEIVES);
		assert_int_equal(head.seq, asks);
		assert_true(hears_nothing());
	}
}

static void after_a_rejection_later_frames_are_read(void **state)
{
	(void)state;
	op = (struct sf_op){.kind = SF_OP_SEND};
	say_message(0, 0);
	say_receives(1, 0);
	progress();
	assert_true(session.is_waiting);
	sf_tcp_session_wait_end(&session);
	assert_true(tcp_session_events(&session) & EPOLLOUT); /* reading the socket reports nothing more */
	progress();
	assert_int_equal(hear().kind, TCP_REFUSED);
	assert_int_equal(session.room.num, 1);
	say_message(1, 0); /* sent before the peer knew of the rejection */
	receives = 1;
	progress();
	assert_int_equal(num_filled, 0);
	say(TCP_RESUME, 0, 0, NULL, 0);
	say(TCP_SEND, 0, 0, NULL, 0);
	progress();
	assert_int_equal(num_filled, 1);
}

/* The program may post a receive only after what it sent is done. */
static void no_message_waits_in_front_of_an_acknowledgement(void **state)
{
	(void)state;
	op = (struct sf_op){.kind = SF_OP_SEND};
	session.room = (struct tcp_receives){.num = 1, .runs = {{.len = ROOM, .num = 1}}};
	assert_int_equal(sf_tcp_session_submit(&session, &op, 0), DOCA_SUCCESS);
	assert_int_equal(hear().kind, TCP_SEND);
	say_message(0, 0);
	say(TCP_ACK, 0, 1, NULL, 0);
	progress();
	assert_false(session.is_waiting);
	assert_int_equal(num_done, 1);
	assert_int_equal(hear().kind, TCP_REFUSED);
}

static void a_submit_reads_past_a_waiting_message(void **state)
{
	(void)state;
	op = (struct sf_op){.kind = SF_OP_SEND};
	say_message(0, 0);
	say_receives(1, 0);
	progress();
	assert_true(session.is_waiting);
	assert_int_equal(sf_tcp_session_submit(&session, &op, 0), DOCA_SUCCESS);
	progress();
	assert_int_equal(hear().kind, TCP_REFUSED);
	assert_int_equal(hear().kind, TCP_SEND);
}

static void no_message_waits_in_front_of_an_answer(void **state)
{
	static uint8_t word[8];
	static struct sf_iov piece = {word, sizeof(word)};

	(void)state;
	say_message(0, 0);
	progress();
	assert_true(session.is_waiting);
	op = (struct sf_op){.kind = SF_OP_READ, .iov = &piece, .iov_num = 1};
	session.first = &op; /* in flight; there is no import to send it for */
	session.end = &op.next;
	session.unsent_seq = session.next_seq = 1;
	progress();
	assert_false(session.is_waiting);
	assert_int_equal(hear().kind, TCP_REFUSED);
	say(TCP_DATA, 0, 0, memory, 8);
	progress();
	assert_int_equal(num_done, 1);
}

/* The peer has receives for all: submit takes them, and sends further ones when the first are acknowledged. */
static void submit_takes_more_than_may_be_in_flight(void **state)
{
	static struct sf_op ops[TCP_OPS_MAX + 2];
	uint32_t seq = 0;

	(void)state;
	session.room = (struct tcp_receives){.num = 1, .runs = {{.len = ROOM, .num = TCP_OPS_MAX + 2}}};
	for (uint32_t i = 0; i < TCP_OPS_MAX + 2; i++) {
		ops[i] = (struct sf_op){.kind = SF_OP_SEND};
		assert_int_equal(sf_tcp_session_submit(&session, &ops[i], 0), DOCA_SUCCESS);
	}
	progress();
	for (; seq < TCP_OPS_MAX; seq++)
		assert_int_equal(hear().seq, seq);
	assert_true(hears_nothing());
	assert_false(tcp_session_unsent(&session)); /* nothing to try again before the peer has said something */
	say(TCP_ACK, 0, 1, NULL, 0);
	progress();
	assert_int_equal(num_done, 1);
	assert_int_equal(hear().seq, seq++);
	assert_true(hears_nothing());
	say(TCP_ACK, 0, seq, NULL, 0);
	progress();
	assert_int_equal(hear().seq, seq++);
	say(TCP_ACK, 0, seq, NULL, 0);
	progress();
	assert_int_equal(num_done, TCP_OPS_MAX + 2);
}

/* A program that polls no more: its last submit, a failed one, has read what would have had the pending message sent. */
static void a_failed_submit_that_reads_an_acknowledgement_sends_what_waits_for_it(void **state)
{
	static struct sf_op ops[3];

	(void)state;
	session.room = (struct tcp_receives){.num = 1, .runs = {{.len = ROOM, .num = 2}}};
	for (uint32_t i = 0; i < 2; i++) {
		ops[i] = (struct sf_op){.kind = SF_OP_SEND};
		assert_int_equal(sf_tcp_session_submit(&session, &ops[i], 0), DOCA_SUCCESS);
	}
	assert_int_equal(hear().seq, 0);
	assert_true(hears_nothing()); /* the second one waits for others, or for the acknowledgement */
	say(TCP_ACK, 0, 1, NULL, 0);
	ops[2] = (struct sf_op){.kind = SF_OP_SEND};
	assert_int_equal(sf_tcp_session_submit(&session, &ops[2], 0), DOCA_ERROR_AGAIN);
	assert_int_equal(num_done, 1);
	assert_int_equal(hear().seq, 1);
	say(TCP_ACK, 0, 2, NULL, 0);
	progress();
	assert_int_equal(num_done, 2);
}

static void nothing_waits_if_the_owner_rejects_it(void **state)
{
	(void)state;
	may_wait = false;
	say_message(0, 0);
	progress();
	assert_false(session.is_waiting);
	assert_int_equal(hear().kind, TCP_REFUSED);
}

/* ---- ends that nobody asked for ---- */

static void begin_tcp(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(here);
	int listener, fd;

	(void)end(NULL);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&here, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&here, &len), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&here, len), 0);
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(peer >= 0);
	close(listener);
	memset(&session, 0, sizeof(session));
	sf_tcp_session_begin(&session, &session_ops, (struct sf_stream){.fd = fd});
	log_lines_forget();
}

static void submit_one(void)
{
	op = (struct sf_op){.kind = SF_OP_SEND};
	session.room = (struct tcp_receives){.num = 1, .runs = {{.len = ROOM, .num = 1}}};
	assert_int_equal(sf_tcp_session_submit(&session, &op, 0), DOCA_SUCCESS);
}

/* The library whose operation fails logs the end of a peer. */
static void a_peer_that_closes(void **state)
{
	(void)state;
	begin_tcp();
	submit_one();
	(void)hear();
	close(peer);
	progress();
	assert_int_equal(num_done, 1);
	assert_int_equal(op.status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(log_lines_count(), 0);
	peer = -1;
}

static void a_peer_that_resets(void **state)
{
	const struct linger none = {.l_onoff = 1};

	(void)state;
	begin_tcp();
	submit_one();
	assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &none, sizeof(none)), 0);
	close(peer);
	progress();
	assert_int_equal(num_done, 1);
	assert_int_equal(log_lines_count(), 0);
	peer = -1;
}

static void a_network_that_fails(void **state)
{
	(void)state;
	begin_tcp();
	submit_one();
	sf_tcp_session_lost(&session, ETIMEDOUT);
	assert_int_equal(num_done, 1);
	log_lines_expect("the connection to 127.0.0.1:", "failed", strerror(ETIMEDOUT));
}

/* An orderly end, or one that costs no operation, is no warning. */
static void a_peer_that_leaves(void **state)
{
	(void)state;
	begin_tcp();
	say(TCP_BYE, 0, 0, NULL, 0);
	progress();
	assert_int_equal(session.ended, DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(log_lines_count(), 0);
	begin_tcp();
	close(peer);
	progress();
	assert_true(session.stream.fd < 0);
	assert_int_equal(log_lines_count(), 0);
	peer = -1;
}

/* The kernel reports it as it reports a machine without memory for the page. */
static void memory_that_cannot_be_written(void **state)
{
	void *unmapped = mmap(NULL, LONG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct tcp_head head = {.kind = TCP_SEND, .len = LONG};

	(void)state;
	begin_tcp();
	assert_ptr_not_equal(unmapped, MAP_FAILED);
	place.addr = unmapped;
	receives = 1;
	assert_int_equal(send(peer, &head, sizeof(head), 0), sizeof(head));
	progress(); /* from here on, bytes are received in place */
	assert_int_equal(send(peer, memory, LONG / 2, 0), LONG / 2);
	progress();
	assert_true(session.stream.fd < 0);
	log_lines_expect(strerror(EFAULT), "127.0.0.1:", "keep memory until its operations complete");
	munmap(unmapped, LONG);
}

static void memory_that_cannot_be_read(void **state)
{
	void *unmapped = mmap(NULL, LONG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	begin_tcp();
	assert_ptr_not_equal(unmapped, MAP_FAILED);
	place.addr = unmapped;
	op = (struct sf_op){.kind = SF_OP_SEND, .iov = &place, .iov_num = 1};
	session.room = (struct tcp_receives){.num = 1, .runs = {{.len = LONG, .num = 1}}};
	assert_int_equal(sf_tcp_session_submit(&session, &op, LONG), DOCA_SUCCESS);
	progress();
	assert_int_equal(num_done, 1);
	log_lines_expect(strerror(EFAULT), "127.0.0.1:", "keep memory until its operations complete");
	munmap(unmapped, LONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_message_waits_for_a_receive, begin, end),
		cmocka_unit_test_setup_teardown(a_long_message_waits_in_its_socket, begin, end),
		cmocka_unit_test_setup_teardown(receives_are_listed_from_the_next_message_on, begin, end),
		cmocka_unit_test_setup_teardown(receives_are_unknown_until_the_peer_has_answered, begin, end),
		cmocka_unit_test_setup_teardown(a_peer_that_asks_gets_the_receives, begin, end),
		cmocka_unit_test_setup_teardown(after_a_rejection_later_frames_are_read, begin, end),
		cmocka_unit_test_setup_teardown(a_submit_reads_past_a_waiting_message, begin, end),
		cmocka_unit_test_setup_teardown(no_message_waits_in_front_of_an_acknowledgement, begin, end),
		cmocka_unit_test_setup_teardown(no_message_waits_in_front_of_an_answer, begin, end),
		cmocka_unit_test_setup_teardown(submit_takes_more_than_may_be_in_flight, begin, end),
		cmocka_unit_test_setup_teardown(a_failed_submit_that_reads_an_acknowledgement_sends_what_waits_for_it, begin,
						end),
		cmocka_unit_test_setup_teardown(nothing_waits_if_the_owner_rejects_it, begin, end),
		cmocka_unit_test_setup_teardown(a_peer_that_closes, begin, end),
		cmocka_unit_test_setup_teardown(a_peer_that_resets, begin, end),
		cmocka_unit_test_setup_teardown(a_network_that_fails, begin, end),
		cmocka_unit_test_setup_teardown(a_peer_that_leaves, begin, end),
		cmocka_unit_test_setup_teardown(memory_that_cannot_be_written, begin, end),
		cmocka_unit_test_setup_teardown(memory_that_cannot_be_read, begin, end),
	};

	return cmocka_run_group_tests(tests, log_lines_setup, NULL);
}
