/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that a process had to itself, for limits that a busy machine does not break: the daemon's about its workers, and
 * both's about clients.
 *
 * A process has the time in which it runs, sleeps or is stopped. It does not have the time in which it waits for a processor or
 * for a disk, nor that in which whoever looks at it was stopped. So a process that exceeds its limit hangs or is silent by its
 * own will, however busy the machine is. sf_liveness waits longer for one that runs: it is for peers that are trusted.
 */
#ifndef UROM_OWN_TIME_H
#define UROM_OWN_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OWN_TIME_LOOKS 8  /* in a limit */
#define OWN_TIME_UNSEEN 5 /* times the limit for a process on another machine */

struct own_time {
	uint64_t begun_ns;
	uint64_t had_ns;    /* so far */
	uint64_t looked_ns; /* when this was found */
	uint64_t ran_ns;    /* until then */
	bool all_threads;   /* counts all of its threads; else its first */
};

/* Starts to count. A process that cannot be seen has all the time. */
void own_time_begin(struct own_time *time, pid_t pid, bool all_threads, uint64_t now);

/* Adds what the process had since the last look, longest_ns at most. Returns its state letter, as in /proc; '\0' if it cannot be
 * seen. */
char own_time_look(struct own_time *time, pid_t pid, uint64_t now, uint64_t longest_ns);

/* For a process that has limit_ns in all. Returns the time when to call again, 0 once the limit is over. Reads /proc when that
 * time has come. */
uint64_t own_time_left(struct own_time *time, pid_t pid, uint64_t now, uint64_t limit_ns);

/* The limit for a process that may be on another machine: pid is 0. */
static inline uint64_t own_time_limit(pid_t pid, uint64_t limit_ns)
{
	return pid != 0 ? limit_ns : OWN_TIME_UNSEEN * limit_ns;
}

#endif
