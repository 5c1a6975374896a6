/* SPDX-License-Identifier: BSD-3-Clause */
/* CHECK, for processes that a test starts: one that fails ends the process, where cmocka's asserts would jump back into the
 * runner of the parent. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdio.h>
#include <unistd.h>

#define CHECK(condition)                                                                                                         \
	do {                                                                                                                     \
		if (!(condition)) {                                                                                              \
			dprintf(STDERR_FILENO, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition);                     \
			_exit(1);                                                                                                \
		}                                                                                                                \
	} while (0)

#endif
