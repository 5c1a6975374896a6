/* SPDX-License-Identifier: BSD-3-Clause */
/* What the validation layer looks at in progress engines. */
#ifndef SF_CORE_PE_CHECKS_H
#define SF_CORE_PE_CHECKS_H

#include "core/pe.h"
#include "core/stall.h"

/* This thread is in no call of doca_pe_progress. */
bool sf_pe_is_in_no_progress(void);

/* Another thread is in one of this engine. */
static inline bool sf_pe_is_inside_elsewhere(const struct doca_pe *pe)
{
	return __atomic_load_n(&pe->in_progress, __ATOMIC_RELAXED) && sf_pe_is_in_no_progress();
}

/* The engine cannot be destroyed: reports the contexts that it has. */
void sf_pe_report_alive(const struct doca_pe *pe);

/* A notification was requested; a notification handle was asked for. */
void sf_pe_note_request(struct doca_pe *pe);
void sf_pe_note_handle(void);

/* What is wrong in a process where nothing stalls, as the status thread sees it. */
struct sf_idle_case {
	enum { SF_IDLE_NO_RECEIVES, SF_IDLE_NOT_WAITED_FOR, SF_IDLE_REFUSED } kind;
	const void *object;
	const char *type;
	uint64_t ms, num_calls;
	doca_error_t answer; /* of a refused task */
};

#define SF_IDLE_CASES_MAX 8

/* Collects what is not reported yet, and marks it as reported. Returns how many. With the status lock. */
uint32_t sf_idle_collect(struct sf_idle_case *cases, uint32_t limit_ms);

/* Without the status lock. */
void sf_idle_report(const struct sf_idle_case *idle);

/* The rule that a stall breaks. cause and fix are the two halves of the stall's line; peer_progresses: it is only not received.
 */
void sf_stall_break_rule(const struct sf_stall_case *stall, bool peer_progresses, const char *cause, const char *fix);

#endif
