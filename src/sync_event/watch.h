/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping for an event: a watcher thread waits on the doorbells of all events that the process's contexts sleep for, and writes
 * the eventfd of a progress engine when a doorbell rings. It runs while any event is watched; one thread serves 127 doorbells.
 *
 * Some writers cannot ring a doorbell: a GPU, or a program that writes its own memory. For them an armed watch polls every
 * tick_ms: it compares the word with its last value and checks that the owner lives.
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
	_Atomic uint32_t tick_ms;   /* 0: only the doorbell */
	_Atomic uint64_t last;	    /* the word's value when armed */
	_Atomic bool ticking;	    /* the watcher polls */
	_Atomic bool armed;	    /* a thread may sleep; cleared when the eventfd is written */
	uint32_t seen;		    /* the doorbell's count; used by the watcher thread only */
	uint64_t looked_ms;	    /* time of the last tick; likewise */
	struct sf_watcher *watcher; /* NULL while not watched */
};

/* Starts to watch. NO_MEMORY or OPERATING_SYSTEM, logged, if no thread could be started. */
doca_error_t sf_watch_add(struct sf_watch *watch);
/* Called before a thread that saw the value last sleeps. The caller arms the doorbell afterwards. */
void sf_watch_arm(struct sf_watch *watch, uint64_t last);
/* Stops watching: nothing is written to event_fd afterwards. Does nothing when not watched. */
void sf_watch_remove(struct sf_watch *watch);
/* Makes the thread wait anew, after the page was moved into shared memory or tick_ms changed. */
void sf_watch_refresh(struct sf_watch *watch);

/* How often this process's watchers have polled a word. For tests. */
SF_API uint64_t sf_watch_num_looks(void);

#endif
