/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of the page mover: memory with a pattern, and functions that move and verify it. */
#ifndef TEST_FABRIC_PAGES_H
#define TEST_FABRIC_PAGES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <sys/mman.h>

#include "fabric/shm/pages.h"

#define PAGE 4096u

static inline char *anon(size_t len)
{
	char *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(addr, MAP_FAILED);
	return addr;
}

static inline void pattern(char *addr, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		addr[i] = (char)(i * 31 + (i >> 12) + seed);
}

static inline bool pattern_holds(const char *addr, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++) {
		if (addr[i] != (char)(i * 31 + (i >> 12) + seed))
			return false;
	}
	return true;
}

static inline struct sf_pages *move(void *addr, size_t len)
{
	struct sf_pages *pages = NULL;

	assert_int_equal(sf_pages_move(addr, len, &pages), DOCA_SUCCESS);
	return pages;
}

static inline size_t moved_bytes(const struct sf_pages *pages)
{
	uint32_t num;
	const struct sf_pages_run *runs = sf_pages_runs(pages, &num);
	size_t len = 0;

	for (uint32_t i = 0; i < num; i++)
		len += runs[i].len;
	return len;
}

static inline char *map_run(const struct sf_pages_run *run, int prot)
{
	return mmap(NULL, run->len, prot, MAP_SHARED, run->fd, (off_t)run->offset);
}

#endif
