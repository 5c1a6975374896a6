/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word that an event is, wherever it lies, and the gate that sleepers wait at.
 *
 *   page   a page of the event's owner: the value (unless the user gave memory for it), the gate, the mark of life. Exported,
 *          and mapped by every importer, so that a set is one store that the other side's load sees.
 *   word   the value: in the page, or in the user's memory. NULL in an importer of such memory, which reaches it by the fabric.
 *
 * An importer that cannot map the page, on another machine, has a page of its own for its sleepers and reaches the word by the
 * fabric.
 *
 * The gate is even, or odd while somebody sleeps; its upper bits count how often it was opened. A sleeper makes it odd, looks
 * at the value once more and waits for the count to change (watch.h). Whoever changes the value looks at the gate after that,
 * and counts it up to even when it is odd. Both steps are full barriers, so one of the two sees the other.
 *
 * Others write to the page: any number in it is possible, and costs its own event only.
 */
#ifndef SF_SYNC_EVENT_CELL_H
#define SF_SYNC_EVENT_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "base/clock.h"
#include "fabric/fabric.h"

#define SF_CELL_PAGE_SIZE 4096

struct sf_cell_page {
	uint64_t value;
	_Atomic uint32_t gate;
	_Atomic uint32_t live; /* 0: the owner has stopped the event. The fabric may clear the whole page after that */
};

struct sf_cell {
	struct sf_cell_page *page;
	uint64_t *word;
	struct sf_region *page_region; /* in an importer, else NULL */
	struct sf_region *word_region; /* in an importer that reaches the word by the fabric, else NULL */
	uint64_t word_addr;	       /* the owner's */
	_Atomic uint64_t asked;	       /* when an importer last asked whether the owner lives; sf_cell_clock's */
};

/* The owner's: a page of its own, and the value in it or in the user's memory. NO_MEMORY, logged. */
doca_error_t sf_cell_open(struct sf_cell *cell, uint64_t *user_word);
/* Tells everybody that the event has ended, sleepers too. The regions of the page go after this and before close. */
void sf_cell_end(struct sf_cell *cell);
void sf_cell_close(struct sf_cell *cell);

/* A page of this process, live, until it is released; NULL without memory. */
struct sf_cell_page *sf_cell_page_new(void);

/* For an import, of what sf_region_map gave: true when it is a page of this very process, which then stays until release. */
bool sf_cell_page_hold(struct sf_cell_page *page);
void sf_cell_page_release(struct sf_cell_page *page);

/* Asks the fabric whether the owner lives. */
doca_error_t sf_cell_ask(struct sf_cell *cell);
doca_error_t sf_cell_owner_lives(struct sf_region *page_region);

#define SF_CELL_ASK_AGAIN 1000000 /* ticks of the clock; up to a millisecond */

/* A clock that costs next to nothing. */
static inline uint64_t sf_cell_clock(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return sf_now_ns();
#endif
}

/* CONNECTION_ABORTED when the owner has stopped the event, or died (seen within a second). Not logged. To ask costs more than
 * an update does, so who calls often asks once in a while; the owner's stop is seen at once. */
static inline doca_error_t sf_cell_alive(struct sf_cell *cell)
{
	if (cell->page_region == NULL)
		return DOCA_SUCCESS;
	if (__builtin_expect(atomic_load_explicit(&cell->page->live, memory_order_relaxed) == 0, 0))
		return DOCA_ERROR_CONNECTION_ABORTED;
	if (__builtin_expect(sf_cell_clock() - atomic_load_explicit(&cell->asked, memory_order_relaxed) < SF_CELL_ASK_AGAIN, 1))
		return DOCA_SUCCESS;
	return sf_cell_ask(cell);
}

/* By the fabric, for a word that is not mapped here. CONNECTION_ABORTED, TIME_OUT. A look may see half of a store that is
 * just made; a get does not, and takes longer. */
doca_error_t sf_cell_look_far(const struct sf_cell *cell, uint64_t *value);
doca_error_t sf_cell_get_far(const struct sf_cell *cell, uint64_t *value);
doca_error_t sf_cell_set_far(const struct sf_cell *cell, uint64_t value);
doca_error_t sf_cell_add_far(const struct sf_cell *cell, uint64_t increment, uint64_t *fetched);

/* Opens a gate that was found odd. */
void sf_cell_wake(struct sf_cell_page *page, uint32_t gate);

/* After each change of the value. */
static inline void sf_cell_ring(struct sf_cell_page *page)
{
	uint32_t gate = atomic_load(&page->gate);

	if (__builtin_expect((gate & 1) != 0, 0))
		sf_cell_wake(page, gate);
}

/* Makes the gate odd: a change of the value from here on opens it. The look that follows comes after it on every processor. */
static inline void sf_cell_arm(struct sf_cell_page *page)
{
	atomic_fetch_or(&page->gate, 1);
	atomic_thread_fence(memory_order_seq_cst);
}

/* The value, as far as a wait needs it: it may be half a store when the word is far. A 0 may be that of a page which was
 * cleared, and counts only while the page lives; any other value was the event's, even if its owner has stopped it since. */
static inline doca_error_t sf_cell_look(const struct sf_cell *cell, uint64_t *value)
{
	if (__builtin_expect(cell->word == NULL, 0))
		return sf_cell_look_far(cell, value);
	*value = __atomic_load_n(cell->word, __ATOMIC_ACQUIRE);
	if (*value == 0 && cell->page_region != NULL && atomic_load_explicit(&cell->page->live, memory_order_relaxed) == 0)
		return DOCA_ERROR_CONNECTION_ABORTED;
	return DOCA_SUCCESS;
}

static inline doca_error_t sf_cell_get(struct sf_cell *cell, uint64_t *value)
{
	if (__builtin_expect(cell->word == NULL, 0))
		return sf_cell_get_far(cell, value);
	*value = __atomic_load_n(cell->word, __ATOMIC_ACQUIRE);
	return sf_cell_alive(cell);
}

/* The owner is asked before: once the update is there, the owner may well answer it by stopping. */
static inline doca_error_t sf_cell_set(struct sf_cell *cell, uint64_t value)
{
	doca_error_t status;

	if (__builtin_expect(cell->word == NULL, 0))
		return sf_cell_set_far(cell, value);
	status = sf_cell_alive(cell);
	if (__builtin_expect(status != DOCA_SUCCESS, 0))
		return status;
	__atomic_exchange_n(cell->word, value, __ATOMIC_SEQ_CST); /* a store and the barrier before the gate is read */
	sf_cell_ring(cell->page);
	return DOCA_SUCCESS;
}

static inline doca_error_t sf_cell_add(struct sf_cell *cell, uint64_t increment, uint64_t *fetched)
{
	doca_error_t status;

	if (__builtin_expect(cell->word == NULL, 0))
		return sf_cell_add_far(cell, increment, fetched);
	status = sf_cell_alive(cell);
	if (__builtin_expect(status != DOCA_SUCCESS, 0))
		return status;
	*fetched = __atomic_fetch_add(cell->word, increment, __ATOMIC_SEQ_CST);
	sf_cell_ring(cell->page);
	return DOCA_SUCCESS;
}

#endif
