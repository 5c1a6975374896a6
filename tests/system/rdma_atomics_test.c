/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics on the same words by three processes at the same time: the owner uses C11's, this process and a third one use RDMA. No
 * addition is lost, no value is returned twice, and each process sees its own values increase.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdatomic.h>

#include "support/rdma_peer.h"

#include <doca_sync_event.h>

#define SIZE (1 << 16)
#define MANY 20000 /* operations of each process, if the word is mapped */
#define FEW 1000   /* if the owner's agent executes them */
#define DESCRIPTOR_MAX 4096

/* What each process does to a word. */
enum work {
	WORK_ADD = 'a',
	WORK_SWAP = 's', /* compare and swap until the value has increased by one */
	WORK_EVENT = 'e',
};

struct order {
	enum work work[3]; /* of the owner, of this process, of the third */
	size_t at;	   /* of the word in the owner's memory */
	uint32_t num;
};

/* ---- the owner ---- */

struct owner {
	struct rdma_rig rig;
	int socket;
	struct doca_sync_event *event;
};

static void owner_work(struct owner *owner, const struct order *order)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)(owner->rig.memory + order->at);
	uint64_t seen = 0;

	for (uint32_t i = 0; i < order->num; i++) {
		if (order->work[0] == WORK_ADD) {
			atomic_fetch_add(word, 1);
		} else if (order->work[0] == WORK_EVENT) {
			CHECK_OK(doca_sync_event_update_add(owner->event, 1, &seen));
		} else {
			seen = atomic_load(word);
			while (!atomic_compare_exchange_weak(word, &seen, seen + 1))
				;
		}
	}
}

static void owner_open(struct owner *owner)
{
	struct doca_rdma_connection *connection;
	const uint8_t *data;
	size_t len;

	rdma_rig_prepare(&owner->rig, 1, SIZE, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_max_num_connections(owner->rig.rdma, 2));
	rdma_rig_start(&owner->rig);
	CHECK_OK(doca_sync_event_create(&owner->event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(owner->event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(owner->event, owner->rig.dev));
	CHECK_OK(doca_sync_event_start(owner->event));
	CHECK_OK(doca_sync_event_export_to_remote_net(owner->event, &data, &len));
	for (int i = 0; i < 2; i++) {
		peer_meet(owner->socket, &owner->rig, &connection);
		CHECK_OK(doca_mmap_destroy(owner->rig.remote));
		owner->rig.remote = NULL;
		peer_say(owner->socket, &len, sizeof(len));
		peer_say(owner->socket, data, len);
	}
}

static void owner_run(int socket)
{
	static struct owner owner;
	struct order order;
	uint64_t value;

	owner.socket = socket;
	owner_open(&owner);
	while (recv(socket, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
		value = 0;
		memcpy(owner.rig.memory + order.at, &value, sizeof(value));
		if (order.work[0] == WORK_EVENT)
			CHECK_OK(doca_sync_event_update_set(owner.event, 0));
		peer_notify(socket, 'r'); /* ready: the others begin */
		owner_work(&owner, &order);
		peer_notify(socket, 'd');
		peer_expect(socket, 'd'); /* the others have finished */
		memcpy(&value, owner.rig.memory + order.at, sizeof(value));
		if (order.work[0] == WORK_EVENT)
			CHECK_OK(doca_sync_event_get(owner.event, &value));
		peer_say(socket, &value, sizeof(value));
	}
	_exit(0);
}

/* ---- this process and the third ---- */

struct requester {
	struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	struct doca_sync_event_remote_net *event;
};

static void requester_open(struct requester *requester, int socket)
{
	uint8_t data[DESCRIPTOR_MAX];
	size_t len;

	rdma_rig_prepare(&requester->rig, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&requester->rig);
	peer_meet(socket, &requester->rig, &requester->connection);
	peer_hear(socket, &len, sizeof(len));
	CHECK(len <= sizeof(data));
	peer_hear(socket, data, len);
	CHECK_OK(doca_sync_event_remote_net_create_from_export(requester->rig.dev, data, len, &requester->event));
}

/* Runs one task. Returns the value before it. */
static uint64_t once(struct requester *requester, enum work work, struct doca_buf *word, struct doca_buf *result,
		     uint64_t compare)
{
	struct rdma_rig *rig = &requester->rig;
	uint32_t before = rig->num_good;
	uint64_t value;

	CHECK_OK(work == WORK_ADD     ? rig_add(rig, requester->connection, word, result, 1, 0)
		 : work == WORK_EVENT ? rig_event_add(rig, requester->connection, requester->event, result, 1, 0)
				      : rig_cas(rig, requester->connection, word, result, compare, compare + 1, 0));
	RDMA_RIG_WAIT(rig, NULL, rig->num_good == before + 1);
	memcpy(&value, rig->memory, sizeof(value));
	return value;
}

/* Marks in `taken` each value that this process increased by one. */
static void requester_work(struct requester *requester, enum work work, const struct order *order, uint8_t *taken)
{
	struct doca_buf *word = rig_remote_source(&requester->rig, order->at, 8), *result = rig_room(&requester->rig, 0, 8);
	uint64_t value = 0, last = 0;

	memset(taken, 0, 3 * (size_t)order->num);
	for (uint32_t i = 0; i < order->num; i++) {
		uint64_t found = once(requester, work, word, result, value);

		for (; work == WORK_SWAP && found != value; found = once(requester, work, word, result, value))
			value = found;
		CHECK(found < 3 * (uint64_t)order->num && (i == 0 || found > last));
		taken[found] = 1;
		last = found;
		value = found + 1;
	}
	rig_put(word);
	rig_put(result);
}

static uint8_t ours[3 * MANY], thirds[3 * MANY];

static void third_run(int socket)
{
	static struct requester third;
	struct order order;

	requester_open(&third, socket);
	while (recv(socket, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
		requester_work(&third, order.work[2], &order, thirds);
		peer_say(socket, thirds, 3 * (size_t)order.num);
	}
	_exit(0);
}

/* ---- the tests ---- */

struct fixture {
	struct requester requester;
	struct peer owner, third;
};

static void pass_on(int from, int to, void *bytes, size_t len)
{
	peer_hear(from, bytes, len);
	peer_say(to, bytes, len);
}

/* The third process has a socket only to this one, which passes on what it and the owner exchange. */
static void introduce_third(struct fixture *f)
{
	static struct peer_introduction introduction;
	uint8_t data[DESCRIPTOR_MAX];
	size_t len;

	pass_on(f->owner.socket, f->third.socket, &introduction, sizeof(introduction));
	pass_on(f->third.socket, f->owner.socket, &introduction, sizeof(introduction));
	pass_on(f->owner.socket, f->third.socket, &len, sizeof(len));
	CHECK(len <= sizeof(data));
	pass_on(f->owner.socket, f->third.socket, data, len);
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	peer_spawn(&f.owner, "owner");
	peer_spawn(&f.third, "third");
	requester_open(&f.requester, f.owner.socket);
	introduce_third(&f);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	CHECK(shutdown(f->owner.socket, SHUT_RDWR) == 0);
	CHECK(shutdown(f->third.socket, SHUT_RDWR) == 0);
	peer_wait(&f->third);
	peer_wait(&f->owner);
	CHECK_OK(doca_sync_event_remote_net_destroy(f->requester.event));
	rdma_rig_fini(&f->requester.rig);
	return 0;
}

static void all_at_once(struct fixture *f, const struct order *order)
{
	uint64_t value;

	peer_say(f->owner.socket, order, sizeof(*order));
	peer_expect(f->owner.socket, 'r');
	peer_say(f->third.socket, order, sizeof(*order));
	requester_work(&f->requester, order->work[1], order, ours);
	peer_hear(f->third.socket, thirds, 3 * (size_t)order->num);
	peer_expect(f->owner.socket, 'd');
	peer_notify(f->owner.socket, 'd');
	peer_hear(f->owner.socket, &value, sizeof(value));
	assert_int_equal(value, 3 * order->num);
	for (size_t i = 0; i < 3 * (size_t)order->num; i++)
		assert_false(ours[i] && thirds[i]);
}

/* an offset behind the first whole page of the owner's memory, or the beginning, which lies in no whole page */
#define INSIDE 8192
#define EDGE 0

static void additions(void **state)
{
	all_at_once(*state, &(struct order){{WORK_ADD, WORK_ADD, WORK_ADD}, INSIDE, MANY});
}

static void compare_and_swaps(void **state)
{
	all_at_once(*state, &(struct order){{WORK_SWAP, WORK_SWAP, WORK_SWAP}, INSIDE + 8, MANY});
}

static void additions_against_compare_and_swaps(void **state)
{
	all_at_once(*state, &(struct order){{WORK_SWAP, WORK_ADD, WORK_SWAP}, INSIDE + 16, MANY});
	all_at_once(*state, &(struct order){{WORK_ADD, WORK_SWAP, WORK_ADD}, INSIDE + 24, MANY});
}

static void where_a_page_is_not_whole(void **state)
{
	all_at_once(*state, &(struct order){{WORK_ADD, WORK_ADD, WORK_SWAP}, EDGE, FEW});
	all_at_once(*state, &(struct order){{WORK_SWAP, WORK_SWAP, WORK_ADD}, EDGE + 8, FEW});
}

static void on_a_sync_event(void **state)
{
	all_at_once(*state, &(struct order){{WORK_EVENT, WORK_EVENT, WORK_EVENT}, INSIDE, MANY});
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		alarm(PEER_LIFE_S);
		if (strcmp(argv[1], "owner") == 0)
			owner_run(atoi(argv[2]));
		third_run(atoi(argv[2]));
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(additions, setup, teardown),
		cmocka_unit_test_setup_teardown(compare_and_swaps, setup, teardown),
		cmocka_unit_test_setup_teardown(additions_against_compare_and_swaps, setup, teardown),
		cmocka_unit_test_setup_teardown(where_a_page_is_not_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(on_a_sync_event, setup, teardown),
	};

	return cmocka_run_group_tests_name("rdma atomics of three processes", tests, NULL, NULL);
}
