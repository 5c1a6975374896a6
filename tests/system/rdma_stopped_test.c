/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations while the peer's process is stopped: all of its threads, by SIGSTOP. They access whole pages of malloc
 * memory, and sync events. An operation that needs the peer's program waits until the program continues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <doca_sync_event.h>

#include "support/rdma_peer.h"

#include "support/rdma_pair.h"

#define SIZE (8 << 20)
#define PAGE 4096
#define LONG (5 << 20)
#define CONNECT_ROUNDS 25

struct event_export {
	size_t len;
	uint8_t bytes[PEER_DETAILS_MAX];
};

/* ---- the peer ---- */

static void peer_run(int socket)
{
	static struct rdma_rig rig;
	static struct event_export export;
	struct doca_rdma_connection *connection;
	struct doca_sync_event *event;
	const uint8_t *data;
	uint64_t value;
	char word;

	rdma_rig_prepare(&rig, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	peer_meet(socket, &rig, &connection);
	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event, rig.dev));
	CHECK_OK(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_export_to_remote_net(event, &data, &export.len));
	CHECK(export.len <= sizeof(export.bytes));
	memcpy(export.bytes, data, export.len);
	peer_say(socket, &export, sizeof(export));
	while (!peer_has_said(socket, &word))
		(void)doca_pe_progress(rig.pe);
	if (word == 'r') {
		CHECK_OK(rig_receive(&rig, NULL, 0));
		RDMA_RIG_WAIT(&rig, NULL, rig.num_received == 1);
		CHECK_OK(doca_sync_event_get(event, &value));
		peer_say(socket, &value, sizeof(value));
		peer_hear(socket, &word, 1);
	}
	_exit(0);
}

/* ---- this side ---- */

struct side {
	struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	struct doca_sync_event_remote_net *event;
	struct peer peer;
	size_t page; /* offset of the first whole page in the peer's memory */
};

static struct side side;

#define WAIT(condition) RDMA_RIG_WAIT(&side.rig, NULL, condition)

/* For cases in which the peer stays stopped. By TCP its agent, a thread of its process, executes what others do with its memory.
 */
static void skip_by_tcp(void)
{
	if (provider_is("tcp"))
		skip();
}

static uint64_t number_at(size_t offset)
{
	uint64_t value;

	memcpy(&value, side.rig.memory + offset, sizeof(value));
	return value;
}

/* Connects: the peer's agent has answered, and one operation has completed. */
static int begin(void **state)
{
	struct rdma_rig *rig = &side.rig;
	static struct event_export export;

	(void)state;
	memset(&side, 0, sizeof(side));
	peer_spawn(&side.peer, "peer");
	rdma_rig_prepare(rig, 0, SIZE, RIG_ALL, RIG_ALL);
	for (size_t i = 0; i < SIZE; i++)
		rig->memory[i] = (uint8_t)(i * 31 + (i >> 12));
	rdma_rig_start(rig);
	peer_meet(side.peer.socket, rig, &side.connection);
	peer_hear(side.peer.socket, &export, sizeof(export));
	CHECK_OK(doca_sync_event_remote_net_create_from_export(rig->dev, export.bytes, export.len, &side.event));
	side.page = (PAGE - (uintptr_t)rig->remote_memory % PAGE) % PAGE;
	struct doca_buf *word = rig_remote_source(rig, side.page, 8), *result = rig_room(rig, 0, 8);

	CHECK_OK(rig_add(rig, side.connection, word, result, 0, 0));
	WAIT(rig->num_good == 1);
	rig_put(word);
	rig_put(result);
	process_stop(side.peer.pid);
	return 0;
}

static int end(void **state)
{
	(void)state;
	kill(side.peer.pid, SIGCONT);
	(void)send(side.peer.socket, "q", 1, MSG_NOSIGNAL);
	peer_wait(&side.peer);
	rdma_rig_stop(&side.rig);
	CHECK_OK(doca_sync_event_remote_net_destroy(side.event));
	rdma_rig_fini(&side.rig);
	return 0;
}

/* Writes and reads all lengths up to the largest that fits into whole pages, at varying offsets. */
static void write_and_read(void **state)
{
	static const size_t lens[] = {1, 8, 64, 200, PAGE, PAGE + 1, 65536, 1000001, LONG};
	struct rdma_rig *rig = &side.rig;

	(void)state;
	skip_by_tcp();
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		size_t at = side.page + i * 123;
		struct doca_buf *here = rig_source(rig, 77, lens[i]), *there = rig_remote_room(rig, at, lens[i]);
		struct doca_buf *from = rig_remote_source(rig, at, lens[i]), *back = rig_room(rig, 6 << 20, 2 << 20);
		uint32_t good = rig->num_good;
		bool fits = lens[i] <= 2 << 20;

		CHECK_OK(rig_write(rig, side.connection, here, there, 0));
		if (fits)
			CHECK_OK(rig_read(rig, side.connection, from, back, 1));
		WAIT(rig->num_good == good + 1 + fits);
		if (fits)
			assert_memory_equal(rig->memory + (6 << 20), rig->memory + 77, lens[i]);
		rig_put(here);
		rig_put(there);
		rig_put(from);
		rig_put(back);
	}
}

static void atomics(void **state)
{
	(void)state;
	skip_by_tcp();

	struct rdma_rig *rig = &side.rig;
	struct doca_buf *word = rig_remote_source(rig, side.page + 4088, 8), *result = rig_room(rig, 0, 8);

	for (uint64_t i = 0; i < 100; i++) {
		CHECK_OK(rig_add(rig, side.connection, word, result, 3, 0));
		WAIT(rig->num_good == i + 2);
		assert_int_equal(number_at(0), i * 3);
	}
	CHECK_OK(rig_cas(rig, side.connection, word, result, 299, 1, 0));
	WAIT(rig->num_good == 102);
	assert_int_equal(number_at(0), 300);
	CHECK_OK(rig_cas(rig, side.connection, word, result, 300, 7, 0));
	CHECK_OK(rig_cas(rig, side.connection, word, result, 7, 8, 0));
	WAIT(rig->num_good == 104);
	assert_int_equal(number_at(0), 7);
	rig_put(word);
	rig_put(result);
}

/* The peer reads the new value when it continues. */
static void sync_events(void **state)
{
	(void)state;
	skip_by_tcp();

	struct rdma_rig *rig = &side.rig;
	struct doca_buf *value = rig_source(rig, 0, 8), *result = rig_room(rig, 64, 8), *got = rig_room(rig, 128, 8);
	uint64_t seen;

	memcpy(rig->memory, &(uint64_t){1000}, 8);
	CHECK_OK(rig_event_set(rig, side.connection, side.event, value, 0));
	CHECK_OK(rig_event_add(rig, side.connection, side.event, result, 34, 1));
	CHECK_OK(rig_event_get(rig, side.connection, side.event, got, 2));
	WAIT(rig->num_good == 4);
	assert_int_equal(number_at(64), 1000);
	assert_int_equal(number_at(128), 1034);
	CHECK_OK(
		rig_send(rig, side.connection, NULL, 3)); /* there is no receive: it waits for the program, and nothing is lost */
	peer_notify(side.peer.socket, 'r');
	CHECK(kill(side.peer.pid, SIGCONT) == 0);
	WAIT(rig->num_good == 5);
	peer_hear(side.peer.socket, &seen, sizeof(seen));
	assert_int_equal(seen, 1034);
	rig_put(value);
	rig_put(result);
	rig_put(got);
}

/* A peer that stays stopped does not keep this side from stopping. */
static void stop_while_the_peer_is_stopped(void **state)
{
	struct rdma_rig *rig = &side.rig;

	(void)state;
	CHECK_OK(rig_send(rig, side.connection, NULL, 0));
	CHECK_OK(rig_read(rig, side.connection, NULL, NULL, 1));
	rdma_rig_stop(rig);
	assert_int_equal(rig->num_failed, 2);
	assert_int_equal(rig->status, DOCA_ERROR_BAD_STATE);
}

/* ---- stopped while the connection is established ---- */

static struct peer_introduction mine, theirs;

static void introduce(struct rdma_rig *rig, int socket, struct doca_rdma_connection **connection)
{
	const void *details, *descriptor;

	CHECK_OK(doca_rdma_export(rig->rdma, &details, &mine.details_len, connection));
	CHECK_OK(doca_mmap_export_rdma(rig->mmap, rig->dev, &descriptor, &mine.descriptor_len));
	memcpy(mine.details, details, mine.details_len);
	memcpy(mine.descriptor, descriptor, mine.descriptor_len);
	peer_say(socket, &mine, sizeof(mine));
	peer_hear(socket, &theirs, sizeof(theirs));
}

/* The peer's program only connects. It may connect first or second, or never. */
static void connect_run(int socket, bool connects)
{
	static struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	char word;

	rdma_rig_prepare(&rig, 1, 1 << 20, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	introduce(&rig, socket, &connection);
	peer_hear(socket, &word, 1);
	if (connects)
		CHECK_OK(doca_rdma_connect(rig.rdma, theirs.details, theirs.details_len, connection));
	peer_notify(socket, 'c');
	peer_hear(socket, &word, 1);
	_exit(0);
}

/* The first operation on a connection whose peer is stopped as soon as this side's connect has returned. */
static void connect_stop_and_write(const char *role, bool peer_is_first)
{
	struct rdma_rig *rig = &side.rig;
	size_t at;

	memset(&side, 0, sizeof(side));
	peer_spawn(&side.peer, role);
	rdma_rig_prepare(rig, 0, 1 << 20, RIG_ALL, RIG_ALL);
	rdma_rig_start(rig);
	introduce(rig, side.peer.socket, &side.connection);
	rdma_rig_import(rig, theirs.descriptor, theirs.descriptor_len);
	if (peer_is_first) {
		peer_notify(side.peer.socket, 'c');
		peer_expect(side.peer.socket, 'c');
	}
	CHECK_OK(doca_rdma_connect(rig->rdma, theirs.details, theirs.details_len, side.connection));
	process_stop(side.peer.pid);
	at = (PAGE - (uintptr_t)rig->remote_memory % PAGE) % PAGE;

	struct doca_buf *here = rig_source(rig, 0, 64), *there = rig_remote_room(rig, at, 64);

	CHECK_OK(rig_write(rig, side.connection, here, there, 0));
	WAIT(rig->num_good + rig->num_failed == 1);
	assert_int_equal(rig->num_good, 1);
	rig_put(here);
	rig_put(there);
	peer_kill(&side.peer);
	peer_wait(&side.peer);
	rdma_rig_stop(rig);
	rdma_rig_fini(rig);
}

static void a_reported_connection_needs_no_agent(void **state)
{
	(void)state;
	skip_by_tcp();
	for (int round = 0; round < CONNECT_ROUNDS; round++)
		connect_stop_and_write("silent", false);
	for (int round = 0; round < CONNECT_ROUNDS; round++)
		connect_stop_and_write("connects", true);
}

/* A connection that does not work is not reported: the peer is stopped before it can answer. When it continues, the connection
 * can be established. */
static void connecting_to_a_stopped_peer_fails(void **state)
{
	struct rdma_rig *rig = &side.rig;

	(void)state;
	memset(&side, 0, sizeof(side));
	peer_spawn(&side.peer, "silent");
	rdma_rig_prepare(rig, 0, 1 << 20, RIG_ALL, RIG_ALL);
	rdma_rig_start(rig);
	introduce(rig, side.peer.socket, &side.connection);
	process_stop(side.peer.pid);
	assert_int_equal(doca_rdma_connect(rig->rdma, theirs.details, theirs.details_len, side.connection),
			 DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(kill(side.peer.pid, SIGCONT) == 0);
	CHECK_OK(doca_rdma_connect(rig->rdma, theirs.details, theirs.details_len, side.connection));
	peer_kill(&side.peer);
	peer_wait(&side.peer);
	rdma_rig_stop(rig);
	rdma_rig_fini(rig);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		alarm(PEER_LIFE_S);
		if (strcmp(argv[1], "peer") == 0)
			peer_run(atoi(argv[2]));
		else
			connect_run(atoi(argv[2]), strcmp(argv[1], "connects") == 0);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(write_and_read, begin, end),
		cmocka_unit_test_setup_teardown(atomics, begin, end),
		cmocka_unit_test_setup_teardown(sync_events, begin, end),
		cmocka_unit_test_setup_teardown(stop_while_the_peer_is_stopped, begin, end),
		cmocka_unit_test(a_reported_connection_needs_no_agent),
		cmocka_unit_test(connecting_to_a_stopped_peer_fails),
	};

	return cmocka_run_group_tests_name("rdma and a stopped peer", tests, NULL, NULL);
}
