/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA by the API of DOCA 2.5 between two processes. The peer is this program again; it posts receives, and stops when the socket
 * closes. Reads of its memory show what it received.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "legacy25/rig.h"

#define DETAILS_MAX 4096
#define RECEIVES 3
#define RECEIVE_AT 4096 /* offset of the first one; each next one is as far behind */
#define WORD_AT 1024
#define EVENT_VALUE 40

/* What the sides send each other over a socket. */
struct introduction {
	size_t details_size, mmap_size, event_size;
	uint8_t details[DETAILS_MAX], mmap[DETAILS_MAX], event[DETAILS_MAX];
};

struct side {
	struct rig rig;
	struct doca_sync_event *event;		   /* the peer's event */
	struct doca_sync_event_remote_net *remote; /* the same event, imported here */
	int socket;
	pid_t peer;
};

static void put(uint8_t place[DETAILS_MAX], size_t *size, const void *bytes, size_t len)
{
	CHECK(len <= DETAILS_MAX);
	memcpy(place, bytes, len);
	*size = len;
}

static void introduce(struct side *side, struct introduction *theirs)
{
	static struct introduction mine;
	const uint8_t *event;
	const void *bytes;
	size_t size;

	CHECK_OK(doca_rdma_export(side->rig.rdma, &bytes, &size));
	put(mine.details, &mine.details_size, bytes, size);
	CHECK_OK(doca_mmap_export_rdma(side->rig.mmap, side->rig.dev, &bytes, &size));
	put(mine.mmap, &mine.mmap_size, bytes, size);
	if (side->event != NULL) {
		CHECK_OK(doca_sync_event_export_to_remote_net(side->event, &event, &size));
		put(mine.event, &mine.event_size, event, size);
	}
	CHECK(send(side->socket, &mine, sizeof(mine), 0) == sizeof(mine));
	CHECK(recv(side->socket, theirs, sizeof(*theirs), MSG_WAITALL) == sizeof(*theirs));
}

static void open_side(struct side *side, uint32_t device)
{
	static struct introduction theirs;

	rig_prepare(&side->rig, device);
	CHECK(doca_ctx_start(side->rig.ctx) == DOCA_ERROR_IN_PROGRESS);
	introduce(side, &theirs);
	CHECK_OK(doca_rdma_connect(side->rig.rdma, theirs.details, theirs.details_size));
	RIG_WAIT(&side->rig, NULL, rig_state(&side->rig) == DOCA_CTX_STATE_RUNNING);
	rig_import(&side->rig, theirs.mmap, theirs.mmap_size);
	if (theirs.event_size != 0)
		CHECK_OK(doca_sync_event_remote_net_create_from_export(side->rig.dev, theirs.event, theirs.event_size,
								       &side->remote));
}

/* ---- the peer ---- */

static void open_event(struct side *side)
{
	side->rig.dev = test_dev_open(1);
	CHECK_OK(doca_sync_event_create(&side->event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(side->event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(side->event, side->rig.dev));
	CHECK_OK(doca_sync_event_start(side->event));
	CHECK_OK(doca_sync_event_update_set(side->event, EVENT_VALUE));
}

static void peer_run(int socket)
{
	static struct side side;
	struct doca_dev *dev;
	char ready = 'r';

	alarm(120);
	side.socket = socket;
	open_event(&side);
	dev = side.rig.dev;
	open_side(&side, 1);
	for (uint32_t i = 0; i < RECEIVES; i++)
		rig_receive(&side.rig, rig_room(&side.rig, RECEIVE_AT * (i + 1), 64));
	CHECK(send(socket, &ready, 1, 0) == 1);
	while (recv(socket, &ready, 1, MSG_DONTWAIT) != 0) {
		(void)doca_pe_progress(side.rig.pe);
		/* Puts the immediate of the last receive where the other side reads it. */
		memcpy(side.rig.memory, &side.rig.immediate, sizeof(side.rig.immediate));
		__atomic_store_n(&side.rig.memory[8], (uint8_t)side.rig.num_received, __ATOMIC_RELEASE);
		side.rig.memory[9] = (uint8_t)side.rig.opcode;
	}
	rig_end(&side.rig);
	CHECK_OK(doca_sync_event_stop(side.event));
	CHECK_OK(doca_sync_event_destroy(side.event));
	CHECK_OK(doca_dev_close(dev));
	exit(0);
}

/* ---- this side ---- */

static int setup(void **state)
{
	static struct side side;
	int sockets[2];
	char ready;

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
	CHECK(recv(side.socket, &ready, 1, 0) == 1);
	*state = &side;
	return 0;
}

static int teardown(void **state)
{
	struct side *side = *state;
	int status;

	CHECK_OK(doca_sync_event_remote_net_destroy(side->remote));
	rig_end(&side->rig);
	close(side->socket);
	CHECK(waitpid(side->peer, &status, 0) == side->peer);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return 0;
}

/* Reads len bytes of the peer's memory to offset 32768 of ours. */
static const uint8_t *peer_memory(struct rig *rig, size_t offset, size_t len)
{
	RIG_SUBMIT(rig, read, rig_remote_data(rig, offset, len), rig_room(rig, 32768, len));
	RIG_WAIT(rig, NULL, rig->num_good == rig->num_submitted); /* those before it, too */
	CHECK(rig->len == len && rig->num_failed == 0);
	return rig->memory + 32768;
}

static uint64_t peer_word(struct rig *rig)
{
	uint64_t word;

	memcpy(&word, peer_memory(rig, WORD_AT, sizeof(word)), sizeof(word));
	return word;
}

/* Waits until the peer has received that many messages, and returns what it stored about the last. */
static const uint8_t *peer_received(struct rig *rig, uint8_t num)
{
	time_t begin = time(NULL);
	struct doca_buf *from = rig_remote_data(rig, 0, 16), *to = rig_room(rig, 40000, 16);

	for (;;) {
		CHECK_OK(doca_buf_reset_data_len(to));
		RIG_SUBMIT(rig, read, from, to);
		RIG_WAIT(rig, NULL, rig->num_good == rig->num_submitted);
		if (rig->memory[40008] == num)
			return rig->memory + 40000;
		CHECK(time(NULL) - begin < RIG_WAIT_S);
	}
}

static void messages(void **state)
{
	struct rig *rig = &((struct side *)*state)->rig;
	const uint8_t *received;
	doca_be32_t immediate = htonl(0x11223344);

	memcpy(rig->memory, "of release 2.5", 14);
	RIG_SUBMIT(rig, send, rig_data(rig, 0, 14));
	RIG_WAIT(rig, NULL, rig->num_good == 1);
	received = peer_received(rig, 1);
	CHECK(received[9] == DOCA_RDMA_OPCODE_RECV_SEND);
	CHECK(memcmp(peer_memory(rig, RECEIVE_AT, 14), "of release 2.5", 14) == 0);
	RIG_SUBMIT(rig, send_imm, rig_data(rig, 0, 2), immediate);
	received = peer_received(rig, 2);
	CHECK(received[9] == DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM && memcmp(received, &immediate, 4) == 0);
	immediate = htonl(7);
	RIG_SUBMIT(rig, write_imm, rig_data(rig, 3, 7), rig_remote_room(rig, 2048, 64), immediate);
	received = peer_received(rig, 3);
	CHECK(received[9] == DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM && memcmp(received, &immediate, 4) == 0);
	CHECK(memcmp(peer_memory(rig, 2048, 7), "release", 7) == 0);
	CHECK(rig->num_failed == 0);
}

static void writes_and_atomics(void **state)
{
	struct rig *rig = &((struct side *)*state)->rig;
	uint64_t word = 100, before;

	memcpy(rig->memory, &word, sizeof(word));
	RIG_SUBMIT(rig, write, rig_data(rig, 0, sizeof(word)), rig_remote_room(rig, WORD_AT, sizeof(word)));
	CHECK(peer_word(rig) == 100);
	RIG_SUBMIT(rig, atomic_fetch_add, rig_remote_data(rig, WORD_AT, 8), rig_data(rig, 64, 8), 11);
	CHECK(peer_word(rig) == 111);
	memcpy(&before, rig->memory + 64, sizeof(before));
	CHECK(before == 100);
	RIG_SUBMIT(rig, atomic_cmp_swp, rig_remote_data(rig, WORD_AT, 8), rig_data(rig, 64, 8), 111, 5);
	CHECK(peer_word(rig) == 5);
	RIG_SUBMIT(rig, atomic_cmp_swp, rig_remote_data(rig, WORD_AT, 8), rig_data(rig, 64, 8), 111, 6);
	CHECK(peer_word(rig) == 5); /* it was not 111 */
	memcpy(&before, rig->memory + 64, sizeof(before));
	CHECK(before == 5 && rig->num_failed == 0);
}

static void a_remote_sync_event(void **state)
{
	struct side *side = *state;
	struct rig *rig = &side->rig;
	uint64_t value;

	RIG_SUBMIT(rig, remote_net_sync_event_get, side->remote, rig_room(rig, 0, 8));
	RIG_WAIT(rig, NULL, rig->num_good == 1);
	memcpy(&value, rig->memory, sizeof(value));
	CHECK(value == EVENT_VALUE && rig->len == sizeof(value));
	RIG_SUBMIT(rig, remote_net_sync_event_notify_add, side->remote, rig_data(rig, 64, 8), 2);
	RIG_WAIT(rig, NULL, rig->num_good == 2);
	memcpy(&value, rig->memory + 64, sizeof(value));
	CHECK(value == EVENT_VALUE);
	value = 7;
	memcpy(rig->memory + 128, &value, sizeof(value));
	RIG_SUBMIT(rig, remote_net_sync_event_notify_set, side->remote, rig_data(rig, 128, 8));
	RIG_SUBMIT(rig, remote_net_sync_event_get, side->remote, rig_room(rig, 192, 8));
	RIG_WAIT(rig, NULL, rig->num_good == 4);
	memcpy(&value, rig->memory + 192, sizeof(value));
	CHECK(value == 7 && rig->num_failed == 0);
}

/* As the published requester does: one task and one buffer that is never reset. */
static void a_remote_sync_event_is_polled(void **state)
{
	struct side *side = *state;
	struct rig *rig = &side->rig;
	struct doca_rdma_task_remote_net_sync_event_get *get;
	struct doca_buf *into = rig_room(rig, 0, 8);
	uint64_t value;
	size_t len;

	CHECK_OK(doca_rdma_task_remote_net_sync_event_get_allocate_init(rig->rdma, side->remote, into,
									(union doca_data){.u64 = 0}, &get));
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t good = rig->num_good;

		rig->keep = true;
		CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(get)));
		RIG_WAIT(rig, NULL, rig->num_good == good + 1);
		rig->keep = false;
		memcpy(&value, rig->memory, sizeof(value));
		CHECK(value == EVENT_VALUE + i);
		CHECK_OK(doca_buf_get_data_len(into, &len));
		CHECK(len == sizeof(value));
		RIG_SUBMIT(rig, remote_net_sync_event_notify_add, side->remote, rig_data(rig, 64, 8), 1);
		RIG_WAIT(rig, NULL, rig->num_good == good + 2);
	}
	doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(get));
	CHECK(rig->num_failed == 0);
}

static void a_peer_that_is_killed(void **state)
{
	struct side *side = *state;
	struct rig *rig = &side->rig;
	struct doca_buf *buf = rig_data(rig, 0, 8);
	int status;

	kill(side->peer, SIGKILL);
	CHECK(waitpid(side->peer, &status, 0) == side->peer);
	/* One of the next tasks fails because of the peer's death; with its only connection the context ends. */
	while (rig->num_failed == 0 && rig_state(rig) == DOCA_CTX_STATE_RUNNING) {
		uint32_t ended = rig->num_good + rig->num_failed;

		RIG_SUBMIT(rig, send, buf);
		RIG_WAIT(rig, NULL, rig->num_good + rig->num_failed > ended);
	}
	CHECK(rig->status == DOCA_ERROR_CONNECTION_ABORTED);
	RIG_WAIT(rig, NULL, rig_state(rig) == DOCA_CTX_STATE_IDLE);
}

static int teardown_alone(void **state)
{
	struct side *side = *state;

	CHECK_OK(doca_sync_event_remote_net_destroy(side->remote));
	rig_end(&side->rig);
	close(side->socket);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages, setup, teardown),
		cmocka_unit_test_setup_teardown(writes_and_atomics, setup, teardown),
		cmocka_unit_test_setup_teardown(a_remote_sync_event, setup, teardown),
		cmocka_unit_test_setup_teardown(a_remote_sync_event_is_polled, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_is_killed, setup, teardown_alone),
	};

	if (argc == 2)
		peer_run(atoi(argv[1]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
