/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/perf.h"

#define PAGE 4096
#define LOOKS (1u << 18) /* empty progress calls between checks whether the other process is alive */

/* ---- devices ---- */

/* Returns true for a function of the host. A scalable function belongs to the DPU. */
static bool is_host_function(const struct doca_devinfo_rep *rep)
{
	enum doca_pci_func_type type;

	return doca_devinfo_rep_get_pci_func_type(rep, &type) == DOCA_SUCCESS && type != DOCA_PCI_FUNC_TYPE_SF;
}

/* Opens the representor of the first function of the host. */
static bool rep_open(struct perf_side *side, char host_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE])
{
	struct doca_devinfo_rep **reps;
	uint32_t num;

	if (doca_devinfo_rep_create_list(side->dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num) != DOCA_SUCCESS)
		return false;
	for (uint32_t i = 0; i < num && side->rep == NULL; i++) {
		if (!is_host_function(reps[i]))
			continue;
		bench_check(doca_devinfo_rep_get_pci_addr_str(reps[i], host_pci_addr), "reading a representor's address");
		bench_check(doca_dev_rep_open(reps[i], &side->rep), "opening a representor");
	}
	(void)doca_devinfo_rep_destroy_list(reps);
	return side->rep != NULL;
}

static void near_open(struct perf_side *side)
{
	char host_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = "";
	struct doca_devinfo **devs;
	uint32_t num;

	bench_check(doca_devinfo_create_list(&devs, &num), "listing the devices");
	for (uint32_t i = 0; i < num && side->rep == NULL; i++) {
		bench_check(doca_dev_open(devs[i], &side->dev), "opening a device");
		if (rep_open(side, host_pci_addr))
			bench_check(doca_devinfo_get_pci_addr_str(devs[i], side->pci_addr), "reading a device's address");
		else
			bench_check(doca_dev_close(side->dev), "closing a device");
	}
	(void)doca_devinfo_destroy_list(devs);
	if (side->rep == NULL)
		bench_die("no device here has a representor, which the DPU's process needs: see softfield devices");
	bench_channel_send(side->channel, host_pci_addr, sizeof(host_pci_addr));
}

static void far_open(struct perf_side *side)
{
	struct doca_devinfo **devs;
	uint32_t num;

	bench_channel_receive(side->channel, side->pci_addr, sizeof(side->pci_addr));
	side->pci_addr[sizeof(side->pci_addr) - 1] = '\0';
	bench_check(doca_devinfo_create_list(&devs, &num), "listing the devices");
	for (uint32_t i = 0; i < num && side->dev == NULL; i++) {
		uint8_t equal = 0;

		if (doca_devinfo_is_equal_pci_addr(devs[i], side->pci_addr, &equal) == DOCA_SUCCESS && equal)
			bench_check(doca_dev_open(devs[i], &side->dev), "opening the device");
	}
	(void)doca_devinfo_destroy_list(devs);
	if (side->dev == NULL)
		bench_die("the host's process sees no device %s: see softfield devices", side->pci_addr);
}

void perf_side_open(struct perf_side *side)
{
	_Static_assert(DOCA_DEVINFO_REP_PCI_ADDR_SIZE == DOCA_DEVINFO_PCI_ADDR_SIZE, "both are sent in one message");
	if (!perf_plan_needs_dpu(&side->plan))
		side->dev = bench_device_open(side->device);
	else if (side->near)
		near_open(side);
	else
		far_open(side);
}

void perf_side_close(struct perf_side *side)
{
	if (side->rep != NULL)
		bench_check(doca_dev_rep_close(side->rep), "closing the representor");
	bench_check(doca_dev_close(side->dev), "closing the device");
}

static void cpu_pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fprintf(stderr, "softfield: perf: not on CPU %d: %s\n", cpu, strerror(errno));
}

void perf_side_pin(const struct perf_side *side, bool pinned)
{
	static cpu_set_t all;

	if (pinned && CPU_COUNT(&all) == 0)
		(void)sched_getaffinity(0, sizeof(all), &all);
	if (pinned)
		cpu_pin(side->cpu);
	else if (CPU_COUNT(&all) != 0)
		(void)sched_setaffinity(0, sizeof(all), &all);
}

/* ---- memory ---- */

struct doca_mmap *perf_memory_open(const struct perf_side *side, size_t len, uint32_t permissions, uint8_t **memory)
{
	struct doca_mmap *mmap;
	size_t size = (len + PAGE - 1) & ~(size_t)(PAGE - 1);

	*memory = aligned_alloc(PAGE, size);
	if (*memory == NULL)
		bench_die("no memory for %zu bytes: reduce --size or --depth", size);
	memset(*memory, 0, size);
	bench_check(doca_mmap_create(&mmap), "creating a memory map");
	bench_check(doca_mmap_set_memrange(mmap, *memory, size), "creating a memory map");
	bench_check(doca_mmap_set_permissions(mmap, permissions), "creating a memory map");
	bench_check(doca_mmap_add_dev(mmap, side->dev), "creating a memory map");
	bench_check(doca_mmap_start(mmap), "starting a memory map");
	return mmap;
}

void perf_memory_close(struct doca_mmap *mmap, uint8_t *memory)
{
	bench_check(doca_mmap_destroy(mmap), "destroying a memory map");
	free(memory);
}

struct doca_buf_inventory *perf_inventory_open(uint32_t num)
{
	struct doca_buf_inventory *inventory;

	bench_check(doca_buf_inventory_create(num, &inventory), "creating an inventory");
	bench_check(doca_buf_inventory_start(inventory), "creating an inventory");
	return inventory;
}

/* ---- progress ---- */

void perf_progress(const struct perf_side *side, struct doca_pe *pe)
{
	static uint32_t empty;

	if (doca_pe_progress(pe) == 0 && ++empty % LOOKS == 0)
		bench_channel_check(side->channel);
}

/* Progresses while waiting, because the other process may need it. */
static void receive_in_progress(const struct perf_side *side, void *data, size_t len)
{
	struct pollfd readable = {.fd = side->channel, .events = POLLIN};

	while (side->pe != NULL && poll(&readable, 1, side->yields) == 0) /* 1 ms, or none */
		(void)doca_pe_progress(side->pe);
	bench_channel_receive(side->channel, data, len);
}

void perf_meet(const struct perf_side *side)
{
	char byte = 1;

	bench_channel_send(side->channel, &byte, 1);
	receive_in_progress(side, &byte, 1);
}

uint64_t perf_agree(const struct perf_side *side, uint64_t number, uint64_t max)
{
	if (side->near) {
		bench_channel_send(side->channel, &number, sizeof(number));
		return number;
	}
	receive_in_progress(side, &number, sizeof(number));
	if (number > max)
		bench_die("the other process requests %llu operations, more than %llu", (unsigned long long)number,
			  (unsigned long long)max);
	return number;
}
