/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that a child of the daemon had, for limits that a busy machine does not break.
 *
 * A child has the time in which it runs, sleeps or is stopped. It does not have the time in which it waits for a processor or for
 * a disk, nor that in which the daemon itself was stopped. So a child that exceeds its limit hangs, however busy the machine is.
 */
#ifndef UROM_DAEMON_CHILD_TIME_H
#define UROM_DAEMON_CHILD_TIME_H

#include <stdint.h>
#include <sys/types.h>

#define CHILD_TIME_LOOKS 8 /* in a limit */

struct child_time {
	uint64_t had_ns;    /* so far */
	uint64_t looked_ns; /* when this was found */
	uint64_t ran_ns;    /* by its first thread, until then */
};

/* Starts to count. */
void child_time_begin(struct child_time *time, pid_t pid, uint64_t now);

/* Adds what the child had since the last look, longest_ns at most. Returns the state letter of its first thread, as in /proc;
 * '\0' if it is gone. */
char child_time_look(struct child_time *time, pid_t pid, uint64_t now, uint64_t longest_ns);

/* For a child that has limit_ns in all. Returns the time when to call again, 0 once the limit is over. Reads /proc when that time
 * has come. */
uint64_t child_time_left(struct child_time *time, pid_t pid, uint64_t now, uint64_t limit_ns);

#endif
