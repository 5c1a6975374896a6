/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exports that are no longer valid: their owner started its instance again, exited, destroyed the memory map, or runs on another
 * machine; exports that were truncated or altered. The first call or task that needs the owner fails with one log line, and the
 * instance's other connection keeps working.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_peer.h"

#include "support/log_lines.h"
#include "support/rdma_pair.h"

#define SIZE (64 << 10)

/* ---- the owner: sends its exports, does one thing, and reports that it has ---- */

enum deed {
	DEED_RESTART = 'r',
	DEED_MEMORY = 'm',
	DEED_EXIT = 'x',
	DEED_NOTHING = 'n',
};

static void owner_run(int socket, bool elsewhere)
{
	static struct rdma_rig rig;
	static struct peer_introduction mine;
	struct doca_rdma_connection *connection;
	const void *details, *descriptor;
	char word;

	if (elsewhere) /* another machine's processes are not in this machine's runtime folder */
		peer_folder_make();
	rdma_rig_prepare(&rig, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	CHECK_OK(doca_rdma_export(rig.rdma, &details, &mine.details_len, &connection));
	CHECK_OK(doca_mmap_export_rdma(rig.mmap, rig.dev, &descriptor, &mine.descriptor_len));
	memcpy(mine.details, details, mine.details_len);
	memcpy(mine.descriptor, descriptor, mine.descriptor_len);
	peer_say(socket, &mine, sizeof(mine));
	peer_hear(socket, &word, 1);
	if (word == DEED_RESTART) {
		rdma_rig_stop(&rig);
		rdma_rig_start(&rig);
		CHECK_OK(doca_rdma_export(rig.rdma, &details, &mine.details_len, &connection));
	}
	if (word == DEED_MEMORY)
		CHECK_OK(doca_mmap_destroy(rig.mmap));
	if (word != DEED_EXIT) {
		peer_notify(socket, 'd');
		while (!peer_has_said(socket, &word))
			(void)doca_pe_progress(rig.pe);
	}
	if (elsewhere)
		peer_folder_remove();
	_exit(0);
}

/* ---- this side ---- */

static struct pair pair; /* with a connection that keeps working, and one for the owner */
static struct doca_rdma_connection *connection;
static struct peer owner;
static struct peer_introduction theirs;

static void begin(const char *role, enum deed deed)
{
	const void *details;
	size_t len;

	peer_spawn(&owner, role);
	peer_hear(owner.socket, &theirs, sizeof(theirs));
	peer_notify(owner.socket, (char)deed);
	if (deed == DEED_EXIT)
		CHECK(waitpid(owner.pid, NULL, 0) == owner.pid);
	else
		peer_expect(owner.socket, 'd');
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	pair_start(&pair, 1);
	CHECK_OK(doca_rdma_export(pair.a.rdma, &details, &len, &connection));
	log_lines_forget();
}

static void end(enum deed deed)
{
	uint32_t good = pair.a.num_good;

	CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, 0));
	PAIR_WAIT(&pair, pair.b.num_received == 1 && pair.a.num_good == good + 1);
	assert_int_equal(pair.a.state, DOCA_CTX_STATE_RUNNING);
	if (deed == DEED_EXIT) {
		close(owner.socket);
	} else {
		peer_notify(owner.socket, 'q');
		peer_wait(&owner);
	}
	pair_fini(&pair);
}

/* Connect succeeds, because the owner is asked in the background; the first task fails. */
static void expect_no_connection(void)
{
	CHECK_OK(doca_rdma_connect(pair.a.rdma, theirs.details, theirs.details_len, connection));
	CHECK_OK(rig_send(&pair.a, connection, NULL, 7));
	PAIR_WAIT(&pair, pair.a.num_failed == 1);
	assert_int_equal(pair.a.status, DOCA_ERROR_CONNECTION_ABORTED);
	log_lines_expect("rdma send on connection 1", "the peer is gone", "");
}

static void expect_no_memory_map(void)
{
	struct doca_mmap *mmap = NULL;
	doca_error_t result = doca_mmap_create_from_export(NULL, theirs.descriptor, theirs.descriptor_len, pair.a.dev, &mmap);

	if (result != DOCA_ERROR_NOT_PERMITTED)
		fail_msg("an export without an owner: %s", doca_error_get_name(result));
	log_lines_expect("", "", "");
}

static void owner_started_again(void **state)
{
	(void)state;
	begin("owner", DEED_RESTART);
	expect_no_connection();
	end(DEED_RESTART);
}

static void owner_exited(void **state)
{
	(void)state;
	begin("owner", DEED_EXIT);
	expect_no_connection();
	expect_no_memory_map();
	end(DEED_EXIT);
}

static void owner_destroyed_its_memory_map(void **state)
{
	(void)state;
	begin("owner", DEED_MEMORY);
	expect_no_memory_map();
	end(DEED_MEMORY);
}

static void owner_is_of_another_machine(void **state)
{
	(void)state;
	if (provider_is("tcp")) /* connects to it */
		skip();
	begin("stranger", DEED_NOTHING);
	expect_no_connection();
	expect_no_memory_map();
	end(DEED_NOTHING);
}

/* Exports of every wrong length, and with each byte altered. The valid ones still work afterwards. */
static void cut_short_or_altered(void **state)
{
	struct doca_mmap *mmap;

	(void)state;
	begin("owner", DEED_NOTHING);
	for (size_t i = 0; i < theirs.details_len; i++) {
		assert_int_equal(doca_rdma_connect(pair.a.rdma, theirs.details, i, connection), DOCA_ERROR_INVALID_VALUE);
		log_lines_expect("remote connection details", "", "");
		theirs.details[i] ^= 0x21;
		assert_int_equal(doca_rdma_connect(pair.a.rdma, theirs.details, theirs.details_len, connection),
				 DOCA_ERROR_INVALID_VALUE);
		log_lines_expect("remote connection details", "", "");
		theirs.details[i] ^= 0x21;
	}
	for (size_t i = 0; i < theirs.descriptor_len; i++) {
		doca_error_t cut = doca_mmap_create_from_export(NULL, theirs.descriptor, i, pair.a.dev, &mmap);

		assert_int_equal(cut, DOCA_ERROR_INVALID_VALUE);
		log_lines_expect("", "", "");
		theirs.descriptor[i] ^= 0x21;
		doca_error_t altered =
			doca_mmap_create_from_export(NULL, theirs.descriptor, theirs.descriptor_len, pair.a.dev, &mmap);

		assert_int_not_equal(altered, DOCA_SUCCESS);
		log_lines_expect("", "", "");
		theirs.descriptor[i] ^= 0x21;
	}
	CHECK_OK(doca_rdma_connect(pair.a.rdma, theirs.details, theirs.details_len, connection));
	CHECK_OK(doca_mmap_create_from_export(NULL, theirs.descriptor, theirs.descriptor_len, pair.a.dev, &mmap));
	CHECK_OK(doca_mmap_destroy(mmap));
	end(DEED_NOTHING);
}

static int open_log(void **state)
{
	(void)state;
	peer_folder_make();
	log_lines_open();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		alarm(PEER_LIFE_S);
		owner_run(atoi(argv[2]), strcmp(argv[1], "stranger") == 0);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owner_started_again),
		cmocka_unit_test(owner_exited),
		cmocka_unit_test(owner_destroyed_its_memory_map),
		cmocka_unit_test(owner_is_of_another_machine),
		cmocka_unit_test(cut_short_or_altered),
	};

	return cmocka_run_group_tests_name("rdma exports that are good no more", tests, open_log, peer_folder_teardown);
}
