/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the out-of-memory tests: a scenario is repeated, each time with the next allocation failing. Include it after struct
 * rig, which holds what a scenario creates and is zeroed at first.
 */
#ifndef ABUSE_STARVED_H
#define ABUSE_STARVED_H

#include <dirent.h>
#include <sched.h>

#include <doca_error.h>

#include "base/clock.h"
#include "support/starve.h"

#define ALLOCATIONS_MAX 1000 /* allocations of one scenario; more means that it never ends */
#define SETTLE_NS UINT64_C(30000000000)
#define KEPT_NS UINT64_C(50000000)

/* Ends whatever exists in a rig. */
static void rig_end(struct rig *rig);

#define STEP(call)                                                                                                               \
	do {                                                                                                                     \
		doca_error_t step_ = (call);                                                                                     \
		if (step_ != DOCA_SUCCESS && step_ != DOCA_ERROR_IN_PROGRESS)                                                    \
			return step_;                                                                                            \
	} while (0)

#define END(pointer, destroy)                                                                                                    \
	do {                                                                                                                     \
		if ((pointer) != NULL)                                                                                           \
			assert_int_equal(destroy(pointer), DOCA_SUCCESS);                                                        \
	} while (0)

static uint32_t num_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t num = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

/* A thread of the library may have a file open for a moment: the least of several counts is what the process keeps. */
static uint32_t num_descriptors_kept(void)
{
	uint64_t until = sf_now_ns() + KEPT_NS;
	uint32_t least = UINT32_MAX;

	do {
		uint32_t num = num_descriptors();

		least = num < least ? num : least;
		sched_yield();
	} while (sf_now_ns() < until);
	return least;
}

/* Set if another process is the peer: a descriptor is then closed only after the peer has closed its own. */
static void (*progress)(void);

static bool descriptors_settle(uint32_t expected)
{
	uint64_t until = sf_now_ns() + SETTLE_NS;
	uint32_t num;

	while ((num = num_descriptors()) != expected && sf_now_ns() < until) {
		if (progress != NULL)
			progress();
		sched_yield();
	}
	return num == expected;
}

/* max_without: allocations that the library can do without (pages are then copied, not shared). Otherwise the call must return
 * NO_MEMORY, unless the allocation was made by one of the library's own threads, possibly for another purpose. */
static void run(void (*begin)(struct rig *rig), doca_error_t (*make)(struct rig *rig), uint32_t max_without)
{
	uint32_t num_without = 0;
	uint64_t n;

	/* First without a failure: afterwards the process has opened all that it keeps. */
	struct rig first = {0};
	if (begin != NULL)
		begin(&first);
	doca_error_t expected = make(&first);
	assert_true(expected == DOCA_SUCCESS || expected == DOCA_ERROR_IN_PROGRESS);
	rig_end(&first);
	uint32_t descriptors = num_descriptors_kept();

	for (n = 1;; n++) {
		struct rig rig = {0};

		assert_true(n < ALLOCATIONS_MAX);
		if (begin != NULL)
			begin(&rig);
		starve_begin(n);
		doca_error_t result = make(&rig);
		bool has_failed = starve_end();

		if (has_failed && result == expected && (starve_was_elsewhere() || num_without++ < max_without))
			result = DOCA_ERROR_NO_MEMORY;
		if (has_failed ? result != DOCA_ERROR_NO_MEMORY : result != expected)
			fail_msg("allocation %llu %s, and the answer was %s", (unsigned long long)n,
				 has_failed ? "failed" : "did not fail", doca_error_get_name(result));
		rig_end(&rig);
		assert_true(descriptors_settle(descriptors));
		if (!has_failed)
			break;
	}
	print_message("%llu allocations, %u of which may fail\n", (unsigned long long)n - 1, num_without);
}

#define TEST(name, begin, max_without)                                                                                           \
	static void out_of_memory_for_##name(void **state)                                                                       \
	{                                                                                                                        \
		run(begin, make_##name, max_without);                                                                            \
	}
/* A new runtime folder, because other runs at the same time use the same service names. */
static char folder[] = "/tmp/softfield-memory-XXXXXX";

static int install(void **state)
{
	if (mkdtemp(folder) == NULL || setenv("SOFTFIELD_RUNTIME", folder, 1) != 0)
		return -1;
	return starve_install() == 0;
}

static int uninstall(void **state)
{
	char command[sizeof(folder) + 16];

	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

#endif
