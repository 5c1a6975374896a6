/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by main.c and objects.c. */
#ifndef ABUSE_RUN_H
#define ABUSE_RUN_H

#include <stdint.h>

/* How often a documented function was called and has succeeded, by its index in documented. */
struct tally {
	uint64_t calls, successes, complaints;
};

extern struct tally *tallies;

void random_seed(uint64_t seed);

/* Reports a wrong result: prints it with the seed and the sequence, once for each function. The run continues, and fails in
 * the end. */
void abuse_complain(struct tally *tally, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports an error after which the run cannot continue: prints it with the seed and the sequence, and aborts. */
void abuse_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
