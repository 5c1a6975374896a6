/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events between two processes: both directions, sleeping, sides that are killed or stopped, random orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "base/clock.h"
#include "support/check.h"
#include "support/stop.h"
#include "support/test_dev.h"
#include "sync_event/watch.h"
#include "sync_event_puppet.h"

#define HOST "d8:00.0"
#define DPU "03:00.0"
#define KILLS 20

static struct doca_dev *dev; /* of this process */
static uint64_t word;	     /* an event's value, if it lies in the program's memory */

static int open_host(void **state)
{
	(void)state;
	dev = test_dev_open_pci(HOST);
	return 0;
}

static int open_dpu(void **state)
{
	(void)state;
	dev = test_dev_open_pci(DPU);
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	return doca_dev_close(dev) == DOCA_SUCCESS ? 0 : -1;
}

/* Creates this process's event for the host, not started. */
static struct doca_sync_event *own_event(bool in_word)
{
	struct doca_sync_event *event;

	word = 0;
	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event, dev));
	if (in_word)
		CHECK_OK(doca_sync_event_set_addr(event, &word));
	return event;
}

static void hand_over(struct doca_sync_event *event, struct puppet *puppet)
{
	const uint8_t *data;
	size_t len;

	CHECK_OK(doca_sync_event_export_to_remote_pci(event, dev, &data, &len));
	CHECK_OK(puppet_import(puppet, data, len).status);
}

/* Imports the puppet's event, not started. */
static struct doca_sync_event *import_from(struct puppet *puppet, bool in_word)
{
	struct answer answer = puppet_do(puppet, ORDER_EXPORT, in_word);
	struct doca_sync_event *event;

	CHECK_OK(answer.status);
	CHECK_OK(doca_sync_event_create_from_export(dev, answer.bytes, answer.len, &event));
	return event;
}

static void end_event(struct doca_sync_event *event)
{
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
}

static uint64_t value_of(struct doca_sync_event *event)
{
	uint64_t value;

	CHECK_OK(doca_sync_event_get(event, &value));
	return value;
}

/* ---- both directions ---- */

static void one_counter(bool in_word)
{
	struct puppet dpu = puppet_start(DPU);
	struct doca_sync_event *event = own_event(in_word);
	struct answer answer;
	uint64_t before;

	CHECK_OK(doca_sync_event_start(event));
	hand_over(event, &dpu);
	puppet_order(&dpu, ORDER_WAIT_EQ, 1);
	CHECK_OK(doca_sync_event_update_set(event, 1));
	CHECK_OK(puppet_answer(&dpu).status);
	CHECK_OK(puppet_do(&dpu, ORDER_SET, 2).status);
	CHECK_OK(doca_sync_event_wait_gt(event, 1, UINT64_MAX));
	answer = puppet_do(&dpu, ORDER_ADD, 40);
	CHECK_OK(answer.status);
	assert_int_equal(answer.value, 2);
	assert_int_equal(value_of(event), 42);
	CHECK_OK(doca_sync_event_update_add(event, 1, &before));
	answer = puppet_do(&dpu, ORDER_GET, 0);
	assert_int_equal(answer.value, 43);
	CHECK_OK(puppet_do(&dpu, ORDER_STOP, 0).status);
	end_event(event);
	puppet_quit(&dpu);
	if (in_word)
		assert_int_equal(word, 43);
}

static void host_and_dpu_share_a_counter(void **state)
{
	(void)state;
	one_counter(false);
}

static void host_and_dpu_share_the_programs_memory(void **state)
{
	(void)state;
	one_counter(true);
}

static void add_from_both(bool in_word, uint64_t num)
{
	struct puppet dpu = puppet_start(DPU);
	struct doca_sync_event *event = own_event(in_word);
	uint64_t before;

	CHECK_OK(doca_sync_event_start(event));
	hand_over(event, &dpu);
	puppet_order(&dpu, ORDER_ADD_MANY, num);
	for (uint64_t i = 0; i < num; i++)
		CHECK_OK(doca_sync_event_update_add(event, 1, &before));
	CHECK_OK(puppet_answer(&dpu).status);
	assert_int_equal(value_of(event), 2 * num);
	CHECK_OK(puppet_do(&dpu, ORDER_STOP, 0).status);
	end_event(event);
	puppet_quit(&dpu);
}

static void no_addition_is_lost(void **state)
{
	(void)state;
	add_from_both(false, 100000);
	add_from_both(true, 1000);
}

/* ---- sleeping ---- */

static void two_sleepers_wake_each_other(bool in_word, uint64_t num)
{
	struct puppet dpu = puppet_start(DPU);
	struct doca_sync_event *event = own_event(in_word);
	struct sleeper s;

	CHECK_OK(sleeper_start(&s, event));
	hand_over(event, &dpu);
	puppet_order(&dpu, ORDER_ANSWER_MANY, num);
	for (uint64_t i = 0; i < num; i++) {
		CHECK_OK(sleeper_set(&s, 2 * i + 1));
		sleeper_submit_wait(&s, 2 * i + 2);
		CHECK_OK(sleeper_finish(&s, 20));
	}
	CHECK_OK(puppet_answer(&dpu).status);
	sleeper_end(&s);
	assert_int_equal(puppet_do(&dpu, ORDER_QUIT, 0).status, DOCA_SUCCESS);
	puppet_kill(&dpu);
}

static void no_wake_up_is_lost(void **state)
{
	uint64_t looks = sf_watch_num_looks();
	double begin = sf_now_s();

	(void)state;
	two_sleepers_wake_each_other(false, 5000);
	assert_int_equal(sf_watch_num_looks(), looks);
	two_sleepers_wake_each_other(true, 200);
	assert_true(sf_now_s() - begin <
		    150); /* in the program's memory a lost wake-up costs half a second, until a poll finds the change */
}

/* ---- death ---- */

/* Returns whether the importer changes the value itself; otherwise the owner's agent does. */
static bool maps(void)
{
	return (sf_fabric_find(NULL)->caps & SF_CAP_MAP) != 0;
}

static void sync_wait_ends_when_the_owner_dies(void **state)
{
	static doca_error_t (*const waits[])(struct doca_sync_event *, uint64_t, uint64_t) = {
		doca_sync_event_wait_eq, doca_sync_event_wait_eq_yield, doca_sync_event_wait_gt};

	(void)state;
	for (int in_word = 0; in_word < 2; in_word++) {
		for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
			struct puppet host = puppet_start(HOST);
			struct doca_sync_event *event = import_from(&host, in_word);
			uint64_t value;

			CHECK_OK(doca_sync_event_start(event));
			puppet_order(&host, ORDER_SET_AND_DIE, 1);
			doca_sync_event_wait_neq(event, 0,
						 UINT64_MAX); /* the owner may die before this process sees the update */
			assert_int_equal(waits[i](event, 99, UINT64_MAX), DOCA_ERROR_CONNECTION_ABORTED);
			assert_int_equal(doca_sync_event_get(event, &value), DOCA_ERROR_CONNECTION_ABORTED);
			assert_int_equal(doca_sync_event_update_set(event, 1), DOCA_ERROR_CONNECTION_ABORTED);
			assert_int_equal(doca_sync_event_update_add(event, 1, &value), DOCA_ERROR_CONNECTION_ABORTED);
			end_event(event);
			puppet_kill(&host);
		}
	}
}

static void sleeping_wait_ends_when_the_owner_dies(void **state)
{
	(void)state;
	for (int in_word = 0; in_word < 2; in_word++) {
		struct puppet host = puppet_start(HOST);
		uint64_t looks = sf_watch_num_looks();
		struct sleeper s;

		CHECK_OK(sleeper_start(&s, import_from(&host, in_word)));
		sleeper_submit_wait(&s, 99);
		assert_int_equal(sleeper_finish(&s, in_word ? 0.05 : 1.2), DOCA_ERROR_TIME_OUT);
		puppet_kill(&host);
		assert_int_equal(sleeper_finish(&s, 60), DOCA_ERROR_CONNECTION_ABORTED);
		sleeper_end(&s);
		if (!in_word && maps()) /* otherwise the importer polls, because nothing notifies it of the owner's changes */
			assert_int_equal(sf_watch_num_looks(), looks);
	}
}

static void polling_wait_ends_when_the_owner_dies(void **state)
{
	struct puppet host = puppet_start(HOST);
	struct sleeper s;
	double begin;

	(void)state;
	CHECK_OK(sleeper_start(&s, import_from(&host, false)));
	sleeper_submit_wait(&s, 99);
	for (int i = 0; i < 3000; i++)
		assert_int_equal(doca_pe_progress(s.pe), 0);
	puppet_kill(&host);
	begin = sf_now_s();
	while (s.ended == 0 && sf_now_s() - begin < 60)
		doca_pe_progress(s.pe);
	assert_int_equal(s.status, DOCA_ERROR_CONNECTION_ABORTED);
	sleeper_end(&s);
}

static void importer_dies_and_another_takes_its_place(void **state)
{
	struct puppet first = puppet_start(DPU), second = puppet_start(DPU);
	struct doca_sync_event *event = own_event(false);
	struct sleeper s;

	(void)state;
	CHECK_OK(sleeper_start(&s, event));
	hand_over(event, &first);
	puppet_order(&first, ORDER_SLEEP_AND_DIE, 77); /* leaves the doorbell armed */
	puppet_kill(&first);
	sleeper_submit_wait(&s, 5);
	assert_int_equal(sleeper_finish(&s, 0.7), DOCA_ERROR_TIME_OUT); /* the importer's death ends no wait in this process */
	hand_over(event, &second);
	CHECK_OK(puppet_do(&second, ORDER_SET, 5).status);
	CHECK_OK(sleeper_finish(&s, 20));
	puppet_order(&second, ORDER_SET_AND_DIE, 6);
	sleeper_submit_wait(&s, 6);
	CHECK_OK(sleeper_finish(&s, 20));
	puppet_kill(&second);
	sleeper_end(&s);
}

/* Only the fabric detects the death, and wakes the owner. */
static void an_importer_killed_in_an_update_wakes_the_owner(void **state)
{
	if (!maps())
		skip();

	uint64_t looks = sf_watch_num_looks();
	struct sleeper s;

	(void)state;
	CHECK_OK(sleeper_start(&s, own_event(false)));
	for (uint64_t i = 1; i <= KILLS; i++) {
		struct puppet dpu = puppet_start(DPU);

		hand_over(s.event, &dpu);
		sleeper_submit_wait(&s, i);
		assert_int_equal(sleeper_finish(&s, 0.01), DOCA_ERROR_TIME_OUT);
		puppet_order(&dpu, ORDER_STORE_AND_DIE, i);
		CHECK_OK(sleeper_finish(&s, 60));
		puppet_kill(&dpu);
	}
	assert_int_equal(sf_watch_num_looks(), looks);
	sleeper_end(&s);
}

/* The owner never sleeps, but its process wakes the other importer. */
static void an_importer_killed_in_an_update_wakes_another(void **state)
{
	if (!maps())
		skip();

	struct puppet owner = puppet_start(HOST), killed = puppet_start(HOST);
	struct answer answer = puppet_do(&owner, ORDER_EXPORT, 0);
	struct doca_sync_event *event;
	struct sleeper s;

	(void)state;
	CHECK_OK(answer.status);
	CHECK_OK(puppet_import(&killed, answer.bytes, answer.len).status);
	CHECK_OK(doca_sync_event_create_from_export(dev, answer.bytes, answer.len, &event));
	CHECK_OK(sleeper_start(&s, event));
	sleeper_submit_wait(&s, 7);
	assert_int_equal(sleeper_finish(&s, 0.01), DOCA_ERROR_TIME_OUT);
	puppet_order(&killed, ORDER_STORE_AND_DIE, 7);
	CHECK_OK(sleeper_finish(&s, 60));
	puppet_kill(&killed);
	sleeper_end(&s);
	CHECK_OK(puppet_do(&owner, ORDER_STOP, 0).status);
	puppet_quit(&owner);
}

/* Sleeping costs nothing, however long it lasts: no thread polls. */
static void a_long_sleep_is_not_interrupted(void **state)
{
	struct puppet dpu = puppet_start(DPU);
	struct doca_sync_event *event = own_event(false);
	uint64_t looks = sf_watch_num_looks();
	struct sleeper s;

	(void)state;
	CHECK_OK(sleeper_start(&s, event));
	hand_over(event, &dpu);
	sleeper_submit_wait(&s, 5);
	assert_int_equal(sleeper_finish(&s, 1.2), DOCA_ERROR_TIME_OUT);
	CHECK_OK(puppet_do(&dpu, ORDER_SET, 5).status);
	CHECK_OK(sleeper_finish(&s, 60));
	assert_int_equal(sf_watch_num_looks(), looks);
	CHECK_OK(puppet_do(&dpu, ORDER_STOP, 0).status);
	sleeper_end(&s);
	puppet_quit(&dpu);
}

static void descriptor_of_a_dead_owner_is_stale(void **state)
{
	struct puppet host = puppet_start(HOST);
	struct answer answer = puppet_do(&host, ORDER_EXPORT, 0);
	struct doca_sync_event *event;

	(void)state;
	puppet_kill(&host);
	assert_int_equal(doca_sync_event_create_from_export(dev, answer.bytes, answer.len, &event), DOCA_ERROR_INVALID_VALUE);
}

static void owner_stops_under_a_waiting_importer(void **state)
{
	struct puppet dpu = puppet_start(DPU);
	struct doca_sync_event *event = own_event(false);

	(void)state;
	CHECK_OK(doca_sync_event_start(event));
	hand_over(event, &dpu);
	puppet_order(&dpu, ORDER_WAIT_EQ, 9);
	CHECK_OK(doca_sync_event_stop(event));
	assert_int_equal(puppet_answer(&dpu).status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(doca_sync_event_destroy(event));
	puppet_kill(&dpu);
}

/* ---- stopped ---- */

static void a_stopped_owner_blocks_nobody(void **state)
{
	if (!maps())
		skip(); /* without mappings an operation waits for a stopped owner: see the next test */

	struct puppet host = puppet_start(HOST);
	struct doca_sync_event *event = import_from(&host, false);
	uint64_t before;
	double begin;

	(void)state;
	CHECK_OK(doca_sync_event_start(event));
	process_stop(host.pid);
	begin = sf_now_s();
	for (int i = 0; i < 1000; i++) {
		CHECK_OK(doca_sync_event_update_set(event, 3));
		CHECK_OK(doca_sync_event_update_add(event, 1, &before));
		assert_int_equal(value_of(event), 4);
	}
	assert_true(sf_now_s() - begin < 60); /* an operation that waited for the owner would take a second */
	assert_int_equal(kill(host.pid, SIGCONT), 0);
	assert_int_equal(puppet_do(&host, ORDER_GET, 0).value, 4);
	end_event(event);
	CHECK_OK(puppet_do(&host, ORDER_STOP, 0).status);
	puppet_quit(&host);
}

/* Only the owner's process can access the program's memory: the operation times out, and logs that. */
static void a_stopped_owner_of_its_own_memory_times_out(void **state)
{
	struct puppet host = puppet_start(HOST);
	struct doca_sync_event *event = import_from(&host, true);
	uint64_t before;
	double begin;

	(void)state;
	CHECK_OK(doca_sync_event_start(event));
	process_stop(host.pid);
	begin = sf_now_s();
	assert_int_equal(doca_sync_event_update_add(event, 1, &before), DOCA_ERROR_TIME_OUT);
	assert_true(sf_now_s() - begin < 60);
	assert_int_equal(kill(host.pid, SIGCONT), 0);
	end_event(event);
	puppet_kill(&host);
}

/* ---- random orders: two processes against a model ---- */

#define RANDOM_SEQUENCES 30
#define RANDOM_ORDERS 200

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % limit;
}

static void random_order(struct doca_sync_event *event, struct puppet *dpu, uint64_t *model)
{
	uint64_t value = random_below(100), got;
	struct answer answer;

	switch (random_below(7)) {
	case 0:
		CHECK_OK(doca_sync_event_update_set(event, value));
		*model = value;
		break;
	case 1:
		CHECK_OK(doca_sync_event_update_add(event, value, &got));
		assert_int_equal(got, *model);
		*model += value;
		break;
	case 2:
		assert_int_equal(value_of(event), *model);
		break;
	case 3:
		CHECK_OK(puppet_do(dpu, ORDER_SET, value).status);
		*model = value;
		break;
	case 4:
		answer = puppet_do(dpu, ORDER_ADD, value);
		CHECK_OK(answer.status);
		assert_int_equal(answer.value, *model);
		*model += value;
		break;
	case 5:
		answer = puppet_do(dpu, ORDER_GET, 0);
		CHECK_OK(answer.status);
		assert_int_equal(answer.value, *model);
		break;
	default:
		CHECK_OK(puppet_do(dpu, ORDER_WAIT_EQ, *model).status);
		CHECK_OK(doca_sync_event_wait_eq(event, *model, UINT64_MAX));
		break;
	}
}

static void random_orders_follow_the_model(void **state)
{
	const char *seed = getenv("SOFTFIELD_TEST_SEED");
	struct puppet dpu = puppet_start(DPU);

	(void)state;
	random_state = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)getpid();
	printf("seed %lu\n", (unsigned long)random_state);
	for (int i = 0; i < RANDOM_SEQUENCES; i++) {
		struct doca_sync_event *event = own_event(random_below(2) != 0);
		uint64_t model = 0;

		CHECK_OK(doca_sync_event_start(event));
		hand_over(event, &dpu);
		for (uint32_t k = random_below(RANDOM_ORDERS); k > 0; k--)
			random_order(event, &dpu, &model);
		if (random_below(2) != 0) { /* either side exits first */
			CHECK_OK(puppet_do(&dpu, ORDER_STOP, 0).status);
			end_event(event);
			continue;
		}
		end_event(event);
		assert_int_equal(puppet_do(&dpu, ORDER_SET, 1).status, DOCA_ERROR_CONNECTION_ABORTED);
		CHECK_OK(puppet_do(&dpu, ORDER_STOP, 0).status);
	}
	puppet_quit(&dpu);
}

#define HOST_HERE(name) cmocka_unit_test_setup_teardown(name, open_host, close_device)
#define DPU_HERE(name) cmocka_unit_test_setup_teardown(name, open_dpu, close_device)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		HOST_HERE(host_and_dpu_share_a_counter),
		HOST_HERE(host_and_dpu_share_the_programs_memory),
		HOST_HERE(no_addition_is_lost),
		HOST_HERE(no_wake_up_is_lost),
		DPU_HERE(sync_wait_ends_when_the_owner_dies),
		DPU_HERE(sleeping_wait_ends_when_the_owner_dies),
		DPU_HERE(polling_wait_ends_when_the_owner_dies),
		HOST_HERE(importer_dies_and_another_takes_its_place),
		HOST_HERE(an_importer_killed_in_an_update_wakes_the_owner),
		DPU_HERE(an_importer_killed_in_an_update_wakes_another),
		HOST_HERE(a_long_sleep_is_not_interrupted),
		DPU_HERE(descriptor_of_a_dead_owner_is_stale),
		HOST_HERE(owner_stops_under_a_waiting_importer),
		DPU_HERE(a_stopped_owner_blocks_nobody),
		DPU_HERE(a_stopped_owner_of_its_own_memory_times_out),
		HOST_HERE(random_orders_follow_the_model),
	};

	if (argc == 3 && strcmp(argv[1], "puppet") == 0)
		return puppet_main(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
