/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of 2 GiB, the maximum, by write, read and send; to memory from malloc, and to memory that others cannot map and that
 * system calls reach. Skipped if the machine lacks the memory for both processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "support/rdma_peer.h"

#include "support/rdma_pair.h"
#include "support/sanitizers.h"
#include "support/slow.h"

#define LARGEST ((size_t)2 << 30)
#define SPACE (LARGEST + 8192)
#define NEEDED (6L << 30) /* bytes that must be free */
#define STEP 4096	  /* one word in each STEP bytes is compared */

/* Gives the rig new memory. */
static void memory_make(struct rdma_rig *rig, bool shared)
{
	int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;

	rig->memory = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, flags, -1, 0);
	CHECK(rig->memory != MAP_FAILED);
	CHECK_OK(doca_mmap_create(&rig->mmap));
	CHECK_OK(doca_mmap_set_memrange(rig->mmap, rig->memory, SPACE));
	CHECK_OK(doca_mmap_set_permissions(rig->mmap, RIG_ALL));
	CHECK_OK(doca_mmap_add_dev(rig->mmap, rig->dev));
	CHECK_OK(doca_mmap_start(rig->mmap));
}

/* ---- the peer ---- */

static void peer_run(int socket, bool shared)
{
	static struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	struct doca_buf *into;
	char word;

	rdma_rig_prepare(&rig, 1, 4096, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_mmap_destroy(rig.mmap));
	free(rig.memory);
	memory_make(&rig, shared);
	rdma_rig_start(&rig);
	peer_meet(socket, &rig, &connection);
	into = rig_room(&rig, 4, LARGEST);
	CHECK_OK(rig_receive(&rig, into, 0));
	peer_notify(socket, 'p');
	peer_expect(socket, 's');
	RDMA_RIG_WAIT(&rig, NULL, rig.num_received == 1);
	CHECK(rig.len == (uint32_t)LARGEST);
	for (size_t at = 0; at < LARGEST; at += STEP)
		CHECK(*(uint32_t *)(void *)(rig.memory + 4 + at) == (uint32_t)(at / STEP + 2));
	peer_notify(socket, 's');
	peer_hear(socket, &word, 1);
	_exit(0);
}

/* ---- this side ---- */

static void fill(struct rdma_rig *rig, uint32_t from)
{
	for (size_t at = 0; at < LARGEST; at += STEP)
		*(uint32_t *)(void *)(rig->memory + 8 + at) = (uint32_t)(at / STEP) + from;
}

#define WAIT(condition) RDMA_RIG_WAIT(rig, NULL, condition)

/* Neither source nor destination begins at a page boundary. One byte more than the maximum is rejected. */
static void there_and_back(bool shared)
{
	static struct rdma_rig at;
	struct rdma_rig *rig = &at;
	struct doca_rdma_connection *connection;
	struct doca_buf *source, *room, *there, *from, *too_large, *more_room;
	struct doca_mmap *small;
	uint8_t *small_memory;
	struct peer peer;

	/* With AddressSanitizer it shows nothing that a megabyte does not show. */
	if (HAS_ASAN || slow_machine() || sysconf(_SC_AVPHYS_PAGES) < NEEDED / sysconf(_SC_PAGESIZE))
		skip();
	peer_spawn(&peer, shared ? "shared" : "malloc");
	rdma_rig_prepare(rig, 0, 4096, RIG_ALL, RIG_ALL);
	rdma_rig_start(rig);
	peer_meet(peer.socket, rig, &connection);
	small = rig->mmap; /* the peer knows this one; the new memory holds local sources and destinations */
	small_memory = rig->memory;
	memory_make(rig, false);
	peer_expect(peer.socket, 'p');
	source = rig_source(rig, 8, LARGEST);
	room = rig_room(rig, 8, LARGEST);
	there = rig_remote_room(rig, 4, LARGEST);
	from = rig_remote_source(rig, 4, LARGEST);
	too_large = rig_source(rig, 8, LARGEST + 1);
	more_room = rig_remote_room(rig, 0, SPACE);
	assert_int_equal(rig_write(rig, connection, too_large, more_room, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_send(rig, connection, too_large, 0), DOCA_ERROR_INVALID_VALUE);
	fill(rig, 1);
	CHECK_OK(rig_write(rig, connection, source, there, 0));
	WAIT(rig->num_good == 1);
	fill(rig, 0);
	CHECK_OK(rig_read(rig, connection, from, room, 1));
	WAIT(rig->num_good == 2);
	for (size_t i = 0; i < LARGEST; i += STEP)
		assert_int_equal(*(uint32_t *)(void *)(rig->memory + 8 + i), (uint32_t)(i / STEP + 1));
	fill(rig, 2);
	CHECK_OK(rig_send(rig, connection, source, 2));
	peer_notify(peer.socket, 's');
	WAIT(rig->num_good == 3);
	peer_expect(peer.socket, 's');
	peer_notify(peer.socket, 'q');
	peer_wait(&peer);
	rig_put(source);
	rig_put(room);
	rig_put(there);
	rig_put(from);
	rig_put(too_large);
	rig_put(more_room);
	CHECK_OK(doca_mmap_destroy(rig->mmap));
	munmap(rig->memory, SPACE);
	rig->mmap = small;
	rig->memory = small_memory;
	rdma_rig_fini(rig);
}

static void two_gibibytes_of_ordinary_memory(void **state)
{
	(void)state;
	there_and_back(false);
}

static void two_gibibytes_by_system_calls(void **state)
{
	(void)state;
	there_and_back(true);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		alarm(PEER_LIFE_S);
		peer_run(atoi(argv[2]), strcmp(argv[1], "shared") == 0);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_gibibytes_of_ordinary_memory),
		cmocka_unit_test(two_gibibytes_by_system_calls),
	};

	return cmocka_run_group_tests_name("rdma messages of 2 GiB", tests, NULL, NULL);
}
