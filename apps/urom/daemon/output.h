/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of workers. */
#ifndef UROM_DAEMON_OUTPUT_H
#define UROM_DAEMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

struct daemon;
struct daemon_worker;

/* A descriptor that epoll watches for a worker, and the function that reads it. */
struct daemon_source {
	struct daemon_worker *worker;
	void (*read)(struct daemon *daemon, struct daemon_worker *worker);
};

/* The output of one worker. */
struct daemon_output {
	struct daemon_source source;
	int fd;
	uint64_t window_end; /* ns */
	size_t used;	     /* bytes in this window */
	bool waits;	     /* waits for the next window */
	size_t len;
	char bytes[DAEMON_OUTPUT_LINE]; /* of an incomplete line */
};

/* Prepares the daemon's own output: a slow reader never blocks it. */
void output_open_own(void);
bool output_watch(struct daemon *daemon, struct daemon_worker *worker);
void output_read(struct daemon *daemon, struct daemon_worker *worker);
/* Resumes reading from a worker that printed too much. Returns the time when that is due, or UINT64_MAX. */
uint64_t output_expire(struct daemon *daemon, struct daemon_worker *worker, uint64_t now);
/* Reads the rest and closes it. */
void output_close(struct daemon_worker *worker);

#endif
