/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The alternative for ordinary memory: one process_vm_writev of 8 bytes into another process, which waits on another core.
 * Prints the median time of a call in ns.
 *
 *   process_vm [--cpus 0,1]
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpus.h"
#include "measure.h"

#define COUNT 200000

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static uint64_t write_once(pid_t to, uint64_t *word, uint64_t value)
{
	struct iovec local = {.iov_base = &value, .iov_len = sizeof(value)},
		     remote = {.iov_base = word, .iov_len = sizeof(*word)};
	uint64_t begin = sf_now_ns();

	if (process_vm_writev(to, &local, 1, &remote, 1, 0) != sizeof(value))
		check(DOCA_ERROR_OPERATING_SYSTEM, "process_vm_writev");
	return sf_now_ns() - begin;
}

int main(int argc, char **argv)
{
	uint64_t *samples = calloc(COUNT, sizeof(*samples)), *word = calloc(1, sizeof(*word));
	int cpus[2] = {sf_usable_cpu(0), sf_usable_cpu(1)};
	pid_t child;

	if (argc > 2 && (strcmp(argv[1], "--cpus") != 0 || sscanf(argv[2], "%d,%d", &cpus[0], &cpus[1]) != 2))
		check(DOCA_ERROR_INVALID_VALUE, argv[1]);
	child = fork();
	if (child == 0) { /* polls its memory, like an RDMA peer */
		pin(cpus[0]);
		while (*(volatile uint64_t *)word != UINT64_MAX)
			;
		_exit(0);
	}
	pin(cpus[1]);
	for (uint32_t i = 0; i < COUNT; i++)
		samples[i] = write_once(child, word, i);
	(void)write_once(child, word, UINT64_MAX);
	(void)waitpid(child, NULL, 0);
	printf("%llu\n", (unsigned long long)samples_median(samples, COUNT));
	free(samples);
	free(word);
	return 0;
}
