/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress engine, for code that drives contexts and submits tasks. Not thread-safe, except that any thread may write the
 * eventfd.
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

#define SF_PE_MOVED (UINT64_C(1) << 32) /* one call in the upper half of num_calls */

struct doca_pe {
	struct doca_ctx *active;    /* contexts that are not IDLE, in polling order; linked by next_active */
	struct doca_ctx *cursor;    /* during a progress call the next ctx to poll; sf_pe_deactivate advances it */
	struct doca_ctx *connected; /* all contexts, linked by next_in_pe */
	/* Calls of doca_pe_progress that have returned: in the upper half those that moved something, in the lower the others,
	 * which may carry. Read by the status thread. */
	uint64_t num_calls;
	bool in_progress;  /* a progress call is on the stack */
	bool armed;	   /* a notification was requested and not answered yet; progress does not reset it */
	bool cleared;	   /* the handle was cleared after the last request */
	bool was_readable; /* the handle may have been readable at the last request, since it was not cleared before */
	bool kicked;	   /* the next progress call has work that no arm detects */
	enum doca_pe_event_mode mode;
	int event_fd;	      /* written when work becomes due while armed */
	int epoll_fd;	      /* the notification handle: watches event_fd and descriptors of contexts */
	uint32_t num_watched; /* descriptors of contexts in epoll_fd */
	struct sf_status_pe status;
	struct sf_pe_faults *faults; /* NULL unless a rule of SOFTFIELD_FAULTS matches */
};

/* Starts to poll the ctx; stops to poll it. */
void sf_pe_activate(struct doca_pe *pe, struct doca_ctx *ctx);
void sf_pe_deactivate(struct doca_pe *pe, struct doca_ctx *ctx);

/* Disconnects a ctx that is being destroyed. It is not active. */
void sf_pe_detach(struct doca_pe *pe, struct doca_ctx *ctx);

/* Reports work that no arm detects: wakes a waiter on the handle, and makes the next request fire immediately. */
SF_API void sf_pe_kick(struct doca_pe *pe);

/* Returns whether this thread is in a progress call of this engine, and in no inner one. */
bool sf_pe_is_inside_here(const struct doca_pe *pe);

doca_error_t sf_pe_watch_fd(struct doca_pe *pe, int fd);
void sf_pe_unwatch_fd(struct doca_pe *pe, int fd);

#endif
