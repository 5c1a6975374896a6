/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SUPPORT_DESCRIPTORS_H
#define TESTS_SUPPORT_DESCRIPTORS_H

#include <dirent.h>
#include <stdint.h>

#include "support/check.h"

/* How many descriptors this process has open, and some more that are always the same. */
static inline uint32_t num_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t num = 0;

	CHECK(dir != NULL);
	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

#endif
