/* SPDX-License-Identifier: BSD-3-Clause */
/* What main.c and objects.c share. */
#ifndef ABUSE_RUN_H
#define ABUSE_RUN_H

#include <stdint.h>

/* How often a documented function was called, and succeeded. By index in documented. */
struct tally {
	uint64_t calls, successes;
};

extern struct tally *tallies;

void random_seed(uint64_t seed);

/* Prints it with the seed and the sequence, and aborts. */
void abuse_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
