/* SPDX-License-Identifier: BSD-3-Clause */
/* The 2.2 API: jobs and a work queue. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "sides.h"

static struct doca_dev *dev;
static struct doca_mmap *map;
static struct doca_buf_inventory *inventory;
static struct doca_workq *workq;
static struct doca_dma *dma;
static struct doca_buf *src[COPIES], *dst[COPIES];
static struct doca_dma_job_memcpy jobs[COPIES];
static uint8_t memory[2 * COPIES * COPY_BYTES] __attribute__((aligned(64)));

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_get_error_string(result));
	exit(1);
}

static void memory_open(void)
{
	must(doca_mmap_create(NULL, &map), "memory map");
	must(doca_mmap_set_memrange(map, memory, sizeof(memory)), "range");
	must(doca_mmap_dev_add(map, dev), "device of the memory map");
	must(doca_mmap_set_permissions(map, DOCA_ACCESS_LOCAL_READ_WRITE), "permissions");
	must(doca_mmap_start(map), "start the memory map");
	must(doca_buf_inventory_create(NULL, 2 * COPIES, DOCA_BUF_EXTENSION_NONE, &inventory), "inventory");
	must(doca_buf_inventory_start(inventory), "start the inventory");
	for (uint32_t i = 0; i < COPIES; i++) {
		uint8_t *at = memory + 2 * i * COPY_BYTES;

		must(doca_buf_inventory_buf_by_data(inventory, map, at, COPY_BYTES, &src[i]), "source");
		must(doca_buf_inventory_buf_by_addr(inventory, map, at + COPY_BYTES, COPY_BYTES, &dst[i]), "destination");
	}
}

void workq_open(void)
{
	struct doca_devinfo **list;
	uint32_t num;

	must(doca_devinfo_list_create(&list, &num), "devices");
	must(doca_dev_open(list[0], &dev), "device");
	must(doca_devinfo_list_destroy(list), "devices");
	memory_open();
	must(doca_workq_create(COPIES, &workq), "work queue");
	must(doca_dma_create(&dma), "dma");
	must(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev), "device");
	must(doca_ctx_start(doca_dma_as_ctx(dma)), "start");
	must(doca_ctx_workq_add(doca_dma_as_ctx(dma), workq), "add the work queue");
	for (uint32_t i = 0; i < COPIES; i++)
		jobs[i] = (struct doca_dma_job_memcpy){
			.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = doca_dma_as_ctx(dma), .user_data.u64 = i},
			.dst_buff = dst[i],
			.src_buff = src[i]};
}

void workq_run(uint32_t num, uint32_t depth)
{
	struct doca_event event;

	for (uint32_t at = 0; at < num; at += depth) {
		for (uint32_t i = 0; i < depth; i++)
			must(doca_workq_submit(workq, &jobs[i].base), "submit");
		for (uint32_t i = 0; i < depth; i++) {
			doca_error_t result;

			do {
				result = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
			} while (result == DOCA_ERROR_AGAIN);
			must(result, "a copy");
			doca_buf_reset_data_len(dst[event.user_data.u64]);
		}
	}
}

void workq_close(void)
{
	for (uint32_t i = 0; i < COPIES; i++) {
		must(doca_buf_refcount_rm(src[i], NULL), "source");
		must(doca_buf_refcount_rm(dst[i], NULL), "destination");
	}
	must(doca_ctx_workq_rm(doca_dma_as_ctx(dma), workq), "remove the work queue");
	must(doca_ctx_stop(doca_dma_as_ctx(dma)), "stop");
	must(doca_dma_destroy(dma), "dma");
	must(doca_workq_destroy(workq), "work queue");
	must(doca_buf_inventory_destroy(inventory), "inventory");
	must(doca_mmap_destroy(map), "memory map");
	must(doca_dev_close(dev), "device");
}
