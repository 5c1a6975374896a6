/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that everything timed here goes by. */
#ifndef UROM_WORKER_CLOCK_H
#define UROM_WORKER_CLOCK_H

#include <stdint.h>

/* sf_now_ns; a test that plays with time puts another in its place. */
uint64_t worker_now_ns(void);

#endif
