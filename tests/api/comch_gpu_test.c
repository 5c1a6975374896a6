/* SPDX-License-Identifier: BSD-3-Clause */
/* What the CPU does for producers and consumers on a GPU, with both sides in one process. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doca_gpunetio.h>

#include "support/comch_side.h"

#define GPU "b5:00.0"
#define LOST_MS 5000
#define SETTLE_NS UINT64_C(50000000)

static struct comch_side server, client;

static int set_up(void **state)
{
	(void)state;
	side_init_server(&server, "comch gpu test");
	side_init_client(&client, "comch gpu test");
	side_connect(&server, &client);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	side_fini(&client, &server);
	side_fini(&server, NULL);
	return 0;
}

static bool wakes_within(struct doca_pe *pe, int ms)
{
	struct pollfd wait = {.events = POLLIN};

	assert_int_equal(doca_pe_get_notification_handle(pe, &wait.fd), DOCA_SUCCESS);
	return poll(&wait, 1, ms) == 1;
}

/* The consumer is announced on the control engine; the producer's own engine has to connect to it. */
static void new_consumer_wakes_a_producer_on_a_gpu(void **state)
{
	struct data_side producer, consumer;
	struct doca_gpu *gpu;

	(void)state;
	assert_int_equal(doca_gpu_create(GPU, &gpu), DOCA_SUCCESS);
	data_init_producer(&producer, &client, NULL, 4, 4096);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(producer.ctx, gpu), DOCA_SUCCESS);
	data_start(&producer, NULL, NULL);
	while (doca_pe_progress(producer.pe))
		;
	assert_int_equal(doca_pe_request_notification(producer.pe), DOCA_SUCCESS);
	assert_false(wakes_within(producer.pe, 0));
	data_init_consumer(&consumer, &server, NULL, 1, 4096);
	data_start(&consumer, server.pe, client.pe);
	assert_true(wakes_within(producer.pe, LOST_MS));
	assert_int_equal(doca_pe_clear_notification(producer.pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(producer.pe), 1);
	data_fini(&producer);
	data_fini(&consumer);
	assert_int_equal(doca_gpu_destroy(gpu), DOCA_SUCCESS);
}

/* Both are in one process: the consumer reads the producer's GPU queue directly, not through a mapping. */
static void consumer_outlives_a_producer_on_a_gpu_of_its_process(void **state)
{
	struct data_side producer, consumer;
	struct doca_gpu *gpu;
	uint64_t deadline;

	(void)state;
	assert_int_equal(doca_gpu_create(GPU, &gpu), DOCA_SUCCESS);
	data_init_producer(&producer, &client, NULL, 4, 4096);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(producer.ctx, gpu), DOCA_SUCCESS);
	data_start(&producer, NULL, NULL);
	data_init_consumer(&consumer, &server, NULL, 1, 4096);
	data_start(&consumer, server.pe, client.pe);
	assert_non_null(data_post(&consumer, 0, 64));
	/* The producer connects, then the consumer opens the GPU queue. */
	for (deadline = sf_now_ns() + SETTLE_NS; sf_now_ns() < deadline;) {
		doca_pe_progress(client.pe);
		doca_pe_progress(server.pe);
		doca_pe_progress(producer.pe);
		doca_pe_progress(consumer.pe);
	}
	data_fini(&producer);
	assert_int_equal(doca_gpu_destroy(gpu), DOCA_SUCCESS);
	while (doca_pe_progress(consumer.pe))
		;
	data_fini(&consumer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(new_consumer_wakes_a_producer_on_a_gpu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(consumer_outlives_a_producer_on_a_gpu_of_its_process, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
