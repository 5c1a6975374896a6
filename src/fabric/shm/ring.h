/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of one direction of a link: a writer and a reader of records (see layout.h). */
#ifndef SF_FABRIC_SHM_RING_H
#define SF_FABRIC_SHM_RING_H

#include <stdbool.h>

#include "fabric/shm/layout.h"

/* Pages larger than the segment's granularity cannot map a ring twice in a row. */
struct shm_tx {
	uint8_t *ring;
	uint32_t pos;	/* line of the next record, below SHM_RING_LINES */
	uint64_t count; /* lines written, ever */
	uint64_t limit; /* may be written up to this count */
	_Atomic uint64_t *consumed;
};

struct shm_rx {
	uint8_t *ring;
	uint32_t pos;
	uint64_t count;	    /* lines read, ever */
	uint64_t published; /* what the writer was told of it */
	_Atomic uint64_t *consumed;
};

#define SHM_CREDIT_LINES (SHM_RING_LINES / 4) /* read lines are given back in such portions, or when the ring is empty */

/* ThreadSanitizer cannot see that the two mappings of a ring are one memory: it is told here that what was before a
 * publication is seen after its reading. */
#ifdef __SANITIZE_THREAD__
#define SHM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHM_TSAN 1
#endif
#endif
#ifdef SHM_TSAN
extern atomic_uint sf_shm_tsan_order;
#define SHM_ORDER() ((void)atomic_fetch_add(&sf_shm_tsan_order, 1))
#define SHM_FENCE(order) SHM_ORDER()
#else
#define SHM_ORDER() ((void)0)
#define SHM_FENCE(order) atomic_thread_fence(order)
#endif

/* Is there room for so many lines? The line for the zero mark behind them is counted, and with it the room for a BYE. */
static inline bool shm_tx_room(struct shm_tx *tx, uint32_t lines)
{
	if (tx->count + lines + 1 <= tx->limit)
		return true;

	uint64_t consumed = atomic_load_explicit(tx->consumed, memory_order_acquire);

	if (tx->count - consumed > SHM_RING_LINES) /* the reader lies */
		return false;
	tx->limit = consumed + SHM_RING_LINES;
	return tx->count + lines + 1 <= tx->limit;
}

static inline struct shm_record *shm_tx_next(const struct shm_tx *tx)
{
	return (struct shm_record *)(tx->ring + (size_t)tx->pos * SHM_LINE);
}

static inline void shm_tx_fill(struct shm_record *record, uint32_t slot, uint64_t ticket, uint32_t msg_len, uint32_t data_len)
{
	atomic_store_explicit(&record->slot, slot, memory_order_relaxed);
	atomic_store_explicit(&record->ticket, ticket, memory_order_relaxed);
	atomic_store_explicit(&record->msg_len, msg_len, memory_order_relaxed);
	atomic_store_explicit(&record->data_len, data_len, memory_order_relaxed);
}

/* Shows the record at shm_tx_next() to the reader. */
static inline void shm_tx_publish(struct shm_tx *tx, enum shm_record_kind kind, uint32_t header_len, uint32_t lines)
{
	struct shm_record *record = shm_tx_next(tx);

	tx->count += lines;
	tx->pos += lines;
	if (tx->pos >= SHM_RING_LINES)
		tx->pos -= SHM_RING_LINES;
	if (kind != SHM_RECORD_BYE)
		atomic_store_explicit(&shm_tx_next(tx)->mark, 0, memory_order_relaxed);
	SHM_ORDER();
	atomic_store_explicit(&record->mark, kind | header_len << 8 | lines << 16, memory_order_release);
	__builtin_prefetch((const char *)shm_tx_next(tx) + SHM_LINE, 1);
}

static inline struct shm_record *shm_rx_next(const struct shm_rx *rx)
{
	return (struct shm_record *)(rx->ring + (size_t)rx->pos * SHM_LINE);
}

static inline uint32_t shm_rx_mark(const struct shm_rx *rx)
{
	return atomic_load_explicit(&shm_rx_next(rx)->mark, memory_order_acquire);
}

static inline void shm_rx_credit(struct shm_rx *rx)
{
	rx->published = rx->count;
	atomic_store_explicit(rx->consumed, rx->count, memory_order_release);
}

/* The record was read. */
static inline void shm_rx_advance(struct shm_rx *rx, uint32_t lines)
{
	rx->count += lines;
	rx->pos += lines;
	if (rx->pos >= SHM_RING_LINES)
		rx->pos -= SHM_RING_LINES;
	if (rx->count - rx->published >= SHM_CREDIT_LINES)
		shm_rx_credit(rx);
}

#endif
