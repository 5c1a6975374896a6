/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA tasks on the sync event of another process, which waits for them, sleeps for them, is stopped, adds too, destroys the
 * event, or is killed. The peer owns the event and obeys one-byte commands, which it answers with the same byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>

#include "support/rdma_peer.h"

#include <doca_sync_event.h>

#include "sync_event/watch.h"

#define SIZE (1 << 20)
#define BLOCK 4096 /* bytes that are written before each set operation */
#define NUM 20000
#define WAKES 16
#define WAKES_S 6 /* an owner that has to poll takes twice as long for so many */
#define DESCRIPTOR_MAX 4096

/* False on an RDMA device, which writes words in pieces, and whose atomics are atomic only among themselves. */
static bool is_mapped(void)
{
	const char *fabric = getenv("SOFTFIELD_FABRIC");

	return fabric == NULL || strcmp(fabric, "verbs") != 0;
}

/* ---- the peer ---- */

struct owner {
	struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	int socket;
	struct doca_sync_event *event;
	struct doca_pe *pe; /* of an event that runs as a context */
	uint64_t word, ended;
};

static void wait_ended(struct doca_sync_event_task_wait_eq *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct owner *owner = task_user_data.ptr;

	(void)ctx_user_data;
	CHECK_OK(doca_task_get_status(doca_sync_event_task_wait_eq_as_doca_task(task)));
	owner->ended++;
}

static void event_create(struct owner *owner, char kind)
{
	const uint8_t *data;
	size_t len;

	CHECK_OK(doca_sync_event_create(&owner->event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(owner->event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(owner->event, owner->rig.dev));
	if (kind == 'w')
		CHECK_OK(doca_sync_event_set_addr(owner->event, &owner->word));
	if (kind == 'c') {
		CHECK_OK(doca_pe_create(&owner->pe));
		CHECK_OK(doca_sync_event_task_wait_eq_set_conf(owner->event, wait_ended, wait_ended, 1));
		CHECK_OK(doca_pe_connect_ctx(owner->pe, doca_sync_event_as_ctx(owner->event)));
		CHECK_OK(doca_ctx_start(doca_sync_event_as_ctx(owner->event)));
	} else {
		CHECK_OK(doca_sync_event_start(owner->event));
	}
	CHECK_OK(doca_sync_event_export_to_remote_net(owner->event, &data, &len));
	peer_say(owner->socket, &len, sizeof(len));
	peer_say(owner->socket, data, len);
}

/* While the value is v, every word of the block is at least v: all of them were written before the value. */
static void watch_order(struct owner *owner)
{
	const _Atomic uint64_t *block = (const _Atomic uint64_t *)(const void *)(owner->rig.memory + BLOCK);
	uint64_t value = 0, before = 0;

	while (value < NUM) {
		CHECK_OK(doca_sync_event_get(owner->event, &value));
		CHECK(value >= before);
		before = value;
		for (size_t i = 0; i < BLOCK / sizeof(uint64_t); i++)
			CHECK(block[i] >= value);
	}
}

static void sleep_in_turns(struct owner *owner)
{
	struct doca_sync_event_task_wait_eq *task;
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};

	CHECK_OK(doca_pe_get_notification_handle(owner->pe, &handle));
	fd.fd = (int)handle;
	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(owner->event, 0, UINT64_MAX, (union doca_data){.ptr = owner}, &task));
	for (uint64_t i = 1; i <= WAKES; i++) {
		bool notified = false;

		doca_sync_event_task_wait_eq_set_wait_val(task, i);
		CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)));
		while (owner->ended < i) {
			while (doca_pe_progress(owner->pe) != 0)
				;
			if (owner->ended == i)
				break;
			CHECK_OK(doca_pe_request_notification(owner->pe));
			if (!notified)
				peer_notify(owner->socket, 'z');
			notified = true;
			CHECK(poll(&fd, 1, RIG_WAIT_S * 1000) == 1);
			CHECK_OK(doca_pe_clear_notification(owner->pe, handle));
		}
	}
	if (is_mapped())
		CHECK(sf_watch_num_looks() == 0);
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static void obey(struct owner *owner, char command)
{
	uint64_t value;

	switch (command) {
	case 'p': /* an event whose value lies in a page of its own */
	case 'w': /* an event whose value lies in the program's memory */
	case 'c': /* an event that runs as a context */
		event_create(owner, command);
		return;
	case 'g':
		CHECK_OK(doca_sync_event_wait_gt_yield(owner->event, 41, UINT64_MAX));
		break;
	case 'v':
		CHECK_OK(doca_sync_event_get(owner->event, &value));
		peer_say(owner->socket, &value, sizeof(value));
		return;
	case 'o':
		watch_order(owner);
		break;
	case 's':
		sleep_in_turns(owner);
		break;
	case 'a':
		for (int i = 0; i < NUM; i++)
			CHECK_OK(doca_sync_event_update_add(owner->event, 1, &value));
		break;
	case 'd':
		CHECK_OK(doca_sync_event_stop(owner->event));
		CHECK_OK(doca_sync_event_destroy(owner->event));
		break;
	default:
		CHECK(!"a command");
	}
	peer_notify(owner->socket, command);
}

static void peer_run(int socket)
{
	static struct owner owner;
	char command;

	alarm(PEER_LIFE_S);
	owner.socket = socket;
	rdma_rig_prepare(&owner.rig, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&owner.rig);
	peer_meet(socket, &owner.rig, &owner.connection);
	while (recv(socket, &command, 1, 0) == 1 && command != 'q')
		obey(&owner, command);
	_exit(0);
}

/* ---- this side ---- */

struct side {
	struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	struct peer peer;
	struct doca_sync_event_remote_net *event;
};

static int setup(void **state)
{
	static struct side side;

	memset(&side, 0, sizeof(side));
	peer_spawn(&side.peer, "owner");
	rdma_rig_prepare(&side.rig, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&side.rig);
	peer_meet(side.peer.socket, &side.rig, &side.connection);
	*state = &side;
	return 0;
}

static int teardown(void **state)
{
	struct side *side = *state;

	kill(side->peer.pid, SIGCONT);
	(void)send(side->peer.socket, "q", 1, MSG_NOSIGNAL);
	peer_wait(&side->peer);
	if (side->event != NULL)
		CHECK_OK(doca_sync_event_remote_net_destroy(side->event));
	rdma_rig_fini(&side->rig);
	return 0;
}

static void import_event(struct side *side, char kind)
{
	uint8_t data[DESCRIPTOR_MAX];
	size_t len;

	peer_notify(side->peer.socket, kind);
	peer_hear(side->peer.socket, &len, sizeof(len));
	CHECK(len <= sizeof(data));
	peer_hear(side->peer.socket, data, len);
	CHECK_OK(doca_sync_event_remote_net_create_from_export(side->rig.dev, data, len, &side->event));
}

static uint64_t value_there(struct side *side)
{
	uint64_t value;

	peer_notify(side->peer.socket, 'v');
	peer_hear(side->peer.socket, &value, sizeof(value));
	return value;
}

static uint64_t number_at(const struct rdma_rig *rig, size_t offset)
{
	uint64_t value;

	memcpy(&value, rig->memory + offset, sizeof(value));
	return value;
}

static void put_number(struct rdma_rig *rig, size_t offset, uint64_t value)
{
	memcpy(rig->memory + offset, &value, sizeof(value));
}

#define WAIT(condition) RDMA_RIG_WAIT(&side->rig, NULL, condition)

static void a_call_that_waits_returns(void **state)
{
	struct side *side = *state;
	struct doca_buf *src = rig_source(&side->rig, 0, 8);

	import_event(side, 'p');
	peer_notify(side->peer.socket, 'g');
	put_number(&side->rig, 0, 42);
	CHECK_OK(rig_event_set(&side->rig, side->connection, side->event, src, 0));
	WAIT(side->rig.num_good == 1);
	peer_expect(side->peer.socket, 'g');
	assert_int_equal(value_there(side), 42);
	rig_put(src);
}

/* The owner is woken promptly, although this side does not progress between its submits. */
static void a_sleeping_owner_is_woken(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *src = rig_source(rig, 0, 8), *result = rig_room(rig, 64, 8);

	import_event(side, 'c');
	CHECK_OK(rig_event_add(rig, side->connection, side->event, result, 0, 0)); /* the connection is established */
	WAIT(rig->num_good == 1);
	peer_notify(side->peer.socket, 's');
	double begin = sf_now_s();
	for (uint64_t i = 1; i <= WAKES; i++) {
		peer_expect(side->peer.socket, 'z');
		put_number(rig, 0, i);
		if (i % 2 == 0)
			CHECK_OK(rig_event_add(rig, side->connection, side->event, result, 1, i));
		else
			CHECK_OK(rig_event_set(rig, side->connection, side->event, src, i));
	}
	peer_expect(side->peer.socket, 's');
	double took = sf_now_s() - begin;
	assert_true(took < WAKES_S);
	WAIT(rig->num_good == 1 + WAKES);
	rig_put(src);
	rig_put(result);
}

static void writes_are_seen_before_the_set(struct side *side, char kind)
{
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *block = rig_source(rig, BLOCK, BLOCK), *there = rig_remote_room(rig, BLOCK, BLOCK),
			*src = rig_source(rig, 0, 8);
	uint64_t *words = (uint64_t *)(void *)(rig->memory + BLOCK);

	import_event(side, kind);
	peer_notify(side->peer.socket, 'o');
	for (uint64_t i = 1; i <= NUM; i++) {
		for (size_t j = 0; j < BLOCK / sizeof(uint64_t); j++)
			words[j] = i;
		put_number(rig, 0, i);
		CHECK_OK(doca_buf_reset_data_len(there));
		CHECK_OK(rig_write(rig, side->connection, block, there, 2 * i));
		CHECK_OK(rig_event_set(rig, side->connection, side->event, src, 2 * i + 1));
		WAIT(rig->num_good == 2 * i);
	}
	peer_expect(side->peer.socket, 'o');
	rig_put(block);
	rig_put(there);
	rig_put(src);
}

static void writes_are_seen_before_a_set(void **state)
{
	if (!is_mapped())
		skip();
	writes_are_seen_before_the_set(*state, 'p');
}

static void writes_are_seen_before_a_set_in_the_programs_memory(void **state)
{
	if (!is_mapped())
		skip();
	writes_are_seen_before_the_set(*state, 'w');
}

static void while_the_owner_is_stopped(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *src = rig_source(rig, 0, 8), *dst = rig_room(rig, 64, 8), *result = rig_room(rig, 128, 8);

	import_event(side, 'p');
	put_number(rig, 0, 1000);
	CHECK_OK(rig_event_add(rig, side->connection, side->event, result, 5, 0));
	WAIT(rig->num_good == 1);
	process_stop(side->peer.pid);
	CHECK_OK(rig_event_set(rig, side->connection, side->event, src, 1));
	CHECK_OK(rig_event_add(rig, side->connection, side->event, result, 7, 2));
	CHECK_OK(rig_event_get(rig, side->connection, side->event, dst, 3));
	peer_continue_by_tcp(rig, side->peer.pid);
	WAIT(rig->num_good == 4);
	assert_int_equal(number_at(rig, 128), 1000);
	assert_int_equal(number_at(rig, 64), 1007);
	CHECK(kill(side->peer.pid, SIGCONT) == 0);
	assert_int_equal(value_there(side), 1007);
	rig_put(src);
	rig_put(dst);
	rig_put(result);
}

static void both_add(struct side *side, char kind)
{
	struct rdma_rig *rig = &side->rig;
	struct doca_buf *result = rig_room(rig, 64, 8);

	import_event(side, kind);
	peer_notify(side->peer.socket, 'a');
	rig->resubmits = NUM - 1;
	CHECK_OK(rig_event_add(rig, side->connection, side->event, result, 1, 0));
	WAIT(rig->num_good == NUM);
	peer_expect(side->peer.socket, 'a');
	assert_int_equal(value_there(side), 2 * NUM);
	rig_put(result);
}

static void adds_of_both_count(void **state)
{
	if (!is_mapped())
		skip();
	both_add(*state, 'p');
}

static void adds_of_both_count_in_the_programs_memory(void **state)
{
	if (!is_mapped())
		skip();
	both_add(*state, 'w');
}

static void expect_the_end(struct side *side)
{
	WAIT(side->rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(side->rig.num_failed, 1);
	assert_int_equal(side->rig.status, DOCA_ERROR_CONNECTION_ABORTED);
}

static void an_owner_that_destroys_it_under_adds(void **state)
{
	struct side *side = *state;
	struct doca_buf *result = rig_room(&side->rig, 64, 8);

	import_event(side, 'p');
	side->rig.resubmits = UINT32_MAX;
	CHECK_OK(rig_event_add(&side->rig, side->connection, side->event, result, 1, 0));
	WAIT(side->rig.num_good > 100);
	peer_notify(side->peer.socket, 'd');
	expect_the_end(side);
	peer_expect(side->peer.socket, 'd');
	rig_put(result);
}

static void an_owner_that_is_killed_under_sets(struct side *side, char kind)
{
	struct doca_buf *src = rig_source(&side->rig, 0, 8);

	import_event(side, kind);
	side->rig.resubmits = UINT32_MAX;
	CHECK_OK(rig_event_set(&side->rig, side->connection, side->event, src, 0));
	WAIT(side->rig.num_good > 100);
	peer_kill(&side->peer);
	expect_the_end(side);
	rig_put(src);
}

static void an_owner_that_is_killed(void **state)
{
	an_owner_that_is_killed_under_sets(*state, 'p');
}

static void an_owner_that_is_killed_with_the_value_in_its_memory(void **state)
{
	an_owner_that_is_killed_under_sets(*state, 'w');
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		peer_run(atoi(argv[2]));
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_that_waits_returns, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sleeping_owner_is_woken, setup, teardown),
		cmocka_unit_test_setup_teardown(writes_are_seen_before_a_set, setup, teardown),
		cmocka_unit_test_setup_teardown(writes_are_seen_before_a_set_in_the_programs_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(while_the_owner_is_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(adds_of_both_count, setup, teardown),
		cmocka_unit_test_setup_teardown(adds_of_both_count_in_the_programs_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(an_owner_that_destroys_it_under_adds, setup, teardown),
		cmocka_unit_test_setup_teardown(an_owner_that_is_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(an_owner_that_is_killed_with_the_value_in_its_memory, setup, teardown),
	};

	return cmocka_run_group_tests_name("rdma sync events between processes", tests, NULL, NULL);
}
