/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping for an event: a thread of the process waits at the gates of all events that its contexts sleep for, and writes the
 * eventfd of a progress engine when a gate was opened. It runs while something is watched; one thread serves 127 gates.
 *
 * What cannot open a gate (a GPU, a program that writes its own memory) is polled for, while the watch is armed:
 * every tick_ms the word is compared with what it was, and the owner is asked whether it lives.
 */
#ifndef SF_SYNC_EVENT_WATCH_H
#define SF_SYNC_EVENT_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"
#include "sync_event/cell.h"

struct sf_watcher;

struct sf_watch {
	struct sf_cell *cell;
	int event_fd;
	_Atomic uint32_t tick_ms;   /* 0: only the gate */
	_Atomic uint64_t last;	    /* the word when it was armed */
	_Atomic bool ticking;	    /* the watcher polls */
	_Atomic bool armed;	    /* somebody may sleep; until the eventfd is written */
	uint32_t seen;		    /* the gate's count; the watcher's */
	uint64_t looked_ms;	    /* the last tick; the watcher's */
	struct sf_watcher *watcher; /* NULL while not watched */
};

/* Starts to watch. NO_MEMORY or OPERATING_SYSTEM, logged: no thread. */
doca_error_t sf_watch_add(struct sf_watch *watch);
/* Somebody is about to sleep, for whom the word is last. The gate is armed after this. */
void sf_watch_arm(struct sf_watch *watch, uint64_t last);
/* Ends it: nothing is written to event_fd afterwards. Does nothing when it is not watched. */
void sf_watch_remove(struct sf_watch *watch);
/* The page was moved into shared memory, or tick_ms changed: the thread has to wait anew. */
void sf_watch_refresh(struct sf_watch *watch);

/* How often the watchers of this process have looked at a word without being woken. For tests. */
SF_API uint64_t sf_watch_num_looks(void);

#endif
