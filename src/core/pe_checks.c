/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of the validation layer about progress engines: at their destruction, and from the status thread. */
#include "core/pe_checks.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "core/ctx.h"
#include "core/status_private.h"
#include "core/task_checks.h"
#include "validation/validation.h"

#define EMPTY_CALLS_MAX 1000 /* progress calls without work after which an event-driven program is reported */
#define ALIVE_TEXT_MAX 400

/* Set when the program has got a notification handle, of any engine. */
static bool is_event_driven;

void sf_pe_report_alive(const struct doca_pe *pe)
{
	char text[ALIVE_TEXT_MAX] = "", object[SF_OBJECT_TEXT_MAX];
	size_t len = 0;
	unsigned int num = 0;

	for (const struct doca_ctx *ctx = pe->connected; ctx != NULL; ctx = ctx->next_in_pe, num++) {
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", num > 0 ? ", " : "",
						sf_object_text(ctx, ctx->ops->name, object, sizeof(object)));
	}
	SF_BROKEN(PE_001, pe, "doca_pe_destroy", "these contexts are connected to it: %s", text);
}

/* ---- by the engine's thread ---- */

void sf_pe_note_request(struct doca_pe *pe)
{
	__atomic_store_n(&pe->status.requested_at, pe->num_calls, __ATOMIC_RELAXED);
	__atomic_store_n(&pe->status.requested_ns, sf_now_ns(), __ATOMIC_RELAXED);
}

void sf_pe_note_handle(void)
{
	__atomic_store_n(&is_event_driven, true, __ATOMIC_RELAXED);
}

/* ---- by the status thread ---- */

/* The engine's thread runs concurrently, as in status.c. */
#define SAMPLES __attribute__((no_sanitize("thread"), noinline))

/* Detects a program that requested a notification, does not wait for it or clear it, and progresses without work. */
SAMPLES static bool is_not_waited_for(struct sf_status_pe *status, uint32_t limit_ms, struct sf_idle_case *idle)
{
	const struct doca_pe *pe = sf_status_pe_of(status);
	uint64_t requested_ns = __atomic_load_n(&status->requested_ns, __ATOMIC_RELAXED), now_ns = sf_now_ns();
	uint64_t passed = *(const volatile uint64_t *)&pe->num_calls - __atomic_load_n(&status->requested_at, __ATOMIC_RELAXED);

	if (requested_ns == 0 || requested_ns == status->reported_ns || *(const volatile bool *)&pe->cleared)
		return false;
	if (now_ns < requested_ns + UINT64_C(1000000) * limit_ms || passed % SF_PE_MOVED < EMPTY_CALLS_MAX)
		return false;
	status->reported_ns = requested_ns;
	*idle = (struct sf_idle_case){.kind = SF_IDLE_NOT_WAITED_FOR,
				      .object = pe,
				      .ms = (now_ns - requested_ns) / 1000000,
				      .num_calls = passed % SF_PE_MOVED};
	return true;
}

static bool is_without_receives(struct sf_status_ctx *status, uint32_t limit_ms, struct sf_idle_case *idle)
{
	const struct doca_ctx *ctx = sf_status_ctx_of(status);

	if (!ctx->ops->must_receive || ctx->gpu != NULL || status->state != DOCA_CTX_STATE_RUNNING ||
	    status->state_ms < limit_ms || status->num_submitted != 0 || status->has_reported_receives)
		return false;
	status->has_reported_receives = true;
	*idle = (struct sf_idle_case){.kind = SF_IDLE_NO_RECEIVES, .object = ctx, .type = ctx->ops->name, .ms = status->state_ms};
	return true;
}

/* Finds a task of the pool whose submit failed limit_ms ago, and that was neither submitted again nor freed. */
SAMPLES static bool is_refused(const struct sf_task_pool *pool, uint32_t limit_ms, struct sf_idle_case *idle)
{
	uint64_t now_ns = sf_now_ns();

	for (uint32_t i = 0; i < pool->checks->num_tasks; i++) {
		struct sf_task_check *check = &pool->checks->tasks[i];
		uint64_t refused_ns = __atomic_load_n(&check->refused_ns, __ATOMIC_RELAXED);

		if (refused_ns == 0 || check->is_reported || now_ns < refused_ns + UINT64_C(1000000) * limit_ms)
			continue;
		check->is_reported = true;
		*idle = (struct sf_idle_case){.kind = SF_IDLE_REFUSED,
					      .object = (const char *)pool->memory + pool->slot_built * i,
					      .type = pool->cls->name,
					      .ms = (now_ns - refused_ns) / 1000000,
					      .answer = (doca_error_t)__atomic_load_n(&check->answer, __ATOMIC_RELAXED)};
		return true;
	}
	return false;
}

static bool is_any_refused(const struct sf_status_ctx *status, uint32_t limit_ms, struct sf_idle_case *idle)
{
	const struct doca_ctx *ctx = sf_status_ctx_of((struct sf_status_ctx *)(uintptr_t)status);

	if (status->state != DOCA_CTX_STATE_RUNNING)
		return false;
	for (uint32_t i = 0; i < ctx->num_pools; i++) {
		if (ctx->pools[i].checks != NULL && is_refused(&ctx->pools[i], limit_ms, idle))
			return true;
	}
	return false;
}

uint32_t sf_idle_collect(struct sf_idle_case *cases, uint32_t limit_ms)
{
	struct sf_status_pe *pe;
	struct sf_status_ctx *ctx;
	uint32_t num = 0;

	LIST_FOREACH (pe, &sf_status_pes, entry) {
		if (num < SF_IDLE_CASES_MAX)
			num += is_not_waited_for(pe, limit_ms, &cases[num]);
	}
	LIST_FOREACH (ctx, &sf_status_ctxs, entry) {
		if (num < SF_IDLE_CASES_MAX)
			num += is_without_receives(ctx, limit_ms, &cases[num]);
		if (num < SF_IDLE_CASES_MAX)
			num += is_any_refused(ctx, limit_ms, &cases[num]);
	}
	return num;
}

void sf_idle_report(const struct sf_idle_case *idle)
{
	unsigned long long s = idle->ms / 1000, tenths = idle->ms / 100 % 10;

	switch (idle->kind) {
	case SF_IDLE_NO_RECEIVES:
		SF_BROKEN_TYPE(COMCH_001, idle->object, idle->type, "doca_task_submit",
			       "it runs for %llu.%llu s, and no receive was ever posted", s, tenths);
		break;
	case SF_IDLE_NOT_WAITED_FOR:
		SF_BROKEN(PE_006, idle->object, "doca_pe_request_notification",
			  "requested %llu.%llu s ago, and since then %llu calls of doca_pe_progress found nothing", s, tenths,
			  (unsigned long long)idle->num_calls);
		break;
	case SF_IDLE_REFUSED:
		SF_BROKEN_TYPE(TASK_004, idle->object, idle->type, "doca_task_submit",
			       "it returned %s %llu.%llu s ago, and the task was neither submitted again nor freed",
			       doca_error_get_name(idle->answer), s, tenths);
		break;
	}
}

/* ---- stalls ---- */

static enum sf_rule rule_of(const struct sf_stall_case *stall, enum sf_stall_peer peer)
{
	if (stall->stall == SF_STALL_CALL)
		return SF_RULE_PE_007;
	if (stall->is_blocked) /* that is reported */
		return SF_RULES;
	if (stall->is_idle)
		return stall->stall == SF_STALL_STARTING && __atomic_load_n(&is_event_driven, __ATOMIC_RELAXED) ? SF_RULE_PE_005
														: SF_RULE_PE_004;
	if (stall->stall == SF_STALL_STOPPING && stall->num_inflight == 0 && stall->num_allocated > 0)
		return SF_RULE_TASK_006;
	if (stall->num_peers == 0) /* without a peer, the tasks may simply take long */
		return stall->stall == SF_STALL_STOPPING || stall->stall == SF_STALL_STARTING ? SF_RULE_CTX_006 : SF_RULES;
	if (peer != SF_STALL_PEER_PROGRESSES)
		return peer == SF_STALL_PEER_BLOCKED ? SF_RULE_PE_007 : SF_RULE_PE_004;
	return strcmp(stall->type, "comch producer") == 0 ? SF_RULE_COMCH_001 : SF_RULE_CTX_006;
}

void sf_stall_break_rule(const struct sf_stall_case *stall, enum sf_stall_peer peer, const char *cause, const char *fix)
{
	enum sf_rule rule = rule_of(stall, peer);

	if (rule == SF_RULE_PE_005)
		sf_rule_broken(
			rule, stall->object, stall->type, "doca_pe_progress",
			"%s, and nothing wakes the program to progress it: no notification is requested, or it is not waited for",
			cause);
	else if (rule != SF_RULES)
		sf_rule_broken_so(rule, stall->object, stall->type, "doca_pe_progress", fix, "%s", cause);
}
