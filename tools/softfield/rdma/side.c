/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/side.h"

#include <doca_error.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdma/tasks.h"

#define PAGE 4096
#define LOOKS (1u << 20) /* empty polls between checks whether the other side is alive */
#define PERMISSIONS                                                                                                              \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |                          \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

void bench_check(doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		bench_die("%s: %s", what, doca_error_get_descr(result));
}

/* ---- device, engine, instance, memory ---- */

struct doca_dev *bench_device_open(const char *wanted)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;

	bench_check(doca_devinfo_create_list(&list, &num), "listing the devices");
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		uint8_t equal = wanted == NULL;

		if (doca_rdma_cap_task_write_is_supported(list[i]) == DOCA_SUCCESS &&
		    (wanted == NULL || doca_devinfo_is_equal_pci_addr(list[i], wanted, &equal) == DOCA_SUCCESS) && equal)
			bench_check(doca_dev_open(list[i], &dev), "opening the device");
	}
	doca_devinfo_destroy_list(list);
	if (dev == NULL)
		bench_die("there is no device %s with RDMA: see softfield devices", wanted != NULL ? wanted : "here");
	return dev;
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states before,
			  enum doca_ctx_states now)
{
	(void)ctx;
	(void)before;
	((struct bench_side *)user_data.ptr)->state = now;
}

static void open_instance(struct bench_side *side)
{
	uint32_t connections = side->plan.connections + side->plan.idle;

	bench_check(doca_pe_create(&side->pe), "creating a progress engine");
	bench_check(doca_pe_get_notification_handle(side->pe, &side->handle), "getting the notification handle");
	bench_check(doca_rdma_create(side->dev, &side->rdma), "creating an instance");
	side->ctx = doca_rdma_as_ctx(side->rdma);
	bench_check(doca_ctx_set_user_data(side->ctx, (union doca_data){.ptr = side}), "configuring");
	bench_check(doca_ctx_set_state_changed_cb(side->ctx, state_changed), "configuring");
	bench_check(doca_pe_connect_ctx(side->pe, side->ctx), "configuring");
	bench_check(doca_rdma_set_permissions(side->rdma, PERMISSIONS), "configuring the permissions");
	bench_check(doca_rdma_set_max_num_connections(side->rdma, (uint16_t)connections), "configuring the connections");
	bench_check(doca_rdma_set_max_send_buf_list_len(side->rdma, side->plan.list), "configuring the lists");
	if (side->plan.op == BENCH_SEND)
		bench_check(doca_rdma_task_receive_set_dst_buf_list_len(side->rdma, side->plan.list), "configuring the lists");
	bench_tasks_configure(side);
	bench_check(doca_ctx_start(side->ctx), "starting the instance");
}

static void open_memory(struct bench_side *side)
{
	size_t size = (bench_plan_largest(&side->plan) + PAGE - 1) & ~(size_t)(PAGE - 1);
	uint32_t bufs = (BENCH_LIST_MAX + 2) * (side->plan.depth + side->plan.receives + 1);

	side->size = size;
	side->block = malloc(2 * size + PAGE);
	if (side->block == NULL)
		bench_die("no memory for two buffers of %zu bytes", size);
	side->local = (uint8_t *)(((uintptr_t)side->block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	side->target = side->local + size;
	memset(side->local, 0, 2 * size);
	bench_check(doca_mmap_create(&side->mmap), "creating a memory map");
	bench_check(doca_mmap_set_memrange(side->mmap, side->local, 2 * size), "creating a memory map");
	bench_check(doca_mmap_set_permissions(side->mmap, PERMISSIONS), "creating a memory map");
	bench_check(doca_mmap_add_dev(side->mmap, side->dev), "creating a memory map");
	bench_check(doca_mmap_start(side->mmap), "starting a memory map");
	bench_check(doca_buf_inventory_create(bufs, &side->inventory), "creating an inventory");
	bench_check(doca_buf_inventory_start(side->inventory), "creating an inventory");
}

static void exchange_memory(struct bench_side *side)
{
	uint8_t blob[BENCH_BLOB_MAX];
	const void *export;
	void *addr;
	size_t len;

	bench_check(doca_mmap_export_rdma(side->mmap, side->dev, &export, &len), "exporting the memory");
	bench_channel_send_blob(side->channel, export, len);
	len = bench_channel_receive_blob(side->channel, blob);
	bench_check(doca_mmap_create_from_export(NULL, blob, len, side->dev, &side->remote_mmap),
		    "importing the other side's memory");
	bench_check(doca_mmap_get_memrange(side->remote_mmap, &addr, &len), "importing the other side's memory");
	if (len != 2 * side->size)
		bench_die("the other side exports %zu bytes of memory, not %zu", len, 2 * side->size);
	side->remote = (uint8_t *)addr + side->size;
}

/* ---- connections ---- */

/* Memory of this process (Pss: shared memory proportionally). */
static uint64_t memory_used(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	unsigned long kib = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "Pss: %lu kB", &kib) == 1)
			break;
	}
	if (file != NULL)
		fclose(file);
	return (uint64_t)kib * 1024;
}

static void connect_all(struct bench_side *side)
{
	uint32_t num = side->plan.connections + side->plan.idle;
	uint8_t blob[BENCH_BLOB_MAX];
	const void *details;
	size_t len;

	for (uint32_t i = 0; i < num; i++) {
		bench_check(doca_rdma_export(side->rdma, &details, &len, &side->connections[i]), "exporting a connection");
		bench_channel_send_blob(side->channel, details, len);
		len = bench_channel_receive_blob(side->channel, blob);
		bench_check(doca_rdma_connect(side->rdma, blob, len, side->connections[i]), "connecting");
		(void)doca_pe_progress(side->pe);
	}
	for (uint32_t i = 0; i < num; i++)
		bench_tasks_try(side, side->connections[i]);
	side->num_connections = side->plan.connections;
}

/* Waits for the other side, and progresses meanwhile: a connection needs progress of both. */
static void meet_in_progress(struct bench_side *side)
{
	char byte = 1;
	struct pollfd readable = {.fd = side->channel, .events = POLLIN};

	bench_channel_send(side->channel, &byte, 1);
	while (poll(&readable, 1, 0) == 0)
		(void)doca_pe_progress(side->pe);
	bench_channel_receive(side->channel, &byte, 1);
}

void bench_side_open(struct bench_side *side)
{
	open_memory(side);
	open_instance(side);
	exchange_memory(side);
	meet_in_progress(side);
	side->memory_before = memory_used();
	meet_in_progress(side);
	connect_all(side);
	meet_in_progress(side);
	side->memory_after = memory_used();
	meet_in_progress(side);
}

void bench_side_close(struct bench_side *side)
{
	(void)doca_ctx_stop(side->ctx);
	while (side->state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(side->pe);
	bench_check(doca_rdma_destroy(side->rdma), "destroying the instance");
	bench_check(doca_buf_inventory_destroy(side->inventory), "destroying the inventory");
	bench_check(doca_mmap_destroy(side->remote_mmap), "destroying a memory map");
	bench_channel_meet(side->channel); /* the other side has destroyed its import too */
	bench_check(doca_mmap_destroy(side->mmap), "destroying a memory map");
	bench_check(doca_pe_destroy(side->pe), "destroying the progress engine");
	free(side->block);
}

/* ---- progress ---- */

static void sleep_until_due(struct bench_side *side)
{
	struct pollfd due[] = {{.fd = side->handle, .events = POLLIN}, {.fd = side->channel, .events = POLLRDHUP}};

	bench_check(doca_pe_request_notification(side->pe), "requesting a notification");
	(void)poll(due, 2, -1);
	if (due[1].revents != 0)
		bench_channel_check(side->channel);
	bench_check(doca_pe_clear_notification(side->pe, side->handle), "clearing a notification");
}

void bench_side_progress(struct bench_side *side)
{
	static uint32_t empty;

	if (doca_pe_progress(side->pe) != 0)
		return;
	if (side->plan.events)
		sleep_until_due(side);
	else if (++empty % LOOKS == 0)
		bench_channel_check(side->channel);
}
