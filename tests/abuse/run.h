/* SPDX-License-Identifier: BSD-3-Clause */
/* What main.c and objects.c share. */
#ifndef ABUSE_RUN_H
#define ABUSE_RUN_H

#include <stdint.h>

/* How often a documented function was called, and succeeded. By index in documented. */
struct tally {
	uint64_t calls, successes, complaints;
};

extern struct tally *tallies;

void random_seed(uint64_t seed);

/* A wrong answer: printed with the seed and the sequence, once for each function. The run goes on, and fails in the end. */
void abuse_complain(struct tally *tally, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something that nothing can follow: prints it with the seed and the sequence, and aborts. */
void abuse_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
