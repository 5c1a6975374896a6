/* SPDX-License-Identifier: BSD-3-Clause */
/* A topology states how many CPUs its DPU has: the service offers these, and those that the machine lacks are mapped. */
#include <setjmp.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/urom_rig.h"

#define CPUS 16

static const char text[] = "{\"nodes\": [{\"name\": \"host0\", \"kind\": \"host\"}, {\"name\": \"dpu0\", \"kind\": \"dpu\", "
			   "\"host\": \"host0\", \"cpus\": %d}],"
			   " \"devices\": [{\"node\": \"dpu0\", \"pci\": \"03:00.0\"},"
			   " {\"node\": \"host0\", \"pci\": \"d8:00.0\", \"uplink\": \"dpu0/03:00.0\"}]}\n";

static struct urom_rig rig;
static char topology[] = "/tmp/softfield-cpus-XXXXXX";

static int open_rig(void **state)
{
	int fd = mkstemp(topology);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	(void)state;
	if (file == NULL || fprintf(file, text, CPUS) < 0 || fclose(file) != 0 || setenv("SOFTFIELD_TOPOLOGY", topology, 1) != 0)
		return -1;
	return urom_rig_open(&rig, NULL) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return unlink(topology);
}

static void the_service_offers_those_of_the_node(void **state)
{
	doca_cpu_set_t set;

	(void)state;
	assert_int_equal(doca_urom_service_get_cpuset(rig.service, &set), DOCA_SUCCESS);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(doca_cpu_is_set(i, &set) != 0, i < CPUS);
}

static void each_of_them_holds_a_worker(void **state)
{
	cpu_set_t has, usable, both;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(usable), &usable), 0);
	for (int cpu = 0; cpu < CPUS; cpu += 5) {
		struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, "worker_graph");
		doca_cpu_set_t set;

		DOCA_CPU_ZERO(&set);
		DOCA_CPU_SET(cpu, &set);
		assert_int_equal(doca_urom_worker_set_cpuset(worker, set), DOCA_SUCCESS);
		assert_true(urom_rig_start_worker(&rig, worker));
		assert_int_equal(sched_getaffinity(urom_rig_process_of(&rig, worker), sizeof(has), &has), 0);
		CPU_AND(&both, &has, &usable);
		assert_int_equal(CPU_COUNT(&has), 1);
		assert_true(CPU_EQUAL(&both, &has));
		assert_true(urom_rig_stop_worker(&rig, worker));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_service_offers_those_of_the_node),
		cmocka_unit_test(each_of_them_holds_a_worker),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
