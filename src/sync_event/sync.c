/* SPDX-License-Identifier: BSD-3-Clause */
/* The synchronous mode: calls that return when it is done. */
#include <sched.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "sync_event/event.h"
#include "sync_event/mask.h"

#define LOOKS_BETWEEN_QUESTIONS 4096 /* whether the owner lives, which costs more than a look at the word */
#define YIELDS_BETWEEN_QUESTIONS 64

enum test { TEST_GT, TEST_EQ, TEST_NEQ };

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

/* The one place where a caller of this mode learns that another node's event has ended. */
static doca_error_t status_report(doca_error_t status, const char *function)
{
	if (__builtin_expect(status == DOCA_ERROR_CONNECTION_ABORTED, 0))
		SF_LOG_ERR_LIMITED("%s: the owner of the sync event has stopped it, or is gone", function);
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

static inline __attribute__((always_inline)) bool value_holds(enum test test, uint64_t now, uint64_t value)
{
	return test == TEST_GT ? now > value : test == TEST_EQ ? now == value : now != value;
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* A far word was looked at in passing: what it says counts once it was read for good. */
static inline __attribute__((always_inline)) doca_error_t event_confirm(const struct sf_cell *cell, enum test test,
									uint64_t value, uint64_t mask, bool *is_true)
{
	uint64_t now;
	doca_error_t status = sf_cell_get_far(cell, &now);

	*is_true = status == DOCA_SUCCESS && value_holds(test, now & mask, value);
	return status;
}

static inline __attribute__((always_inline)) doca_error_t wait_loop(struct sf_cell *cell, enum test test, uint64_t value,
								    uint64_t mask, bool yield)
{
	const uint32_t between = yield ? YIELDS_BETWEEN_QUESTIONS : LOOKS_BETWEEN_QUESTIONS;
	doca_error_t status;
	uint64_t now;
	bool is_true;

	for (uint32_t i = 0;; i++) {
		status = sf_cell_look(cell, &now);
		is_true = value_holds(test, now & mask, value);
		if (status == DOCA_SUCCESS && is_true && cell->word == NULL)
			status = event_confirm(cell, test, value, mask, &is_true);
		if (status == DOCA_SUCCESS && !is_true && i % between == between - 1)
			status = sf_cell_ask(cell);
		if (status != DOCA_SUCCESS || is_true)
			return status;
		if (yield)
			sched_yield();
		else
			pause_briefly();
	}
}

static inline __attribute__((always_inline)) doca_error_t
event_wait(struct doca_sync_event *event, enum test test, uint64_t value, uint64_t mask, bool yield, const char *function)
{
	if (!is_usable(event))
		return event_reject(event, function);
	if (!sf_event_mask_is_valid(mask)) {
		SF_LOG_ERR("%s: mask 0x%lx; it has to be 0, or 1, 2, 4 or 8 whole bytes of 0xff", function, (unsigned long)mask);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return status_report(wait_loop(&event->cell, test, value, mask, yield), function);
}

doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, TEST_GT, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, TEST_GT, value, mask, true, __func__);
}

doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, TEST_EQ, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, TEST_EQ, value, mask, true, __func__);
}

doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, TEST_NEQ, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return event_wait(event, TEST_NEQ, value, mask, true, __func__);
}
