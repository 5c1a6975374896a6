/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA connections by address between processes: peers that answer, end, are killed or are stopped at each moment. The other
 * process runs this program again. It sleeps on its progress engine and on a socket. It obeys one-letter commands on the socket,
 * answers each with the same letter, and reports each event of its connections with a lower-case letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>

#include "support/rdma_peer.h"

#include "support/rdma_cm_side.h"

#define PORT 18515
#define ROUNDS 1000
#define KILLS 40

/* Index of each device in the topology of this test, and its address. */
enum { PEER_DEVICE = 0, OWN_DEVICE = 2 };
static const char *const peer_addr = "192.168.100.2";
static const char *const own_addr = "192.168.100.1";

/* ---- the other process ---- */

static doca_notification_handle_t handle_of(struct cm_side *side)
{
	doca_notification_handle_t handle;

	CHECK_OK(doca_pe_get_notification_handle(side->rig.pe, &handle));
	return handle;
}

static void obey(struct cm_side *side, int socket, char command)
{
	const void *descriptor;
	size_t len;
	uint64_t use[2];

	switch (command) {
	case 'A':
		side->policy = CM_ACCEPT;
		break;
	case 'R':
		side->policy = CM_REJECT;
		break;
	case 'W':
		side->policy = CM_WAIT;
		break;
	case 'C':
		CHECK_OK(cm_call(side, DOCA_RDMA_ADDR_TYPE_IPv4, own_addr, PORT, 0));
		break;
	case 'D':
		CHECK_OK(doca_rdma_connection_disconnect(side->established));
		break;
	case 'P':
		CHECK_OK(rig_receive(&side->rig, NULL, 0));
		break;
	case 'S':
		CHECK_OK(rig_send(&side->rig, side->established, NULL, 0));
		break;
	case 'M':
		CHECK_OK(doca_mmap_export_rdma(side->rig.mmap, side->rig.dev, &descriptor, &len));
		peer_say(socket, &len, sizeof(len));
		peer_say(socket, descriptor, len);
		break;
	case 'N':
		use[0] = num_descriptors();
		use[1] = cm_resident_kib();
		peer_say(socket, use, sizeof(use));
		break;
	case 'Q':
		rdma_rig_fini(&side->rig);
		_exit(0);
	default:
		CHECK(!"a command");
	}
	peer_notify(socket, command);
}

static void peer_run(int socket, bool listens)
{
	static struct cm_side side;
	uint32_t reported = 0;
	char command;

	alarm(PEER_LIFE_S);
	cm_side_prepare(&side, PEER_DEVICE, 4);
	side.may_be_gone = true;
	rdma_rig_start(&side.rig);
	if (listens)
		CHECK_OK(doca_rdma_start_listen_to_port(side.rig.rdma, PORT));
	peer_notify(socket, '.');

	struct pollfd fds[2] = {{.fd = (int)handle_of(&side), .events = POLLIN}, {.fd = socket, .events = POLLIN}};
	for (;;) {
		while (doca_pe_progress(side.rig.pe) != 0)
			;
		for (; reported < side.num_events; reported++)
			peer_notify(socket, side.events[reported % CM_EVENTS]);
		CHECK_OK(doca_pe_request_notification(side.rig.pe));
		CHECK(poll(fds, 2, -1) > 0);
		CHECK_OK(doca_pe_clear_notification(side.rig.pe, fds[0].fd));
		if (recv(socket, &command, 1, MSG_DONTWAIT) == 1)
			obey(&side, socket, command);
	}
}

/* ---- this process ---- */

struct pair {
	struct cm_side side;
	struct peer peer;
};

static void open_peer(struct pair *p)
{
	peer_spawn(&p->peer, "peer");
	peer_expect(p->peer.socket, '.');
}

static int setup(void **state)
{
	static struct pair p;

	open_peer(&p);
	cm_side_prepare(&p.side, OWN_DEVICE, 4);
	rdma_rig_start(&p.side.rig);
	CHECK_OK(doca_rdma_start_listen_to_port(p.side.rig.rdma, PORT));
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	if (p->peer.pid != 0) {
		peer_notify(p->peer.socket, 'Q');
		peer_wait(&p->peer);
	}
	rdma_rig_fini(&p->side.rig);
	return 0;
}

#define WAIT(condition) RDMA_RIG_WAIT(&p->side.rig, NULL, condition)

/* Progresses until the peer sends its next letter, which must be this one. */
static void hear(struct pair *p, char letter)
{
	char heard = 0;

	WAIT(recv(p->peer.socket, &heard, 1, MSG_DONTWAIT) == 1);
	if (heard != letter)
		fprintf(stderr, "the peer said %c, not %c\n", heard, letter);
	CHECK(heard == letter);
}

static void pair_command(struct pair *p, char command)
{
	peer_notify(p->peer.socket, command);
	hear(p, command);
}

static void call(struct pair *p)
{
	CHECK_OK(cm_call(&p->side, DOCA_RDMA_ADDR_TYPE_IPv4, peer_addr, PORT, 0));
}

static void connect_to_peer(struct pair *p)
{
	uint32_t established = p->side.num_established;

	call(p);
	WAIT(p->side.num_established == established + 1);
	hear(p, 'q');
	hear(p, 'e');
}

static void kill_peer(struct pair *p)
{
	peer_kill(&p->peer);
	peer_wait(&p->peer);
}

/* Sends a message in each direction. */
static void talk(struct pair *p)
{
	uint32_t received = p->side.rig.num_received, good = p->side.rig.num_good;

	pair_command(p, 'P');
	CHECK_OK(rig_send(&p->side.rig, p->side.established, NULL, 0));
	WAIT(p->side.rig.num_good == good + 1);
	CHECK_OK(rig_receive(&p->side.rig, NULL, 0));
	pair_command(p, 'S');
	WAIT(p->side.rig.num_received == received + 1);
}

static void by_each_address(void **state)
{
	struct pair *p = *state;
	struct doca_dev *there = test_dev_open(PEER_DEVICE);
	char text[64];

	for (enum doca_rdma_addr_type type = DOCA_RDMA_ADDR_TYPE_IPv4; type <= DOCA_RDMA_ADDR_TYPE_GID; type++) {
		cm_text(there, type, text);
		CHECK_OK(cm_call(&p->side, type, text, PORT, type));
		WAIT(p->side.num_established == (uint32_t)type + 1);
		hear(p, 'q');
		hear(p, 'e');
		talk(p);
	}
	CHECK_OK(doca_dev_close(there));
}

static void called_by_the_peer(void **state)
{
	struct pair *p = *state;

	pair_command(p, 'C');
	hear(p, 'e');
	WAIT(p->side.num_established == 1);
	cm_events_are(&p->side, "qe");
	talk(p);
	pair_command(p, 'D');
	hear(p, 'd');
	WAIT(p->side.num_ended == 1);
	p->side.policy = CM_REJECT;
	pair_command(p, 'C');
	hear(p, 'f');
	cm_events_are(&p->side, "qedq");
}

static void rejected_by_the_peer(void **state)
{
	struct pair *p = *state;

	pair_command(p, 'R');
	call(p);
	WAIT(p->side.num_failed == 1);
	hear(p, 'q');
	pair_command(p, 'A');
	connect_to_peer(p);
	talk(p);
}

static void disconnected_by_each(void **state)
{
	struct pair *p = *state;

	for (uint32_t i = 1; i <= 20; i++) {
		connect_to_peer(p);
		if (i % 2 == 0)
			CHECK_OK(doca_rdma_connection_disconnect(p->side.established));
		else
			pair_command(p, 'D');
		hear(p, 'd');
		WAIT(p->side.num_ended == i);
	}
	connect_to_peer(p);
	talk(p);
}

/* ---- killed ---- */

static void killed_before_its_answer(void **state)
{
	struct pair *p = *state;

	pair_command(p, 'W');
	call(p);
	hear(p, 'q');
	kill_peer(p);
	WAIT(p->side.num_failed == 1);
	open_peer(p);
	connect_to_peer(p);
	talk(p);
}

/* The peer calls and is killed before its request is accepted. Either accept fails, or the connection ends afterwards. */
static void killed_before_our_answer(void **state)
{
	struct pair *p = *state;
	doca_error_t result;

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t ends = p->side.num_ended + p->side.num_failed;

		p->side.policy = CM_WAIT;
		peer_notify(p->peer.socket, 'C');
		WAIT(p->side.num_requests == i + 1);
		kill_peer(p);
		result = doca_rdma_connection_accept(p->side.requested, NULL, 0);
		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_CONNECTION_ABORTED);
		if (result == DOCA_SUCCESS)
			WAIT(p->side.num_ended + p->side.num_failed == ends + 1);
		open_peer(p);
	}
	p->side.policy = CM_ACCEPT;
	connect_to_peer(p);
	talk(p);
}

static void killed_with_tasks_under_way(void **state)
{
	struct pair *p = *state;

	connect_to_peer(p);
	for (uint64_t i = 0; i < 8; i++)
		CHECK_OK(rig_send(&p->side.rig, p->side.established, NULL, i));
	kill_peer(p);
	WAIT(p->side.num_ended == 1);
	CHECK(p->side.rig.num_failed == 8 && p->side.ended_tasks == 8);
	CHECK(p->side.rig.status == DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(p->side.rig.state == DOCA_CTX_STATE_RUNNING);
	open_peer(p);
	connect_to_peer(p);
	talk(p);
}

/* Two peers with two connections each: one peer is killed, the other's connections keep working. */
static void the_others_go_on(void **state)
{
	struct pair *p = *state;
	struct peer other;

	connect_to_peer(p);
	connect_to_peer(p);
	peer_spawn(&other, "second");
	peer_expect(other.socket, '.');
	for (uint32_t i = 0; i < 2; i++) {
		peer_notify(other.socket, 'C');
		WAIT(p->side.num_established == 3 + i);
	}
	peer_kill(&other);
	peer_wait(&other);
	WAIT(p->side.num_ended == 2);
	for (int i = 0; i < 2; i++) {
		pair_command(p, 'P');
		p->side.rig.num_good = 0;
		CHECK_OK(rig_send(&p->side.rig, p->side.all[i], NULL, 0));
		WAIT(p->side.rig.num_good == 1);
	}
	connect_to_peer(p);
	CHECK(p->side.num_ended == 2);
}

/* Peers are killed at any moment of a connect; nothing of them is left. */
static void killed_at_any_moment(void **state)
{
	struct pair *p = *state;
	unsigned int seed = 7;
	uint32_t fds = 0;

	p->side.may_be_gone = true;
	for (int i = 0; i < KILLS; i++) {
		int turns = rand_r(&seed) % 60;

		if (i == 5)
			fds = num_descriptors();
		peer_notify(p->peer.socket, 'C');
		if (i % 2 == 0)
			call(p);
		while (turns-- > 0)
			(void)doca_pe_progress(p->side.rig.pe);
		kill_peer(p);
		WAIT(p->side.num_ended == p->side.num_established);
		open_peer(p);
	}
	WAIT(num_descriptors() <= fds + 2);
	uint32_t before = p->side.num_established;
	call(p);
	WAIT(p->side.num_established == before + 1);
}

/* ---- stopped ---- */

static void a_stopped_listener(void **state)
{
	struct pair *p = *state;
	struct cm_side hasty;

	cm_side_prepare(&hasty, OWN_DEVICE, 1);
	CHECK_OK(doca_rdma_set_connection_request_timeout(hasty.rig.rdma, 100));
	rdma_rig_start(&hasty.rig);
	process_stop(p->peer.pid);
	CHECK_OK(cm_call(&hasty, DOCA_RDMA_ADDR_TYPE_IPv4, peer_addr, PORT, 0));
	RDMA_RIG_WAIT(&hasty.rig, NULL, hasty.num_failed == 1);
	CHECK(kill(p->peer.pid, SIGCONT) == 0);
	rdma_rig_fini(&hasty.rig);
}

static void one_sided_while_the_peer_is_stopped(void **state)
{
	struct pair *p = *state;
	struct rdma_rig *rig = &p->side.rig;
	uint8_t descriptor[PEER_DETAILS_MAX];
	size_t len;

	connect_to_peer(p);
	peer_notify(p->peer.socket, 'M');
	peer_hear(p->peer.socket, &len, sizeof(len));
	CHECK(len <= sizeof(descriptor));
	peer_hear(p->peer.socket, descriptor, len);
	hear(p, 'M');
	rdma_rig_import(rig, descriptor, len);
	struct doca_buf *src = rig_source(rig, 0, 8192), *there = rig_remote_room(rig, 4096, 8192),
			*back = rig_remote_source(rig, 4096, 8192), *here = rig_room(rig, 32768, 8192);
	memset(rig->memory, 0x77, 8192);
	CHECK_OK(rig_write(rig, p->side.established, src, there, 0)); /* makes the agents of both processes connect */
	WAIT(rig->num_good == 1);
	process_stop(p->peer.pid);
	CHECK_OK(rig_read(rig, p->side.established, back, here, 1));
	peer_continue_by_tcp(rig, p->peer.pid);
	WAIT(rig->num_good == 2);
	assert_memory_equal(rig->memory + 32768, rig->memory, 8192);
	CHECK(kill(p->peer.pid, SIGCONT) == 0);
	rig_put(src);
	rig_put(there);
	rig_put(back);
	rig_put(here);
	pair_command(p, 'D');
	hear(p, 'd');
	WAIT(p->side.num_ended == 1);
}

/* ---- long runs ---- */

static void ask_use(struct pair *p, uint64_t use[2])
{
	peer_notify(p->peer.socket, 'N');
	peer_hear(p->peer.socket, use, 2 * sizeof(use[0]));
	hear(p, 'N');
}

static void a_round(struct pair *p, uint32_t i)
{
	uint32_t ended = p->side.num_ended;

	connect_to_peer(p);
	if (i % 2 == 0)
		CHECK_OK(doca_rdma_connection_disconnect(p->side.established));
	else
		pair_command(p, 'D');
	hear(p, 'd');
	WAIT(p->side.num_ended == ended + 1);
}

static void a_thousand_rounds(void **state)
{
	struct pair *p = *state;
	uint64_t there[2], later[2];

	for (uint32_t i = 0; i < 100; i++)
		a_round(p, i);
	ask_use(p, there);
	uint32_t fds = num_descriptors();
	uint64_t memory = cm_resident_kib();
	for (uint32_t i = 0; i < ROUNDS; i++)
		a_round(p, i);
	ask_use(p, later);
	CHECK(num_descriptors() <= fds + 8);
	CHECK(cm_resident_kib() <= memory + 1024);
	CHECK(later[0] <= there[0] + 8);
	CHECK(later[1] <= there[1] + 1024);
}

/* ---- asleep ---- */

static void sleep_until(struct pair *p, const uint32_t *number, uint32_t value)
{
	struct pollfd fd = {.fd = (int)handle_of(&p->side), .events = POLLIN};
	uint32_t sleeps = 0;

	for (;;) {
		while (doca_pe_progress(p->side.rig.pe) != 0)
			;
		if (*number >= value)
			return;
		CHECK_OK(doca_pe_request_notification(p->side.rig.pe));
		CHECK(poll(&fd, 1, RIG_WAIT_S * 1000) == 1);
		CHECK_OK(doca_pe_clear_notification(p->side.rig.pe, fd.fd));
		CHECK(++sleeps < 200); /* it must not wake without a cause */
	}
}

static void asleep_on_the_handle(void **state)
{
	struct pair *p = *state;

	peer_notify(p->peer.socket, 'C');
	sleep_until(p, &p->side.num_established, 1);
	peer_expect(p->peer.socket, 'C');
	peer_expect(p->peer.socket, 'e');
	peer_notify(p->peer.socket, 'D');
	sleep_until(p, &p->side.num_ended, 1);
	peer_expect(p->peer.socket, 'D');
	peer_expect(p->peer.socket, 'd');
	call(p);
	sleep_until(p, &p->side.num_established, 2);
	CHECK_OK(doca_rdma_connection_disconnect(p->side.established));
	sleep_until(p, &p->side.num_ended, 2);
	CHECK_OK(cm_call(&p->side, DOCA_RDMA_ADDR_TYPE_IPv4, peer_addr, PORT + 1, 0));
	sleep_until(p, &p->side.num_failed, 1);
	for (uint32_t i = 0; i < 4; i++) {
		call(p);
		sleep_until(p, &p->side.num_established, 3 + i);
	}
	peer_kill(&p->peer);
	sleep_until(p, &p->side.num_ended, 6);
	peer_wait(&p->peer);
}

/* The timeout, and the rejection of one request too many, also wake a program that sleeps. */
static void asleep_until_the_timeout(void **state)
{
	struct pair *p = *state;

	rdma_rig_stop(&p->side.rig);
	CHECK_OK(doca_rdma_set_connection_request_timeout(p->side.rig.rdma, 3000));
	rdma_rig_start(&p->side.rig);
	pair_command(p, 'W');
	call(p);
	sleep_until(p, &p->side.num_failed, 1);
	hear(p, 'q');
	CHECK_OK(doca_rdma_start_listen_to_port(p->side.rig.rdma, PORT));
	for (uint32_t i = 1; i <= 3; i++) { /* the fourth place belongs to this side's call, which the peer does not answer */
		peer_notify(p->peer.socket, 'C');
		sleep_until(p, &p->side.num_established, i);
		peer_expect(p->peer.socket, 'C');
		peer_expect(p->peer.socket, 'e');
	}
	call(p); /* the peer has no place left for it */
	sleep_until(p, &p->side.num_failed, 2);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		peer_run(atoi(argv[2]), strcmp(argv[1], "peer") == 0);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_each_address, setup, teardown),
		cmocka_unit_test_setup_teardown(called_by_the_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(rejected_by_the_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(disconnected_by_each, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_before_its_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_before_our_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_with_tasks_under_way, setup, teardown),
		cmocka_unit_test_setup_teardown(the_others_go_on, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_at_any_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stopped_listener, setup, teardown),
		cmocka_unit_test_setup_teardown(one_sided_while_the_peer_is_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thousand_rounds, setup, teardown),
		cmocka_unit_test_setup_teardown(asleep_on_the_handle, setup, teardown),
		cmocka_unit_test_setup_teardown(asleep_until_the_timeout, setup, teardown),
	};

	peer_folder_make();
	int failed = cmocka_run_group_tests_name("rdma by address between processes", tests, NULL, NULL);
	peer_folder_remove();
	return failed;
}
