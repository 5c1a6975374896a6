/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer ends during a stream of large messages, in each way in which a peer can end, with each verb. The task in flight ends
 * with the documented status and one log line; another connection of the same instance keeps working; nothing is left open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_peer.h"

#include "support/log_lines.h"
#include "support/rdma_pair.h"

#define SIZE (66 << 20)
#define LARGE (64 << 20)
#define WHOLE 2	       /* messages that complete before the end */
#define WARM_UP_ENDS 1 /* after so many, the process has opened all of its own descriptors */

enum end {
	END_EXIT = 'x',	      /* returns from main without closing anything */
	END_KILL = 'k',	      /* SIGKILL */
	END_STOP = 's',	      /* stops its instance */
	END_DISCONNECT = 'd', /* ends the connection and keeps running */
	END_MEMORY = 'm',     /* destroys the memory map, which ends the export */
	END_MMAP_STOP = 'p',  /* stops the memory map */
};

/* ---- the peer: posts receives, with a buffer or without, until a command says how to end ---- */

static void peer_run(int socket)
{
	static struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	struct doca_buf *into;
	uint32_t posted = 0;
	char word;

	rdma_rig_prepare(&rig, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	peer_meet(socket, &rig, &connection);
	peer_hear(socket, &word, 1);
	bool takes = word != 'n';
	into = word == 'r' ? rig_room(&rig, 100, LARGE) : NULL;

	while (word != 'q') {
		if (takes && rig.num_ended == posted) {
			if (into != NULL)
				CHECK_OK(doca_buf_reset_data_len(into));
			CHECK_OK(rig_receive(&rig, into, posted++));
		}
		(void)doca_pe_progress(rig.pe);
		if (!peer_has_said(socket, &word))
			continue;
		if (word == END_EXIT)
			break;
		if (word == END_STOP) {
			rdma_rig_stop(&rig);
			takes = false;
		}
		if (word == END_DISCONNECT)
			CHECK_OK(doca_rdma_connection_disconnect(connection));
		if (word == END_MEMORY)
			CHECK_OK(doca_mmap_destroy(rig.mmap));
		if (word == END_MMAP_STOP)
			CHECK_OK(doca_mmap_stop(rig.mmap));
	}
	_exit(0);
}

/* ---- this side: one connection to the peer, one to another instance in this process ---- */

struct side {
	struct rdma_rig rig, other;
	struct doca_rdma_connection *to_peer, *to_other, *other_connection;
	struct peer peer;
};

static void connect_other(struct side *side)
{
	const void *mine, *others;
	size_t my_size, others_size;

	rdma_rig_prepare(&side->other, 1, 4096, RIG_ALL, RIG_ALL);
	rdma_rig_start(&side->other);
	CHECK_OK(doca_rdma_export(side->rig.rdma, &mine, &my_size, &side->to_other));
	CHECK_OK(doca_rdma_export(side->other.rdma, &others, &others_size, &side->other_connection));
	CHECK_OK(doca_rdma_connect(side->rig.rdma, others, others_size, side->to_other));
	CHECK_OK(doca_rdma_connect(side->other.rdma, mine, my_size, side->other_connection));
}

static void side_open(struct side *side, enum verb verb)
{
	memset(side, 0, sizeof(*side));
	peer_spawn(&side->peer, "peer");
	rdma_rig_prepare(&side->rig, 0, SIZE, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_max_num_connections(side->rig.rdma, 2));
	rdma_rig_start(&side->rig);
	peer_meet(side->peer.socket, &side->rig, &side->to_peer);
	connect_other(side);
	peer_notify(side->peer.socket, !verb_takes_receive(verb) ? 'n' : verb == VERB_WRITE_IMM ? 'i' : 'r');
}

static void side_close(struct side *side)
{
	(void)send(side->peer.socket, "q", 1, MSG_NOSIGNAL);
	peer_wait(&side->peer);
	rdma_rig_stop(&side->rig);
	CHECK_OK(doca_mmap_destroy(side->rig.remote));
	side->rig.remote = NULL;
	rdma_rig_fini(&side->rig);
	rdma_rig_fini(&side->other);
}

#define WAIT(condition) RDMA_RIG_WAIT(&side->rig, &side->other, condition)

static void begin_the_end(const struct side *side, enum end end)
{
	if (end == END_KILL)
		peer_kill(&side->peer);
	else
		peer_notify(side->peer.socket, (char)end);
}

/* Submits one task after the other until one fails. Local memory is not whole pages, and the peer's does not begin at a page
 * boundary. */
static void stream_until_it_ends(struct side *side, enum verb verb, enum end end)
{
	struct rdma_rig *rig = &side->rig;
	bool atomic = verb == VERB_CAS || verb == VERB_ADD;
	size_t len = atomic ? sizeof(uint64_t) : LARGE;
	struct doca_buf *here = verb_here(verb, rig, 1000, len);
	struct doca_buf *there = verb_is_one_sided(verb) ? verb_there(verb, rig, 104, len) : NULL;
	uint64_t begin;
	uint32_t submitted = 0;

	log_lines_forget();
	begin = sf_now_ns();
	while (rig->num_failed == 0) {
		if (rig->num_ended == submitted) {
			if (!verb_goes_out(verb))
				CHECK_OK(doca_buf_reset_data_len(here));
			else if (there != NULL)
				CHECK_OK(doca_buf_reset_data_len(there));
			CHECK_OK(verb_submit(verb, rig, side->to_peer, here, there, submitted++));
			if (submitted == WHOLE + 1)
				begin_the_end(side, end);
		}
		(void)doca_pe_progress(rig->pe);
		CHECK(!rdma_rig_late(begin));
	}
	rig_put(here);
	if (there != NULL)
		rig_put(there);
}

static void ends(enum verb verb, enum end end)
{
	static struct side at;
	struct side *side = &at;
	struct rdma_rig *rig = &side->rig;

	side_open(side, verb);
	stream_until_it_ends(side, verb, end);
	assert_int_equal(rig->status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(rig->num_good >= WHOLE);
	log_lines_expect("rdma", "connection 0: the peer", "");
	assert_int_equal(rig->state, DOCA_CTX_STATE_RUNNING);
	/* A task submitted now is flushed without a log line. */
	CHECK_OK(rig_read(rig, side->to_peer, NULL, NULL, 0));
	WAIT(rig->num_failed == 2);
	assert_int_equal(rig->statuses[(rig->num_ended - 1) % RIG_LOG], DOCA_ERROR_BAD_STATE);
	assert_int_equal(log_lines_count(), 0);
	/* The other connection, both ways. */
	CHECK_OK(rig_receive(&side->other, NULL, 0));
	CHECK_OK(rig_receive(rig, NULL, 0));
	CHECK_OK(rig_send(rig, side->to_other, NULL, 0));
	CHECK_OK(rig_send(&side->other, side->other_connection, NULL, 0));
	WAIT(side->other.num_received == 1 && rig->num_received == 1 && side->other.num_good == 2);
	side_close(side);
}

static void under_each_verb(enum end end)
{
	static uint32_t descriptors, num;

	for (enum verb verb = 0; verb < VERBS; verb++) {
		if ((end == END_MEMORY || end == END_MMAP_STOP) &&
		    !verb_is_one_sided(verb)) /* the receiver's buffer keeps the memory map alive */
			continue;
		ends(verb, end);
		if (++num <= WARM_UP_ENDS)
			descriptors = count_entries("/proc/self/fd");
		assert_int_equal(count_entries("/proc/self/fd"), descriptors);
		/* The next process that starts removes what a killed one left behind. Then there remain: ".", "..", the lock,
		 * one peer's two sockets. */
		uint32_t pages = count_pages(peer_folder);
		assert_in_range(pages, 0, 2); /* this process's page, and one peer's */
		assert_in_range(count_entries(peer_folder) - pages, 0, 5);
	}
}

static void a_peer_that_exits(void **state)
{
	(void)state;
	under_each_verb(END_EXIT);
}

static void a_peer_that_is_killed(void **state)
{
	(void)state;
	under_each_verb(END_KILL);
}

static void a_peer_that_stops_its_instance(void **state)
{
	(void)state;
	under_each_verb(END_STOP);
}

static void a_peer_that_ends_its_memory_map(void **state)
{
	(void)state;
	under_each_verb(END_MEMORY);
}

static void a_peer_that_stops_its_memory_map(void **state)
{
	(void)state;
	under_each_verb(END_MMAP_STOP);
}

static void a_peer_that_disconnects(void **state)
{
	(void)state;
	under_each_verb(END_DISCONNECT);
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
		peer_run(atoi(argv[2]));
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_exits),
		cmocka_unit_test(a_peer_that_is_killed),
		cmocka_unit_test(a_peer_that_stops_its_instance),
		cmocka_unit_test(a_peer_that_ends_its_memory_map),
		cmocka_unit_test(a_peer_that_stops_its_memory_map),
		cmocka_unit_test(a_peer_that_disconnects),
	};

	return cmocka_run_group_tests_name("rdma peers that end", tests, open_log, peer_folder_teardown);
}
