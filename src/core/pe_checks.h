/* SPDX-License-Identifier: BSD-3-Clause */
/* The validation layer's checks of progress engines. */
#ifndef SF_CORE_PE_CHECKS_H
#define SF_CORE_PE_CHECKS_H

#include "core/pe.h"
#include "core/stall.h"

/* Returns whether this thread is outside of doca_pe_progress. */
bool sf_pe_is_in_no_progress(void);

/* Returns whether another thread is in doca_pe_progress of this engine. */
static inline bool sf_pe_is_inside_elsewhere(const struct doca_pe *pe)
{
	return __atomic_load_n(&pe->in_progress, __ATOMIC_RELAXED) && sf_pe_is_in_no_progress();
}

/* Reports the contexts of an engine that cannot be destroyed. */
void sf_pe_report_alive(const struct doca_pe *pe);

/* Records that a notification was requested; that a notification handle was returned. */
void sf_pe_note_request(struct doca_pe *pe);
void sf_pe_note_handle(void);

/* A mistake, found by the status thread, that does not stall the process. */
struct sf_idle_case {
	enum { SF_IDLE_NO_RECEIVES, SF_IDLE_NOT_WAITED_FOR, SF_IDLE_REFUSED } kind;
	const void *object;
	const char *type;
	uint64_t ms, num_calls;
	doca_error_t answer; /* of a failed submit */
};

#define SF_IDLE_CASES_MAX 8

/* Collects the cases not reported yet, marks them as reported and returns their number. Call with the status lock. */
uint32_t sf_idle_collect(struct sf_idle_case *cases, uint32_t limit_ms);

/* Call without the status lock. */
void sf_idle_report(const struct sf_idle_case *idle);

/* What the peer that a stall waits for does. */
enum sf_stall_peer {
	SF_STALL_PEER_RESTS,	  /* it does not call doca_pe_progress */
	SF_STALL_PEER_BLOCKED,	  /* a callback of its own keeps it in a call */
	SF_STALL_PEER_PROGRESSES, /* it progresses, or has no engine, but does not answer or receive */
};

/* Reports the rule that a stall breaks. cause and fix are the two halves of the stall's line. */
void sf_stall_break_rule(const struct sf_stall_case *stall, enum sf_stall_peer peer, const char *cause, const char *fix);

#endif
