/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of bytes that a connection holds only while it has bytes waiting, so memory grows with the work in flight and not
 * with the number of connections. A pool belongs to one thread.
 */
#ifndef REMOTE_OFFLOAD_SERVER_BLOCK_H
#define REMOTE_OFFLOAD_SERVER_BLOCK_H

#include <stddef.h>
#include <stdint.h>

struct block {
	struct block *next;
	uint32_t start, end; /* bytes waiting are data[start..end) */
	uint8_t data[];
};

struct block_pool {
	struct block *free;
	uint32_t free_count, used_count;
	uint32_t capacity; /* bytes of data in each block */
};

void block_pool_init(struct block_pool *pool, uint32_t capacity);
void block_pool_fini(struct block_pool *pool);

/* Bytes of the blocks that are in use. */
static inline uint64_t block_pool_used(const struct block_pool *pool)
{
	return (uint64_t)pool->used_count * pool->capacity;
}

/* Returns an empty block, or NULL without memory. Allocates only if the pool keeps none. */
struct block *block_get(struct block_pool *pool);
void block_put(struct block_pool *pool, struct block *block);

#endif
