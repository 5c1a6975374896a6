/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of all timeouts here. */
#ifndef UROM_WORKER_CLOCK_H
#define UROM_WORKER_CLOCK_H

#include <stdint.h>

/* sf_now_ns; tests replace it. */
uint64_t worker_now_ns(void);

#endif
