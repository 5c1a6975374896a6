/* SPDX-License-Identifier: BSD-3-Clause */
/* The same copies with both APIs. Each side has its own file, because their headers conflict. */
#ifndef BENCH_WORKQ_SIDES_H
#define BENCH_WORKQ_SIDES_H

#include <stdint.h>

#define COPY_BYTES 64
#define COPIES 32 /* buffers, and most copies in flight */

/* Creates all objects; exits on errors. */
void tasks_open(void);
void workq_open(void);

/* Makes num copies, depth of them in flight. Exits if a copy fails. */
void tasks_run(uint32_t num, uint32_t depth);
void workq_run(uint32_t num, uint32_t depth);

void tasks_close(void);
void workq_close(void);

#endif
