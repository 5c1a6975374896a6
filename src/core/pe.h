/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress engine as those see it who drive contexts and submit tasks. All of it belongs to one thread at a time; the eventfd
 * alone may be written from anywhere.
 */
#ifndef SF_CORE_PE_H
#define SF_CORE_PE_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_pe.h>

#include "base/visibility.h"
#include "core/status.h"

struct doca_ctx;
struct sf_pe_faults;

#define SF_PE_MOVED (UINT64_C(1) << 32) /* of num_calls */

struct doca_pe {
	struct doca_ctx *active;    /* contexts that are not IDLE, polled in this order; by next_active */
	struct doca_ctx *cursor;    /* the next one to poll while a progress call runs: deactivating it moves it on */
	struct doca_ctx *connected; /* all contexts, by next_in_pe */
	/* Calls of doca_pe_progress that have returned: in the upper half those that moved something, in the lower the others,
	 * which may carry. Read by the status thread. */
	uint64_t num_calls;
	bool in_progress;  /* a progress call is on the stack */
	bool armed;	   /* a notification was requested, and nothing is known to have answered it: progress leaves it */
	bool cleared;	   /* the handle was cleared after the last request */
	bool was_readable; /* perhaps, when the last request was made: for it was not cleared before */
	bool kicked;	   /* the next progress has something to do that no arm would find */
	enum doca_pe_event_mode mode;
	int event_fd;	      /* written when something becomes due while armed */
	int epoll_fd;	      /* the notification handle: event_fd, and what contexts watch */
	uint32_t num_watched; /* descriptors of contexts in epoll_fd */
	struct sf_status_pe status;
	struct sf_pe_faults *faults; /* NULL, unless SOFTFIELD_FAULTS is about it */
};

/* The ctx runs, or stopped running: it is polled from now on, or no longer. */
void sf_pe_activate(struct doca_pe *pe, struct doca_ctx *ctx);
void sf_pe_deactivate(struct doca_pe *pe, struct doca_ctx *ctx);

/* The ctx object goes away. It is not active. */
void sf_pe_detach(struct doca_pe *pe, struct doca_ctx *ctx);

/* Something is due that no arm would find: a waiter on the handle wakes, and the next request does not wait. */
SF_API void sf_pe_kick(struct doca_pe *pe);

doca_error_t sf_pe_watch_fd(struct doca_pe *pe, int fd);
void sf_pe_unwatch_fd(struct doca_pe *pe, int fd);

#endif
