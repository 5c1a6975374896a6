/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/due.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/ep.h"

#define AHEAD 4	  /* ready connections whose records are prefetched while another's is handled */
#define STREAK 64 /* messages announced by a bit that let a cold connection replace an idle hot one */

void sf_shm_due_init(struct shm_ep *ep)
{
	ep->due.ready_end = &ep->due.ready;
}

void sf_shm_due_fini(struct shm_ep *ep)
{
	free(ep->due.by_slot);
}

/* ---- slots ---- */

bool sf_shm_due_alloc_slot(struct shm_ep *ep, uint32_t *slot)
{
	uint64_t *taken = ep->due.slots_taken;

	for (uint32_t word = 0; word < SHM_CONNS_MAX / 64; word++) {
		if (taken[word] == UINT64_MAX)
			continue;
		uint32_t bit = (uint32_t)__builtin_ctzll(~taken[word]);

		taken[word] |= UINT64_C(1) << bit;
		*slot = word * 64 + bit;
		atomic_fetch_or(&ep->recvq.segment->cold[word], UINT64_C(1) << bit);
		return true;
	}
	SF_LOG_ERR_LIMITED("an endpoint has %u connections: limit reached", SHM_CONNS_MAX);
	return false;
}

void sf_shm_due_free_slot(struct shm_ep *ep, uint32_t slot)
{
	assert((ep->due.slots_taken[slot / 64] & UINT64_C(1) << slot % 64) != 0);
	ep->due.slots_taken[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

/* ---- lists ---- */

static void append_ready(struct shm_due *due, struct shm_conn *conn)
{
	if (conn->is_ready)
		return;
	conn->is_ready = true;
	conn->next_ready = NULL;
	*due->ready_end = conn;
	due->ready_end = &conn->next_ready;
}

doca_error_t sf_shm_due_add(struct shm_ep *ep, struct shm_conn *conn)
{
	struct shm_due *due = &ep->due;

	if (conn->slot >= due->slot_room) {
		uint32_t room = due->slot_room == 0 ? 4 : due->slot_room;

		while (room <= conn->slot)
			room *= 2;

		struct shm_conn **more = realloc(due->by_slot, room * sizeof(struct shm_conn *));

		if (more == NULL)
			return DOCA_ERROR_NO_MEMORY;
		memset(more + due->slot_room, 0, (room - due->slot_room) * sizeof(struct shm_conn *));
		due->by_slot = more;
		due->slot_room = room;
	}
	assert(conn->slot < due->slot_room && due->by_slot[conn->slot] == NULL);
	due->by_slot[conn->slot] = conn;
	conn->added = true;
	return DOCA_SUCCESS;
}

void sf_shm_due_look(struct shm_conn *conn)
{
	struct shm_due *due = &shm_ep(conn->base.ep)->due;
	uint64_t *early = &due->early[conn->slot / 64], bit = UINT64_C(1) << conn->slot % 64;

	if ((*early & bit) != 0)
		append_ready(due, conn);
	*early &= ~bit;
}

static void remove_hot(struct shm_due *due, struct shm_conn *conn)
{
	uint32_t at = 0;

	assert(conn->hot);
	while (due->hot[at] != conn)
		at++;
	assert(at < due->hot_num);
	due->hot[at] = due->hot[--due->hot_num];
	conn->hot = false;
}

void sf_shm_due_remove(struct shm_ep *ep, struct shm_conn *conn)
{
	struct shm_due *due = &ep->due;
	struct shm_conn **at;

	if (conn->hot)
		remove_hot(due, conn);
	if (conn->is_ready) {
		for (at = &due->ready; *at != conn; at = &(*at)->next_ready)
			;
		*at = conn->next_ready;
		if (due->ahead == conn)
			due->ahead = conn->next_ready;
		if (*at == NULL)
			due->ready_end = at;
	}
	if (conn->in_attentive) {
		for (at = &due->attentive; *at != conn; at = &(*at)->next_attentive)
			;
		*at = conn->next_attentive;
	}
	if (conn->added)
		due->by_slot[conn->slot] = NULL;
	conn->is_ready = conn->in_attentive = conn->added = false;
}

void sf_shm_conn_attend(struct shm_conn *conn)
{
	struct shm_due *due = &shm_ep(conn->base.ep)->due;

	conn->attention = true;
	if (conn->in_attentive)
		return;
	conn->in_attentive = true;
	conn->next_attentive = due->attentive;
	due->attentive = conn;
}

/* ---- hot and cold ---- */

static _Atomic uint64_t *cold_word(struct shm_ep *ep, const struct shm_conn *conn)
{
	return &ep->recvq.segment->cold[conn->slot / 64];
}

/* A sender that has not seen it yet sets an unneeded bit. */
static void conn_heat(struct shm_ep *ep, struct shm_conn *conn)
{
	assert(ep->due.hot_num < SHM_HOT_MAX && !conn->hot);
	conn->hot = true;
	conn->hit = ep->due.polls;
	ep->due.hot[ep->due.hot_num++] = conn;
	atomic_fetch_and(cold_word(ep, conn), ~(UINT64_C(1) << conn->slot % 64));
}

/* A sender that has not seen it yet has its record in the ring by the time of the check. */
static void conn_cool(struct shm_ep *ep, struct shm_conn *conn)
{
	remove_hot(&ep->due, conn);
	atomic_fetch_or(cold_word(ep, conn), UINT64_C(1) << conn->slot % 64);
	sf_shm_ep_barrier(ep);
	if (shm_rx_mark(&conn->rx) != 0)
		append_ready(&ep->due, conn);
}

static struct shm_conn *conn_coolest(const struct shm_due *due)
{
	struct shm_conn *found = due->hot[0];

	assert(due->hot_num > 0);
	for (uint32_t i = 1; i < due->hot_num; i++) {
		if (due->hot[i]->hit < found->hit)
			found = due->hot[i];
	}
	return found;
}

/* A sender has set the connection's bit. */
static void conn_warm(struct shm_ep *ep, struct shm_conn *conn)
{
	struct shm_due *due = &ep->due;

	if (conn->hot || conn->life != SHM_LIFE_READY)
		return;
	if (conn->streak++ == 0)
		conn->streak_begin = due->polls;
	if (due->hot_num == SHM_HOT_MAX) {
		if (conn->streak < STREAK)
			return;
		conn->streak = 0;
		struct shm_conn *victim = conn_coolest(due);

		if (victim->hit >= conn->streak_begin)
			return;
		conn_cool(ep, victim);
	}
	conn_heat(ep, conn);
}

/* ---- poll ---- */

/* Checking for a second message means a cache miss on a line that the writer's core has just cleared. So the next poll
 * does it, and this one returns early, unless messages arrive without a pause. */
static uint32_t poll_hot(struct shm_ep *ep, uint32_t budget, uint64_t *now_ns)
{
	struct shm_due *due = &ep->due;
	uint32_t ran = 0;

	if (due->first >= due->hot_num)
		due->first = 0;
	for (uint32_t i = 0, at = due->first, num = due->hot_num; i < num && ran < budget; i++) {
		struct shm_conn *conn = due->hot[at];

		if (shm_rx_mark(&conn->rx) != 0) {
			uint32_t most = conn->hit + 1 == due->polls ? budget - ran : 1;

			conn->hit = due->polls;
			ran += sf_shm_conn_poll(conn, most, now_ns);
		}
		if (++at >= num)
			at = 0;
		if (ran >= budget)
			due->first = at;
	}
	return ran;
}

static void harvest_word(struct shm_ep *ep, uint32_t word)
{
	struct shm_due *due = &ep->due;
	_Atomic uint64_t *ready = &ep->recvq.segment->ready[word];
	/* Not relaxed: some processors would read it before they clear ready_top, and miss a sender that finds
	 * ready_top still set. */
	uint64_t bits = atomic_load(ready) != 0 ? atomic_exchange(ready, 0) : 0;

	for (; bits != 0; bits &= bits - 1) {
		uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
		struct shm_conn *conn = slot < due->slot_room ? due->by_slot[slot] : NULL;

		/* The slot's connection has ended, is not added yet, or the peer wrote garbage. */
		if (conn != NULL && (conn->life == SHM_LIFE_READY || conn->life == SHM_LIFE_ENDING))
			append_ready(due, conn);
		else
			due->early[word] |= UINT64_C(1) << slot % 64;
	}
}

static void bits_harvest(struct shm_ep *ep)
{
	uint64_t top = atomic_exchange(&ep->recvq.segment->ready_top, 0);

	for (; top != 0; top &= top - 1) {
		uint32_t word = (uint32_t)__builtin_ctzll(top) * (SHM_TOP_SLOTS / 64);

		for (uint32_t i = 0; i < SHM_TOP_SLOTS / 64; i++)
			harvest_word(ep, word + i);
	}
}

static void fetch_ahead(struct shm_due *due)
{
	if (due->ahead == NULL)
		return;
	shm_rx_prefetch(&due->ahead->rx);
	due->ahead = due->ahead->next_ready;
}

/* Polls once each connection that was ready at the beginning; those with more messages go to the end of the list. */
static uint32_t poll_ready(struct shm_ep *ep, uint32_t budget, uint64_t *now_ns)
{
	struct shm_due *due = &ep->due;
	const struct shm_conn *last = NULL;
	uint32_t ran = 0;

	due->ahead = due->ready;
	for (uint32_t i = 0; i < AHEAD; i++)
		fetch_ahead(due);
	for (struct shm_conn *conn = due->ready; conn != NULL; conn = conn->next_ready)
		last = conn->next_ready == NULL ? conn : last;
	while (due->ready != NULL && ran < budget) {
		struct shm_conn *conn = due->ready;

		due->ready = conn->next_ready;
		if (due->ready == NULL)
			due->ready_end = &due->ready;
		assert(conn->is_ready);
		conn->is_ready = false;
		fetch_ahead(due);
		ran += sf_shm_conn_poll(conn, budget - ran, now_ns);
		if (sf_shm_conn_due(conn))
			append_ready(due, conn);
		conn_warm(ep, conn);
		if (conn == last)
			break;
	}
	return ran;
}

static uint32_t poll_attentive(struct shm_ep *ep, uint32_t budget, uint64_t *now_ns)
{
	struct shm_due *due = &ep->due;
	struct shm_conn *conn;
	uint32_t ran = 0;

	due->unpolled = due->attentive;
	due->attentive = NULL;
	while ((conn = due->unpolled) != NULL) {
		due->unpolled = conn->next_attentive;
		due->polled = conn;
		assert(conn->in_attentive);
		conn->in_attentive = false;
		if (conn->attention && ran < budget)
			ran += sf_shm_conn_poll(conn, budget - ran, now_ns);
		if (conn->attention)
			sf_shm_conn_attend(conn);
	}
	due->polled = NULL;
	return ran;
}

static void push_list(struct shm_conn *conn)
{
	for (; conn != NULL; conn = conn->next_attentive)
		sf_shm_conn_progress(conn);
}

/* The caller may be a callback of an attentive connection's poll. */
void sf_shm_due_push(struct shm_ep *ep)
{
	push_list(ep->due.attentive);
	push_list(ep->due.unpolled);
	if (ep->due.polled != NULL)
		sf_shm_conn_progress(ep->due.polled);
}

uint32_t sf_shm_due_poll(struct shm_ep *ep, uint32_t budget, uint64_t *now_ns)
{
	struct shm_due *due = &ep->due;
	uint32_t ran = 0;

	due->polls++;
	if (due->hot_num != 0)
		ran += poll_hot(ep, budget, now_ns);
	/* Connections found earlier come first, so none starves. */
	if (due->ready == NULL && atomic_load_explicit(&ep->recvq.segment->ready_top, memory_order_relaxed) != 0)
		bits_harvest(ep);
	if (due->ready != NULL && ran < budget)
		ran += poll_ready(ep, budget - ran, now_ns);
	if (due->attentive != NULL && ran < budget)
		ran += poll_attentive(ep, budget - ran, now_ns);
	return ran;
}

bool sf_shm_due_any(const struct shm_ep *ep)
{
	const struct shm_due *due = &ep->due;

	if (due->ready != NULL || atomic_load_explicit(&ep->recvq.segment->ready_top, memory_order_relaxed) != 0)
		return true;
	for (uint32_t i = 0; i < due->hot_num; i++) {
		if (shm_rx_mark(&due->hot[i]->rx) != 0)
			return true;
	}
	for (const struct shm_conn *conn = due->attentive; conn != NULL; conn = conn->next_attentive) {
		if (sf_shm_conn_due(conn))
			return true;
	}
	return false;
}

/* The expected value of a word of cold connections. */
static uint64_t cold_bits(const struct shm_due *due, uint32_t word)
{
	uint64_t cold = due->slots_taken[word];

	for (uint32_t i = 0; i < due->hot_num; i++) {
		if (due->hot[i]->slot / 64 == word)
			cold &= ~(UINT64_C(1) << due->hot[i]->slot % 64);
	}
	return cold;
}

/* The bits of free slots are ignored. */
bool sf_shm_due_intact(const struct shm_ep *ep)
{
	const struct shm_due *due = &ep->due;

	for (uint32_t word = 0; word < SHM_CONNS_MAX / 64; word++) {
		if (due->slots_taken[word] == 0)
			continue;
		uint64_t seen = atomic_load_explicit(&ep->recvq.segment->cold[word], memory_order_relaxed);

		if ((seen & due->slots_taken[word]) != cold_bits(due, word))
			return false;
	}
	return true;
}

void sf_shm_due_repair(struct shm_ep *ep)
{
	struct shm_due *due = &ep->due;

	for (uint32_t word = 0; word < SHM_CONNS_MAX / 64; word++) {
		if (due->slots_taken[word] == 0)
			continue;
		atomic_store(&ep->recvq.segment->cold[word], cold_bits(due, word));
		due->early[word] |= due->slots_taken[word];
	}
	for (uint32_t i = 0; i < ep->conn_num; i++) {
		struct shm_conn *conn = ep->conns[i];

		if (conn->added && (conn->life == SHM_LIFE_READY || conn->life == SHM_LIFE_ENDING) && sf_shm_conn_used(conn) &&
		    sf_shm_conn_due(conn))
			append_ready(due, conn);
	}
}
