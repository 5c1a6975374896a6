/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stalls: what should end and does not. Four things are one after SOFTFIELD_STALL_MS: a context in STOPPING, a connection (or a
 * context) that is being made, a task in flight while no task of its context ends, and submits answered with AGAIN only.
 * Tasks that may wait for ever (sf_task_class.may_wait) are none, nor is a program that sleeps for an event with nothing due.
 *
 * The time counts while the status thread runs. So a stop of this process, or of the machine, is nobody's fault.
 */
#ifndef SF_CORE_STALL_H
#define SF_CORE_STALL_H

#include "base/status_folder.h"
#include "core/status.h"

#define SF_STALL_DEFAULT_MS 5000
#define SF_STALL_MAX_MS 3600000
#define SF_STALL_CASES_MAX 8 /* in one look; the others come with the next */
#define SF_STALL_PEERS_MAX 16
#define SF_STALL_TEXT_MAX 256

/* One stall, as it was seen with the status lock. */
struct sf_stall_case {
	enum sf_stall stall;
	uint64_t stalled_ms;
	char what[SF_STALL_TEXT_MAX];  /* "context comch client "x" on host0/..." */
	char name[SF_STATUS_TEXT_MAX]; /* of the context, or empty */
	uint64_t num_inflight, num_allocated, num_owed, num_again;
	/* the progress engine's */
	bool is_idle;	  /* it was not progressed meanwhile, and nothing says that it need not be */
	bool was_called;  /* ever */
	uint64_t last_ms; /* since its last call */
	uint32_t num_peers;
	int peers[SF_STALL_PEERS_MAX]; /* the processes that may owe it; 0: one that cannot be named from here */
	/* for the validation layer */
	const void *object; /* the context: its address only */
	const char *type;   /* what it is */
};

/* SOFTFIELD_STALL_MS: 0 for never; the default in place of a wrong value. */
uint32_t sf_stall_limit_ms(bool *is_wrong);

/* Collects the stalls that are not reported yet, and marks them as reported. Returns how many. With the status lock. */
uint32_t sf_stalls_collect(struct sf_stall_case *cases, uint32_t limit_ms);

/* Logs one line for a case. page: this process's own; own: its file. Without the status lock: it reads the pages of others. */
void sf_stall_report(const struct sf_stall_case *stall, const struct sf_status_page *page, const struct sf_status_file *own);

#endif
