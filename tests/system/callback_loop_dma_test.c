/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program submits in a loop while the peer waits for bytes that a DMA context of the same progress engine has accepted to copy
 * into the peer's memory. The loop must end. It runs in a callback of DMA, in a callback of Comch, or in none. The peer is
 * another engine of this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/comch_side.h"
#include "support/dma_rig.h"

#define CHUNK 64
#define SIZE (1 << 20)
#define COPIES 3 /* each takes more than one slice of progress */

static struct comch_side server, client;
static struct data_side producer, consumer; /* of the server, on the engine of DMA; of the client */
static struct rig dma;
static struct doca_mmap *mmap_from, *mmap_to;
static struct doca_buf *from[COPIES + 1], *to[COPIES + 1];
static uint8_t *bytes_from, *bytes_to;
static bool posted, ended;

/* One step of the peer: it posts a Comch receive once it has all bytes. */
static void peer_turn(void)
{
	(void)doca_pe_progress(client.pe);
	(void)doca_pe_progress(consumer.pe);
	if (!posted && memcmp(bytes_to, bytes_from, (size_t)COPIES * SIZE) == 0) {
		posted = true;
		data_post(&consumer, 0, CHUNK);
	}
}

static void loop_until_sent(void)
{
	uint64_t end = sf_now_ns() + side_wait_s * UINT64_C(1000000000);
	uint32_t good = dma.num_good;
	doca_error_t result;

	posted = false;
	for (uint32_t i = 0; i < COPIES; i++)
		assert_int_equal(doca_task_submit(rig_task(&dma, from[i], to[i])), DOCA_SUCCESS);
	do {
		peer_turn();
		result = data_send(&producer, 0, CHUNK, consumer.id, NULL, 0, true);
	} while (result == DOCA_ERROR_AGAIN && sf_now_ns() < end);
	assert_int_equal(result, DOCA_SUCCESS);
	assert_int_equal(dma.num_good, good); /* progress reports the completions */
	ended = true;
}

static void loop_of_dma(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	static bool begun;

	rig_good(task, task_user_data, ctx_user_data);
	if (begun)
		return;
	begun = true;
	loop_until_sent();
}

static void loop_of_comch(struct data_side *side, struct doca_task *task)
{
	(void)task;
	side->on_done = NULL;
	loop_until_sent();
}

#define WAIT(condition) SIDE_WAIT(condition, dma.pe, server.pe, client.pe, consumer.pe)

static void set_up_dma(bool loops)
{
	rig_prepare(&dma, test_dev_open(0));
	if (loops)
		assert_int_equal(doca_dma_task_memcpy_set_conf(dma.dma, loop_of_dma, rig_failed, RIG_TASKS), DOCA_SUCCESS);
	rig_start(&dma);
	bytes_from = malloc((COPIES + 1) * SIZE);
	bytes_to = calloc(COPIES + 1, SIZE);
	memset(bytes_from, 0x5a, (COPIES + 1) * SIZE);
	mmap_from = rig_mmap(&dma, bytes_from, (COPIES + 1) * SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	mmap_to = rig_mmap(&dma, bytes_to, (COPIES + 1) * SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	for (uint32_t i = 0; i <= COPIES; i++) {
		from[i] = rig_source(&dma, mmap_from, bytes_from + i * SIZE, SIZE);
		to[i] = rig_destination(&dma, mmap_to, bytes_to + i * SIZE, SIZE);
	}
}

static void set_up(bool loops)
{
	ended = false;
	side_init_server(&server, "callback loop, dma");
	side_init_client(&client, "callback loop, dma");
	side_connect(&server, &client);
	set_up_dma(loops);
	data_init_producer(&producer, &server, dma.pe, 4, 4096);
	data_init_consumer(&consumer, &client, NULL, 4, 4096);
	data_start(&producer, NULL, NULL);
	data_start(&consumer, client.pe, server.pe);
	SIDE_WAIT(server.num_new_consumers == 1, server.pe, client.pe, NULL, NULL);
	/* The first send connects. */
	data_post(&consumer, 0, CHUNK);
	assert_int_equal(data_send(&producer, 0, CHUNK, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	WAIT(producer.num_done == 1 && consumer.num_done == 1);
}

static int set_up_quiet(void **state)
{
	(void)state;
	set_up(false);
	return 0;
}

static int set_up_looping(void **state)
{
	(void)state;
	set_up(true);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	WAIT(ended && producer.num_done >= 2 && consumer.num_done == producer.num_done && dma.num_good >= COPIES);
	assert_int_equal(dma.num_failed, 0);
	for (uint32_t i = 0; i <= COPIES; i++) {
		rig_put(from[i]);
		rig_put(to[i]);
	}
	data_fini(&producer);
	data_fini(&consumer);
	rig_stop(&dma);
	assert_int_equal(doca_mmap_destroy(mmap_from), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap_to), DOCA_SUCCESS);
	rig_fini(&dma);
	side_fini(&server, &client);
	side_fini(&client, NULL);
	free(bytes_from);
	free(bytes_to);
	return 0;
}

static void outside_of_callbacks(void **state)
{
	(void)state;
	loop_until_sent();
}

static void in_a_callback_of_dma(void **state)
{
	(void)state;
	assert_int_equal(doca_task_submit(rig_task(&dma, from[COPIES], to[COPIES])), DOCA_SUCCESS);
	SIDE_WAIT(ended, dma.pe, NULL, NULL, NULL);
}

static void in_a_callback_of_another_context(void **state)
{
	(void)state;
	data_post(&consumer, 0, CHUNK);
	producer.on_done = loop_of_comch;
	assert_int_equal(data_send(&producer, 0, CHUNK, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(ended, dma.pe, NULL, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(outside_of_callbacks, set_up_quiet, tear_down),
		cmocka_unit_test_setup_teardown(in_a_callback_of_dma, set_up_looping, tear_down),
		cmocka_unit_test_setup_teardown(in_a_callback_of_another_context, set_up_quiet, tear_down),
	};

	return cmocka_run_group_tests_name("callback loop, dma", tests, NULL, NULL);
}
