/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers print. */
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

/* What a worker prints. */
struct daemon_output {
	struct daemon_source source;
	int fd;
	uint64_t window_end; /* ns */
	size_t used;	     /* bytes, in this window */
	bool waits;	     /* for the next window */
	size_t len;
	char bytes[DAEMON_OUTPUT_LINE]; /* that no line's end has come for */
};

/* For the daemon's own output: a slow reader never blocks it. */
void output_open_own(void);
bool output_watch(struct daemon *daemon, struct daemon_worker *worker);
void output_read(struct daemon *daemon, struct daemon_worker *worker);
/* Goes on with one that printed too much; the time when that is due, or UINT64_MAX. */
uint64_t output_expire(struct daemon *daemon, struct daemon_worker *worker, uint64_t now);
/* Takes the last of it. */
void output_close(struct daemon_worker *worker);

#endif
