/* SPDX-License-Identifier: BSD-3-Clause */
/* CPUs that this process may use. A cpuset may lack CPU 0, and may have fewer CPUs than the machine. For tests and benchmarks. */
#ifndef SF_BASE_CPUS_H
#define SF_BASE_CPUS_H

#include <sched.h>

/* The usable CPU at this index, from 0; the first one if there are fewer. */
static inline int sf_usable_cpu(int place)
{
	cpu_set_t set;
	int first = -1;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return place;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (first < 0)
			first = cpu;
		if (place-- == 0)
			return cpu;
	}
	return first;
}

#endif
