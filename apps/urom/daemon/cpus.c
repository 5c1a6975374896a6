/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's CPUs. Published programs place workers on CPUs 0 to 7. On smaller machines each maps to an existing one. */
#include "cpus.h"

#include <sched.h>
#include <string.h>

#include "topology/topology.h"

#define CPUS_MIN 8 /* every BlueField has these */

static const struct sf_node *own_node(const struct sf_topology *topology)
{
	if (topology->self != NULL)
		return topology->self;
	for (uint32_t i = 0; i < topology->num_nodes; i++) {
		if (topology->nodes[i].kind == SF_NODE_DPU)
			return &topology->nodes[i];
	}
	return NULL;
}

uint32_t cpus_of_node(void)
{
	const struct sf_topology *topology;
	const struct sf_node *node = sf_topology_get(&topology) == DOCA_SUCCESS ? own_node(topology) : NULL;

	return node != NULL ? node->cpus : 0;
}

void cpus_offer(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE])
{
	cpu_set_t *cpus = (cpu_set_t *)(void *)cpuset;

	CPU_ZERO(cpus);
	if (of_node == 0)
		(void)sched_getaffinity(0, sizeof(*cpus), cpus);
	for (uint32_t i = 0; i < (of_node != 0 ? of_node : CPUS_MIN); i++)
		CPU_SET(i, cpus);
}

/* Returns the nth CPU that this process may use. */
static int nth_usable(const cpu_set_t *usable, int nth)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, usable) || nth-- > 0)
		cpu++;
	return cpu;
}

void cpus_map(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE])
{
	cpu_set_t *cpus = (cpu_set_t *)(void *)cpuset, usable;

	if (sched_getaffinity(0, sizeof(usable), &usable) != 0)
		return;
	for (uint32_t i = 0; i < (of_node != 0 ? of_node : CPUS_MIN); i++) {
		if (!CPU_ISSET(i, cpus) || CPU_ISSET(i, &usable))
			continue;
		CPU_CLR(i, cpus);
		CPU_SET(nth_usable(&usable, (int)i % CPU_COUNT(&usable)), cpus);
	}
}
