/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stalls: operations that do not end within SOFTFIELD_STALL_MS. There are five kinds: a context in STOPPING, a connection or
 * context that is being established, a task in flight while no task of its context ends, submits that only return AGAIN, and a
 * progress call that does not return because a callback sleeps in it.
 * Tasks that may wait for ever (sf_task_class.may_wait) do not count, nor does a program that sleeps for an event while nothing
 * is due.
 *
 * The time counts only while the status thread runs, so a stop of this process or of the machine is not a stall.
 */
#ifndef SF_CORE_STALL_H
#define SF_CORE_STALL_H

#include "base/status_folder.h"
#include "core/status.h"

#define SF_STALL_DEFAULT_MS 5000
#define SF_STALL_MAX_MS 3600000
#define SF_STALL_OLD_FACTOR 3  /* on the limit, of a task while others of its engine move: it may be a large one */
#define SF_STALL_CALL_FACTOR 4 /* on the limit, of a call whose thread runs: it may copy much */
#define SF_STALL_CASES_MAX 8   /* per tick; the others follow at the next */
#define SF_STALL_PEERS_MAX 16
#define SF_STALL_TEXT_MAX 256

/* A snapshot of a stall, taken with the status lock. */
struct sf_stall_case {
	enum sf_stall stall;
	uint64_t stalled_ms;
	char what[SF_STALL_TEXT_MAX];  /* "context comch client "x" on host0/..." */
	char name[SF_STATUS_TEXT_MAX]; /* of the context, or empty */
	uint64_t num_inflight, num_allocated, num_owed, num_again;
	/* about the progress engine */
	bool is_idle;	  /* it was not progressed meanwhile, although it should be */
	bool was_called;  /* ever */
	uint64_t last_ms; /* time since its last call */
	bool is_blocked;  /* it is in one call for as long, or sleeps in one */
	uint32_t num_peers;
	int peers[SF_STALL_PEERS_MAX]; /* processes that may be the cause; 0: one that is not visible from here */
	/* for the validation layer */
	const void *object; /* the context: its address only */
	const char *type;   /* of object */
};

/* The value of SOFTFIELD_STALL_MS: 0 for never; the default if it is invalid. */
uint32_t sf_stall_limit_ms(bool *is_wrong);

/* Collects the stalls not reported yet, marks them as reported and returns their number. Call with the status lock. */
uint32_t sf_stalls_collect(struct sf_stall_case *cases, uint32_t limit_ms);

/* Logs one line for a case. page: of this process; own: its file. Call without the status lock, because it reads pages of other
 * processes. */
void sf_stall_report(const struct sf_stall_case *stall, const struct sf_status_page *page, const struct sf_status_file *own);

#endif
