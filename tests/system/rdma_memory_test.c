/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other processes under RDMA: exports that end while peers use them, and memory exported over PCI as the local operand
 * of tasks. The two peers are this program again; they obey one-byte commands on a socket, and answer each with one byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(bool good, const char *what, int line)
{
	if (good)
		return;
	fprintf(stderr, "line %d of the test: %s\n", line, what);
	_exit(1);
}

#define CHECK(condition) check(condition, #condition, __LINE__)

#include "support/rdma_rig.h"

#define SIZE (8 << 20)
#define LARGE (4 << 20)
#define LARGE_AT 4000 /* where it is written in a peer's memory: not at a page */
#define PAGES_SIZE (1 << 20)
#define DETAILS_MAX 4096
#define PEERS 2

enum export { EXPORT_DETAILS, EXPORT_RDMA, EXPORT_PAGES, EXPORT_READ_ONLY, EXPORT_ODD, EXPORTS };

struct introduction {
	size_t len[EXPORTS];
	uint8_t bytes[EXPORTS][DETAILS_MAX];
};

/* The pattern of everybody's memory; what is sent and written is another. */
static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 7 + (i >> 13));
}

/* ---- the peer ---- */

struct peer {
	struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	uint8_t *pages;
	struct doca_mmap *exported[EXPORTS];
	int socket;
};

static struct doca_mmap *make_mmap(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	OK(doca_mmap_create(&mmap));
	OK(doca_mmap_set_memrange(mmap, addr, len));
	OK(doca_mmap_set_permissions(mmap, permissions));
	OK(doca_mmap_add_dev(mmap, dev));
	OK(doca_mmap_start(mmap));
	return mmap;
}

static void put(struct introduction *introduction, enum export which, const void *bytes, size_t len)
{
	CHECK(len <= DETAILS_MAX);
	introduction->len[which] = len;
	memcpy(introduction->bytes[which], bytes, len);
}

static void export_pci(struct peer *peer, struct introduction *mine, enum export which, void *addr, size_t len, uint32_t right)
{
	const void *descriptor;
	size_t descriptor_len;

	peer->exported[which] = make_mmap(peer->rig.dev, addr, len, right);
	OK(doca_mmap_export_pci(peer->exported[which], peer->rig.dev, &descriptor, &descriptor_len));
	put(mine, which, descriptor, descriptor_len);
}

static void introduce(struct peer *peer)
{
	static struct introduction mine;
	static uint8_t theirs[DETAILS_MAX];
	const void *bytes;
	size_t len;

	OK(doca_rdma_export(peer->rig.rdma, &bytes, &len, &peer->connection));
	put(&mine, EXPORT_DETAILS, bytes, len);
	OK(doca_mmap_export_rdma(peer->rig.mmap, peer->rig.dev, &bytes, &len));
	put(&mine, EXPORT_RDMA, bytes, len);
	export_pci(peer, &mine, EXPORT_PAGES, peer->pages, PAGES_SIZE, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	export_pci(peer, &mine, EXPORT_READ_ONLY, peer->pages, PAGES_SIZE, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	export_pci(peer, &mine, EXPORT_ODD, peer->rig.memory + 1, 5000, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	CHECK(send(peer->socket, &mine, sizeof(mine), 0) == sizeof(mine));
	CHECK(recv(peer->socket, &len, sizeof(len), MSG_WAITALL) == sizeof(len) && len <= DETAILS_MAX);
	CHECK(recv(peer->socket, theirs, len, MSG_WAITALL) == (ssize_t)len);
	OK(doca_rdma_connect(peer->rig.rdma, theirs, len, peer->connection));
}

/* The written range holds what was written, all else is as it was. */
static bool memory_is_right(const struct peer *peer)
{
	bool right = true;

	for (size_t i = 0; i < SIZE; i++)
		right &= peer->rig.memory[i] ==
			 (i >= LARGE_AT && i < LARGE_AT + LARGE ? (uint8_t)~pattern(i - LARGE_AT) : pattern(i));
	return right;
}

static void stop_and_start(struct peer *peer)
{
	const void *descriptor;
	size_t len;

	OK(doca_mmap_stop(peer->rig.mmap));
	CHECK(memory_is_right(peer));
	OK(doca_mmap_start(peer->rig.mmap));
	OK(doca_mmap_export_rdma(peer->rig.mmap, peer->rig.dev, &descriptor, &len));
}

static void obey(struct peer *peer, char command)
{
	struct rdma_rig *rig = &peer->rig;

	switch (command) {
	case 's':
		stop_and_start(peer);
		break;
	case 'm':
		OK(doca_mmap_destroy(peer->exported[EXPORT_PAGES]));
		peer->exported[EXPORT_PAGES] = NULL;
		break;
	case 'p':
		for (size_t sent = 0; sent < PAGES_SIZE;
		     sent += (size_t)write(peer->socket, peer->pages + sent, PAGES_SIZE - sent))
			;
		return;
	case 'r':
		OK(rig_receive(rig, rig_room(rig, 0, PAGES_SIZE), 0));
		break;
	case 'w':
		RDMA_RIG_WAIT(rig, NULL, rig->num_received == 1);
		CHECK(rig->len == PAGES_SIZE);
		break;
	case 't': /* a short message and a long one */
		OK(rig_send(rig, peer->connection, rig_source(rig, 0, 40), 0));
		OK(rig_send(rig, peer->connection, rig_source(rig, 40, 100000), 0));
		RDMA_RIG_WAIT(rig, NULL, rig->num_ended == 2);
		break;
	default:
		CHECK(!"a command");
	}
	CHECK(send(peer->socket, &command, 1, 0) == 1);
}

static void peer_run(int socket)
{
	static struct peer peer;
	char command;

	alarm(120);
	peer.socket = socket;
	rdma_rig_prepare(&peer.rig, 0, SIZE, RIG_ALL, RIG_ALL);
	peer.pages = mmap(NULL, PAGES_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(peer.pages != MAP_FAILED);
	for (size_t i = 0; i < SIZE; i++)
		peer.rig.memory[i] = pattern(i);
	for (size_t i = 0; i < PAGES_SIZE; i++)
		peer.pages[i] = pattern(i);
	rdma_rig_start(&peer.rig);
	introduce(&peer);
	while (recv(socket, &command, 1, 0) == 1 && command != 'q')
		obey(&peer, command);
	(void)doca_ctx_stop(peer.rig.ctx);
	RDMA_RIG_WAIT(&peer.rig, NULL, peer.rig.state == DOCA_CTX_STATE_IDLE);
	_exit(0);
}

/* ---- this side ---- */

struct other {
	int socket;
	pid_t pid;
	struct introduction introduction;
	struct doca_rdma_connection *connection;
	struct doca_mmap *memory; /* its own, for RDMA */
	uint8_t *at;
};

struct side {
	struct rdma_rig rig;
	struct other others[PEERS];
	struct doca_mmap *pages; /* the second's, over PCI */
	uint8_t *pages_at;
};

static void start_peer(struct other *other)
{
	int sockets[2];
	char number[16];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	fflush(NULL);
	other->pid = fork();
	CHECK(other->pid >= 0);
	if (other->pid == 0) {
		close(sockets[0]);
		snprintf(number, sizeof(number), "%d", sockets[1]);
		execl("/proc/self/exe", "peer", number, (char *)NULL);
		_exit(1);
	}
	close(sockets[1]);
	other->socket = sockets[0];
}

static struct doca_mmap *import(struct side *side, const struct other *other, enum export which, uint8_t **at)
{
	struct doca_mmap *mmap;
	void *addr;
	size_t size;

	OK(doca_mmap_create_from_export(NULL, other->introduction.bytes[which], other->introduction.len[which], side->rig.dev,
					&mmap));
	OK(doca_mmap_get_memrange(mmap, &addr, &size));
	*at = addr;
	return mmap;
}

static void meet(struct side *side, struct other *other)
{
	const void *details;
	size_t len;

	CHECK(recv(other->socket, &other->introduction, sizeof(other->introduction), MSG_WAITALL) == sizeof(other->introduction));
	OK(doca_rdma_export(side->rig.rdma, &details, &len, &other->connection));
	CHECK(send(other->socket, &len, sizeof(len), 0) == sizeof(len));
	CHECK(send(other->socket, details, len, 0) == (ssize_t)len);
	OK(doca_rdma_connect(side->rig.rdma, other->introduction.bytes[EXPORT_DETAILS], other->introduction.len[EXPORT_DETAILS],
			     other->connection));
	other->memory = import(side, other, EXPORT_RDMA, &other->at);
}

static int setup(void **state)
{
	static struct side side;

	memset(&side, 0, sizeof(side));
	for (int i = 0; i < PEERS; i++)
		start_peer(&side.others[i]);
	rdma_rig_prepare(&side.rig, 0, SIZE, RIG_ALL, RIG_ALL);
	OK(doca_rdma_set_max_num_connections(side.rig.rdma, PEERS));
	for (size_t i = 0; i < SIZE; i++)
		side.rig.memory[i] = (uint8_t)~pattern(i);
	rdma_rig_start(&side.rig);
	for (int i = 0; i < PEERS; i++)
		meet(&side, &side.others[i]);
	side.pages = import(&side, &side.others[1], EXPORT_PAGES, &side.pages_at);
	*state = &side;
	return 0;
}

static int teardown(void **state)
{
	struct side *side = *state;

	for (int i = 0; i < PEERS; i++) {
		int status;

		CHECK(send(side->others[i].socket, "q", 1, MSG_NOSIGNAL) == 1);
		CHECK(waitpid(side->others[i].pid, &status, 0) == side->others[i].pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		close(side->others[i].socket);
		OK(doca_mmap_destroy(side->others[i].memory));
	}
	OK(doca_mmap_destroy(side->pages));
	rdma_rig_fini(&side->rig);
	return 0;
}

static void tell(struct other *other, char command)
{
	CHECK(send(other->socket, &command, 1, 0) == 1);
}

static void hear(struct other *other, char command)
{
	char answer;

	CHECK(recv(other->socket, &answer, 1, 0) == 1 && answer == command);
}

static struct doca_buf *buf_of(struct side *side, struct doca_mmap *mmap, uint8_t *at, size_t len, bool data)
{
	struct doca_buf *buf;

	if (data)
		OK(doca_buf_inventory_buf_get_by_data(side->rig.inventory, mmap, at, len, &buf));
	else
		OK(doca_buf_inventory_buf_get_by_addr(side->rig.inventory, mmap, at, len, &buf));
	return buf;
}

#define WAIT(condition) RDMA_RIG_WAIT(&side->rig, NULL, condition)

/* ---- an export that ends ---- */

static void an_export_that_ends_under_large_writes(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *stopping = &side->others[0], *staying = &side->others[1];
	struct doca_buf *src = rig_source(rig, 0, LARGE);
	struct doca_buf *dst = buf_of(side, stopping->memory, stopping->at + LARGE_AT, LARGE, false);
	struct doca_buf *also = buf_of(side, staying->memory, staying->at + LARGE_AT, LARGE, false);
	uint32_t num = 1;

	OK(rig_write(rig, stopping->connection, src, dst, 0));
	WAIT(rig->num_good == 1);
	tell(stopping, 's');
	while (rig->num_failed == 0) {
		OK(doca_buf_reset_data_len(dst));
		OK(rig_write(rig, stopping->connection, src, dst, 0));
		num++;
		WAIT(rig->num_ended == num);
	}
	hear(stopping, 's'); /* it has looked at its memory */
	assert_int_equal(rig->status, DOCA_ERROR_CONNECTION_ABORTED);
	OK(rig_write(rig, staying->connection, src, also, 1));
	WAIT(rig->num_ended == num + 1);
	assert_int_equal(rig->num_failed, 1);
	assert_int_equal(rig->state, DOCA_CTX_STATE_RUNNING);
	rig_put(src);
	rig_put(dst);
	rig_put(also);
}

/* Bytes at the edges, which the owner's agent reaches for us where process_vm_writev may not. */
static void an_export_that_has_ended(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *stopping = &side->others[0];
	struct doca_buf *src = rig_source(rig, 0, LARGE), *here = rig_room(rig, LARGE, 16);
	struct doca_buf *dst = buf_of(side, stopping->memory, stopping->at + LARGE_AT, LARGE, false);
	struct doca_buf *edge = buf_of(side, stopping->memory, stopping->at, 16, true);

	OK(rig_write(rig, stopping->connection, src, dst, 0));
	WAIT(rig->num_good == 1);
	tell(stopping, 's');
	hear(stopping, 's');
	OK(rig_read(rig, stopping->connection, edge, here, 0));
	WAIT(rig->num_failed == 1);
	assert_int_equal(rig->status, DOCA_ERROR_CONNECTION_ABORTED);
	rig_put(src);
	rig_put(here);
	rig_put(dst);
	rig_put(edge);
}

/* ---- the local operand in another process ---- */

static void look_at_pages(struct side *side, uint8_t *copy)
{
	tell(&side->others[1], 'p');
	CHECK(recv(side->others[1].socket, copy, PAGES_SIZE, MSG_WAITALL) == PAGES_SIZE);
}

static void sent_and_written_from_there(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *src = buf_of(side, side->pages, side->pages_at, PAGES_SIZE, true);
	struct doca_buf *dst = buf_of(side, peer->memory, peer->at + PAGES_SIZE, PAGES_SIZE, false);
	struct doca_buf *from = buf_of(side, peer->memory, peer->at, 2 * PAGES_SIZE, true),
			*here = rig_room(rig, 0, 2 * PAGES_SIZE);

	tell(peer, 'r');
	hear(peer, 'r');
	OK(rig_send(rig, peer->connection, src, 0));
	OK(rig_write(rig, peer->connection, src, dst, 1));
	tell(peer, 'w');
	WAIT(rig->num_good == 2);
	hear(peer, 'w');
	OK(rig_read(rig, peer->connection, from, here, 2));
	WAIT(rig->num_good == 3);
	for (size_t i = 0; i < PAGES_SIZE; i++) {
		CHECK(rig->memory[i] == pattern(i));
		CHECK(rig->memory[PAGES_SIZE + i] == pattern(i));
	}
	rig_put(src);
	rig_put(dst);
	rig_put(from);
	rig_put(here);
}

static void read_into_there(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *from = buf_of(side, peer->memory, peer->at + 5, 70000, true);
	struct doca_buf *word = buf_of(side, peer->memory, peer->at + 8 * 1000, 8, true);
	struct doca_buf *first = rig_room(rig, 0, 100), *list = buf_of(side, side->pages, side->pages_at + 3, 69900, false);
	struct doca_buf *result = buf_of(side, side->pages, side->pages_at + 80000, 8, false);
	uint8_t *copy = malloc(PAGES_SIZE);

	OK(doca_buf_chain_list(first, list)); /* half here, half there */
	OK(rig_read(rig, peer->connection, from, first, 0));
	OK(rig_add(rig, peer->connection, word, result, 1, 1));
	WAIT(rig->num_good == 2);
	look_at_pages(side, copy);
	for (size_t i = 0; i < 69900; i++)
		CHECK(copy[3 + i] == pattern(5 + 100 + i));
	for (size_t i = 0; i < 8; i++)
		CHECK(copy[80000 + i] == pattern(8000 + i));
	CHECK(copy[2] == pattern(2) && copy[3 + 69900] == pattern(3 + 69900));
	free(copy);
	rig_put(from);
	rig_put(word);
	rig_put(first);
	rig_put(result);
}

static void received_into_there(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *first = buf_of(side, side->pages, side->pages_at + 1000, 50, false);
	struct doca_buf *second = buf_of(side, side->pages, side->pages_at + 5000, 100000, false);
	uint8_t *copy = malloc(PAGES_SIZE);

	OK(rig_receive(rig, first, 0));
	OK(rig_receive(rig, second, 1));
	tell(peer, 't');
	WAIT(rig->num_received == 2);
	hear(peer, 't');
	look_at_pages(side, copy);
	for (size_t i = 0; i < 40; i++)
		CHECK(copy[1000 + i] == pattern(i));
	for (size_t i = 0; i < 100000; i++)
		CHECK(copy[5000 + i] == pattern(40 + i));
	CHECK(copy[1040] == pattern(1040) && copy[4999] == pattern(4999) && copy[105000] == pattern(105000));
	free(copy);
	rig_put(first);
	rig_put(second);
}

/* As a DPU offers its host's memory to the network: the writer reaches that process itself. */
static void written_there_by_what_was_passed_on(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *src = rig_source(rig, 0, 70000), *dst;
	struct doca_mmap *remote;
	const void *descriptor;
	size_t len;
	uint8_t *copy = malloc(PAGES_SIZE);

	OK(doca_mmap_export_rdma(side->pages, rig->dev, &descriptor, &len));
	OK(doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &remote));
	dst = buf_of(side, remote, side->pages_at + 11, 70000, false);
	OK(rig_write(rig, side->others[1].connection, src, dst, 0));
	WAIT(rig->num_good == 1);
	look_at_pages(side, copy);
	assert_memory_equal(copy + 11, rig->memory, 70000);
	CHECK(copy[10] == pattern(10) && copy[70011] == pattern(70011));
	free(copy);
	rig_put(src);
	rig_put(dst);
	OK(doca_mmap_destroy(remote));
}

static void what_cannot_be_local(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	uint8_t *odd_at, *read_only_at;
	struct doca_mmap *odd = import(side, peer, EXPORT_ODD, &odd_at);
	struct doca_mmap *read_only = import(side, peer, EXPORT_READ_ONLY, &read_only_at);
	struct doca_buf *unmapped = buf_of(side, odd, odd_at, 100, true),
			*network = buf_of(side, peer->memory, peer->at, 100, true);
	struct doca_buf *unwritable = buf_of(side, read_only, read_only_at, 100, false);
	struct doca_buf *source = buf_of(side, read_only, read_only_at, 100, true);

	assert_int_equal(rig_send(rig, peer->connection, unmapped, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(rig_send(rig, peer->connection, network, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_receive(rig, network, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_read(rig, peer->connection, network, unwritable, 0), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(rig_receive(rig, unwritable, 0), DOCA_ERROR_NOT_PERMITTED);
	tell(peer, 'r');
	hear(peer, 'r');
	OK(rig_send(rig, peer->connection, source, 0)); /* what may be read can be sent */
	WAIT(rig->num_good == 1);
	rig_put(unmapped);
	rig_put(network);
	rig_put(unwritable);
	rig_put(source);
	OK(doca_mmap_destroy(odd));
	OK(doca_mmap_destroy(read_only));
}

static void its_owner_ends_it(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *room = buf_of(side, side->pages, side->pages_at, 100, false);
	struct doca_buf *source = buf_of(side, side->pages, side->pages_at, 100, true);

	OK(rig_receive(rig, room, 0)); /* posted before the end */
	tell(&side->others[1], 'm');
	hear(&side->others[1], 'm');
	assert_int_equal(rig_send(rig, side->others[0].connection, source, 0), DOCA_ERROR_IO_FAILED);
	assert_int_equal(rig_receive(rig, room, 0), DOCA_ERROR_IO_FAILED);
	tell(&side->others[0], 't');
	WAIT(rig->num_failed == 1);
	assert_int_equal(rig->status, DOCA_ERROR_IO_FAILED);
	struct doca_buf *second = rig_room(rig, 0, 100000);
	OK(rig_receive(rig, second, 1));
	WAIT(rig->num_received == 1);
	hear(&side->others[0], 't');
	rig_put(room);
	rig_put(source);
	rig_put(second);
}

/* As on an RDMA device. */
static void where_nothing_is_mapped(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct other *peer = &side->others[0];
	struct doca_buf *src = buf_of(side, side->pages, side->pages_at, PAGES_SIZE, true);
	struct doca_buf *from = buf_of(side, peer->memory, peer->at, PAGES_SIZE, true);
	struct doca_buf *here = rig_room(rig, 0, PAGES_SIZE), *there = buf_of(side, side->pages, side->pages_at, PAGES_SIZE, false);

	assert_int_equal(rig_send(rig, peer->connection, src, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(rig_read(rig, peer->connection, from, there, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(rig_receive(rig, there, 0), DOCA_ERROR_NOT_SUPPORTED);
	OK(rig_read(rig, peer->connection, from, here, 1)); /* the connection goes on */
	WAIT(rig->num_good == 1);
	rig_put(src);
	rig_put(from);
	rig_put(here);
	rig_put(there);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		peer_run(atoi(argv[1]));
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_export_that_ends_under_large_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(an_export_that_has_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(sent_and_written_from_there, setup, teardown),
		cmocka_unit_test_setup_teardown(read_into_there, setup, teardown),
		cmocka_unit_test_setup_teardown(received_into_there, setup, teardown),
		cmocka_unit_test_setup_teardown(written_there_by_what_was_passed_on, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_local, setup, teardown),
		cmocka_unit_test_setup_teardown(its_owner_ends_it, setup, teardown),
	};

	const struct CMUnitTest unmapped_tests[] = {
		cmocka_unit_test_setup_teardown(an_export_that_ends_under_large_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(an_export_that_has_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(where_nothing_is_mapped, setup, teardown),
	};
	const char *fabric = getenv("SOFTFIELD_FABRIC");

	if (fabric != NULL && strcmp(fabric, "verbs") == 0)
		return cmocka_run_group_tests_name("rdma with others' memory, not mapped", unmapped_tests, NULL, NULL);
	return cmocka_run_group_tests_name("rdma with others' memory", tests, NULL, NULL);
}
