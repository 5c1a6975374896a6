/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/barrier.h"
#include "fabric/shm/lend.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fork.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/conns.h"
#include "fabric/shm/serve.h"

#define LENT_MIN_LEN 105 /* shorter messages travel inside a record */
#define DUE_SHARE 8	 /* named pages are lent once they are at least this fraction of those lent before */

/* A page of a region, as an endpoint's receives see it. From PAGE_LENT on, the value is the number of the lend. */
enum {
	PAGE_UNTOUCHED,
	PAGE_TOUCHED,
	PAGE_NEVER, /* receives of another endpoint name it too, or it cannot be moved */
	PAGE_LENT,
};

struct shm_named {
	struct shm_ep *ep;
	uint64_t region;
	uint64_t addr, len;
	uint64_t first, num; /* whole pages */
	uint8_t *state;
	uint16_t *head, *tail;	/* bytes at the beginning and the end of each page that are named */
	uint64_t lent, pending; /* pages */
	bool closed;
	struct shm_named *next, *next_all;
};

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* guards what all endpoints name, except for reads of a state; taken before sf_control_lock */
static struct shm_named *all;

SF_FORK_LOCK(SF_FORK_MOVE, &lock, NULL);

static uint8_t state_of(const struct shm_named *named, uint64_t page)
{
	return __atomic_load_n(&named->state[page - named->first], __ATOMIC_RELAXED);
}

static void state_set(struct shm_named *named, uint64_t page, uint32_t state)
{
	__atomic_store_n(&named->state[page - named->first], (uint8_t)state, __ATOMIC_RELAXED);
	atomic_fetch_add(&named->ep->lends.changes, 1);
}

static bool page_full(const struct shm_named *named, uint64_t page)
{
	return (uint32_t)named->head[page - named->first] + named->tail[page - named->first] >= SHM_PAGE;
}

/* The named bytes from..to of a page begin where the earlier ones end. Receives that are smaller than a page fill it one after
 * the other. */
static bool extends_head(uint32_t head, uint32_t from, uint32_t to)
{
	return from <= head && to > head;
}

static bool extends_tail(uint32_t tail, uint32_t from, uint32_t to)
{
	return to >= SHM_PAGE - tail && from < SHM_PAGE - tail;
}

/* ---- the end of a lend ---- */

/* The pages of an ended lend are still named: they wait to be lent again. */
static void pages_unlend(struct shm_named *named, const struct sf_pages *pages)
{
	uint32_t num;
	const struct sf_pages_run *runs = sf_pages_runs(pages, &num);

	for (uint32_t i = 0; i < num; i++) {
		uint64_t page = (uintptr_t)runs[i].addr / SHM_PAGE;

		for (uint64_t end = page + runs[i].len / SHM_PAGE; page < end; page++) {
			state_set(named, page, PAGE_TOUCHED);
			named->pending++;
			named->lent--;
		}
	}
}

/* Senders that have written already see before they publish that the id is gone; otherwise their bytes arrive before the pages
 * leave the file. */
static void lend_end(struct shm_ep *ep, uint32_t number, void (*restore)(struct sf_pages *pages))
{
	struct shm_lend *lend = ep->lends.lend[number];

	pthread_mutex_lock(&sf_control_lock);
	ep->lends.lend[number] = NULL;
	atomic_store(&ep->lends.id[number], 0);
	if (lend->owner == getpid()) /* a forked child writes the same table */
		sf_shm_region_id_free(lend->id);
	if (lend->handed)
		sf_shm_agent_serve_gone(lend->id);
	pthread_mutex_unlock(&sf_control_lock);
	sf_shm_barrier_run();
	pages_unlend(lend->named, lend->pages);
	restore(lend->pages);
	atomic_store(&ep->lends.due, true);
	free(lend);
}

/* ---- naming ---- */

/* Receives of another endpoint name bytes of the page: from here on it is lent to nobody. */
static bool page_contested(const struct shm_named *mine, uint64_t page)
{
	bool contested = false;

	for (struct shm_named *other = all; other != NULL; other = other->next_all) {
		if (other->ep == mine->ep || other->closed || page - other->first >= other->num ||
		    state_of(other, page) == PAGE_UNTOUCHED)
			continue;
		if (state_of(other, page) >= PAGE_LENT)
			lend_end(other->ep, state_of(other, page) - PAGE_LENT, sf_pages_take_back);
		if (state_of(other, page) == PAGE_TOUCHED && page_full(other, page))
			other->pending--;
		state_set(other, page, PAGE_NEVER);
		contested = true;
	}
	return contested;
}

static void page_touch(struct shm_named *named, uint64_t page, uint32_t from, uint32_t to)
{
	uint16_t *head = &named->head[page - named->first], *tail = &named->tail[page - named->first];
	bool before = page_full(named, page);

	if (state_of(named, page) == PAGE_UNTOUCHED)
		state_set(named, page, page_contested(named, page) ? PAGE_NEVER : PAGE_TOUCHED);
	if (state_of(named, page) != PAGE_TOUCHED)
		return;
	if (extends_head(*head, from, to))
		*head = (uint16_t)to;
	if (extends_tail(*tail, from, to))
		*tail = (uint16_t)(SHM_PAGE - from);
	named->pending += !before && page_full(named, page);
}

static void pages_touch(struct shm_named *named, uint64_t addr, uint64_t len, uint64_t first, uint64_t last)
{
	pthread_mutex_lock(&lock);
	for (uint64_t page = first; page <= last; page++) {
		uint64_t begin = page * SHM_PAGE, end = addr + len - begin;

		page_touch(named, page, addr > begin ? (uint32_t)(addr - begin) : 0, end < SHM_PAGE ? (uint32_t)end : SHM_PAGE);
	}
	if (named->pending != 0 && named->pending >= named->lent / DUE_SHARE)
		atomic_store(&named->ep->lends.due, true);
	pthread_mutex_unlock(&lock);
}

/* An edge that no other receive completes is checked at every posting. A check without the lock shows that nothing is new. */
static bool edge_known(const struct shm_named *named, uint64_t page, uint64_t addr, uint64_t len)
{
	uint64_t begin = page * SHM_PAGE, end = addr + len - begin;
	uint32_t from = addr > begin ? (uint32_t)(addr - begin) : 0, to = end < SHM_PAGE ? (uint32_t)end : SHM_PAGE;
	uint8_t state = state_of(named, page);

	if (state != PAGE_TOUCHED)
		return state != PAGE_UNTOUCHED;
	return !extends_head(named->head[page - named->first], from, to) &&
	       !extends_tail(named->tail[page - named->first], from, to);
}

static uint64_t piece_name(struct shm_named *named, uint64_t addr, uint64_t len)
{
	uint64_t first = addr / SHM_PAGE, last = (addr + len - 1) / SHM_PAGE;
	uint8_t state;

	if (first < named->first)
		first = named->first;
	if (last >= named->first + named->num)
		last = named->first + named->num - 1;
	if (first > last || named->num == 0)
		return 0;
	if (!edge_known(named, first, addr, len) || !edge_known(named, last, addr, len))
		pages_touch(named, addr, len, first, last);
	state = state_of(named, first);
	if (state < PAGE_LENT && first < last)
		state = state_of(named, first + 1);
	return state >= PAGE_LENT ? atomic_load_explicit(&named->ep->lends.id[state - PAGE_LENT], memory_order_relaxed) : 0;
}

static struct shm_named *named_new(struct shm_ep *ep, const struct shm_region *region)
{
	struct shm_named *named = calloc(1, sizeof(*named));
	uint64_t end = (region->base.addr + region->base.len) / SHM_PAGE;

	if (named == NULL)
		return NULL;
	*named = (struct shm_named){
		.ep = ep, .region = region->id, .addr = region->base.addr, .len = region->base.len, .next_all = NULL};
	named->first = (region->base.addr + SHM_PAGE - 1) / SHM_PAGE;
	named->num = end > named->first ? end - named->first : 0;
	named->state = calloc(named->num + 1, sizeof(*named->state));
	named->head = calloc(named->num + 1, sizeof(*named->head));
	named->tail = calloc(named->num + 1, sizeof(*named->tail));
	if (named->state != NULL && named->head != NULL && named->tail != NULL) {
		pthread_mutex_lock(&lock);
		named->next_all = all;
		all = named;
		pthread_mutex_unlock(&lock);
		return named;
	}
	free(named->state);
	free(named->head);
	free(named->tail);
	free(named);
	return NULL;
}

static void named_free(struct shm_named *named)
{
	struct shm_named **at = &all;

	while (*at != named) {
		assert(*at != NULL);
		at = &(*at)->next_all;
	}
	*at = named->next_all;
	free(named->state);
	free(named->head);
	free(named->tail);
	free(named);
}

/* Removes the regions that have ended meanwhile. */
static void named_sweep(struct shm_ep *ep)
{
	struct shm_named **at = &ep->lends.named;

	pthread_mutex_lock(&lock);
	while (*at != NULL) {
		struct shm_named *named = *at;

		if (named->closed) {
			*at = named->next;
			named_free(named);
		} else {
			at = &named->next;
		}
	}
	pthread_mutex_unlock(&lock);
}

static struct shm_named *named_of(struct shm_ep *ep, const struct shm_region *region)
{
	struct shm_named **at = &ep->lends.named, *named;

	while (*at != NULL && (*at)->region != region->id)
		at = &(*at)->next;
	named = *at;
	if (named == NULL) {
		named_sweep(ep);
		named = named_new(ep, region);
	} else {
		*at = named->next;
	}
	if (named != NULL) {
		named->next = ep->lends.named;
		ep->lends.named = named;
	}
	return named;
}

static uint64_t piece_name_new(struct shm_ep *ep, const struct shm_region *region, const struct sf_iov *piece,
			       struct shm_known_piece *known)
{
	const uint64_t addr = (uintptr_t)piece->addr;
	/* Read before the pages are checked, so that later changes are checked again. */
	const uint64_t changes = atomic_load_explicit(&ep->lends.changes, memory_order_acquire);
	struct shm_named *named = ep->lends.named;

	if (named == NULL || named->region != region->id)
		named = named_of(ep, region);
	if (named == NULL)
		return 0;
	*known = (struct shm_known_piece){region->id, addr, piece->len, piece_name(named, addr, piece->len), changes};
	return known->lent;
}

uint64_t sf_shm_lend_name(struct shm_ep *ep, const struct sf_recv *recv)
{
	const struct shm_region *region = shm_region(recv->region);
	uint64_t id = 0;

	if (recv->kept)
		return 0;
	for (uint32_t i = 0; i < recv->iov_num; i++) {
		const struct sf_iov *piece = &recv->iov[i];
		struct shm_known_piece *known = shm_lends_known(&ep->lends, piece);
		uint64_t found = known->lent;

		if (piece->len < LENT_MIN_LEN)
			continue;
		if (!shm_piece_is_known(&ep->lends, known, region->id, piece))
			found = piece_name_new(ep, region, piece, known);
		id = id == 0 ? found : id;
	}
	return id;
}

/* ---- lending ---- */

static uint32_t free_number(const struct shm_ep *ep)
{
	uint32_t number = 0;

	while (number < SHM_LENDS_MAX && ep->lends.lend[number] != NULL)
		number++;
	return number;
}

/* The stretches of pages that are named but not lent. */
static struct sf_pages_span *spans_of(const struct shm_named *named, uint32_t *num)
{
	struct sf_pages_span *spans = calloc(SF_PAGES_RUNS_MAX, sizeof(*spans));
	uint64_t end = named->first + named->num;

	*num = 0;
	for (uint64_t page = named->first; spans != NULL && page < end; page++) {
		struct sf_pages_span *last = *num != 0 ? &spans[*num - 1] : NULL;
		uintptr_t addr = (uintptr_t)(page * SHM_PAGE);

		if (state_of(named, page) != PAGE_TOUCHED || !page_full(named, page))
			continue;
		if (last != NULL && last->addr + last->len == addr) {
			last->len += SHM_PAGE;
		} else {
			if (*num == SF_PAGES_RUNS_MAX)
				break;
			spans[(*num)++] = (struct sf_pages_span){addr, SHM_PAGE};
		}
	}
	return spans;
}

static void states_set(struct shm_named *named, uintptr_t addr, size_t len, uint32_t state)
{
	for (uint64_t page = addr / SHM_PAGE, end = page + len / SHM_PAGE; page < end; page++)
		state_set(named, page, state);
}

/* Returns whether anything is lent. */
static bool lend_pages(struct shm_named *named, uint32_t number)
{
	struct shm_lends *lends = &named->ep->lends;
	struct shm_lend *lend = calloc(1, sizeof(*lend));
	uint32_t num;
	struct sf_pages_span *spans = spans_of(named, &num);
	const struct sf_pages_run *runs;
	uint64_t id;

	if (lend == NULL || spans == NULL || num == 0 || sf_pages_move_spans(spans, num, &lend->pages) != DOCA_SUCCESS)
		goto free_both;
	pthread_mutex_lock(&sf_control_lock);
	id = sf_shm_region_id_alloc();
	pthread_mutex_unlock(&sf_control_lock);
	for (uint32_t i = 0; i < num; i++) {
		states_set(named, spans[i].addr, spans[i].len, PAGE_NEVER);
		named->pending -= spans[i].len / SHM_PAGE;
	}
	runs = sf_pages_runs(lend->pages, &num);
	if (id == 0 || num == 0) {
		sf_pages_restore(lend->pages);
		goto free_both;
	}
	for (uint32_t i = 0; i < num; i++) {
		states_set(named, (uintptr_t)runs[i].addr, runs[i].len, PAGE_LENT + number);
		named->lent += runs[i].len / SHM_PAGE;
	}
	lend->id = id;
	lend->owner = getpid();
	lend->addr = named->addr;
	lend->len = named->len;
	lend->named = named;
	pthread_mutex_lock(&sf_control_lock);
	lends->lend[number] = lend;
	atomic_store(&lends->id[number], id);
	pthread_mutex_unlock(&sf_control_lock);
	free(spans);
	return true;
free_both:
	free(spans);
	free(lend);
	return false;
}

static void ep_lend(struct shm_ep *ep)
{
	for (struct shm_named *named = ep->lends.named; named != NULL; named = named->next) {
		uint32_t number = free_number(ep);

		if (named->closed || named->pending == 0 || named->pending < named->lent / DUE_SHARE)
			continue;
		if (number == SHM_LENDS_MAX) { /* all of them become few */
			for (number = 0; number < SHM_LENDS_MAX; number++)
				lend_end(ep, number, sf_pages_take_back);
			number = 0;
		}
		/* One is of so many stretches at most. */
		while (named->pending != 0 && number < SHM_LENDS_MAX / 2 && lend_pages(named, number))
			number = free_number(ep);
	}
}

/* Receives that were posted before name pages that are lent now. */
static void entries_update(struct shm_ep *ep)
{
	struct shm_recvq *queue = &ep->recvq;

	for (uint32_t i = 0; i < queue->slot_num; i++) {
		struct shm_slot *slot = &queue->slots[i];

		if (slot->recv == NULL || slot->recv->iov_num == 0)
			continue;
		slot->recv->cookie = sf_shm_lend_name(ep, slot->recv);
		if (queue->at[shm_position(slot->ticket, queue->entries)] == i)
			atomic_store_explicit(&queue->segment->entry[shm_position(slot->ticket, queue->entries)].region,
					      slot->recv->cookie, memory_order_relaxed);
	}
}

void sf_shm_lends_update(struct shm_ep *ep)
{
	atomic_store(&ep->lends.due, false);
	pthread_mutex_lock(&lock);
	ep_lend(ep);
	pthread_mutex_unlock(&lock);
	entries_update(ep);
}

/* ---- ends ---- */

void sf_shm_lends_conn_ended(struct shm_conn *conn)
{
	struct shm_ep *ep = shm_ep(conn->base.ep);
	bool last = true;

	pthread_mutex_lock(&sf_control_lock);
	for (struct shm_conn *other = sf_shm_conns; other != NULL; other = other->next_all)
		last = last && (other == conn || other->base.ep != &ep->base || other->handshake.channel == NULL ||
				conn->pid == 0 || other->pid != conn->pid);
	pthread_mutex_unlock(&sf_control_lock);
	if (!conn->was_lent || !last)
		return;
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < SHM_LENDS_MAX; i++) {
		if (ep->lends.lend[i] != NULL && ep->lends.lend[i]->handed)
			lend_end(ep, i, sf_pages_take_back);
	}
	pthread_mutex_unlock(&lock);
}

static void named_end(struct shm_named *named)
{
	struct shm_ep *ep = named->ep;

	for (uint32_t i = 0; i < SHM_LENDS_MAX; i++) {
		if (ep->lends.lend[i] != NULL && ep->lends.lend[i]->named == named)
			lend_end(ep, i, sf_pages_restore);
	}
	named->closed = true;
}

void sf_shm_lends_forget(uint64_t region)
{
	pthread_mutex_lock(&lock);
	for (struct shm_named *named = all; named != NULL; named = named->next_all) {
		if (named->region == region && !named->closed)
			named_end(named);
	}
	pthread_mutex_unlock(&lock);
}

void sf_shm_lends_close(struct shm_ep *ep)
{
	pthread_mutex_lock(&lock);
	for (struct shm_named *named = ep->lends.named, *next; named != NULL; named = next) {
		next = named->next;
		named_end(named);
		named_free(named);
	}
	ep->lends.named = NULL;
	pthread_mutex_unlock(&lock);
}

static struct shm_lend *ep_lend_find(const struct shm_ep *ep, uint64_t id)
{
	for (uint32_t i = 0; i < SHM_LENDS_MAX; i++) {
		if (ep->lends.lend[i] != NULL && ep->lends.lend[i]->id == id)
			return ep->lends.lend[i];
	}
	return NULL;
}

struct shm_lend *sf_shm_lend_find(uint64_t id, const struct sf_key *key, int pid)
{
	for (struct shm_conn *conn = sf_shm_conns; conn != NULL; conn = conn->next_all) {
		if (conn->handshake.channel == NULL || !sf_key_equal(&conn->key, key) ||
		    (pid != 0 && conn->pid != 0 && pid != conn->pid))
			continue;

		struct shm_lend *lend = ep_lend_find(shm_ep(conn->base.ep), id);

		if (lend != NULL)
			lend->handed = conn->was_lent = true;
		return lend;
	}
	return NULL;
}
