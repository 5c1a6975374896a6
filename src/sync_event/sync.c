/* SPDX-License-Identifier: BSD-3-Clause */
/* The synchronous mode: calls that return when the operation is done. */
#include <sched.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "sync_event/event.h"
#include "sync_event/mask.h"
#include "sync_event/wait_check.h"
#include "validation/validation.h"

#define LOOKS_BETWEEN_QUESTIONS 4096 /* whether the owner lives, which costs more than a look at the word */
#define YIELDS_BETWEEN_QUESTIONS 64

static __attribute__((noinline, cold)) doca_error_t event_reject(const struct doca_sync_event *event, const char *function)
{
	if (event == NULL)
		return sf_event_check(event, function);
	SF_LOG_ERR("%s: the sync event %s", function,
		   sf_event_is_open(event) ? "was started as a context; use its tasks, or start it with doca_sync_event_start"
					   : "is not started; call doca_sync_event_start first");
	return DOCA_ERROR_BAD_STATE;
}

static inline bool is_usable(const struct doca_sync_event *event)
{
	return event != NULL && event->synchronous;
}

/* Logs that another node's event has ended. */
static doca_error_t status_report(doca_error_t status, const char *function)
{
	if (__builtin_expect(status == DOCA_ERROR_CONNECTION_ABORTED, 0))
		SF_LOG_ERR_LIMITED("%s: the owner of the sync event has stopped it, or has exited", function);
	return status;
}

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	if (value == NULL) {
		SF_LOG_ERR("%s: value is NULL", __func__);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!is_usable(event))
		return event_reject(event, __func__);
	return status_report(sf_cell_get(&event->cell, value), __func__);
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
	if (fetched == NULL) {
		SF_LOG_ERR("%s: fetched is NULL", __func__);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!is_usable(event))
		return event_reject(event, __func__);
	return status_report(sf_cell_add(&event->cell, value, fetched), __func__);
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	if (!is_usable(event))
		return event_reject(event, __func__);
	return status_report(sf_cell_set(&event->cell, value), __func__);
}

/* ---- waits ---- */

static inline __attribute__((always_inline)) bool value_holds(enum sf_event_until until, uint64_t now, uint64_t value)
{
	return until == SF_EVENT_UNTIL_GREATER ? now > value : until == SF_EVENT_UNTIL_EQUAL ? now == value : now != value;
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* A look at a far word may be torn, so the result counts only after a full read. */
static inline __attribute__((always_inline)) doca_error_t event_confirm(const struct sf_cell *cell, enum sf_event_until until,
									uint64_t value, uint64_t mask, bool *is_true)
{
	uint64_t now;
	doca_error_t status = sf_cell_get_far(cell, &now);

	*is_true = status == DOCA_SUCCESS && value_holds(until, now & mask, value);
	return status;
}

static __attribute__((noinline, cold)) void wait_check(const struct doca_sync_event *event, enum sf_event_until until,
						       uint64_t value, uint64_t mask, struct sf_event_waiting *waiting,
						       const char *function)
{
	if (waiting->begin_ns == 0)
		waiting->is_reported = sf_event_wait_check_value(event, until, value, mask, function);
	sf_event_wait_check_publisher(event, waiting, function);
}

static inline __attribute__((always_inline)) doca_error_t wait_loop(struct doca_sync_event *event, enum sf_event_until until,
								    uint64_t value, uint64_t mask, bool yield,
								    const char *function)
{
	const uint32_t between = yield ? YIELDS_BETWEEN_QUESTIONS : LOOKS_BETWEEN_QUESTIONS;
	struct sf_event_waiting waiting = {.begin_ns = 0};
	struct sf_cell *cell = &event->cell;
	doca_error_t status;
	uint64_t now;
	bool is_true;

	for (uint32_t i = 0;; i++) {
		status = sf_cell_look(cell, &now);
		is_true = value_holds(until, now & mask, value);
		if (status == DOCA_SUCCESS && is_true && cell->word == NULL)
			status = event_confirm(cell, until, value, mask, &is_true);
		if (status == DOCA_SUCCESS && !is_true && i % between == between - 1) {
			status = sf_cell_ask(cell);
			if (__builtin_expect(sf_validation_is_on, 0))
				wait_check(event, until, value, mask, &waiting, function);
		}
		if (status != DOCA_SUCCESS || is_true)
			return status;
		if (yield)
			sched_yield();
		else
			pause_briefly();
	}
}

static inline __attribute__((always_inline)) doca_error_t event_wait(struct doca_sync_event *event, enum sf_event_until until,
								     uint64_t value, uint64_t mask, bool yield,
								     const char *function)
{
	if (!is_usable(event))
		return event_reject(event, function);
	if (!sf_event_mask_is_valid(mask)) {
		SF_LOG_ERR("%s: mask 0x%lx is invalid: use 0, or 1, 2, 4 or 8 whole bytes of 0xff", function,
			   (unsigned long)mask);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return status_report(wait_loop(event, until, value, mask, yield, function), function);
}

doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, SF_EVENT_UNTIL_GREATER, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, SF_EVENT_UNTIL_GREATER, value, mask, true, __func__);
}

doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, SF_EVENT_UNTIL_EQUAL, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, SF_EVENT_UNTIL_EQUAL, value, mask, true, __func__);
}

doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, SF_EVENT_UNTIL_OTHER, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, SF_EVENT_UNTIL_OTHER, value, mask, true, __func__);
}
