/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA between two processes: a peer that is stopped, killed, or exits normally. The peer runs this program again; it obeys one-
 * byte commands on a socket and answers each with one byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/rdma_peer.h"

#define SIZE (48 << 20)
#define LARGE (40 << 20)
#define DETAILS_MAX 4096
#define ADDS 20000

struct introduction {
	size_t details_len, descriptor_len;
	uint8_t details[DETAILS_MAX], descriptor[DETAILS_MAX];
};

struct side {
	struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	int socket;
	pid_t peer;
};

static void exchange(struct side *side)
{
	static struct introduction mine, theirs;
	const void *details, *descriptor;

	CHECK_OK(doca_rdma_export(side->rig.rdma, &details, &mine.details_len, &side->connection));
	CHECK_OK(doca_mmap_export_rdma(side->rig.mmap, side->rig.dev, &descriptor, &mine.descriptor_len));
	CHECK(mine.details_len <= DETAILS_MAX && mine.descriptor_len <= DETAILS_MAX);
	memcpy(mine.details, details, mine.details_len);
	memcpy(mine.descriptor, descriptor, mine.descriptor_len);
	CHECK(send(side->socket, &mine, sizeof(mine), 0) == sizeof(mine));
	CHECK(recv(side->socket, &theirs, sizeof(theirs), MSG_WAITALL) == sizeof(theirs));
	CHECK_OK(doca_rdma_connect(side->rig.rdma, theirs.details, theirs.details_len, side->connection));
	rdma_rig_import(&side->rig, theirs.descriptor, theirs.descriptor_len);
}

static void open_side(struct side *side, uint32_t device)
{
	rdma_rig_prepare(&side->rig, device, SIZE, RIG_ALL, RIG_ALL);
	for (size_t i = 0; i < SIZE; i++)
		side->rig.memory[i] = (uint8_t)(i * 7 + (i >> 13) + device);
	rdma_rig_start(&side->rig);
	exchange(side);
}

/* ---- the peer ---- */

static void obey(struct side *side, char command)
{
	struct rdma_rig *rig = &side->rig;
	uint32_t received = rig->num_received;

	switch (command) {
	case 'r': /* post a receive of everything */
		rig->keep = false;
		CHECK_OK(rig_receive(rig, rig_room(rig, 0, LARGE), 0));
		break;
	case 'w': /* progress until the receive completes */
		RDMA_RIG_WAIT(rig, NULL, rig->num_received > 0);
		CHECK(received <= rig->num_received);
		break;
	case 'a': /* add to the first word with the processor's own atomics */
		for (int i = 0; i < ADDS; i++)
			atomic_fetch_add((_Atomic uint64_t *)(void *)rig->memory, 1);
		break;
	case 'm':
		CHECK_OK(doca_mmap_destroy(rig->mmap));
		rig->mmap = NULL;
		break;
	default:
		CHECK(!"a command");
	}
	CHECK(send(side->socket, &command, 1, 0) == 1);
}

static void peer_run(int socket)
{
	static struct side side;
	char command;

	alarm(120);
	side.socket = socket;
	open_side(&side, 1);
	while (recv(socket, &command, 1, 0) == 1 && command != 'q')
		obey(&side, command);
	(void)doca_ctx_stop(side.rig.ctx);
	RDMA_RIG_WAIT(&side.rig, NULL, side.rig.state == DOCA_CTX_STATE_IDLE);
	_exit(0);
}

/* ---- this side ---- */

static int setup(void **state)
{
	static struct side side;
	int sockets[2];

	memset(&side, 0, sizeof(side));
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	fflush(NULL);
	side.peer = fork();
	CHECK(side.peer >= 0);
	if (side.peer == 0) {
		char number[16];

		close(sockets[0]);
		snprintf(number, sizeof(number), "%d", sockets[1]);
		execl("/proc/self/exe", "peer", number, (char *)NULL);
		_exit(1);
	}
	close(sockets[1]);
	side.socket = sockets[0];
	open_side(&side, 0);
	*state = &side;
	return 0;
}

static int teardown(void **state)
{
	struct side *side = *state;
	int status;

	kill(side->peer, SIGCONT);
	(void)send(side->socket, "q", 1, MSG_NOSIGNAL);
	CHECK(waitpid(side->peer, &status, 0) == side->peer);
	CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	close(side->socket);
	rdma_rig_fini(&side->rig);
	return 0;
}

static void side_notify(struct side *side, char command)
{
	CHECK(send(side->socket, &command, 1, 0) == 1);
}

static void hear(struct side *side, char command)
{
	char answer;

	CHECK(recv(side->socket, &answer, 1, 0) == 1 && answer == command);
}

#define WAIT(condition) RDMA_RIG_WAIT(&side->rig, NULL, condition)

static void a_large_message_and_back(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *src = rig_source(rig, 100, LARGE), *there = rig_remote_source(rig, 0, LARGE),
			*here = rig_room(rig, 4096, LARGE);
	uint8_t *sent = malloc(LARGE);

	memcpy(sent, rig->memory + 100, LARGE);
	CHECK_OK(rig_send(rig, side->connection, src, 0)); /* before the receive is posted */
	side_notify(side, 'r');
	hear(side, 'r');
	side_notify(side, 'w');
	WAIT(rig->num_good == 1);
	hear(side, 'w');
	CHECK_OK(rig_read(rig, side->connection, there, here, 1));
	WAIT(rig->num_good == 2);
	assert_memory_equal(rig->memory + 4096, sent, LARGE);
	free(sent);
	rig_put(src);
	rig_put(there);
	rig_put(here);
}

/* One-sided operations work once the connection is established: the peer's agent serves it, without progress of the peer's
 * program. */
static void one_sided_while_the_peer_is_stopped(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *src = rig_source(rig, 0, 65536), *into = rig_remote_room(rig, 1 << 20, 65536);
	struct doca_buf *from = rig_remote_source(rig, 1 << 20, 65536), *here = rig_room(rig, 1 << 20, 65536);
	struct doca_buf *word = rig_remote_source(rig, 2 << 20, 8), *result = rig_room(rig, 2 << 20, 8);
	uint64_t value;
	int status;

	CHECK_OK(rig_add(rig, side->connection, word, result, 0, 9));
	WAIT(rig->num_good == 1);
	CHECK(kill(side->peer, SIGSTOP) == 0);
	CHECK(waitpid(side->peer, &status, WUNTRACED) == side->peer && WIFSTOPPED(status));
	CHECK_OK(rig_write(rig, side->connection, src, into, 0));
	CHECK_OK(rig_read(rig, side->connection, from, here, 1));
	CHECK_OK(rig_add(rig, side->connection, word, result, 5, 2));
	peer_continue_by_tcp(rig, side->peer);
	WAIT(rig->num_good == 4);
	assert_memory_equal(rig->memory + (1 << 20), rig->memory, 65536);
	memcpy(&value, rig->memory + (2 << 20), 8);
	CHECK_OK(rig_cas(rig, side->connection, word, result, value + 5, 77, 3));
	WAIT(rig->num_good == 5);
	CHECK_OK(rig_add(rig, side->connection, word, result, 0, 4));
	WAIT(rig->num_good == 6);
	memcpy(&value, rig->memory + (2 << 20), 8);
	assert_int_equal(value, 77);
	CHECK(kill(side->peer, SIGCONT) == 0);
	rig_put(src);
	rig_put(into);
	rig_put(from);
	rig_put(here);
	rig_put(word);
	rig_put(result);
}

static void atomics_against_the_peers_own(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *word = rig_remote_source(rig, 0, 8), *result = rig_room(rig, 0, 8);
	uint64_t before, after;

	CHECK_OK(rig_add(rig, side->connection, word, result, 0, 0));
	WAIT(rig->num_good == 1);
	memcpy(&before, rig->memory, 8);
	side_notify(side, 'a');
	rig->resubmits = ADDS - 1;
	CHECK_OK(rig_add(rig, side->connection, word, result, 1, 0));
	WAIT(rig->num_good == 1 + ADDS);
	hear(side, 'a');
	CHECK_OK(rig_add(rig, side->connection, word, result, 0, 0));
	WAIT(rig->num_good == 2 + ADDS);
	memcpy(&after, rig->memory, 8);
	assert_int_equal(after - before, 2 * ADDS);
	rig_put(word);
	rig_put(result);
}

static void expect_the_end(struct side *side, doca_error_t status)
{
	struct rdma_rig *rig = &side->rig;

	WAIT(rig->state == DOCA_CTX_STATE_IDLE);
	assert_true(rig->num_failed > 0);
	assert_int_equal(rig->status, status);
}

static void a_peer_that_is_killed_with_a_send_waiting(void **state)
{
	struct side *side = *state;

	CHECK_OK(rig_send(&side->rig, side->connection, NULL, 0));
	CHECK_OK(rig_send(&side->rig, side->connection, NULL, 1));
	CHECK(kill(side->peer, SIGKILL) == 0);
	expect_the_end(side, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(side->rig.num_failed, 2);
	assert_int_equal(side->rig.statuses[1], DOCA_ERROR_BAD_STATE);
}

static void a_peer_that_is_killed_under_writes(void **state)
{
	struct side *side = *state;
	struct doca_buf *word = rig_remote_source(&side->rig, 0, 8), *result = rig_room(&side->rig, 0, 8);

	side->rig.resubmits = UINT32_MAX;
	CHECK_OK(rig_add(&side->rig, side->connection, word, result, 1, 0));
	WAIT(side->rig.num_good > 100);
	CHECK(kill(side->peer, SIGKILL) == 0);
	expect_the_end(side, DOCA_ERROR_CONNECTION_ABORTED);
	rig_put(word);
	rig_put(result);
}

static void a_peer_that_ends_its_memory_map_under_writes(void **state)
{
	struct side *side = *state;
	struct doca_buf *word = rig_remote_source(&side->rig, 0, 8), *result = rig_room(&side->rig, 0, 8);

	side->rig.resubmits = UINT32_MAX;
	CHECK_OK(rig_add(&side->rig, side->connection, word, result, 1, 0));
	WAIT(side->rig.num_good > 100);
	side_notify(side, 'm');
	expect_the_end(side, DOCA_ERROR_CONNECTION_ABORTED);
	hear(side, 'm');
	rig_put(word);
	rig_put(result);
}

static void a_peer_that_stops_its_instance(void **state)
{
	struct side *side = *state;

	CHECK_OK(rig_send(&side->rig, side->connection, NULL, 0));
	side_notify(side, 'q');
	expect_the_end(side, DOCA_ERROR_CONNECTION_ABORTED);
}

/* Sleeps on the handle, both for a receive and for the retries of a send. */
static void event_driven(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};
	uint32_t sleeps = 0;

	CHECK_OK(doca_pe_get_notification_handle(rig->pe, &handle));
	fd.fd = (int)handle;
	CHECK_OK(rig_send_imm(rig, side->connection, NULL, 9, 0));
	side_notify(side, 'r');
	while (rig->num_good == 0) {
		while (doca_pe_progress(rig->pe) != 0)
			;
		if (rig->num_good != 0)
			break;
		CHECK_OK(doca_pe_request_notification(rig->pe));
		CHECK(poll(&fd, 1, RIG_WAIT_S * 1000) == 1);
		CHECK_OK(doca_pe_clear_notification(rig->pe, handle));
		CHECK(++sleeps < 1000000);
	}
	hear(side, 'r');
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		peer_run(atoi(argv[1]));
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_large_message_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(one_sided_while_the_peer_is_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(atomics_against_the_peers_own, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_is_killed_with_a_send_waiting, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_is_killed_under_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_ends_its_memory_map_under_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_stops_its_instance, setup, teardown),
		cmocka_unit_test_setup_teardown(event_driven, setup, teardown),
	};

	return cmocka_run_group_tests_name("rdma between processes", tests, NULL, NULL);
}
