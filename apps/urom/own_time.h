/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time limits that a busy machine does not break: the daemon's for its workers, and those of both for clients.
 *
 * Time counts while the process runs, sleeps or is stopped. Time does not count while it waits for a CPU or a disk, or while
 * the observer was stopped. So a process that exceeds its limit hangs or chose not to answer, however busy the machine is.
 * sf_liveness, for trusted peers, waits longer for a process that runs.
 */
#ifndef UROM_OWN_TIME_H
#define UROM_OWN_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OWN_TIME_LOOKS 8  /* checks within a limit */
#define OWN_TIME_UNSEEN 5 /* factor of the limit for a process on another machine */

struct own_time {
	uint64_t begun_ns;
	uint64_t had_ns;    /* counted so far */
	uint64_t looked_ns; /* time of the last check */
	uint64_t ran_ns;    /* CPU time at the last check */
	bool all_threads;   /* CPU time of all threads; else of the first */
};

/* Starts to count. For a process that /proc does not have, all time counts. */
void own_time_begin(struct own_time *time, pid_t pid, bool all_threads, uint64_t now);

/* Adds the counted time since the last check, at most longest_ns. Returns its state letter, as in /proc; '\0' if unknown. */
char own_time_look(struct own_time *time, pid_t pid, uint64_t now, uint64_t longest_ns);

/* Checks a limit of limit_ns. Returns the time of the next call, 0 once the limit is over. Reads /proc only when that time has
 * come. */
uint64_t own_time_left(struct own_time *time, pid_t pid, uint64_t now, uint64_t limit_ns);

/* Returns the limit, longer for a process that may be on another machine (pid 0). */
static inline uint64_t own_time_limit(pid_t pid, uint64_t limit_ns)
{
	return pid != 0 ? limit_ns : OWN_TIME_UNSEEN * limit_ns;
}

#endif
