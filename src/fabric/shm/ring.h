/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of one direction of a connection: a writer and a reader of records (see layout.h). */
#ifndef SF_FABRIC_SHM_RING_H
#define SF_FABRIC_SHM_RING_H

#include <stdbool.h>
#include <string.h>

#include "fabric/shm/layout.h"

/* Pages larger than the segment's granularity cannot map a ring twice in a row. */
struct shm_tx {
	uint8_t *ring;
	uint32_t pos;	/* line of the next record, below SHM_RING_LINES */
	uint64_t count; /* lines written, ever */
	uint64_t limit; /* may be written up to this count */
	_Atomic uint64_t *consumed, *claim;
};

struct shm_rx {
	uint8_t *ring;
	uint32_t pos;
	uint64_t count;	    /* lines read, ever */
	uint64_t published; /* the count last published to the writer */
	_Atomic uint64_t *consumed, *claim;
};

#define SHM_CREDIT_LINES (SHM_RING_LINES / 4) /* lines are returned to the writer in portions of this many */

_Static_assert(SHM_RECORD_LINES_MAX + 1 + SHM_CREDIT_LINES <= SHM_RING_LINES, "an empty ring has room for any record");

/* ThreadSanitizer cannot see that the two mappings of a ring are one memory: these annotations order everything before a
 * publication before its reading. */
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

/* Returns true if there is room for that many lines, for the line of the zero mark behind them, and for a BYE. */
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

/* The fields of a record besides its bytes. */
struct shm_head {
	enum shm_record_kind kind;
	uint32_t header_len, data_len, msg_len, slot;
	uint64_t ticket;
};

static inline uint32_t shm_head_lines(const struct shm_head *head)
{
	return shm_record_lines(head->header_len, head->data_len);
}

/* Publishes the record at shm_tx_next() to the reader. first: the content of its first line besides the head, or NULL if that is
 * there already. The reader polls that line, and each poll takes it from our cache. So everything else is written before it, and
 * the line in one go while it is here, its mark last. */
static inline void shm_tx_publish(struct shm_tx *tx, const struct shm_head *head, const uint8_t *first)
{
	struct shm_record *record = shm_tx_next(tx);
	uint32_t lines = shm_head_lines(head);

	tx->count += lines;
	tx->pos += lines;
	if (tx->pos >= SHM_RING_LINES)
		tx->pos -= SHM_RING_LINES;
	if (head->kind != SHM_RECORD_BYE)
		atomic_store_explicit(&shm_tx_next(tx)->mark, 0, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (first != NULL)
		memcpy(record->bytes, first, sizeof(record->bytes));
	atomic_store_explicit(&record->slot, head->slot, memory_order_relaxed);
	atomic_store_explicit(&record->ticket, head->ticket, memory_order_relaxed);
	atomic_store_explicit(&record->msg_len, head->msg_len, memory_order_relaxed);
	atomic_store_explicit(&record->data_len, head->data_len, memory_order_relaxed);
	SHM_ORDER();
	atomic_store_explicit(&record->mark, head->kind | head->header_len << 8 | lines << 16, memory_order_release);
	for (uint32_t i = 1; i <= lines && i <= 2; i++)
		shm_prefetch_write((const char *)shm_tx_next(tx) + i * SHM_LINE);
}

static inline struct shm_record *shm_rx_next(const struct shm_rx *rx)
{
	return (struct shm_record *)(rx->ring + (size_t)rx->pos * SHM_LINE);
}

static inline uint32_t shm_rx_mark(const struct shm_rx *rx)
{
	return atomic_load_explicit(&shm_rx_next(rx)->mark, memory_order_acquire);
}

/* Prefetches the second line of the next record, which has arrived. A line behind it is the writer's. */
static inline void shm_rx_fetch_rest(const struct shm_rx *rx, uint32_t mark)
{
	if (mark >> 16 > 1)
		shm_prefetch_read((const char *)shm_rx_next(rx) + SHM_LINE);
}

/* Prefetches the next record if it is a short one, and the mark behind it: the writer's core has all of them. */
static inline void shm_rx_prefetch(const struct shm_rx *rx)
{
	for (uint32_t i = 0; i < 3; i++)
		shm_prefetch_read((const char *)shm_rx_next(rx) + i * SHM_LINE);
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
