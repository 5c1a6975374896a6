/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of allocating a buf from an inventory and releasing it. Prints the median of several runs in ns per buf. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "measure.h"
#include "support/test_dev.h"

#define RUNS 9
#define BUFS 16
#define ROUNDS 200000
#define BUF_SIZE 64

static char memory[BUFS * BUF_SIZE];

static double run(struct doca_buf_inventory *inventory, struct doca_mmap *mmap)
{
	struct doca_buf *bufs[BUFS];
	uint64_t begin = sf_now_ns();

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < BUFS; i++)
			check(doca_buf_inventory_buf_get_by_data(inventory, mmap, memory + i * BUF_SIZE, BUF_SIZE, &bufs[i]),
			      "take");
		for (int i = 0; i < BUFS; i++)
			check(doca_buf_dec_refcount(bufs[i], NULL), "release");
	}
	return (double)(sf_now_ns() - begin) / ((double)ROUNDS * BUFS);
}

int main(void)
{
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	struct doca_dev *dev = test_dev_open(0);
	double ns[RUNS];

	check(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "device");
	check(doca_mmap_create(&mmap), "memory map");
	check(doca_mmap_add_dev(mmap, dev), "add the device");
	check(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), "set the memory");
	check(doca_mmap_start(mmap), "start the memory map");
	check(doca_buf_inventory_create(BUFS, &inventory), "inventory");
	check(doca_buf_inventory_start(inventory), "start the inventory");
	for (int i = 0; i < RUNS; i++)
		ns[i] = run(inventory, mmap);
	const double middle = median(ns, RUNS);
	printf("buf, take and release: %.1f ns (min %.1f, max %.1f, %d runs of %d bufs)\n", middle, ns[0], ns[RUNS - 1], RUNS,
	       ROUNDS * BUFS);
	check(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	check(doca_mmap_destroy(mmap), "destroy the memory map");
	check(doca_dev_close(dev), "close the device");
	return 0;
}
