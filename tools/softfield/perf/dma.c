/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA: the DPU's process copies from its own memory to memory that the host's process has exported. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dma.h>

#include "perf/perf.h"

struct copy {
	struct doca_dma_task_memcpy *task;
	struct doca_buf *from, *to;
};

struct dma {
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct doca_mmap *mmap, *remote_mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory, *remote;
	struct copy *copies, **idle; /* all copies, and those not in flight */
	uint32_t num_idle;
	uint64_t completed;
};

static void copy_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct dma *dma = (struct dma *)ctx_data.ptr;

	(void)task;
	dma->idle[dma->num_idle++] = (struct copy *)task_data.ptr;
	dma->completed++;
}

static void copy_failed(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	bench_check(doca_task_get_status(doca_dma_task_memcpy_as_task(task)), "dma: copying");
}

static bool dma_open(struct perf_side *side)
{
	struct dma *dma = calloc(1, sizeof(*dma));

	if (dma == NULL)
		bench_die("no memory");
	side->state = dma;
	side->pe = NULL;
	side->halves = false;
	snprintf(side->what, sizeof(side->what), "copy to the host");
	if (!side->near)
		return true;
	bench_check(doca_pe_create(&dma->pe), "creating a progress engine");
	bench_check(doca_dma_create(side->dev, &dma->dma), "dma: creating a context");
	dma->ctx = doca_dma_as_ctx(dma->dma);
	bench_check(doca_pe_connect_ctx(dma->pe, dma->ctx), "dma: configuring");
	bench_check(doca_ctx_set_user_data(dma->ctx, (union doca_data){.ptr = dma}), "dma: configuring");
	bench_check(doca_dma_task_memcpy_set_conf(dma->dma, copy_done, copy_failed, side->plan.rdma.depth), "dma: configuring");
	bench_check(doca_ctx_start(dma->ctx), "dma: starting");
	return true;
}

static void check_size(const struct perf_side *side)
{
	uint64_t max;

	bench_check(doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(side->dev), &max), "dma: asking the device");
	if (side->size > max)
		bench_die("dma: the device copies at most %llu bytes, not %u", (unsigned long long)max, side->size);
}

/* ---- one size ---- */

static void far_prepare(struct perf_side *side, struct dma *dma)
{
	const void *export;
	size_t len;

	bench_check(doca_mmap_export_pci(dma->mmap, side->dev, &export, &len), "dma: exporting memory");
	bench_channel_send_blob(side->channel, export, len);
}

static void near_prepare(struct perf_side *side, struct dma *dma)
{
	uint8_t blob[BENCH_BLOB_MAX];
	void *addr;
	size_t len = bench_channel_receive_blob(side->channel, blob);

	check_size(side);
	bench_check(doca_mmap_create_from_export(NULL, blob, len, side->dev, &dma->remote_mmap), "dma: importing memory");
	bench_check(doca_mmap_get_memrange(dma->remote_mmap, &addr, &len), "dma: importing memory");
	if (len < (size_t)side->size * side->depth)
		bench_die("dma: the host exports %zu bytes, too few", len);
	dma->remote = (uint8_t *)addr;
	dma->inventory = perf_inventory_open(2 * side->depth);
	dma->copies = calloc(side->depth, sizeof(*dma->copies));
	dma->idle = calloc(side->depth, sizeof(struct copy *));
	if (dma->copies == NULL || dma->idle == NULL)
		bench_die("no memory");
	for (uint32_t i = 0; i < side->depth; i++) {
		struct copy *copy = &dma->copies[i];
		size_t at = (size_t)i * side->size;

		bench_check(
			doca_buf_inventory_buf_get_by_data(dma->inventory, dma->mmap, dma->memory + at, side->size, &copy->from),
			"dma: getting a buffer");
		bench_check(doca_buf_inventory_buf_get_by_addr(dma->inventory, dma->remote_mmap, dma->remote + at, side->size,
							       &copy->to),
			    "dma: getting a buffer");
		bench_check(doca_dma_task_memcpy_alloc_init(dma->dma, copy->from, copy->to, (union doca_data){.ptr = copy},
							    &copy->task),
			    "dma: allocating a task");
		dma->idle[dma->num_idle++] = copy;
	}
}

static void dma_prepare(struct perf_side *side)
{
	struct dma *dma = (struct dma *)side->state;

	dma->mmap = perf_memory_open(side, (size_t)side->size * side->depth, DOCA_ACCESS_FLAG_PCI_READ_WRITE, &dma->memory);
	if (side->near)
		near_prepare(side, dma);
	else
		far_prepare(side, dma);
}

static void dma_release(struct perf_side *side)
{
	struct dma *dma = (struct dma *)side->state;

	for (uint32_t i = 0; side->near && i < side->depth; i++) {
		doca_task_free(doca_dma_task_memcpy_as_task(dma->copies[i].task));
		bench_check(doca_buf_dec_refcount(dma->copies[i].from, NULL), "dma: releasing a buffer");
		bench_check(doca_buf_dec_refcount(dma->copies[i].to, NULL), "dma: releasing a buffer");
	}
	if (side->near) {
		bench_check(doca_buf_inventory_destroy(dma->inventory), "dma: destroying the inventory");
		bench_check(doca_mmap_destroy(dma->remote_mmap), "dma: destroying a memory map");
		free(dma->copies);
		free(dma->idle);
		dma->num_idle = 0;
	}
	perf_meet(side); /* the peer has destroyed the import */
	perf_memory_close(dma->mmap, dma->memory);
}

/* ---- measuring ---- */

static void copy_submit(struct dma *dma)
{
	struct copy *copy = dma->idle[--dma->num_idle];

	(void)doca_buf_reset_data_len(copy->to);
	bench_check(doca_task_submit(doca_dma_task_memcpy_as_task(copy->task)), "dma: submitting a task");
}

static void dma_latency(struct perf_side *side, uint64_t rounds, struct timing *timing)
{
	struct dma *dma = (struct dma *)side->state;

	for (uint64_t i = 0; side->near && i < rounds; i++) {
		uint64_t wanted = dma->completed + 1;

		copy_submit(dma);
		while (dma->completed < wanted)
			perf_progress(side, dma->pe);
		timing_add(timing);
	}
}

static void dma_rate(struct perf_side *side, uint64_t operations)
{
	struct dma *dma = (struct dma *)side->state;
	uint64_t submitted = 0, wanted = dma->completed + operations;

	while (side->near && dma->completed < wanted) {
		for (; submitted < operations && dma->num_idle != 0; submitted++)
			copy_submit(dma);
		perf_progress(side, dma->pe);
	}
}

static void dma_close(struct perf_side *side)
{
	struct dma *dma = (struct dma *)side->state;

	if (side->near) {
		bench_check(doca_ctx_stop(dma->ctx), "dma: stopping");
		bench_check(doca_dma_destroy(dma->dma), "dma: destroying the context");
		bench_check(doca_pe_destroy(dma->pe), "destroying a progress engine");
	}
	free(dma);
}

const struct perf_part perf_dma = {.name = "dma",
				   .open = dma_open,
				   .prepare = dma_prepare,
				   .latency = dma_latency,
				   .rate = dma_rate,
				   .release = dma_release,
				   .close = dma_close};
