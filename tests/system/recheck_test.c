/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress call that finds nothing leaves the notification requested: a million rounds of request, progress and wait, for each
 * kind of event that a program sleeps for. wakeup_test.c tests events that arrive in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <doca_sync_event.h>

#include "support/comch_side.h"
#include "support/provider.h"
#include "support/rdma_pair.h"
#include "support/recheck.h"
#include "support/test_dev.h"

/* By TCP an update of a sync event takes 100 us. */
static uint32_t num_rounds(void)
{
	return provider_is("tcp") ? RECHECK_ROUNDS / 50 : RECHECK_ROUNDS;
}

/* fire() makes something due on pe; done() returns how often that was seen. What a callback submits belongs to the same round. */
static void recheck_rounds(struct doca_pe *pe, void (*fire)(void *arg), uint32_t (*done)(void *arg), void *arg, uint32_t rounds)
{
	doca_notification_handle_t handle;

	assert_int_equal(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS);
	for (uint32_t round = 1; round <= rounds; round++) {
		uint32_t before = done(arg);

		while (doca_pe_progress(pe))
			;
		assert_int_equal(doca_pe_request_notification(pe), DOCA_SUCCESS);
		for (uint32_t i = 0; i <= round % 3; i++)
			(void)doca_pe_progress(pe);
		fire(arg);
		while (done(arg) == before) {
			recheck_wait(handle, round);
			assert_int_equal(doca_pe_clear_notification(pe, 0), DOCA_SUCCESS);
			while (doca_pe_progress(pe))
				;
			if (done(arg) == before) /* woken by another event */
				assert_int_equal(doca_pe_request_notification(pe), DOCA_SUCCESS);
		}
	}
}

/* ---- Comch ---- */

static struct comch_side server, client;
static struct data_side consumer, producer;

static void comch_open(const char *name)
{
	side_init_server(&server, name);
	side_init_client(&client, name);
	side_connect(&server, &client);
}

static void comch_close(void)
{
	side_fini(&client, &server);
	side_fini(&server, NULL);
}

static void send_message(void *arg)
{
	assert_int_equal(side_send(arg, "wake", 4), DOCA_SUCCESS);
	while (doca_pe_progress(((struct comch_side *)arg)->pe))
		;
}

static uint32_t server_messages(void *arg)
{
	(void)arg;
	return server.num_msgs;
}

static uint32_t client_messages(void *arg)
{
	(void)arg;
	return client.num_msgs;
}

static void comch_messages(void **state)
{
	(void)state;
	comch_open("recheck messages");
	recheck_rounds(server.pe, send_message, server_messages, &client, num_rounds());
	recheck_rounds(client.pe, send_message, client_messages, &server, num_rounds() / 10);
	comch_close();
}

static void produce(void *arg)
{
	(void)arg;
	assert_int_equal(data_send(&producer, 0, 32, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	while (doca_pe_progress(producer.pe))
		;
}

static uint32_t consumed(void *arg)
{
	(void)arg;
	return consumer.num_done;
}

static void request_and_recheck(struct doca_pe *pe)
{
	do
		assert_int_equal(doca_pe_request_notification(pe), DOCA_SUCCESS);
	while (doca_pe_progress(pe));
}

/* The message waits at the producer until the connection is up, and the producer's progress sends it: both sides sleep until
 * then. */
static void first_message(void)
{
	struct doca_pe *pes[] = {producer.pe, consumer.pe};
	struct pollfd waits[2] = {{.events = POLLIN}, {.events = POLLIN}};

	assert_int_equal(data_send(&producer, 0, 32, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(doca_pe_get_notification_handle(pes[i], &waits[i].fd), DOCA_SUCCESS);
		request_and_recheck(pes[i]);
	}
	while (consumer.num_done == 0 || producer.num_done == 0) {
		if (poll(waits, 2, RECHECK_LOST_MS) <= 0)
			fail_msg("the first message: the wake-up was lost");
		for (int i = 0; i < 2; i++) {
			assert_int_equal(doca_pe_clear_notification(pes[i], 0), DOCA_SUCCESS);
			request_and_recheck(pes[i]);
		}
	}
	for (int i = 0; i < 2; i++) /* the rounds poll the producer's engine */
		assert_int_equal(doca_pe_clear_notification(pes[i], 0), DOCA_SUCCESS);
}

static void comch_consumers(void **state)
{
	(void)state;
	comch_open("recheck consumers");
	data_init_consumer(&consumer, &server, NULL, 4, 4096);
	consumer.repost = true;
	data_start(&consumer, server.pe, client.pe);
	data_init_producer(&producer, &client, NULL, 4, 4096);
	data_start(&producer, server.pe, client.pe);
	SIDE_WAIT(client.num_new_consumers == 1, server.pe, client.pe, NULL, NULL);
	for (size_t i = 0; i < 4; i++)
		data_post(&consumer, i * 64, 64);
	first_message();
	recheck_rounds(consumer.pe, produce, consumed, NULL, num_rounds());
	consumer.repost = false;
	data_fini(&producer);
	data_fini(&consumer);
	comch_close();
}

/* ---- RDMA ---- */

static struct pair pair;

/* The sender progresses until its task is done. By TCP it may have to wait for the peer's report of the receive, and for the
 * acknowledgement. */
static void rdma_send(void *arg)
{
	uint32_t good = pair.a.num_good;

	(void)arg;
	CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, 0));
	RDMA_RIG_WAIT(&pair.a, NULL, pair.a.num_good == good + 1);
}

static uint32_t rdma_received(void *arg)
{
	(void)arg;
	return pair.b.num_received;
}

static void rdma_receives(void **state)
{
	(void)state;
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	pair_start(&pair, 1);
	pair.b.resubmits = UINT32_MAX;
	CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, 0));
	PAIR_WAIT(&pair, pair.b.num_received == 1 && pair.a.num_good == 1);
	recheck_rounds(pair.b.pe, rdma_send, rdma_received, NULL, num_rounds());
	pair.b.resubmits = 0;
	pair_fini(&pair);
}

/* The receive is posted late. A timer retries the sender's task, and the progress call must not cancel the timer. */
static uint32_t rdma_sent(void *arg)
{
	(void)arg;
	return pair.a.num_good;
}

static void rdma_post(void *arg)
{
	(void)arg;
	CHECK_OK(rig_receive(&pair.b, NULL, 0));
}

static void rdma_tasks_that_are_tried_again(void **state)
{
	(void)state;
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_rnr_retry_count(pair.a.rdma, 7)); /* retries without limit */
	pair_start(&pair, 1);
	CHECK_OK(rig_receive(&pair.b, NULL, 0));
	CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, 0));
	PAIR_WAIT(&pair, pair.b.num_received == 1 && pair.a.num_good == 1);
	for (uint32_t round = 0; round < 200; round++) {
		CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, 0));
		recheck_rounds(pair.a.pe, rdma_post, rdma_sent, NULL, 1);
		PAIR_WAIT(&pair, pair.b.num_received == round + 2);
	}
	pair_fini(&pair);
}

/* ---- sync events ---- */

struct waiter {
	struct doca_dev *host, *dpu;
	struct doca_sync_event *event, *far;
	struct doca_pe *pe;
	struct doca_sync_event_task_wait_eq *task;
	uint64_t value;
	uint32_t woken;
};

static void waited(struct doca_sync_event_task_wait_eq *task, union doca_data task_data, union doca_data ctx_data)
{
	struct waiter *waiter = task_data.ptr;

	(void)ctx_data;
	waiter->woken++;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static void await_next(struct waiter *waiter)
{
	union doca_data data = {.ptr = waiter};

	waiter->value++;
	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(waiter->event, waiter->value, UINT64_MAX, data, &waiter->task));
	CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(waiter->task)));
}

static void waiter_open(struct waiter *waiter)
{
	struct doca_ctx *ctx;
	const uint8_t *data;
	size_t size;

	memset(waiter, 0, sizeof(*waiter));
	waiter->host = test_dev_open_pci(HOST_DEV);
	waiter->dpu = test_dev_open_pci(DPU_DEV);
	CHECK_OK(doca_pe_create(&waiter->pe));
	CHECK_OK(doca_sync_event_create(&waiter->event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(waiter->event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(waiter->event, waiter->host));
	ctx = doca_sync_event_as_ctx(waiter->event);
	CHECK_OK(doca_pe_connect_ctx(waiter->pe, ctx));
	CHECK_OK(doca_sync_event_task_wait_eq_set_conf(waiter->event, waited, waited, 4));
	CHECK_OK(doca_ctx_start(ctx));
	CHECK_OK(doca_sync_event_export_to_remote_pci(waiter->event, waiter->host, &data, &size));
	CHECK_OK(doca_sync_event_create_from_export(waiter->dpu, data, size, &waiter->far));
	CHECK_OK(doca_sync_event_start(waiter->far));
}

static void waiter_close(struct waiter *waiter)
{
	CHECK_OK(doca_sync_event_stop(waiter->far));
	CHECK_OK(doca_sync_event_destroy(waiter->far));
	(void)doca_ctx_stop(doca_sync_event_as_ctx(waiter->event));
	while (doca_pe_progress(waiter->pe))
		;
	CHECK_OK(doca_sync_event_destroy(waiter->event));
	CHECK_OK(doca_pe_destroy(waiter->pe));
	CHECK_OK(doca_dev_close(waiter->dpu));
	CHECK_OK(doca_dev_close(waiter->host));
}

static void publish(void *arg)
{
	struct waiter *waiter = arg;

	CHECK_OK(doca_sync_event_update_set(waiter->far, waiter->value));
}

static uint32_t times_woken(void *arg)
{
	return ((struct waiter *)arg)->woken;
}

static void sync_events(void **state)
{
	static struct waiter waiter;

	(void)state;
	waiter_open(&waiter);
	for (uint32_t round = 0; round < num_rounds(); round++) {
		await_next(&waiter);
		recheck_rounds(waiter.pe, publish, times_woken, &waiter, 1);
	}
	waiter_close(&waiter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comch_messages), cmocka_unit_test(comch_consumers),
		cmocka_unit_test(rdma_receives),  cmocka_unit_test(rdma_tasks_that_are_tried_again),
		cmocka_unit_test(sync_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
