/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word of an event, wherever it lies, and the doorbell word that sleepers wait on.
 *
 * page: a page of the event's owner with the value (unless the user supplied memory for it), the doorbell word and the live
 * flag. It is exported and mapped by every importer, so a set is one store that the other side's load sees.
 *
 * word: points to the value, in the page or in the user's memory. NULL in an importer of user memory, which accesses it through
 * the fabric.
 *
 * An importer that cannot map the page, on another machine, allocates a page for its sleepers and accesses the word through the
 * fabric.
 *
 * The doorbell word is even, or odd while a thread sleeps; its upper bits count the rings. A sleeper makes it odd, checks the
 * value once more and waits for the count to change (watch.h). A thread that changes the value then checks the doorbell and, if
 * it is odd, increments it. Both steps are full barriers, so one of the two sees the other.
 *
 * Other processes write to the page, so it may hold any value. A wrong one harms this event only.
 */
#ifndef SF_SYNC_EVENT_CELL_H
#define SF_SYNC_EVENT_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <doca_error.h>

#include "fabric/fabric.h"

#define SF_CELL_PAGE_SIZE 4096

struct sf_cell_page {
	uint64_t value;
	_Atomic uint32_t doorbell;
	_Atomic uint32_t live; /* 0: the owner has stopped the event; then the fabric may clear the page */
};

struct sf_cell {
	struct sf_cell_page *page;
	uint64_t *word;
	struct sf_region *page_region; /* in an importer, else NULL */
	struct sf_region *word_region; /* in an importer that accesses the word through the fabric, else NULL */
	uint64_t word_addr;	       /* the owner's */
	_Atomic uint64_t asked;	       /* sf_cell_clock() when an importer last checked that the owner lives */
};

/* Opens the owner's cell: allocates the page; the value is in it unless user_word is set. NO_MEMORY, logged. */
doca_error_t sf_cell_open(struct sf_cell *cell, uint64_t *user_word);
/* Marks the event as ended and wakes all sleepers. Close the page's regions after this call and before sf_cell_close. */
void sf_cell_end(struct sf_cell *cell);
void sf_cell_close(struct sf_cell *cell);

/* Allocates a live page of this process, to be released; NULL without memory. */
struct sf_cell_page *sf_cell_page_new(void);

/* For an import: true when the page that sf_region_map returned is this process's own. It then stays until released. */
bool sf_cell_page_hold(struct sf_cell_page *page);
void sf_cell_page_release(struct sf_cell_page *page);

/* Checks through the fabric that the owner lives. */
doca_error_t sf_cell_ask(struct sf_cell *cell);
doca_error_t sf_cell_owner_lives(struct sf_region *page_region);

#define SF_CELL_ASK_AGAIN UINT64_C(1000000) /* ns */

/* The time of the system's last tick. It costs a few loads; to read the processor's counter takes much longer. */
static inline uint64_t sf_cell_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* CONNECTION_ABORTED when the owner has stopped the event, or died (seen within a second). Not logged. A check for death costs
 * more than an update, so this makes at most one every SF_CELL_ASK_AGAIN; a stop is seen immediately. */
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

/* Access through the fabric, for a word that is not mapped here. CONNECTION_ABORTED, TIME_OUT. A look may see half of a
 * concurrent store; a get does not, and takes longer. */
doca_error_t sf_cell_look_far(const struct sf_cell *cell, uint64_t *value);
doca_error_t sf_cell_get_far(const struct sf_cell *cell, uint64_t *value);
doca_error_t sf_cell_set_far(const struct sf_cell *cell, uint64_t value);
doca_error_t sf_cell_add_far(const struct sf_cell *cell, uint64_t increment, uint64_t *fetched);

/* Rings the doorbell if it still has the odd value. */
void sf_cell_wake(struct sf_cell_page *page, uint32_t doorbell);

/* After each change of the value. */
static inline void sf_cell_ring(struct sf_cell_page *page)
{
	uint32_t doorbell = atomic_load(&page->doorbell);

	if (__builtin_expect((doorbell & 1) != 0, 0))
		sf_cell_wake(page, doorbell);
}

/* Arms the doorbell: a later change of the value rings it. The check that follows is ordered after it on every processor. */
static inline void sf_cell_arm(struct sf_cell_page *page)
{
	atomic_fetch_or(&page->doorbell, 1);
	atomic_thread_fence(memory_order_seq_cst);
}

/* Reads the value for a wait. A far word may show half of a store. A 0 may come from a cleared page, so it counts only while the
 * page is live; any other value was the event's, even if its owner has stopped it since. */
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

/* Checks the owner before the update, because the owner may stop the event in response to it. */
static inline doca_error_t sf_cell_set(struct sf_cell *cell, uint64_t value)
{
	doca_error_t status;

	if (__builtin_expect(cell->word == NULL, 0))
		return sf_cell_set_far(cell, value);
	status = sf_cell_alive(cell);
	if (__builtin_expect(status != DOCA_SUCCESS, 0))
		return status;
	__atomic_exchange_n(cell->word, value, __ATOMIC_SEQ_CST); /* a store and the barrier before the doorbell is read */
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
