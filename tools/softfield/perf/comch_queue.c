/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <doca_buf.h>

#include "perf/comch.h"

#define RECEIVES_EXTRA 2

/* ---- callbacks ---- */

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	((struct perf_comch *)ctx_data.ptr)->received++;
	(void)doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task));
	bench_check(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)), "comch: posting a receive again");
}

/* A receive that is still posted when the consumer stops. */
static void on_receive_flushed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			       union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	bench_check(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL), "comch: releasing a buffer");
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct perf_comch *comch = (struct perf_comch *)ctx_data.ptr;

	(void)task_data;
	comch->sent++;
	comch->idle[comch->num_idle++] = task;
}

static void on_send_failed(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	bench_check(doca_task_get_status(doca_comch_producer_task_send_as_task(task)), "comch: sending");
}

/* ---- the queue ---- */

static uint32_t receives_of(const struct perf_side *side)
{
	return 2 * side->depth + RECEIVES_EXTRA;
}

static void check_size(const struct perf_side *side)
{
	uint32_t max;

	bench_check(doca_comch_producer_cap_get_max_buf_size(doca_dev_as_devinfo(side->dev), &max), "comch: asking the device");
	if (side->size > max)
		bench_die("%s: the device sends at most %u bytes, not %u", side->what, max, side->size);
}

static void open_consumer(struct perf_side *side, struct perf_comch *comch)
{
	struct doca_ctx *ctx;
	doca_error_t result;

	bench_check(doca_comch_consumer_create(comch->connection, comch->mmap, &comch->consumer), "comch: creating a consumer");
	ctx = doca_comch_consumer_as_ctx(comch->consumer);
	bench_check(doca_pe_connect_ctx(comch->data_pe, ctx), "comch: configuring");
	bench_check(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = comch}), "comch: configuring");
	bench_check(
		doca_comch_consumer_task_post_recv_set_conf(comch->consumer, on_received, on_receive_flushed, receives_of(side)),
		"comch: configuring");
	result = doca_ctx_start(ctx);
	if (result != DOCA_ERROR_IN_PROGRESS)
		bench_check(result, "comch: starting a consumer");
	perf_comch_await_consumers(side, comch, ctx);
}

static void post_receives(struct perf_side *side, struct perf_comch *comch)
{
	for (uint32_t i = 0; i < receives_of(side); i++) {
		struct doca_comch_consumer_task_post_recv *task;
		struct doca_buf *buf;

		bench_check(doca_buf_inventory_buf_get_by_addr(comch->inventory, comch->mmap,
							       comch->memory + (size_t)i * side->size, side->size, &buf),
			    "comch: getting a buffer");
		bench_check(doca_comch_consumer_task_post_recv_alloc_init(comch->consumer, buf, &task),
			    "comch: allocating a receive");
		bench_check(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)), "comch: posting a receive");
	}
}

static void open_producer(struct perf_side *side, struct perf_comch *comch)
{
	uint8_t *memory = comch->memory + (size_t)receives_of(side) * side->size;
	struct doca_ctx *ctx;

	bench_check(doca_comch_producer_create(comch->connection, &comch->producer), "comch: creating a producer");
	ctx = doca_comch_producer_as_ctx(comch->producer);
	bench_check(doca_pe_connect_ctx(comch->data_pe, ctx), "comch: configuring");
	bench_check(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = comch}), "comch: configuring");
	bench_check(doca_comch_producer_task_send_set_conf(comch->producer, on_sent, on_send_failed, side->depth),
		    "comch: configuring");
	bench_check(doca_ctx_start(ctx), "comch: starting a producer");
	comch->idle = calloc(side->depth, sizeof(struct doca_comch_producer_task_send *));
	if (comch->idle == NULL)
		bench_die("no memory");
	for (uint32_t i = 0; i < side->depth; i++) {
		struct doca_comch_producer_task_send *task;
		struct doca_buf *buf;

		bench_check(doca_buf_inventory_buf_get_by_data(comch->inventory, comch->mmap, memory + (size_t)i * side->size,
							       side->size, &buf),
			    "comch: getting a buffer");
		bench_check(
			doca_comch_producer_task_send_alloc_init(comch->producer, buf, NULL, 0, comch->remote_consumer, &task),
			"comch: allocating a send");
		comch->idle[comch->num_idle++] = task;
	}
}

void perf_queue_open(struct perf_side *side, struct perf_comch *comch)
{
	uint32_t num = side->depth + receives_of(side);

	check_size(side);
	bench_check(doca_pe_create(&comch->data_pe), "creating a progress engine");
	comch->mmap = perf_memory_open(side, (size_t)num * side->size,
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &comch->memory);
	comch->inventory = perf_inventory_open(num);
	open_consumer(side, comch);
	post_receives(side, comch);
	open_producer(side, comch);
}

static void free_sends(struct perf_comch *comch)
{
	for (uint32_t i = 0; i < comch->num_idle; i++) {
		const struct doca_buf *buf = doca_comch_producer_task_send_get_buf(comch->idle[i]);

		bench_check(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)buf, NULL), "comch: releasing a buffer");
		doca_task_free(doca_comch_producer_task_send_as_task(comch->idle[i]));
	}
	free(comch->idle);
	comch->num_idle = 0;
}

void perf_queue_close(struct perf_side *side, struct perf_comch *comch)
{
	perf_queue_finish(side, comch);
	free_sends(comch);
	perf_comch_stop(side, comch, doca_comch_producer_as_ctx(comch->producer));
	perf_comch_stop(side, comch, doca_comch_consumer_as_ctx(comch->consumer));
	bench_check(doca_comch_producer_destroy(comch->producer), "comch: destroying a producer");
	bench_check(doca_comch_consumer_destroy(comch->consumer), "comch: destroying a consumer");
	bench_check(doca_buf_inventory_destroy(comch->inventory), "comch: destroying the inventory");
	perf_memory_close(comch->mmap, comch->memory);
	bench_check(doca_pe_destroy(comch->data_pe), "destroying a progress engine");
	comch->data_pe = NULL;
	comch->remote_consumer = 0; /* the peer creates another after the next perf_meet */
	comch->submitted = comch->sent = comch->received = comch->taken = 0;
}

/* ---- messages ---- */

bool perf_queue_send(struct perf_comch *comch)
{
	doca_error_t result;

	if (comch->num_idle == 0)
		return false;
	result = doca_task_submit(doca_comch_producer_task_send_as_task(comch->idle[comch->num_idle - 1]));
	if (result == DOCA_ERROR_AGAIN)
		return false;
	bench_check(result, "comch: sending");
	comch->num_idle--;
	comch->submitted++;
	return true;
}

void perf_queue_take(const struct perf_side *side, struct perf_comch *comch, uint64_t number)
{
	comch->taken += number;
	while (comch->received < comch->taken)
		perf_progress(side, comch->data_pe);
}

void perf_queue_finish(const struct perf_side *side, const struct perf_comch *comch)
{
	while (comch->sent < comch->submitted)
		perf_progress(side, comch->data_pe);
}

void perf_queue_ping(const struct perf_side *side, struct perf_comch *comch, uint64_t rounds, struct timing *timing)
{
	for (uint64_t i = 0; i < rounds; i++) {
		while (!perf_queue_send(comch))
			perf_progress(side, comch->data_pe);
		perf_queue_take(side, comch, 1);
		timing_add(timing);
	}
	perf_queue_finish(side, comch);
}
