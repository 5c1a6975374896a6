/* SPDX-License-Identifier: BSD-3-Clause */
/* CHECK, for fuzz targets: one that fails is a finding. */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <stdlib.h>

#define CHECK(condition)                                                                                                         \
	do {                                                                                                                     \
		if (!(condition))                                                                                                \
			abort();                                                                                                 \
	} while (0)

#endif
