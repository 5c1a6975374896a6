/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "load.h"
#include "support/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

/* Posted in addition to the messages in flight, so that the kernel need not look for room each time; as many as stay in the
 * cache. */
#define RECVS_EXTRA_MAX 64
#define RECVS_EXTRA_MIN 8
#define RECVS_EXTRA_BYTES (256 * 1024)
#define POLLS_BETWEEN_LOOKS 64

struct load_queue {
	struct setup_end *end;
	struct setup_queue *queue;
	const struct load_config *config;
	pthread_t thread;
	uint32_t stride;
	uint64_t asked, sent, answered, wrong;	      /* messages */
	uint32_t next;				      /* asked mod depth */
	struct doca_comch_producer_task_send **sends; /* message n uses n mod depth */
	struct doca_buf_inventory *inventory;
	struct doca_buf **bufs;
	uint32_t num_bufs;
	double *asked_at; /* of message n at n mod depth */
	float *samples;
	uint64_t num_samples;
	bool stopping;
	double measured_s;
	uint64_t measured;
};

static atomic_int phase; /* 0 warm up, 1 measure, 2 end */

static void sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct load_queue *q = ctx_data.ptr;

	q->sent++;
}

static void failed_send(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct load_queue *q = ctx_data.ptr;

	q->wrong++;
}

static void check(struct load_queue *q, struct doca_buf *buf)
{
	uint64_t wanted = q->answered, got = 0;
	const uint8_t *data;
	size_t len;
	void *at;

	doca_buf_get_data(buf, &at);
	doca_buf_get_data_len(buf, &len);
	data = at;
	memcpy(&got, data, len < sizeof(got) ? len : sizeof(got));
	if (q->config->size < sizeof(wanted))
		wanted &= (UINT64_C(1) << 8 * q->config->size) - 1;
	if (len != q->config->size || got != wanted || (len > sizeof(got) && data[len - 1] != (uint8_t)wanted))
		q->wrong++;
}

/* The immediate data of message n: bytes derived from n. */
static void fill_imm(uint8_t *imm, uint32_t len, uint64_t n)
{
	for (uint32_t i = 0; i < len; i++)
		imm[i] = (uint8_t)(n + i);
}

static void check_imm(struct load_queue *q, const struct doca_comch_consumer_task_post_recv *task)
{
	uint32_t len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	uint8_t wanted[32];

	fill_imm(wanted, q->config->imm_len, q->answered);
	if (len != q->config->imm_len ||
	    (len != 0 && memcmp(wanted, doca_comch_consumer_task_post_recv_get_imm_data(task), len) != 0))
		q->wrong++;
}

static void received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	struct load_queue *q = ctx_data.ptr;
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);

	check(q, buf);
	check_imm(q, task);
	if (q->config->depth == 1 && atomic_load_explicit(&phase, memory_order_relaxed) == 1 && q->num_samples < LOAD_SAMPLES_MAX)
		q->samples[q->num_samples++] = (float)(1e6 * (sf_now_s() - q->asked_at[0]));
	q->answered++;
	doca_buf_reset_data_len(buf);
	if (q->stopping || doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)) != DOCA_SUCCESS)
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void flushed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static uint32_t recvs_extra(const struct load_config *config)
{
	uint32_t extra = RECVS_EXTRA_BYTES / config->size;

	return extra > RECVS_EXTRA_MAX ? RECVS_EXTRA_MAX : extra < RECVS_EXTRA_MIN ? RECVS_EXTRA_MIN : extra;
}

static void prepare(struct load_queue *q)
{
	uint32_t depth = q->config->depth, recvs = depth + recvs_extra(q->config);
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_create(depth + recvs, &q->inventory));
	CHECK_OK(doca_buf_inventory_start(q->inventory));
	q->sends = calloc(depth, sizeof(struct doca_comch_producer_task_send *));
	q->bufs = calloc(depth + recvs, sizeof(struct doca_buf *));
	q->asked_at = calloc(depth, sizeof(double));
	q->samples = calloc(LOAD_SAMPLES_MAX, sizeof(float));
	for (uint32_t i = 0; i < depth; i++) {
		CHECK_OK(doca_buf_inventory_buf_get_by_data(q->inventory, q->queue->mmap,
							    q->queue->memory + (size_t)i * q->stride, q->config->size, &buf));
		q->bufs[q->num_bufs++] = buf;
		CHECK_OK(doca_comch_producer_task_send_alloc_init(q->queue->producer, buf, NULL, 0, q->queue->remote_id,
								  &q->sends[i]));
	}
	for (uint32_t i = 0; i < recvs; i++) {
		CHECK_OK(doca_buf_inventory_buf_get_by_addr(q->inventory, q->queue->mmap,
							    q->queue->memory + (size_t)(depth + i) * q->stride, q->stride, &buf));
		q->bufs[q->num_bufs++] = buf;
		CHECK_OK(doca_comch_consumer_task_post_recv_alloc_init(q->queue->consumer, buf, &recv));
		CHECK_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	}
}

static bool ask(struct load_queue *q)
{
	uint8_t *memory = q->queue->memory + (size_t)q->next * q->stride;
	struct doca_comch_producer_task_send *send = q->sends[q->next];
	struct doca_task *task = doca_comch_producer_task_send_as_task(send);
	uint32_t size = q->config->size;

	if (q->asked - q->sent == q->config->depth) /* an answer may arrive before its request is completed */
		return false;
	memcpy(memory, &q->asked, size < 8 ? size : 8);
	if (size > 8)
		memory[size - 1] = (uint8_t)q->asked;
	if (q->config->imm_len != 0) {
		uint8_t imm[32];

		fill_imm(imm, q->config->imm_len, q->asked);
		doca_comch_producer_task_send_set_imm_data(send, imm, q->config->imm_len);
	}
	if (q->config->depth == 1)
		q->asked_at[0] = sf_now_s();
	if (doca_task_submit(task) != DOCA_SUCCESS)
		return false;
	q->asked++;
	q->next = q->next + 1 == q->config->depth ? 0 : q->next + 1;
	return true;
}

static bool over(struct load_queue *q)
{
	return q->config->messages != 0 ? q->answered >= q->config->messages
					: atomic_load_explicit(&phase, memory_order_relaxed) == 2;
}

static void *load_thread(void *arg)
{
	struct load_queue *q = arg;
	uint64_t first = 0, limit = q->config->messages != 0 ? q->config->messages : UINT64_MAX;
	double begin = 0, patience;
	int seen = 0;

	while (!over(q)) {
		for (uint32_t i = 0; i < POLLS_BETWEEN_LOOKS && q->asked - q->answered < q->config->depth && q->asked < limit;
		     i++) {
			if (!ask(q))
				break;
		}
		doca_pe_progress(q->queue->pe);
		if (seen == 0 && atomic_load_explicit(&phase, memory_order_relaxed) == 1) {
			seen = 1;
			first = q->answered;
			begin = sf_now_s();
		}
	}
	q->measured = q->answered - first;
	q->measured_s = sf_now_s() - begin;
	patience = sf_now_s() + 5;
	while ((q->answered < q->asked || q->sent < q->asked) && sf_now_s() < patience)
		doca_pe_progress(q->queue->pe);
	if (q->answered < q->asked)
		q->wrong += q->asked - q->answered;
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

static void add_up(struct load_queue *queues, uint32_t num, struct load_result *result)
{
	struct load_queue *q = &queues[0];

	memset(result, 0, sizeof(*result));
	for (uint32_t i = 0; i < num; i++) {
		result->messages += queues[i].measured;
		result->wrong += queues[i].wrong;
		result->seconds += queues[i].measured_s / num;
	}
	if (q->num_samples == 0)
		return;
	qsort(q->samples, q->num_samples, sizeof(float), by_value);
	result->p50_us = q->samples[q->num_samples / 2];
	result->p99_us = q->samples[q->num_samples * 99 / 100];
}

static void pause_for(struct setup_end *end, double seconds)
{
	(void)WAIT_UNTIL_WITHIN((uint64_t)(seconds * 1000), (doca_pe_progress(end->pe), end->lost));
}

static void release(struct load_queue *q)
{
	for (uint32_t i = 0; i < q->num_bufs; i++)
		CHECK_OK(doca_buf_dec_refcount(q->bufs[i], NULL));
	CHECK_OK(doca_buf_inventory_destroy(q->inventory));
	free(q->bufs);
	free(q->sends);
	free(q->asked_at);
	free(q->samples);
}

void load_run(struct setup_end *end, const struct load_config *config, struct load_result *result)
{
	struct load_queue *queues = calloc(config->queues, sizeof(*queues));
	uint32_t stride = (config->size + 63) / 64 * 64;
	struct setup_tasks tasks = {.sends = config->depth,
				    .recvs = config->depth + recvs_extra(config),
				    .sent = sent,
				    .send_failed = failed_send,
				    .received = received,
				    .recv_failed = flushed};
	void *user_data[SETUP_QUEUES_MAX];

	tasks.memory_len = (size_t)stride * (tasks.sends + tasks.recvs);
	for (uint32_t i = 0; i < config->queues; i++) {
		queues[i] = (struct load_queue){.end = end, .queue = &end->queues[i], .config = config, .stride = stride};
		user_data[i] = &queues[i];
	}
	setup_cpu_queues(end, config->queues, &tasks, user_data);
	atomic_store(&phase, 0);
	for (uint32_t i = 0; i < config->queues; i++) {
		prepare(&queues[i]);
		pthread_create(&queues[i].thread, NULL, load_thread, &queues[i]);
	}
	if (config->messages == 0) {
		pause_for(end, config->warm_up_s);
		atomic_store(&phase, 1);
		pause_for(end, config->measure_s);
		atomic_store(&phase, 2);
	}
	for (uint32_t i = 0; i < config->queues; i++)
		pthread_join(queues[i].thread, NULL);
	add_up(queues, config->queues, result);
	for (uint32_t i = 0; i < config->queues; i++) {
		queues[i].stopping = true;
		for (uint32_t k = 0; k < config->depth; k++)
			doca_task_free(doca_comch_producer_task_send_as_task(queues[i].sends[k]));
	}
	setup_stop_queues(end);
	for (uint32_t i = 0; i < config->queues; i++)
		release(&queues[i]);
	free(queues);
}
