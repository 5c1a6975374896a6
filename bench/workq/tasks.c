/* SPDX-License-Identifier: BSD-3-Clause */
/* The current API: tasks and a progress engine. */
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "device.h"
#include "measure.h"
#include "sides.h"

static struct doca_dev *dev;
static struct doca_mmap *map;
static struct doca_buf_inventory *inventory;
static struct doca_pe *pe;
static struct doca_dma *dma;
static struct doca_buf *src[COPIES], *dst[COPIES];
static struct doca_task *tasks[COPIES];
static uint8_t memory[2 * COPIES * COPY_BYTES] __attribute__((aligned(64)));
static uint32_t num_done;

static void done(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)ctx_user_data;
	num_done++;
	doca_buf_reset_data_len(dst[task_user_data.u64]);
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	check(doca_task_get_status(doca_dma_task_memcpy_as_task(task)), "a copy");
}

static void memory_open(void)
{
	check(doca_mmap_create(&map), "memory map");
	check(doca_mmap_set_memrange(map, memory, sizeof(memory)), "range");
	check(doca_mmap_add_dev(map, dev), "device of the memory map");
	check(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE), "permissions");
	check(doca_mmap_start(map), "start the memory map");
	check(doca_buf_inventory_create(2 * COPIES, &inventory), "inventory");
	check(doca_buf_inventory_start(inventory), "start the inventory");
	for (uint32_t i = 0; i < COPIES; i++) {
		uint8_t *at = memory + 2 * i * COPY_BYTES;

		check(doca_buf_inventory_buf_get_by_data(inventory, map, at, COPY_BYTES, &src[i]), "source");
		check(doca_buf_inventory_buf_get_by_addr(inventory, map, at + COPY_BYTES, COPY_BYTES, &dst[i]), "destination");
	}
}

void tasks_open(void)
{
	dev = device_open_at(0);
	memory_open();
	check(doca_pe_create(&pe), "progress engine");
	check(doca_dma_create(dev, &dma), "dma");
	check(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)), "connect");
	check(doca_dma_task_memcpy_set_conf(dma, done, failed, COPIES), "configure");
	check(doca_ctx_start(doca_dma_as_ctx(dma)), "start");
	for (uint32_t i = 0; i < COPIES; i++) {
		struct doca_dma_task_memcpy *task;

		check(doca_dma_task_memcpy_alloc_init(dma, src[i], dst[i], (union doca_data){.u64 = i}, &task), "task");
		tasks[i] = doca_dma_task_memcpy_as_task(task);
	}
}

void tasks_run(uint32_t num, uint32_t depth)
{
	for (uint32_t at = 0; at < num; at += depth) {
		num_done = 0;
		for (uint32_t i = 0; i < depth; i++) {
			/* A job sets its buffers each time, so the task does as well. */
			doca_dma_task_memcpy_set_src((struct doca_dma_task_memcpy *)tasks[i], src[i]);
			doca_dma_task_memcpy_set_dst((struct doca_dma_task_memcpy *)tasks[i], dst[i]);
			check(doca_task_submit(tasks[i]), "submit");
		}
		while (num_done < depth)
			doca_pe_progress(pe);
	}
}

void tasks_close(void)
{
	for (uint32_t i = 0; i < COPIES; i++) {
		doca_task_free(tasks[i]);
		check(doca_buf_dec_refcount(src[i], NULL), "source");
		check(doca_buf_dec_refcount(dst[i], NULL), "destination");
	}
	check(doca_ctx_stop(doca_dma_as_ctx(dma)), "stop");
	check(doca_dma_destroy(dma), "dma");
	check(doca_pe_destroy(pe), "progress engine");
	check(doca_buf_inventory_destroy(inventory), "inventory");
	check(doca_mmap_destroy(map), "memory map");
	check(doca_dev_close(dev), "device");
}
