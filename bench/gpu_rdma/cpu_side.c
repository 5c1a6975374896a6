/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer: one thread per queue, with ordinary tasks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "device.h"
#include "measure.h"
#include "side.h"

#define RECEIVES 32
#define SAMPLES_MAX 1000000u

struct queue {
	const struct point *point;
	struct shared *shared;
	uint32_t index;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_rdma_connection *connection;
	struct doca_mmap *mmap, *remote;
	struct doca_buf_inventory *inventory;
	uint8_t *memory, *remote_memory;
	uint64_t received, ended;
	bool stopping;
	uint64_t *samples;
};

static void received(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	struct queue *queue = ctx_data.ptr;
	struct doca_buf *buf = doca_rdma_task_receive_get_dst_buf(task);

	queue->received++;
	doca_buf_reset_data_len(buf);
	OK(doca_task_submit(doca_rdma_task_receive_as_task(task)));
}

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	doca_buf_dec_refcount(doca_rdma_task_receive_get_dst_buf(task), NULL);
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void sent(struct doca_rdma_task_send *task, union doca_data data, union doca_data ctx_data)
{
	((struct queue *)ctx_data.ptr)->ended++;
}

static void written(struct doca_rdma_task_write *task, union doca_data data, union doca_data ctx_data)
{
	((struct queue *)ctx_data.ptr)->ended++;
}

static void send_failed(struct doca_rdma_task_send *task, union doca_data data, union doca_data ctx_data)
{
	check(doca_task_get_status(doca_rdma_task_send_as_task(task)), "a send to a kernel");
}

static void write_failed(struct doca_rdma_task_write *task, union doca_data data, union doca_data ctx_data)
{
	check(doca_task_get_status(doca_rdma_task_write_as_task(task)), "a write to a kernel's memory");
}

static void open_queue(struct queue *queue)
{
	size_t len;

	OK(doca_pe_create(&queue->pe));
	OK(doca_rdma_create(queue->dev, &queue->rdma));
	OK(doca_rdma_set_permissions(queue->rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
							  DOCA_ACCESS_FLAG_RDMA_WRITE));
	OK(doca_rdma_task_receive_set_conf(queue->rdma, received, receive_ended, RECEIVES));
	OK(doca_rdma_task_send_set_conf(queue->rdma, sent, send_failed, 1));
	OK(doca_rdma_task_write_set_conf(queue->rdma, written, write_failed, 1));
	OK(doca_ctx_set_user_data(doca_rdma_as_ctx(queue->rdma), (union doca_data){.ptr = queue}));
	OK(doca_pe_connect_ctx(queue->pe, doca_rdma_as_ctx(queue->rdma)));
	OK(doca_ctx_start(doca_rdma_as_ctx(queue->rdma)));
	queue->memory = aligned_alloc(4096, SIDE_MEMORY);
	memset(queue->memory, 0, SIDE_MEMORY);
	queue->mmap = side_share(queue->dev, queue->memory);
	side_connect(queue->rdma, queue->dev, queue->mmap, &queue->shared->cpu[queue->index], &queue->shared->gpu[queue->index],
		     &queue->connection, &queue->remote);
	OK(doca_mmap_get_memrange(queue->remote, (void **)&queue->remote_memory, &len));
	OK(doca_buf_inventory_create(RECEIVES + 4, &queue->inventory));
	OK(doca_buf_inventory_start(queue->inventory));
}

static void post_receives(struct queue *queue)
{
	uint32_t size = queue->point->size, num = SIDE_MEMORY / 2 / size < RECEIVES ? SIDE_MEMORY / 2 / size : RECEIVES;

	for (uint32_t i = 0; i < num; i++) {
		struct doca_rdma_task_receive *task;
		struct doca_buf *buf;

		OK(doca_buf_inventory_buf_get_by_addr(queue->inventory, queue->mmap, queue->memory + SIDE_MEMORY / 2 + i * size,
						      size, &buf));
		OK(doca_rdma_task_receive_allocate_init(queue->rdma, buf, (union doca_data){0}, &task));
		OK(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	}
}

/* ---- a ping: one message or write, and the kernel's answer ---- */

struct ping {
	struct doca_task *task;
	struct doca_buf *src, *dst;
};

static void make_ping(struct queue *queue, struct ping *ping)
{
	struct doca_rdma_task_send *send;
	struct doca_rdma_task_write *write;

	OK(doca_buf_inventory_buf_get_by_data(queue->inventory, queue->mmap, queue->memory + 64, PING_SIZE, &ping->src));
	if (queue->point->sends) {
		OK(doca_rdma_task_send_allocate_init(queue->rdma, queue->connection, ping->src, (union doca_data){0}, &send));
		ping->task = doca_rdma_task_send_as_task(send);
		return;
	}
	OK(doca_buf_inventory_buf_get_by_addr(queue->inventory, queue->remote, queue->remote_memory, PING_SIZE, &ping->dst));
	OK(doca_rdma_task_write_allocate_init(queue->rdma, queue->connection, ping->src, ping->dst, (union doca_data){0},
					      &write));
	ping->task = doca_rdma_task_write_as_task(write);
}

static bool is_answered(struct queue *queue, uint64_t number)
{
	(void)doca_pe_progress(queue->pe);
	return queue->point->sends ? queue->received == number : *(volatile uint64_t *)(void *)queue->memory == number;
}

static bool is_done(const struct queue *queue)
{
	return __atomic_load_n(&queue->shared->done, __ATOMIC_ACQUIRE) != 0;
}

static void run_pings(struct queue *queue)
{
	struct ping ping = {0};

	make_ping(queue, &ping);
	for (uint64_t number = 1; number <= queue->shared->rounds && !is_done(queue); number++) {
		uint64_t begin = sf_now_ns();

		memcpy(queue->memory + 64, &number, PING_SIZE);
		if (ping.dst != NULL)
			doca_buf_reset_data_len(ping.dst);
		OK(doca_task_submit(ping.task));
		while (!(is_answered(queue, number) && queue->ended == number) && !is_done(queue))
			;
		queue->samples[(number - 1) % SAMPLES_MAX] = sf_now_ns() - begin;
	}
	while (!is_done(queue))
		(void)doca_pe_progress(queue->pe);
}

static void *queue_main(void *arg)
{
	struct queue *queue = arg;

	open_queue(queue);
	if (queue->point->sends)
		post_receives(queue);
	if (queue->point->ping)
		run_pings(queue);
	while (!is_done(queue)) {
		if (doca_pe_progress(queue->pe) == 0 && !queue->point->sends)
			nanosleep(&(struct timespec){0, 100000}, NULL);
	}
	return NULL;
}

void cpu_side(const struct point *point, struct shared *shared)
{
	static struct queue queues[QUEUES_MAX];
	pthread_t threads[QUEUES_MAX];
	struct doca_dev *dev = device_open_at(1);

	for (uint32_t i = 0; i < point->queues; i++) {
		queues[i] = (struct queue){.point = point,
					   .shared = shared,
					   .index = i,
					   .dev = dev,
					   .samples = calloc(SAMPLES_MAX, sizeof(uint64_t))};
		check(pthread_create(&threads[i], NULL, queue_main, &queues[i]) == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM,
		      "a thread");
	}
	for (uint32_t i = 0; i < point->queues; i++)
		pthread_join(threads[i], NULL);
	if (!point->ping)
		return;
	uint64_t num = shared->rounds < SAMPLES_MAX ? shared->rounds : SAMPLES_MAX, *samples = queues[0].samples;
	shared->p50_us = (double)samples_median(samples, num) / 1e3;
	shared->p99_us = (double)percentile(samples, num, 99) / 1e3;
}
