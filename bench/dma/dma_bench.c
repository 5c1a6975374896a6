/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of DMA compared to memcpy: small tasks that are submitted again from their completion callback, on one thread;
 * large ones within this process's memory, and to and from memory that another process exported, compared to memcpy of the
 * same size within this process. Medians of alternating runs. Fails if a limit is missed.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "measure.h"
#include "support/test_dev.h"

#define RUNS 15
#define DEPTH 32
#define SMALL 64
#define SMALL_TASKS 2000000
#define LARGE (1 << 20)
#define HUGE (64 << 20)
#define PAGE 4096
#define LARGE_TASKS 200
#define LIMIT_SMALL_MTASKS 20.0
#define LIMIT_LARGE 0.95
#define LIMIT_IMPORTED 0.9

static struct {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_buf_inventory *inventory;
	uint64_t left, due;
} bench;

static void completed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	bench.due--;
	if (bench.left > 0) {
		bench.left--;
		doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task));
		check(doca_task_submit(doca_dma_task_memcpy_as_task(task)), "submit");
		return;
	}
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	check(doca_task_get_status(doca_dma_task_memcpy_as_task(task)), "copy");
}

static void open_dma(void)
{
	bench.dev = test_dev_open(0);
	check(doca_pe_create(&bench.pe), "progress engine");
	check(doca_dma_create(bench.dev, &bench.dma), "dma");
	check(doca_pe_connect_ctx(bench.pe, doca_dma_as_ctx(bench.dma)), "connect");
	check(doca_dma_task_memcpy_set_conf(bench.dma, completed, failed, DEPTH), "configure");
	check(doca_ctx_start(doca_dma_as_ctx(bench.dma)), "start");
	check(doca_buf_inventory_create(2 * DEPTH, &bench.inventory), "inventory");
	check(doca_buf_inventory_start(bench.inventory), "start the inventory");
}

static struct doca_mmap *map(void *memory, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	check(doca_mmap_create(&mmap), "mmap");
	check(doca_mmap_add_dev(mmap, bench.dev), "add the device");
	check(doca_mmap_set_memrange(mmap, memory, len), "set the range");
	check(doca_mmap_set_permissions(mmap, permissions), "set permissions");
	check(doca_mmap_start(mmap), "start the mmap");
	return mmap;
}

/* Returns ns per task, for num tasks of which in_flight are in flight, between offsets of the two ranges that repeat. */
static double run_dma(struct doca_mmap *from, uint8_t *src, struct doca_mmap *to, uint8_t *dst, size_t len, int depth,
		      uint64_t num)
{
	struct doca_buf *bufs[DEPTH][2];
	struct doca_dma_task_memcpy *tasks[DEPTH];
	uint64_t begin;

	for (int i = 0; i < depth; i++) {
		check(doca_buf_inventory_buf_get_by_data(bench.inventory, from, src + (size_t)i * len, len, &bufs[i][0]),
		      "source");
		check(doca_buf_inventory_buf_get_by_addr(bench.inventory, to, dst + (size_t)i * len, len, &bufs[i][1]),
		      "destination");
		check(doca_dma_task_memcpy_alloc_init(bench.dma, bufs[i][0], bufs[i][1], (union doca_data){.u64 = 0}, &tasks[i]),
		      "allocate");
	}
	bench.left = num - (uint64_t)depth;
	bench.due = num;
	begin = sf_now_ns();
	for (int i = 0; i < depth; i++)
		check(doca_task_submit(doca_dma_task_memcpy_as_task(tasks[i])), "submit");
	while (bench.due > 0)
		(void)doca_pe_progress(bench.pe);

	double ns = (double)(sf_now_ns() - begin) / (double)num;

	for (int i = 0; i < depth; i++) {
		check(doca_buf_dec_refcount(bufs[i][0], NULL), "release");
		check(doca_buf_dec_refcount(bufs[i][1], NULL), "release");
	}
	return ns;
}

static double run_memcpy(const uint8_t *src, uint8_t *dst, size_t len, uint64_t num)
{
	uint64_t begin = sf_now_ns();

	for (uint64_t i = 0; i < num; i++) {
		memcpy(dst, src, len);
		__asm__ volatile("" : : "r"(dst) : "memory");
	}
	return (double)(sf_now_ns() - begin) / (double)num;
}

static int small_tasks(struct doca_mmap *mmap, uint8_t *memory)
{
	double ns[RUNS], plain[RUNS];

	for (int i = 0; i < RUNS; i++) {
		ns[i] = run_dma(mmap, memory, mmap, memory + SMALL * DEPTH, SMALL, DEPTH, SMALL_TASKS);
		plain[i] = run_memcpy(memory, memory + SMALL * DEPTH, SMALL, SMALL_TASKS);
	}

	double mtasks = 1e3 / median(ns, RUNS);

	printf("%d B, %d in flight, resubmitted from the callback: %.1f M tasks/s, %.1f ns each (min %.1f, max %.1f; memcpy "
	       "alone %.1f; "
	       "limit %.0f M)\n",
	       SMALL, DEPTH, mtasks, ns[RUNS / 2], ns[0], ns[RUNS - 1], median(plain, RUNS), LIMIT_SMALL_MTASKS);
	return mtasks < LIMIT_SMALL_MTASKS;
}

/* DMA between the two ranges, compared to memcpy between two ranges of this process. */
static int large_tasks(const char *what, struct doca_mmap *from, uint8_t *src, struct doca_mmap *to, uint8_t *dst,
		       uint8_t *memory, double limit)
{
	double ns[RUNS], plain[RUNS];

	for (int i = 0; i < RUNS; i++) {
		ns[i] = run_dma(from, src, to, dst, LARGE, 1, LARGE_TASKS);
		plain[i] = run_memcpy(memory, memory + LARGE, LARGE, LARGE_TASKS);
	}

	double dma_ns = median(ns, RUNS), memcpy_ns = median(plain, RUNS), ratio = memcpy_ns / dma_ns;

	printf("1 MiB, %s: %.2f GB/s, memcpy %.2f GB/s, ratio %.3f", what, LARGE / dma_ns, LARGE / memcpy_ns, ratio);
	if (limit > 0)
		printf(" (limit %.2f)", limit);
	printf("\n");
	return ratio < limit;
}

/* Larger than any cache: the use case of engine threads (SOFTFIELD_TOPOLOGY, engine_threads). */
static void huge_tasks(void)
{
	uint8_t *memory = aligned_alloc(PAGE, 2 * HUGE);
	double ns[RUNS], plain[RUNS];
	struct doca_mmap *mmap;

	memset(memory, 4, 2 * HUGE);
	mmap = map(memory, 2 * HUGE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	for (int i = 0; i < RUNS; i++) {
		ns[i] = run_dma(mmap, memory, mmap, memory + HUGE, HUGE, 1, 4);
		plain[i] = run_memcpy(memory, memory + HUGE, HUGE, 4);
	}
	printf("64 MiB, within the process: %.2f GB/s, memcpy %.2f GB/s", HUGE / median(ns, RUNS), HUGE / median(plain, RUNS));
	printf(", ratio %.3f\n", plain[RUNS / 2] / ns[RUNS / 2]);
	check(doca_mmap_destroy(mmap), "destroy the mmap");
	free(memory);
}

/* ---- the other process ---- */

#define DESCRIPTOR_MAX 4096

struct exported {
	uint64_t addr;
	size_t len;
	uint8_t descriptor[DESCRIPTOR_MAX];
};

/* Exports whole pages, then the same size at an offset, until the socket closes. The process does nothing else. */
static void export_memory(int socket)
{
	uint8_t *memory = aligned_alloc(PAGE, 4 * LARGE);
	struct doca_mmap *mmaps[2];
	char byte;

	bench.dev = test_dev_open(0);
	memset(memory, 1, 4 * LARGE);
	for (int i = 0; i < 2; i++) {
		struct exported exported = {.addr = (uintptr_t)memory + (i == 1 ? 2 * LARGE + PAGE / 2 : 0)};
		const void *descriptor;

		mmaps[i] = map((void *)(uintptr_t)exported.addr, LARGE, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
		check(doca_mmap_export_pci(mmaps[i], bench.dev, &descriptor, &exported.len), "export");
		memcpy(exported.descriptor, descriptor, exported.len);
		if (write(socket, &exported, sizeof(exported)) != sizeof(exported))
			exit(1);
	}
	if (read(socket, &byte, 1) != 0)
		exit(1);
	for (int i = 0; i < 2; i++)
		check(doca_mmap_destroy(mmaps[i]), "destroy the exported mmap");
	exit(0);
}

static int imported_memory(int socket, struct doca_mmap *mmap, uint8_t *memory, bool whole_pages)
{
	struct exported exported;
	struct doca_mmap *imported;
	double limit = whole_pages ? LIMIT_IMPORTED : 0;
	int missed;

	if (recv(socket, &exported, sizeof(exported), MSG_WAITALL) != sizeof(exported))
		exit(1);

	uint8_t *there = (uint8_t *)(uintptr_t)exported.addr;

	check(doca_mmap_create_from_export(NULL, exported.descriptor, exported.len, bench.dev, &imported), "import");
	missed = large_tasks(whole_pages ? "from another process" : "from another process, 2 KiB off a page", imported, there,
			     mmap, memory, memory, limit);
	missed |= large_tasks(whole_pages ? "to another process" : "to another process, 2 KiB off a page", mmap, memory, imported,
			      there, memory, limit);
	check(doca_mmap_destroy(imported), "destroy the imported mmap");
	return missed;
}

int main(void)
{
	int sockets[2], status, missed;
	uint8_t *memory;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		close(sockets[0]);
		export_memory(sockets[1]);
	}
	close(sockets[1]);
	open_dma();
	memory = aligned_alloc(PAGE, 2 * LARGE);
	memset(memory, 2, 2 * LARGE);

	struct doca_mmap *mmap = map(memory, 2 * LARGE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	missed = small_tasks(mmap, memory);
	missed |= large_tasks("within the process", mmap, memory, mmap, memory + LARGE, memory, LIMIT_LARGE);
	huge_tasks();
	missed |= imported_memory(sockets[0], mmap, memory, true);
	missed |= imported_memory(sockets[0], mmap, memory, false);
	check(doca_ctx_stop(doca_dma_as_ctx(bench.dma)), "stop");
	check(doca_buf_inventory_destroy(bench.inventory), "destroy the inventory");
	check(doca_mmap_destroy(mmap), "destroy the mmap");
	check(doca_dma_destroy(bench.dma), "destroy dma");
	check(doca_pe_destroy(bench.pe), "destroy the progress engine");
	check(doca_dev_close(bench.dev), "close");
	close(sockets[0]);
	free(memory);
	return waitpid(child, &status, 0) != child || status != 0 || missed;
}
