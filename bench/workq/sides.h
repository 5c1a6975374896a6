/* SPDX-License-Identifier: BSD-3-Clause */
/* The same copies by both APIs. Each side is a file of its own, for their headers do not go together. */
#ifndef BENCH_WORKQ_SIDES_H
#define BENCH_WORKQ_SIDES_H

#include <stdint.h>

#define COPY_BYTES 64
#define COPIES 32 /* buffers, and the most in flight at a time */

/* Makes everything; exits when it cannot. */
void tasks_open(void);
void workq_open(void);

/* Copies num times, depth of them in flight. Exits when a copy fails. */
void tasks_run(uint32_t num, uint32_t depth);
void workq_run(uint32_t num, uint32_t depth);

void tasks_close(void);
void workq_close(void);

#endif
