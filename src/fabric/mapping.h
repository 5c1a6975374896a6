/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mapping: the bytes of an imported region that are mapped in this process, for one-sided operations without a call of the
 * provider. The caller has checked the rights and keeps the order among operations. Other bytes go through sf_conn_submit.
 */
#ifndef SF_FABRIC_MAPPING_H
#define SF_FABRIC_MAPPING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ThreadSanitizer does not support fences, and does not see the peer's accesses anyway. */
#ifdef __SANITIZE_THREAD__
#define SF_MAPPING_FENCE(order) atomic_signal_fence(order)
#else
#define SF_MAPPING_FENCE(order) atomic_thread_fence(order)
#endif

struct sf_mapping {
	uint64_t addr, len;		    /* the owner's addresses; len 0: nothing is mapped */
	uint8_t *base;			    /* addr in this process */
	const _Atomic uint64_t *generation; /* the region is valid while this equals id */
	uint64_t id;
	const _Atomic bool *dead; /* and its owner while this is false */
};

/* The local address of the owner's byte addr; NULL unless all len bytes (more than 0) are in the mapping. */
static inline uint8_t *sf_mapping_at(const struct sf_mapping *mapping, uint64_t addr, uint64_t len)
{
	uint64_t offset = addr - mapping->addr;

	return offset < mapping->len && len <= mapping->len - offset ? mapping->base + offset : NULL;
}

/* Check before and after an access: once false it stays false. */
static inline bool sf_mapping_stands(const struct sf_mapping *mapping)
{
	SF_MAPPING_FENCE(memory_order_acquire);
	return atomic_load_explicit(mapping->generation, memory_order_acquire) == mapping->id &&
	       !atomic_load_explicit(mapping->dead, memory_order_relaxed);
}

/* Copies 8 bytes; the remote side is one store or one load if its address is aligned, ordered after, or before, all
 * other accesses. */
static inline void sf_word_write(void *remote, const void *local)
{
	uint64_t word;

	memcpy(&word, local, sizeof(word));
	if (__builtin_expect((uintptr_t)remote % sizeof(word) == 0, 1))
		__atomic_store_n((uint64_t *)remote, word, __ATOMIC_RELEASE);
	else
		memcpy(remote, &word, sizeof(word));
}

static inline void sf_word_read(void *local, const void *remote)
{
	uint64_t word;

	if (__builtin_expect((uintptr_t)remote % sizeof(word) == 0, 1))
		word = __atomic_load_n((const uint64_t *)remote, __ATOMIC_ACQUIRE);
	else
		memcpy(&word, remote, sizeof(word));
	memcpy(local, &word, sizeof(word));
}

/* The same for 4 bytes. */
static inline void sf_half_word_write(void *remote, const void *local)
{
	uint32_t word;

	memcpy(&word, local, sizeof(word));
	if (__builtin_expect((uintptr_t)remote % sizeof(word) == 0, 1))
		__atomic_store_n((uint32_t *)remote, word, __ATOMIC_RELEASE);
	else
		memcpy(remote, &word, sizeof(word));
}

/* Writes a word, or half of one, by one store; of other data the last byte is written last, so that a peer that polls it finds
 * the rest. Source and destination may overlap if a process writes its own memory. */
static inline void sf_bytes_write(uint8_t *remote, const uint8_t *local, uint64_t len)
{
	if (__builtin_expect(len == sizeof(uint64_t), 1)) {
		sf_word_write(remote, local);
	} else if (len == sizeof(uint32_t)) {
		sf_half_word_write(remote, local);
	} else if (len != 0) {
		memmove(remote, local, len - 1);
		SF_MAPPING_FENCE(memory_order_release);
		*(volatile uint8_t *)(remote + len - 1) = local[len - 1];
	}
}

static inline void sf_bytes_read(uint8_t *local, const uint8_t *remote, uint64_t len)
{
	if (__builtin_expect(len == sizeof(uint64_t), 1))
		sf_word_read(local, remote);
	else
		memmove(local, remote, len);
}

#endif
