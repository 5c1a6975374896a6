/* SPDX-License-Identifier: BSD-3-Clause */
#include "block.h"

#include <assert.h>
#include <stdlib.h>

/* Bytes that a pool keeps for reuse; it frees blocks beyond that. */
#define KEPT_BYTES_MAX (4u << 20)
#define KEPT_BLOCKS_MIN 4

void block_pool_init(struct block_pool *pool, uint32_t capacity)
{
	pool->free = NULL;
	pool->free_count = 0;
	pool->used_count = 0;
	pool->capacity = capacity;
}

void block_pool_fini(struct block_pool *pool)
{
	while (pool->free) {
		struct block *block = pool->free;

		pool->free = block->next;
		free(block);
	}
	pool->free_count = 0;
}

struct block *block_get(struct block_pool *pool)
{
	struct block *block = pool->free;

	if (block) {
		pool->free = block->next;
		assert(pool->free_count > 0);
		pool->free_count--;
	} else {
		block = malloc(sizeof(*block) + pool->capacity);
		if (!block)
			return NULL;
	}
	pool->used_count++;
	block->next = NULL;
	block->start = 0;
	block->end = 0;
	return block;
}

void block_put(struct block_pool *pool, struct block *block)
{
	assert(pool->used_count > 0);
	pool->used_count--;
	if (pool->free_count >= KEPT_BLOCKS_MIN && (uint64_t)pool->free_count * pool->capacity >= KEPT_BYTES_MAX) {
		free(block);
		return;
	}
	block->next = pool->free;
	pool->free = block;
	pool->free_count++;
}
