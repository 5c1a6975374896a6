/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program submits in a loop while the peer waits for an RDMA message that another context of the same progress engine has
 * accepted but could not send yet, because no receive was posted. The loop must end. It runs in a callback of RDMA, in a callback
 * of Comch, or in none. The peer is another engine of this process, which the loop progresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/comch_side.h"
#include "support/rdma_pair.h"

#define CHUNK 64

static struct comch_side server, client;
static struct data_side producer, consumer; /* of the server, on the engine of pair.a; of the client */
static struct pair pair;
static struct doca_buf *message, *room;
static bool ended;

/* One step of the peer: it posts a Comch receive once it has the RDMA message. */
static void peer_turn(void)
{
	(void)doca_pe_progress(client.pe);
	(void)doca_pe_progress(consumer.pe);
	(void)doca_pe_progress(pair.b.pe);
	if (pair.b.num_received == 1 && consumer.num_done == 0 && room != NULL) {
		data_post(&consumer, 0, CHUNK);
		rig_put(room);
		room = NULL;
	}
}

static void loop_until_sent(void)
{
	uint64_t end = sf_now_ns() + side_wait_s * UINT64_C(1000000000);
	doca_error_t result;

	CHECK_OK(rig_send(&pair.a, pair.ab[0], message, 0)); /* no receive is posted: the message waits */
	assert_int_equal(data_send(&producer, 0, CHUNK, consumer.id, NULL, 0, true), DOCA_ERROR_AGAIN);
	room = rig_room(&pair.b, 0, CHUNK);
	CHECK_OK(rig_receive(&pair.b, room, 0));
	do {
		peer_turn();
		result = data_send(&producer, 0, CHUNK, consumer.id, NULL, 0, true);
	} while (result == DOCA_ERROR_AGAIN && sf_now_ns() < end);
	assert_int_equal(result, DOCA_SUCCESS);
	ended = true;
}

static void loop_of_rdma(struct rdma_rig *rig)
{
	rig->on_ended = NULL;
	loop_until_sent();
}

static void loop_of_comch(struct data_side *side, struct doca_task *task)
{
	(void)task;
	side->on_done = NULL;
	loop_until_sent();
}

#define WAIT(condition) SIDE_WAIT(condition, pair.a.pe, server.pe, client.pe, consumer.pe)

static int setup(void **state)
{
	(void)state;
	ended = false;
	side_init_server(&server, "callback loop, rdma");
	side_init_client(&client, "callback loop, rdma");
	side_connect(&server, &client);
	pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
	pair_start(&pair, 1);
	data_init_producer(&producer, &server, pair.a.pe, 4, 4096);
	data_init_consumer(&consumer, &client, NULL, 4, 4096);
	data_start(&producer, NULL, NULL);
	data_start(&consumer, client.pe, server.pe);
	SIDE_WAIT(server.num_new_consumers == 1, server.pe, client.pe, NULL, NULL);
	/* The first send connects. */
	data_post(&consumer, 0, CHUNK);
	assert_int_equal(data_send(&producer, 0, CHUNK, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	WAIT(producer.num_done == 1 && consumer.num_done == 1);
	consumer.num_done = 0;
	message = rig_source(&pair.a, 0, CHUNK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	WAIT(ended && producer.num_done >= 2 && consumer.num_done >= 1 && pair.a.num_good >= 1);
	rig_put(message);
	data_fini(&producer);
	data_fini(&consumer);
	pair_fini(&pair);
	side_fini(&server, &client);
	side_fini(&client, NULL);
	return 0;
}

static void outside_of_callbacks(void **state)
{
	(void)state;
	loop_until_sent();
}

static void in_a_callback_of_rdma(void **state)
{
	struct doca_buf *there = rig_room(&pair.a, 128, CHUNK), *here = rig_source(&pair.b, 128, CHUNK);

	(void)state;
	CHECK_OK(rig_receive(&pair.a, there, 0));
	CHECK_OK(rig_send(&pair.b, pair.ba[0], here, 0));
	pair.a.on_ended = loop_of_rdma;
	SIDE_WAIT(ended, pair.a.pe, pair.b.pe, NULL, NULL);
	rig_put(there);
	rig_put(here);
}

static void in_a_callback_of_another_context(void **state)
{
	(void)state;
	data_post(&consumer, 0, CHUNK);
	assert_int_equal(data_send(&producer, 0, CHUNK, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1, consumer.pe, NULL, NULL, NULL);
	consumer.num_done = 0;
	producer.on_done = loop_of_comch;
	SIDE_WAIT(ended, pair.a.pe, NULL, NULL, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(outside_of_callbacks),
		TEST(in_a_callback_of_rdma),
		TEST(in_a_callback_of_another_context),
	};

	return cmocka_run_group_tests_name("callback loop, rdma", tests, NULL, NULL);
}
